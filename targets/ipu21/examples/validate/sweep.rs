//! The published sweep as a whole: its statistics beside ours, and the plans that its estimates chose.

use std::path::Path;

use stats::order::median_ratio;
use stats::rank::spearman;
use target_ipu21::costs;
use target_ipu21::estimate::{compact, expanded};
use target_ipu21::exchange::Policy;
use target_ipu21::program::unplaced;
use target_ipu21::text;

use crate::cases::{Case, compile, each, siglip, timed};
use crate::plot::{Point, scatter};
use crate::{Section, error, number, table};

/// What one case of the sweep came to, in cycles.
struct Row {
    name: String,
    simulated: usize,
    compact: usize,
    compact_exchange: usize,
    expanded: usize,
    expanded_exchange: usize,
    placed: usize,
    scheduled: usize,
}

fn row(line: &str) -> Result<Row, String> {
    let [name, up, down, _] = line.split(',').collect::<Vec<_>>()[..] else {
        return Err(format!("`{line}`: expected four fields"));
    };
    let built = |name: &str| costs::builtin(name).ok_or_else(|| format!("no prices `{name}`"));
    let (charged, real) = (built("sweep")?, built("before")?);
    let geometry = |constraint: &str| {
        text::parse(constraint)
            .map(|(_, g)| g)
            .map_err(|error| error.to_string())
    };
    let compiled = compile(up, down, "identity", Policy::default())?;
    let products = unplaced(&siglip()?, &[geometry(up)?, geometry(down)?]).map_err(|refusal| refusal.to_string())?;
    let quick = compact(&products, &charged);
    let wide = expanded(&compiled.phases, &compiled.segments, &charged, true);
    let horizons = compiled.horizons();
    Ok(Row {
        name: name.to_owned(),
        simulated: timed(&compiled, &real).cycles,
        compact: quick.total(),
        compact_exchange: quick.exchange,
        expanded: wide.total(),
        expanded_exchange: wide.exchange.iter().sum(),
        placed: wide.placed(&horizons),
        scheduled: horizons.iter().sum(),
    })
}

/// One estimate: its name, published median ratio, Spearman and regret, and our value of a case.
type Estimate = (&'static str, f64, f64, usize, fn(&Row) -> usize);

const ESTIMATES: [Estimate; 3] = [
    ("compact", 1.649, 0.885, 3_948, |row| row.compact),
    ("expanded", 1.329, 0.848, 14_124, |row| row.expanded),
    ("placed", 1.222, 0.931, 1_212, |row| row.placed),
];
/// Cases of the sweep whose cycles are published.
const KNOWN: [(&str, usize); 2] = [("historical", 188_196), ("down-22", 186_630)];
/// The fastest of the sweep.
const BEST: usize = 186_630;

pub(crate) fn section(_: &[Case], folder: &Path) -> Section {
    let lines: Vec<&str> = include_str!("../../tests/fixtures/cases.csv").lines().skip(1).collect();
    let (rows, refused): (Vec<_>, Vec<_>) = each(&lines, |line| row(line)).into_iter().partition(Result::is_ok);
    let rows: Vec<Row> = rows.into_iter().flatten().collect();
    let points: Vec<Point> = rows
        .iter()
        .map(|row| Point {
            x: row.simulated as f64,
            y: row.expanded as f64,
            label: row.name.clone(),
            hollow: false,
        })
        .collect();
    let title = "Initial cases of the sweep";
    let svg = scatter(title, "simulated cycles", "expanded estimate (modelled)", &points);
    std::fs::write(folder.join("ipu21-sweep.svg"), svg)?;
    let reasons: Vec<String> = refused
        .into_iter()
        .filter_map(Result::err)
        .map(|reason| format!("* {reason}"))
        .collect();
    Ok(format!(
        "\n## The published sweep\n\n![expanded estimate against simulated cycles](ipu21-sweep.svg)\n\n{} of 55 initial cases \
         run, {} are refused (published: 45 and 10).\n{}{}\n### Refused by our rules\n\nThe published sweep had 4 refusals \
         for memory, 4 without a candidate and 2 for payloads, without names. The swapped down plans are refused because \
         our exchange does not transpose blocks: a limit of the unit model, not a published rule.\n\n{}\n",
        rows.len(),
        reasons.len(),
        statistics(&rows),
        choices(&rows),
        reasons.join("\n")
    ))
}

fn column(rows: &[Row], of: fn(&Row) -> usize) -> Vec<f64> {
    rows.iter().map(|row| of(row) as f64).collect()
}

fn statistics(rows: &[Row]) -> String {
    let simulated = column(rows, |row| row.simulated);
    let word = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
    let lines: Vec<Vec<String>> = ESTIMATES
        .iter()
        .map(|(name, ratio, rho, _, of)| {
            let values = column(rows, *of);
            let remark = if *name == "placed" {
                "shares its horizons with the unit model: no judge"
            } else {
                ""
            };
            vec![
                (*name).to_owned(),
                format!("{ratio:.3}"),
                word(median_ratio(&values, &simulated)),
                format!("{rho:.3}"),
                word(spearman(&values, &simulated)),
                remark.to_owned(),
            ]
        })
        .collect();
    let exchange = |of: fn(&Row) -> usize| word(median_ratio(&column(rows, of), &column(rows, |row| row.scheduled)));
    format!(
        "\nEstimates with the prices of the sweep, as far as they are public, against hardware (published) and against the \
         unit model with the kernels of the sweep (ours). The published prices of products and reductions are not public, \
         so that median ratios can't agree.\n{}\nExchange parts over scheduled cycles, medians: compact 2.378 published, {} \
         ours; expanded 1.355 published, {} ours.\n",
        table(
            &[
                "estimate",
                "median ratio, published",
                "ours",
                "Spearman, published",
                "ours",
                ""
            ],
            &lines
        ),
        exchange(|row| row.compact_exchange),
        exchange(|row| row.expanded_exchange),
    )
}

fn choices(rows: &[Row]) -> String {
    let mut lines = Vec::new();
    for (name, _, _, regret, of) in ESTIMATES {
        let least = rows.iter().map(of).min();
        let picked: Vec<&Row> = rows.iter().filter(|row| Some(of(row)) == least).collect();
        let Some(first) = picked.first() else { continue };
        let implied = BEST + regret;
        // Cases whose own cycles are published can't be what was chosen, unless these are the implied ones.
        let possible = |row: &&&Row| {
            KNOWN
                .iter()
                .all(|(known, cycles)| *known != row.name || *cycles == implied)
        };
        let names = |rows: Vec<&&Row>| -> String {
            let names: Vec<String> = rows.iter().map(|row| format!("`{}`", row.name)).collect();
            names.join(", ")
        };
        lines.push(vec![
            name.to_owned(),
            names(picked.iter().collect()),
            names(picked.iter().filter(possible).collect()),
            number(implied),
            number(first.simulated),
            format!("{:+.2} %", error(first.simulated, implied)),
        ]);
    }
    let header = [
        "estimate",
        "our choice",
        "of these possible",
        "published cycles of its choice",
        "simulated",
        "error",
    ];
    format!(
        "\n### What the estimates chose (held back)\n\nThe published regrets name the cycles of each estimate's choice; our \
         estimates name the case, if they choose the same one. That is not sure: the prices of the sweep are public in part \
         only, and two estimates can't both have chosen a case with different cycles. An error far above those of the \
         training cases says that the published choice was another one.\n{}",
        table(&header, &lines)
    )
}
