//! What a calibration leaves: the new table with its provenance, and words.

use std::path::{Path, PathBuf};

use calibrate::{Calibration, Database, TableName};
use planner::costs::{Provenance, SourceOf};
use planner::counted;

use crate::costs::Costs;
use crate::failure::Failure;

/// Where the new table is written: never over a file that is there.
pub(crate) fn place(wanted: Option<&Path>, old: Option<&Costs>, target: &str) -> Result<PathBuf, Failure> {
    if let Some(path) = wanted {
        if path.exists() {
            return Err(Failure::usage(format!("`{}` exists already", path.display()))
                .help("a table is never written over another one"));
        }
        return Ok(path.to_owned());
    }
    let beside = old.map_or_else(
        || PathBuf::from(format!("{target}.toml")),
        |old| PathBuf::from(&old.file),
    );
    let stem = stem(&beside);
    let mut number = 1_u32;
    loop {
        let name = if number == 1 {
            format!("{stem}-calibrated.toml")
        } else {
            format!("{stem}-calibrated-{number}.toml")
        };
        let path = beside.with_file_name(name);
        if !path.exists() {
            return Ok(path);
        }
        number += 1;
    }
}

/// A file's name without its ending.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The report's folder of a table.
pub(crate) fn report_of(table: &Path) -> PathBuf {
    table.with_file_name(format!("{}-report", stem(table)))
}

/// A table as reports name it.
pub(crate) fn name(costs: &Costs) -> TableName {
    TableName {
        name: costs.table.name.clone(),
        file: costs.file.clone(),
        sha256: costs.digest(),
    }
}

/// The new table with where it comes from.
pub(crate) fn with_provenance(database: &Database, found: &Calibration, mut new: Costs) -> Costs {
    let of = |source: &calibrate::SampleSource| SourceOf {
        path: source.path.clone(),
        sha256: source.sha256.clone(),
    };
    let mut figures = std::collections::BTreeMap::new();
    for family in found.families.iter().filter(|family| family.keys > 0) {
        let error = |error: Option<f64>| error.map_or("-".to_owned(), |error| format!("{:.3} %", 100.0 * error));
        let exact = if family.exact { ", exact" } else { "" };
        let words = format!(
            "{}, median error {} (before {}, left out {}){exact}",
            counted(family.keys, "key"),
            error(family.error_new),
            error(family.error_old),
            error(family.left_out)
        );
        figures.insert(format!("family {}", family.family), words);
    }
    if let Some(headline) = &found.headline {
        let words = format!(
            "{:.4} -> {:.4} by `{}`",
            headline.before, headline.after, headline.estimate
        );
        figures.insert("regret on held-out plans".to_owned(), words);
    }
    figures.insert("verdict".to_owned(), found.verdict.words().to_owned());
    new.table.about = format!("calibrated from `{}`: {}", found.old.name, new.table.about);
    new.table.provenance = Some(Provenance {
        fitted_at: jiff::Timestamp::now().to_string(),
        by: concat!("layout-sweep ", env!("CARGO_PKG_VERSION")).to_owned(),
        old: SourceOf::from(&found.old),
        fit: found.fit.iter().map(of).collect(),
        holdout: found.holdout.iter().map(of).collect(),
        machine: database.machine.clone(),
        figures,
    });
    new
}

/// The command that puts the new table in the old one's place.
pub(crate) fn apply(new: &Path, old: Option<&Costs>) -> String {
    let quoted = |path: &str| format!("'{}'", path.replace('\'', "'\\''"));
    let own = quoted(&new.display().to_string());
    match old {
        Some(old) => format!("mv {own} {}", quoted(&old.file)),
        None => format!("the old table is no file: `--costs {own}` puts the new one in force"),
    }
}

/// What a terminal shows.
pub(crate) fn table(found: &Calibration) -> String {
    let mut lines = Vec::new();
    let percent = |error: Option<f64>| error.map_or("-".to_owned(), |error| format!("{:.2} %", 100.0 * error));
    let mut rows = Vec::new();
    for family in found.families.iter().filter(|family| family.keys > 0) {
        for term in &family.terms {
            let sure = if family.exact {
                "exact".to_owned()
            } else {
                let words = term.interval_words(|end| format!("{end:.6}"));
                words.unwrap_or_else(|| "-".to_owned())
            };
            let unit = &family.unit;
            rows.push(vec![
                family.family.clone(),
                term.term.clone(),
                format!("{} {unit}", short(term.old)),
                format!("{} {unit}", short(term.new)),
                sure,
                term.decision.words(),
            ]);
        }
    }
    let head = ["family", "term", "old", "new", "95 % interval", "decision"];
    lines.push(crate::output::table(&head, rows));
    let families = found.families.iter().filter(|family| family.keys > 0).map(|family| {
        vec![
            family.family.clone(),
            family.keys.to_string(),
            family.samples.to_string(),
            percent(family.error_old),
            percent(family.error_new),
            percent(family.left_out),
        ]
    });
    let head = ["family", "keys", "samples", "error before", "after", "left out"];
    lines.push(crate::output::table(&head, families.collect()));
    for family in &found.families {
        let notes = family.notes.iter();
        lines.extend(notes.map(|note| format!("note: `{}`: {note}", family.family)));
    }
    for (why, samples) in &found.excluded {
        lines.push(format!("left out: {} {why}", counted(samples, "sample")));
    }
    for note in &found.notes {
        lines.push(format!("note: {note}"));
    }
    let judged = found.judgements.iter().map(|judgement| {
        vec![
            judgement.estimate.clone(),
            judgement.workload.clone(),
            judgement.headline(),
            order(judgement),
            judgement
                .new
                .median_ratio
                .map_or("-".to_owned(), |ratio| format!("{:.3}", ratio.point)),
            format!("{} -> {}", judgement.old.chosen, judgement.new.chosen),
        ]
    });
    let judged: Vec<Vec<String>> = judged.collect();
    if !judged.is_empty() {
        lines.push(crate::output::table(
            &[
                "estimate",
                "workload",
                "on held-out plans",
                "Spearman",
                "median ratio",
                "chooses",
            ],
            judged,
        ));
    }
    lines.extend(calibrate::Unjudged::lines(&found.unjudged));
    for misled in found
        .judgements
        .iter()
        .filter_map(|judgement| judgement.misled.as_ref())
    {
        lines.push(misled.words(&found.unit));
    }
    if let Some(headline) = &found.headline {
        lines.push(format!(
            "regret {:.3} -> {:.3} by `{}`",
            headline.before, headline.after, headline.estimate
        ));
    }
    lines.push(found.verdict.words().to_owned());
    lines.join("\n")
}

/// Spearman before -> after, and the most that measurements this noisy leave to be reached.
fn order(judgement: &calibrate::judge::Judgement) -> String {
    let rho = |side: &calibrate::judge::Side| side.spearman.map_or("-".to_owned(), |rho| format!("{:.2}", rho.point));
    let ceiling = judgement
        .ceiling
        .map_or("-".to_owned(), |ceiling| format!("{ceiling:.2}"));
    format!("{} -> {} of {ceiling}", rho(&judgement.old), rho(&judgement.new))
}

fn short(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value}")
    } else {
        format!("{value:.5}")
    }
}
