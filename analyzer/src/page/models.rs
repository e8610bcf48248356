//! Which estimates to trust.

use std::fmt::Write as _;

use super::answer::case_link;
use super::escape::text;
use super::sections::list;
use crate::analysis::{Analysis, EstimateRow, Judgement, Unestimated, WorkloadRow};
use crate::format::{grouped, or_dash, percent, significant};
use crate::report::{correlation, inversions, notes};

/// A head: what stands there, its label, whether the column's cells are numbers.
type Head<'a> = (&'a str, &'a str, bool);

/// The tables of estimates: how well each orders and predicts, what choosing by it costs; and what is to be said of each.
pub(crate) fn models(out: &mut String, analysis: &Analysis, workload: &WorkloadRow) {
    if workload.estimates.is_empty() {
        out.push_str("<p class=\"empty\">No case has an estimate.</p>");
        list(out, &silent(workload));
        return;
    }
    let lines: Vec<String> = workload
        .estimates
        .iter()
        .map(|estimate| format!("{}: {}", estimate.name, advice(&estimate.whole)))
        .collect();
    list(out, &lines);
    order(out, workload);
    choice(out, analysis, workload);
    out.push_str("<details><summary>What the estimates are judged by</summary>");
    let lines: Vec<String> = workload
        .estimates
        .iter()
        .map(|estimate| format!("{}: {}", estimate.name, notes(estimate).join("; ")))
        .collect();
    list(out, &lines);
    out.push_str("</details>");
    list(out, &silent(workload));
}

/// Estimates that have no value for some cases, and why.
fn silent(workload: &WorkloadRow) -> Vec<String> {
    workload.unestimated.iter().map(Unestimated::words).collect()
}

/// A table of text that is HTML already.
pub(crate) fn table(out: &mut String, heads: &[Head<'_>], rows: &[Vec<String>]) {
    let class = |numeric: bool| if numeric { " class=\"n\"" } else { "" };
    out.push_str("<div class=\"scroll\"><table class=\"plain models\"><thead><tr>");
    for (head, label, numeric) in heads {
        let _ = write!(
            out,
            "<th scope=\"col\"{}>{head}<small>{label}</small></th>",
            class(*numeric)
        );
    }
    out.push_str("</tr></thead><tbody>");
    for row in rows {
        out.push_str("<tr>");
        for ((_, _, numeric), cell) in heads.iter().zip(row) {
            let _ = write!(out, "<td{}>{cell}</td>", class(*numeric));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
}

/// An estimate's name with its unit and the moment at which it was made.
fn title(estimate: &EstimateRow) -> String {
    let moment = match estimate.moment {
        target_api::Moment::Plan => "plan",
        target_api::Moment::Build => "build",
    };
    let (name, unit) = (text(&estimate.name), text(&estimate.unit));
    format!("<b>{name}</b><small>{unit}, from the {moment}</small>")
}

fn order(out: &mut String, workload: &WorkloadRow) {
    let heads = [
        ("estimate", "modelled", false),
        ("of", "", false),
        ("samples", "", true),
        ("Spearman", "derived", true),
        ("at most about", "derived", true),
        ("Kendall", "derived", true),
        ("inversions", "derived", true),
        ("bias", "derived", true),
        ("MdAPE", "derived", true),
        ("log slope", "derived", true),
    ];
    let row = |name: String, of: &str, judged: &Judgement| {
        vec![
            name,
            text(of),
            grouped(judged.samples),
            correlation(judged.spearman, judged.spearman_interval, 2),
            correlation(judged.ceiling.ceiling, judged.ceiling.ceiling_interval, 2),
            correlation(judged.kendall, judged.kendall_interval, 2),
            inversions(judged),
            or_dash(judged.bias, |bias| significant(bias, 3)),
            or_dash(judged.mdape_percent, |error| percent(error / 100.0)),
            or_dash(judged.log_line, |line| significant(line.slope, 3)),
        ]
    };
    let mut rows = Vec::new();
    for estimate in &workload.estimates {
        rows.push(row(title(estimate), "whole", &estimate.whole));
        let phases = estimate.phases.iter();
        rows.extend(phases.map(|phase| row(String::new(), &phase.kind, &phase.judgement)));
    }
    table(out, &heads, &rows);
}

fn choice(out: &mut String, analysis: &Analysis, workload: &WorkloadRow) {
    let objective = &analysis.setup.objective;
    let budgets = workload.estimates.iter().map(|estimate| &estimate.whole.at_k);
    let budgets: Vec<usize> = budgets
        .max_by_key(|at_k| at_k.len())
        .map(|at_k| at_k.iter().map(|at| at.k).filter(|k| *k > 1).collect())
        .unwrap_or_default();
    let regret = format!("regret, {}", text(objective.heading()));
    let firsts: Vec<String> = budgets.iter().map(|k| format!("first {k}")).collect();
    let mut heads = vec![
        ("choosing by", "modelled", false),
        ("its choice", "", false),
        ("regret", "derived", true),
        ("cross-fitted", "derived", true),
        (&regret, "derived", true),
        ("rank of best", "derived", true),
        ("best flips", "derived", true),
    ];
    heads.extend(firsts.iter().map(|first| (first.as_str(), "regret, hits", true)));
    let ratio = |ratio: f64| format!("{ratio:.3}");
    let rows = workload.estimates.iter().map(|estimate| {
        let judged = &estimate.whole;
        let mut row = vec![
            title(estimate),
            or_dash(judged.selected.as_deref(), case_link),
            or_dash(judged.regret_ratio, ratio),
            or_dash(judged.cross_fitted_regret, ratio),
            or_dash(judged.regret_value, |more| objective.number(more)),
            or_dash(judged.rank_of_best, |rank| rank.to_string()),
            or_dash(judged.winner_flip_rate, percent),
        ];
        row.extend(budgets.iter().map(|k| {
            let at = judged.at_k.iter().find(|at| at.k == *k);
            or_dash(at, |at| format!("{:.3}, {:.0} %", at.regret_ratio, 100.0 * at.hit_rate))
        }));
        row
    });
    table(out, &heads, &rows.collect::<Vec<Vec<String>>>());
}

/// What an estimate may be trusted for, in words that only restate its figures.
fn advice(judged: &Judgement) -> String {
    let Some(regret) = judged.regret_ratio else {
        return "nothing to judge it by.".to_owned();
    };
    let choice = if judged.rank_of_best == Some(1) {
        "its first choice is the best sample".to_owned()
    } else {
        format!(
            "its first choice is {} worse than the best sample, which it puts at place {}",
            percent(regret - 1.0),
            or_dash(judged.rank_of_best, |rank| rank.to_string())
        )
    };
    let share = match judged.comparable_pairs {
        pairs if pairs > 0 && judged.ties_predicted == pairs => {
            return format!(
                "{choice}, by its place among the cases: it predicts all of them equal, which is no order."
            );
        }
        0 => "; no two cases differ by more than the noise, so its order can't be judged".to_owned(),
        pairs => format!(
            "; it puts {} of the pairs that differ by more than the noise in the wrong order",
            percent(judged.inversions as f64 / pairs as f64)
        ),
    };
    format!("{choice}{share}.")
}
