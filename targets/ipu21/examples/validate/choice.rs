//! What a search chooses, beside the best published plans and the published automatic plan.

use target_api::SearchWidth;
use target_ipu21::costs;
use target_ipu21::estimate::expanded;
use target_ipu21::exchange::Policy;
use target_ipu21::search::search;

use crate::cases::{Case, down, each, prepare, run, siglip, up};
use crate::{Section, error, number, table};

/// Published renderer cycles of the automatic plan of 7 September, grids 2x92x8 and 3x18x27.
const AUTOMATIC: usize = 172_236;
/// Completions of its unpublished result factors that are run.
const COMPLETIONS: usize = 6;
/// Searches, wider and wider.
const WIDTHS: [SearchWidth; 4] = [
    width(100, 1_024, 16, 2),
    width(200, 4_096, 64, 4),
    width(400, 16_384, 128, 8),
    width(400, 65_536, 256, 8),
];

/// What the four numbers of a width are.
const WIDTH: &str = "shortlist / beam / expanded / finalists";

const fn width(shortlist: usize, beam: usize, expanded: usize, finalists: usize) -> SearchWidth {
    SearchWidth {
        shortlist,
        beam,
        expanded,
        finalists,
    }
}

pub(crate) fn section(cases: &[Case]) -> Section {
    let table_after = costs::builtin("after").ok_or("no prices")?;
    let workload = siglip()?;
    let mut best: Vec<(String, usize)> = cases
        .iter()
        .filter(|case| case.kernels == "after")
        .map(|case| (case.name.clone(), case.ours.cycles))
        .collect();
    let more = [
        ("down result 5x3, block 92/2 (no published measurement)", "block:92:2"),
        ("down result 5x3, transpose 4 (no published measurement)", "transpose:4"),
    ];
    let (up, down) = (up("4x1 complete")?, down("5x3 standard complete")?);
    for (name, cycles) in each(&more, |(name, map)| {
        run(&up, &down, map, "after", Policy::default()).map(|ran| ((*name).to_owned(), ran.cycles))
    })
    .into_iter()
    .collect::<Result<Vec<_>, _>>()?
    {
        best.push((name, cycles));
    }
    best.sort_by_key(|(_, cycles)| *cycles);
    let (best_name, best_cycles) = best.first().cloned().ok_or("no cases")?;
    let mut rows = Vec::new();
    let mut costs = Vec::new();
    for found in each(&WIDTHS, |width| search(&workload, &table_after, *width, &[])) {
        let found = found.map_err(|refusal| refusal.to_string())?;
        let looked_at = found.steps.iter().map(|step| number(step.looked_at));
        costs.push((
            found.steps.iter().map(|step| step.name.clone()).collect::<Vec<_>>(),
            std::iter::once(words_of(found.width))
                .chain(looked_at)
                .collect::<Vec<_>>(),
        ));
        let first = found.finalists.first().ok_or("a search found nothing")?;
        let placed = first
            .estimates
            .iter()
            .find(|estimate| estimate.name == "placed")
            .map_or(0.0, |e| e.value);
        let mut words = first.text.split(' ');
        let (up, down) = (words.next().ok_or("no up")?, words.next().ok_or("no down")?);
        let map = words
            .next()
            .and_then(|word| word.strip_prefix("mapping="))
            .unwrap_or("identity");
        let ran = run(up, down, map, "after", Policy::default())?;
        rows.push(vec![
            words_of(found.width),
            format!("`{}`", first.text),
            format!("{placed:.0}"),
            number(ran.cycles),
            format!("{:+.2} %", error(ran.cycles, best_cycles)),
        ]);
    }
    let (names, _) = costs.first().ok_or("no searches")?;
    let header: Vec<&str> = std::iter::once(WIDTH).chain(names.iter().map(String::as_str)).collect();
    let costs: Vec<Vec<String>> = costs.iter().map(|(_, row)| row.clone()).collect();
    Ok(format!(
        "# Choosing without running\n\nWritten by `scripts/validate-ipu21 reports/reference search`. The search of `plan \
         --select` looks at every geometry in the normal orientation ({} prices); its choice is run on the unit model \
         afterwards and compared with the best of the published plans on the same unit model: {best_name}, {} simulated \
         cycles. A choice is better by more than the model's own error when the difference exceeds the errors of the \
         training cases in `ipu21-validation.md`.\n{}\nWhat each search looked at, step by step: its cost, whatever the \
         machine.\n{}{}",
        "`after`",
        number(best_cycles),
        table(
            &[
                WIDTH,
                "choice",
                "placed (modelled)",
                "simulated",
                "against the best published plan"
            ],
            &rows
        ),
        table(&header, &costs),
        automatic()?
    ))
}

fn words_of(width: SearchWidth) -> String {
    format!(
        "{} / {} / {} / {}",
        width.shortlist, width.beam, width.expanded, width.finalists
    )
}

/// All result factors that the rules allow, by the expanded estimate; the best are run.
fn automatic() -> Section {
    let prices = costs::builtin("after").ok_or("no prices")?;
    let mut plans = Vec::new();
    for (a, b) in factors(8, 2) {
        for (c, d) in factors(27, 4) {
            plans.push((
                format!("0:2x92x8:{a}x{b}:48:interleaved:normal:complete:direct"),
                format!("2:3x18x27:{c}x{d}:64:interleaved:normal:complete:direct"),
            ));
        }
    }
    let estimated = each(&plans, |(up, down)| {
        let prepared = prepare(up, down, "identity").ok()?;
        Some(
            expanded(&prepared.phases, &prepared.segments, &prices, false)
                .ok()?
                .total(),
        )
    });
    let mut legal: Vec<(usize, &(String, String))> = estimated
        .into_iter()
        .zip(&plans)
        .filter_map(|(estimate, plan)| Some((estimate?, plan)))
        .collect();
    legal.sort();
    let count = legal.len();
    legal.truncate(COMPLETIONS);
    let ran = each(&legal, |(_, (up, down))| {
        run(up, down, "identity", "after", Policy::default())
    });
    let mut rows = Vec::new();
    for ((estimate, (up, down)), ran) in legal.iter().zip(ran) {
        let ran = ran?;
        rows.push(vec![
            format!("`{up}` `{down}`"),
            number(*estimate),
            number(ran.cycles),
            format!("{:+.2} %", error(ran.cycles, AUTOMATIC)),
        ]);
    }
    Ok(format!(
        "\nThe published automatic plan (grids 2x92x8 and 3x18x27, {} published cycles, held back) has unpublished result \
         factors: of {} completions {count} are legal; the {COMPLETIONS} best by the expanded estimate:\n{}",
        number(AUTOMATIC),
        plans.len(),
        table(
            &[
                "completion",
                "expanded (modelled)",
                "simulated",
                "against the published cycles"
            ],
            &rows
        )
    ))
}

/// Pairs of result factors with a product of at most `inner`, and `columns` at most as the second.
fn factors(inner: usize, columns: usize) -> Vec<(usize, usize)> {
    let pairs = (1..=columns).flat_map(|b| (1..=inner / b).map(move |a| (a, b)));
    pairs.collect()
}
