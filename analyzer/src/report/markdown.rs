//! `report.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::answer::{answer, some_names};
use super::definitions::{columns, figures};
use super::fronts::front_lines;
use super::machine::{class_lines, consent_lines, drift_lines, origin_line};
use super::models::models;
use super::together::together;
use super::words::{objective_line, ratio_line, title, workload_line};
use crate::analysis::{Analysis, WorkloadRow};
use crate::calibration::of_cohort;
use crate::dataset::MOST_SHARE;
use crate::format::{counted, filled, grouped, markdown as escaped, name, or_dash, percent, ratio, significant, table};

/// How many cases the report lists; all are in `summary.csv`.
const BEST: usize = 15;

/// Kind of the phases that only change byte orders: what orders that agree would save.
const CONVERSION: &str = "conversion";

/// The report as Markdown: the answer first, then the models, the best cases, what failed, what was not explored, and
/// how everything was measured.
#[must_use]
pub fn markdown(analysis: &Analysis) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "# {}\n", title(analysis, name));
    if let Some(origin) = origin_line(analysis, name) {
        let _ = writeln!(out, "**{origin}**\n");
    }
    let classes = class_lines(analysis, name);
    if !classes.is_empty() {
        let _ = writeln!(out, "**Machines of several classes worked on this cohort:**\n");
        for line in classes {
            let _ = writeln!(out, "- {line}");
        }
        out.push('\n');
    }
    let consents = consent_lines(analysis, name);
    if !consents.is_empty() {
        let _ = writeln!(
            out,
            "**Measured under accepted differences; figures may not be alike:**\n"
        );
        for line in consents {
            let _ = writeln!(out, "- {line}");
        }
        out.push('\n');
    }
    together(&mut out, analysis);
    for workload in &analysis.workloads {
        let several = analysis.workloads.len() > 1;
        // One workload needs no heading of its own.
        let level = if several { "###" } else { "##" };
        if several {
            let _ = writeln!(out, "## Workload {}\n", name(&workload.name));
        }
        let _ = writeln!(out, "{level} The answer\n");
        answer(&mut out, analysis, workload);
        if workload.has_models() {
            let _ = writeln!(out, "{level} Models\n");
            models(&mut out, analysis, workload);
        }
        if !workload.best().is_empty() {
            let _ = writeln!(out, "{level} The best cases\n");
            best(&mut out, analysis, workload);
        }
        if workload.has_failures() {
            let _ = writeln!(out, "{level} Rejected and failed\n");
            failed(&mut out, workload);
        }
        let drift = drift_lines(analysis, workload, name);
        if !drift.is_empty() {
            let _ = writeln!(out, "{level} The machine meanwhile\n");
            for line in drift {
                let _ = writeln!(out, "- {line}");
            }
            out.push('\n');
        }
        let _ = writeln!(out, "{level} What was not explored\n");
        coverage(&mut out, workload);
    }
    of_cohort::markdown(&mut out, &analysis.calibrations);
    plots(&mut out, analysis);
    measured(&mut out, analysis);
    out
}

fn best(out: &mut String, analysis: &Analysis, workload: &WorkloadRow) {
    let ranked = workload.best();
    let objective = &analysis.setup.objective;
    let rows: Vec<Vec<String>> = ranked
        .iter()
        .take(BEST)
        .enumerate()
        .map(|(index, (case, figure))| {
            vec![
                (index + 1).to_string(),
                name(&case.name),
                escaped(&case.family),
                case.chosen.word().to_owned(),
                ratio(figure.median),
                or_dash(figure.lower.zip(figure.upper), |(lower, upper)| {
                    format!("{} to {}", ratio(lower), ratio(upper))
                }),
                grouped(case.pairs),
                or_dash(case.value, |v| objective.number(v)),
                or_dash(case.gflops, |rate| significant(rate, 4)),
                or_dash(case.share_of_peak, percent),
                or_dash(case.share_of(CONVERSION), percent),
                or_dash(case.error.and_then(|error| error.max_absolute), |error| {
                    significant(error, 2)
                }),
            ]
        })
        .collect();
    let origin = analysis.setup.origin();
    let shown = format!("{} ({origin})", objective.heading());
    let (ratio_head, error_head) = (format!("ratio ({origin})"), format!("max error ({origin})"));
    let counts = format!("{}s", workload.counts());
    let head = vec![
        "",
        "case",
        "family",
        "chosen",
        &ratio_head,
        "95 % interval",
        &counts,
        &shown,
        "GFLOP/s (derived)",
        "of peak (derived)",
        "conversions (derived)",
        &error_head,
    ];
    let (head, rows) = filled(head, rows);
    table(out, &head, &rows);
    let lines = ratio_line(analysis).into_iter().chain(disturbed_line(workload));
    for line in lines.chain(front_lines(workload, name)) {
        let _ = writeln!(out, "{line}\n");
    }
    if ranked.len() > BEST {
        let _ = writeln!(
            out,
            "{} more are in [summary.csv](summary.csv).\n",
            grouped(ranked.len() - BEST)
        );
    }
}

/// How many pairs no share of the peak comes from, if any. Shared by report and terminal.
pub(crate) fn disturbed_line(workload: &WorkloadRow) -> Option<String> {
    let pairs = counted(workload.disturbed_probes(), "pair");
    (workload.disturbed_probes() > 0).then(|| {
        format!(
            "{pairs} with a disturbed probe left out of shares and normalised values (a call did more than {} of the peak \
             probed beside it).",
            percent(MOST_SHARE)
        )
    })
}

fn failed(out: &mut String, workload: &WorkloadRow) {
    if !workload.failures.is_empty() {
        let rows: Vec<Vec<String>> = workload
            .failures
            .iter()
            .map(|row| {
                vec![
                    row.outcome.word().to_owned(),
                    grouped(row.cases.len()),
                    escaped(&row.reason),
                    some_names(&row.cases, 8),
                ]
            })
            .collect();
        table(out, &["outcome", "cases", "reason", "which"], &rows);
    }
    let again: Vec<Vec<String>> = workload
        .cases
        .iter()
        .filter(|case| case.attempts.len() > 1)
        .flat_map(|case| {
            case.attempts.iter().map(|attempt| {
                vec![
                    name(&case.name),
                    attempt.number.to_string(),
                    attempt.outcome.word().to_owned(),
                    attempt.rounds.to_string(),
                    attempt.reason.as_deref().map(escaped).unwrap_or_default(),
                ]
            })
        })
        .collect();
    if !again.is_empty() {
        let _ = writeln!(out, "Cases with several attempts; the last one counts:\n");
        table(out, &["case", "attempt", "outcome", "right rounds", "reason"], &again);
    }
}

fn coverage(out: &mut String, workload: &WorkloadRow) {
    let coverage = &workload.coverage;
    for line in coverage_lines(workload) {
        let _ = writeln!(out, "- {line}");
    }
    out.push('\n');
    if !coverage.screened.is_empty() {
        let row = |row: &crate::analysis::ScreenedRow| {
            vec![escaped(&row.operation), escaped(&row.orientation), grouped(&row.count)]
        };
        let rows: Vec<Vec<String>> = coverage.screened.iter().map(row).collect();
        table(out, &["operation", "orientation", "screened geometries"], &rows);
    }
}

/// What was looked at, and what was not, in words. Shared by report and terminal.
pub(crate) fn coverage_lines(workload: &WorkloadRow) -> Vec<String> {
    let coverage = &workload.coverage;
    let mut lines = vec![format!(
        "{}: {} chosen beforehand, {} by results; {} measured, {} failed or rejected, {} not run yet.",
        counted(coverage.initial + coverage.added, "case"),
        grouped(coverage.initial),
        grouped(coverage.added),
        grouped(coverage.measured),
        grouped(coverage.failed),
        grouped(coverage.waiting)
    )];
    match &coverage.combinations {
        Some(count) => lines.push(format!(
            "The screened geometries can be put together into {} plans (derived); only these cases were looked at.",
            grouped(count)
        )),
        None if workload.has_products() => {
            lines.push("How many plans can be put together from screened geometries was not counted.".to_owned());
        }
        None => {}
    }
    if let Some(count) = &coverage.legal_plans {
        lines.push(format!(
            "The target's whole space has {} legal plans (derived).",
            grouped(count)
        ));
    }
    for (reason, (pairs, cases)) in workload.left_out() {
        let pairs = counted(pairs, workload.counts());
        lines.push(format!(
            "Left out of everything: {pairs} of {} ({reason}).",
            counted(cases, "case")
        ));
    }
    for refused in &coverage.refused {
        lines.push(format!(
            "Asked for and refused: `{}`: {}.",
            refused.name, refused.reason
        ));
    }
    lines
}

fn plots(out: &mut String, analysis: &Analysis) {
    let pictures: Vec<&String> = analysis
        .files
        .iter()
        .filter(|file| file.rsplit('.').next() == Some("svg"))
        .collect();
    if pictures.is_empty() {
        return;
    }
    let _ = writeln!(out, "## Plots\n");
    for file in pictures {
        let stem = file.trim_end_matches(".svg");
        let _ = writeln!(out, "![{stem}]({file})\n");
        let _ = writeln!(out, "[as PNG]({stem}.png)\n");
    }
}

fn measured(out: &mut String, analysis: &Analysis) {
    let setup = &analysis.setup;
    let _ = writeln!(out, "## How it was measured\n");
    for workload in &analysis.workloads {
        let _ = writeln!(out, "- {}", workload_line(workload, name, escaped));
    }
    let _ = writeln!(out, "- {}", objective_line(analysis, escaped));
    let revision = or_dash(setup.git_revision.as_deref(), name);
    let _ = writeln!(
        out,
        "- Definition {}, revision {revision}, frozen {}\n",
        name(&setup.definition_path),
        setup.frozen_at
    );
    pairs(out, ["machine (class)", ""], &setup.machine);
    pairs(out, ["machine (instance)", ""], &setup.instance);
    pairs(out, ["option", "value"], &setup.options);
    if !setup.tools.is_empty() {
        let row = |tool: &crate::dataset::ToolUsed| {
            vec![
                escaped(&tool.name),
                escaped(&tool.version),
                name(&tool.path),
                name(&tool.sha256),
            ]
        };
        let rows: Vec<Vec<String>> = setup.tools.iter().map(row).collect();
        table(out, &["tool", "version", "path", "SHA-256"], &rows);
    }
    let _ = writeln!(out, "### What the figures mean\n");
    let figures: Vec<Vec<String>> = figures(analysis)
        .into_iter()
        .map(|(figure, label, meaning)| vec![figure.to_owned(), label.to_owned(), meaning.replace('|', "\\|")])
        .collect();
    table(out, &["figure", "label", "meaning"], &figures);
    let _ = writeln!(out, "### Columns of summary.csv\n");
    let _ = writeln!(
        out,
        "One line per case; a figure that is missing or undefined is an empty cell. After these columns come \
         `phase.NAME` (median of that phase in the objective's unit, {0}), `other.NAME` (median of another number, \
         with its unit in the name, {0}), `estimate.NAME` (prediction in its own unit, modelled) and \
         `attribute.NAME` (attribute of its plan).\n",
        setup.origin()
    );
    let columns: Vec<Vec<String>> = columns(analysis)
        .into_iter()
        .map(|(column, meaning)| {
            vec![
                format!("`{column}`"),
                meaning.replace("(measured)", &format!("({})", setup.origin())),
            ]
        })
        .collect();
    table(out, &["column", "meaning"], &columns);
}

fn pairs(out: &mut String, head: [&str; 2], map: &BTreeMap<String, String>) {
    if !map.is_empty() {
        let rows: Vec<Vec<String>> = map
            .iter()
            .map(|(key, value)| vec![escaped(key), escaped(value)])
            .collect();
        table(out, &head, &rows);
    }
}
