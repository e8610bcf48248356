//! What a report says of each estimate.

use std::fmt::Write as _;

use crate::analysis::{Analysis, Ends, EstimateRow, Judgement, LineFigure, WorkloadRow};
use crate::dataset::Objective;
use crate::format::{UNDEFINED, grouped, name, or_dash, percent, significant, table};

/// Inversions of comparable pairs: `12 of 340`.
pub(crate) fn inversions(judged: &Judgement) -> String {
    format!("{} of {}", grouped(judged.inversions), grouped(judged.comparable_pairs))
}

/// A correlation with its interval: `0.929 [0.531, 1.000]`.
pub(crate) fn correlation(point: Option<f64>, ends: Option<Ends>, digits: usize) -> String {
    match (point, ends) {
        (None, _) => UNDEFINED.to_owned(),
        (Some(point), None) => format!("{point:.digits$} [{UNDEFINED}]"),
        (Some(point), Some(ends)) => format!("{point:.digits$} [{:.digits$}, {:.digits$}]", ends.lower, ends.upper),
    }
}

/// The section on models.
pub(crate) fn models(out: &mut String, analysis: &Analysis, workload: &WorkloadRow) {
    if workload.estimates.is_empty() {
        let _ = writeln!(out, "No case has an estimate.\n");
        unestimated(out, workload);
        return;
    }
    order(out, analysis, workload);
    choice(out, analysis, workload);
    for estimate in &workload.estimates {
        let _ = writeln!(out, "- {}: {}", name(&estimate.name), notes(estimate).join("; "));
    }
    out.push('\n');
    unestimated(out, workload);
}

/// Estimates that are silent about some cases, and why.
fn unestimated(out: &mut String, workload: &WorkloadRow) {
    for silent in &workload.unestimated {
        let _ = writeln!(out, "- {}", silent.words());
    }
    if !workload.unestimated.is_empty() {
        out.push('\n');
    }
}

/// How well each orders and predicts, for the whole time and for kinds of phases.
fn order(out: &mut String, analysis: &Analysis, workload: &WorkloadRow) {
    let mut rows = Vec::new();
    for estimate in &workload.estimates {
        let units = (estimate.unit.as_str(), &analysis.setup.objective);
        rows.push(order_row(name(&estimate.name), "whole", &estimate.whole, units));
        for phase in &estimate.phases {
            rows.push(order_row(String::new(), &phase.kind, &phase.judgement, units));
        }
    }
    let head = [
        "estimate (modelled)",
        "of",
        "samples",
        "Spearman",
        "at most about",
        "Kendall",
        "inversions",
        "bias",
        "MdAPE",
        "line",
        "log slope",
    ];
    table(out, &head, &rows);
}

fn order_row(
    name: String,
    of: &str,
    judged: &Judgement,
    (estimate_unit, objective): (&str, &Objective),
) -> Vec<String> {
    vec![
        name,
        crate::format::markdown(of),
        grouped(judged.samples),
        correlation(judged.spearman, judged.spearman_interval, 3),
        correlation(judged.ceiling.ceiling, judged.ceiling.ceiling_interval, 3),
        correlation(judged.kendall, judged.kendall_interval, 3),
        inversions(judged),
        or_dash(judged.bias, |bias| significant(bias, 3)),
        or_dash(judged.mdape_percent, |error| percent(error / 100.0)),
        or_dash(judged.line, |line| linear(line, estimate_unit, objective)),
        or_dash(judged.log_line, |line| significant(line.slope, 3)),
    ]
}

/// `1.2 x + 0.3 ms`, with x in the objective's unit where the estimate is, else the slope in what is shown.
fn linear(line: LineFigure, estimate_unit: &str, objective: &Objective) -> String {
    let (_, one) = objective.shown_unit();
    let sign = if line.intercept < 0.0 { '-' } else { '+' };
    let slope = if objective.has_bias(estimate_unit) {
        line.slope
    } else {
        line.slope / one
    };
    format!(
        "{} x {sign} {}",
        significant(slope, 3),
        objective.quantity(line.intercept.abs())
    )
}

/// What choosing by each costs.
fn choice(out: &mut String, analysis: &Analysis, workload: &WorkloadRow) {
    let objective = &analysis.setup.objective;
    // The budgets of the estimate that has most of them: one with more samples has all that others have.
    let budgets = workload.estimates.iter().map(|estimate| &estimate.whole.at_k);
    let budgets: Vec<usize> = budgets
        .max_by_key(|at_k| at_k.len())
        .map(|at_k| at_k.iter().map(|at| at.k).filter(|k| *k > 1).collect())
        .unwrap_or_default();
    let rows = workload.estimates.iter().map(|estimate| {
        let judged = &estimate.whole;
        let mut row = vec![
            name(&estimate.name),
            or_dash(judged.selected.as_deref(), name),
            or_dash(judged.regret_ratio, |ratio| format!("{ratio:.3}")),
            or_dash(judged.cross_fitted_regret, |ratio| format!("{ratio:.3}")),
            or_dash(judged.regret_value, |v| objective.number(v)),
            or_dash(judged.rank_of_best, |rank| rank.to_string()),
            or_dash(judged.winner_flip_rate, percent),
        ];
        for k in &budgets {
            let at = judged.at_k.iter().find(|at| at.k == *k);
            row.push(or_dash(at, |at| {
                format!("{:.3}, {}", at.regret_ratio, whole_percent(at.hit_rate))
            }));
        }
        row
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let mut head: Vec<String> = [
        "choosing by",
        "its choice",
        "regret",
        "cross-fitted",
        &format!("regret ({})", objective.heading()),
        "rank of best",
        "best flips",
    ]
    .map(str::to_owned)
    .to_vec();
    head.extend(budgets.iter().map(|k| format!("first {k}: regret, hits")));
    table(out, &head.iter().map(String::as_str).collect::<Vec<&str>>(), &rows);
}

fn whole_percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// What is to be said of an estimate beside its figures.
pub(crate) fn notes(estimate: &EstimateRow) -> Vec<String> {
    let judged = &estimate.whole;
    let left_out: Vec<String> = judged
        .left_out
        .iter()
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    let left_out = if left_out.is_empty() {
        "none".to_owned()
    } else {
        left_out.join(", ")
    };
    let moment = match estimate.moment {
        target_api::Moment::Plan => "plan",
        target_api::Moment::Build => "build",
    };
    let mut notes = vec![
        format!("unit `{}`, made from the {moment}", estimate.unit),
        format!("left out: {left_out}"),
        format!("pairs differ by {}", judged.tie_rule.words()),
        format!(
            "{} of {} comparable pairs are predicted equal",
            grouped(judged.ties_predicted),
            grouped(judged.comparable_pairs)
        ),
        format!("the ceiling is {}", judged.ceiling.words()),
    ];
    notes.extend(beyond(judged));
    notes
}

/// That an estimate orders as well as these measurements can tell.
fn beyond(judged: &Judgement) -> Option<String> {
    let (spearman, ceiling) = judged.spearman.zip(judged.ceiling.ceiling)?;
    (spearman >= ceiling).then(|| "its order is as good as measurements this noisy can tell".to_owned())
}
