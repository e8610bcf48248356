//! What a report says of each estimate.

use std::fmt::Write as _;

use crate::analysis::{Analysis, EstimateRow, WorkloadRow};
use crate::format::{counted, name, or_dash, percent, shown_unit, significant, table, value};

/// Inversions of comparable pairs: `12 of 340`.
pub(crate) fn inversions(estimate: &EstimateRow) -> String {
    format!("{} of {}", estimate.whole.inversions, estimate.whole.comparable_pairs)
}

/// The section on models.
pub(crate) fn models(out: &mut String, analysis: &Analysis, workload: &WorkloadRow) {
    if workload.estimates.is_empty() {
        let _ = writeln!(out, "No case has an estimate.\n");
        return;
    }
    let unit = &analysis.setup.objective.unit;
    let (shown, _) = shown_unit(unit);
    let rows: Vec<Vec<String>> = workload
        .estimates
        .iter()
        .map(|estimate| {
            let correlation = |rho: f64| format!("{rho:.3}");
            vec![
                name(&estimate.name),
                estimate.whole.samples.to_string(),
                or_dash(estimate.whole.spearman, correlation),
                or_dash(estimate.whole.ceiling, correlation),
                or_dash(estimate.whole.kendall, correlation),
                inversions(estimate),
                or_dash(estimate.whole.selected.as_deref(), name),
                or_dash(estimate.whole.regret_ratio, |ratio| format!("{ratio:.3}")),
                or_dash(estimate.whole.regret_value, |v| value(v, unit)),
                or_dash(estimate.whole.rank_of_best, |rank| rank.to_string()),
                or_dash(estimate.whole.bias, |bias| significant(bias, 3)),
                or_dash(estimate.whole.mdape_percent, |error| percent(error / 100.0)),
            ]
        })
        .collect();
    let regret = format!("regret ({shown})");
    let head = [
        "estimate (modelled)",
        "samples",
        "Spearman",
        "of about",
        "Kendall",
        "inversions",
        "its choice",
        "regret",
        &regret,
        "rank of best",
        "bias",
        "MdAPE",
    ];
    table(out, &head, &rows);
    for estimate in &workload.estimates {
        let left_out: Vec<String> = estimate
            .whole
            .left_out
            .iter()
            .map(|(reason, count)| format!("{count} {reason}"))
            .collect();
        let left_out = if left_out.is_empty() {
            "none".to_owned()
        } else {
            left_out.join(", ")
        };
        let _ = writeln!(
            out,
            "- {}: unit `{}`, made from the {}; left out: {left_out}; {} of {} comparable pairs are predicted equal; {}",
            name(&estimate.name),
            estimate.unit,
            match estimate.moment {
                target_api::Moment::Plan => "plan",
                target_api::Moment::Build => "build",
            },
            estimate.whole.ties_predicted,
            estimate.whole.comparable_pairs,
            ceiling(estimate),
        );
    }
    out.push('\n');
}

/// Where the ceiling comes from, or why there is none; see [`stats::noise::noise_ceiling`].
fn ceiling(estimate: &EstimateRow) -> String {
    let samples = counted(estimate.whole.ceiling_samples, "sample");
    match estimate.whole.ceiling {
        Some(_) => format!("the ceiling comes from {samples}"),
        None if estimate.whole.ceiling_samples < 3 => {
            format!("the ceiling is undefined: {samples} with at least 2 rounds, 3 are needed")
        }
        None => format!(
            "the ceiling is undefined: over {samples} even and odd rounds do not agree on an order, noise hides it"
        ),
    }
}
