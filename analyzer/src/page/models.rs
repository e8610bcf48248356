//! Which estimates to trust.

use std::fmt::Write as _;

use super::answer::case_link;
use super::escape::text;
use crate::analysis::{Analysis, WorkloadRow};
use crate::format::{or_dash, percent, shown_unit, significant, value};
use crate::report::inversions;

/// The table of estimates.
pub(crate) fn models(out: &mut String, analysis: &Analysis, workload: &WorkloadRow) {
    if workload.estimates.is_empty() {
        out.push_str("<p class=\"empty\">No case has an estimate.</p>");
        return;
    }
    let unit = &analysis.setup.objective.unit;
    let (shown, _) = shown_unit(unit);
    let heads = [
        ("estimate", "modelled"),
        ("samples", ""),
        ("Spearman", "derived"),
        ("ceiling", "derived, approximate"),
        ("Kendall", "derived"),
        ("inversions", "derived"),
        ("its choice", ""),
        ("regret", "derived"),
        ("rank of best", "derived"),
        ("bias", "derived"),
        ("MdAPE", "derived"),
    ];
    out.push_str("<div class=\"scroll\"><table class=\"plain\"><thead><tr>");
    for (index, (head, label)) in heads.iter().enumerate() {
        let class = if index == 0 || index == 6 { "" } else { " class=\"n\"" };
        let _ = write!(out, "<th scope=\"col\"{class}>{head}<small>{label}</small></th>");
    }
    out.push_str("</tr></thead><tbody>");
    for estimate in &workload.estimates {
        let rho = |rho: f64| format!("{rho:.3}");
        let regret = or_dash(estimate.regret_ratio, |ratio| format!("{ratio:.3}"));
        let more = estimate
            .regret_value
            .map(|more| format!(" (+{} {})", value(more, unit), text(shown)));
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}<small>{}, from the {}</small></th>",
            text(&estimate.name),
            text(&estimate.unit),
            match estimate.moment {
                target_api::Moment::Plan => "plan",
                target_api::Moment::Build => "build",
            }
        );
        let cells = [
            estimate.samples.to_string(),
            or_dash(estimate.spearman, rho),
            or_dash(estimate.ceiling, rho),
            or_dash(estimate.kendall, rho),
            inversions(estimate),
            or_dash(estimate.selected.as_deref(), case_link),
            regret + &more.unwrap_or_default(),
            or_dash(estimate.rank_of_best, |rank| rank.to_string()),
            or_dash(estimate.bias, |bias| significant(bias, 3)),
            or_dash(estimate.mdape_percent, |error| percent(error / 100.0)),
        ];
        for (index, cell) in cells.iter().enumerate() {
            let class = if index == 5 { "" } else { " class=\"n\"" };
            let _ = write!(out, "<td{class}>{cell}</td>");
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div><ul class=\"verdict\">");
    for estimate in &workload.estimates {
        let mut words = vec![advice(estimate)];
        if !estimate.left_out.is_empty() {
            let left: Vec<String> = estimate
                .left_out
                .iter()
                .map(|(why, count)| format!("{count} {why}"))
                .collect();
            words.push(format!("Left out: {}.", left.join(", ")));
        }
        let _ = write!(
            out,
            "<li><b>{}</b>: {}</li>",
            text(&estimate.name),
            text(&words.join(" "))
        );
    }
    out.push_str("</ul>");
}

/// What an estimate may be trusted for, in words that only restate its figures.
fn advice(estimate: &crate::analysis::EstimateRow) -> String {
    let Some(regret) = estimate.regret_ratio else {
        return "nothing to judge it by.".to_owned();
    };
    let choice = if estimate.rank_of_best == Some(1) {
        "its first choice is the best sample".to_owned()
    } else {
        format!(
            "its first choice takes {} more than the best sample, which it puts at place {}",
            percent(regret - 1.0),
            or_dash(estimate.rank_of_best, |rank| rank.to_string())
        )
    };
    let share = match estimate.comparable_pairs {
        0 => "; no two cases differ by more than the noise, so its order can't be judged".to_owned(),
        pairs => format!(
            "; it puts {} of the pairs that differ by more than the noise in the wrong order",
            percent(estimate.inversions as f64 / pairs as f64)
        ),
    };
    format!("{choice}{share}.")
}
