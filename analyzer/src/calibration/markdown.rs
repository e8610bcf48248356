//! `calibration.md`.

use std::fmt::Write;

use calibrate::fit::FamilyFit;
use calibrate::judge::{Judgement, Ranged, Side};
use calibrate::{Calibration, SampleSource, Unjudged};

use crate::format::{counted, grouped, name, or_dash, percent, significant, table};

/// A family's name, and its pictures: file and title.
type Pictures = (String, Vec<(String, String)>);

/// The report as Markdown. Without pictures it is what a terminal shows.
#[must_use]
pub fn render(calibration: &Calibration, pictures: &[Pictures]) -> String {
    let mut out = String::new();
    // Writing into a text never fails.
    let _ = all(&mut out, calibration, pictures);
    out
}

fn all(out: &mut String, c: &Calibration, pictures: &[Pictures]) -> std::fmt::Result {
    writeln!(out, "# Calibration of {}\n", name(&c.target))?;
    match &c.headline {
        Some(headline) => writeln!(
            out,
            "**Regret {:.3} -> {:.3}** by the estimate {}: {}.\n",
            headline.before,
            headline.after,
            name(&headline.estimate),
            c.verdict.words()
        )?,
        None => writeln!(out, "**{}**\n", c.verdict.words())?,
    }
    for judgement in &c.judgements {
        if let Some(misled) = &judgement.misled {
            let (estimate, workload) = (name(&judgement.estimate), name(&judgement.workload));
            writeln!(out, "* {estimate} of {workload}: {}.", misled.words(&c.unit))?;
        }
    }
    for note in &c.notes {
        writeln!(out, "* {note}")?;
    }
    for line in Unjudged::lines(&c.unjudged) {
        writeln!(out, "* {line}")?;
    }
    writeln!(out, "\n## Tables and samples\n")?;
    let row = |side: &str, of: &calibrate::TableName| {
        vec![side.to_owned(), name(&of.name), name(&of.file), short(&of.sha256)]
    };
    table(
        out,
        &["table", "name", "file", "SHA-256"],
        &[row("old", &c.old), row("new", &c.new)],
    );
    let sources = |side: &'static str, sources: &[SampleSource]| -> Vec<Vec<String>> {
        let row = |source: &SampleSource| {
            let (path, label) = (name(&source.path), source.label.clone());
            vec![
                side.to_owned(),
                path,
                label,
                short(&source.sha256),
                short(&source.build),
            ]
        };
        sources.iter().map(row).collect()
    };
    let mut rows = sources("fit", &c.fit);
    rows.extend(sources("held out", &c.holdout));
    table(out, &["side", "source", "label", "SHA-256", "build"], &rows);
    if !c.excluded.is_empty() {
        let rows: Vec<Vec<String>> = c
            .excluded
            .iter()
            .map(|(why, n)| vec![why.clone(), n.to_string()])
            .collect();
        writeln!(out, "Samples that were left out of the fit:\n")?;
        table(out, &["why", "samples"], &rows);
    }
    for (kernel, samples) in &c.unpriced {
        writeln!(
            out,
            "* {} of {}, which no family prices",
            counted(*samples, "sample"),
            name(kernel)
        )?;
    }
    families(out, c, pictures)?;
    judged(out, c)
}

fn short(digest: &str) -> String {
    let is_digest = digest.len() == 64 && digest.chars().all(|c| c.is_ascii_hexdigit());
    if is_digest {
        digest[..12].to_owned()
    } else {
        name(digest)
    }
}

fn families(out: &mut String, c: &Calibration, pictures: &[Pictures]) -> std::fmt::Result {
    writeln!(out, "\n## Families\n")?;
    let share = |error: Option<f64>| or_dash(error, percent);
    let row = |f: &FamilyFit| {
        vec![
            name(&f.family),
            f.keys.to_string(),
            grouped(f.samples),
            if f.exact {
                "exact".to_owned()
            } else {
                share(f.error_new)
            },
            share(f.error_old),
            share(f.left_out),
            share(f.worst_new),
            format!("{} of {}", f.rank, f.terms.len()),
            or_dash(f.condition, |condition| significant(condition, 2)),
        ]
    };
    let rows: Vec<Vec<String>> = c.families.iter().map(row).collect();
    let head = [
        "family",
        "keys",
        "samples",
        "error",
        "before",
        "left out",
        "worst",
        "rank",
        "condition",
    ];
    table(out, &head, &rows);
    writeln!(
        out,
        "Errors are medians of |predicted / measured - 1| over keys: of the new table, of the old one (before), and of fits \
         that did not see the geometry (left out). Exact: every sample agrees with the coefficients.\n"
    )?;
    for family in c.families.iter().filter(|family| family.keys > 0) {
        writeln!(out, "### {}\n", name(&family.family))?;
        coefficients(out, family)?;
        let own = pictures.iter().filter(|(own, _)| *own == family.family);
        for (file, title) in own.flat_map(|(_, files)| files) {
            writeln!(out, "![{title}]({file})\n")?;
        }
    }
    Ok(())
}

fn coefficients(out: &mut String, family: &FamilyFit) -> std::fmt::Result {
    let number = |value: f64| significant(value, 6);
    let rows: Vec<Vec<String>> = family
        .terms
        .iter()
        .map(|term| {
            vec![
                name(&term.term),
                format!("`{}`", term.of),
                number(term.old),
                number(term.new),
                or_dash(term.found, number),
                or_dash(term.interval_words(number), |words| words),
                term.decision.words(),
            ]
        })
        .collect();
    let unit = &family.unit;
    let (old, new) = (format!("old ({unit})"), format!("new ({unit})"));
    table(
        out,
        &["term", "of", &old, &new, "found", "95 % interval", "decision"],
        &rows,
    );
    if family.outliers > 0 {
        writeln!(out, "* {} left out as outliers", counted(family.outliers, "key"))?;
    }
    if family.logical_only > 0 {
        let keys = counted(family.logical_only, "key");
        writeln!(
            out,
            "* of {keys} only extents without padding are known: padding may undercount waves"
        )?;
    }
    for (why, keys) in &family.excluded {
        writeln!(out, "* {} not used: {why}", counted(*keys, "key"))?;
    }
    for note in &family.notes {
        writeln!(out, "* {note}")?;
    }
    writeln!(out)
}

fn judged(out: &mut String, c: &Calibration) -> std::fmt::Result {
    if !c.held_out.is_empty() {
        writeln!(out, "\n## Held-out keys\n")?;
        let row = |one: &calibrate::judge::HeldOutFamily| {
            vec![
                name(&one.family),
                one.keys.to_string(),
                percent(one.old),
                percent(one.new),
            ]
        };
        let rows: Vec<Vec<String>> = c.held_out.iter().map(row).collect();
        table(out, &["family", "keys", "error before", "error after"], &rows);
    }
    if c.judgements.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Held-out plans\n")?;
    let mut rows = Vec::new();
    for judgement in &c.judgements {
        rows.push(judged_row(judgement, "old", &judgement.old, &c.unit));
        rows.push(judged_row(judgement, "new", &judgement.new, &c.unit));
    }
    let head = [
        "estimate",
        "workload",
        "table",
        "Spearman",
        "regret",
        "median ratio",
        "chooses",
        "which takes",
    ];
    table(out, &head, &rows);
    for judgement in &c.judgements {
        let best = format!(
            "{} ({} {})",
            name(&judgement.best),
            significant(judgement.best_value, 6),
            c.unit
        );
        let ceiling = or_dash(judgement.ceiling, |ceiling| format!("{ceiling:.3}"));
        writeln!(
            out,
            "* {} of {}, {}: the best is {best}; the noise ceiling of Spearman is {ceiling}",
            name(&judgement.estimate),
            name(&judgement.workload),
            counted(judgement.cases, "plan")
        )?;
    }
    components(out, c)
}

fn judged_row(judgement: &Judgement, table: &str, side: &Side, unit: &str) -> Vec<String> {
    vec![
        name(&judgement.estimate),
        name(&judgement.workload),
        table.to_owned(),
        or_dash(side.spearman, ranged),
        ranged(side.regret),
        or_dash(side.median_ratio, ranged),
        name(&side.chosen),
        format!("{} {unit}", significant(side.chosen_value, 6)),
    ]
}

fn ranged(figure: Ranged) -> String {
    match figure.lower.zip(figure.upper) {
        Some((lower, upper)) => format!("{:.3} [{lower:.3}, {upper:.3}]", figure.point),
        None => format!("{:.3}", figure.point),
    }
}

fn components(out: &mut String, c: &Calibration) -> std::fmt::Result {
    let mut rows = Vec::new();
    for judgement in &c.judgements {
        for component in &judgement.components {
            rows.push(vec![
                name(&judgement.estimate),
                name(&judgement.workload),
                name(&component.kind),
                percent(component.share),
                or_dash(component.old, percent),
                or_dash(component.new, percent),
                or_dash(component.spread, percent),
            ]);
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Residuals by kind of phase\n")?;
    let head = ["estimate", "workload", "kind", "share", "old", "new", "spread"];
    table(out, &head, &rows);
    writeln!(
        out,
        "Medians of predicted less measured, as shares of the whole; spread is the width of the middle half under the new \
         table. A dash: no part of the estimate speaks of this kind."
    )
}
