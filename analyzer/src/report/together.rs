//! What several workloads say together.

use std::fmt::Write as _;

use crate::analysis::Analysis;
use crate::format::{name, or_dash, ratio, significant, table};

/// The section on all workloads; nothing for a single one.
pub(crate) fn together(out: &mut String, analysis: &Analysis) {
    let Some(across) = &analysis.across else {
        return;
    };
    let _ = writeln!(out, "## All workloads\n");
    for line in together_lines(analysis, name) {
        let _ = writeln!(out, "{line}\n");
    }
    let rows: Vec<Vec<String>> = analysis
        .workloads
        .iter()
        .enumerate()
        .map(|(index, workload)| {
            let single = across.single.as_ref().and_then(|single| single.on.get(index));
            vec![
                name(&workload.name),
                or_dash(across.weights.get(index).copied(), |weight| significant(weight, 3)),
                or_dash(workload.winner.as_ref(), |winner| name(&winner.case)),
                or_dash(workload.winner.as_ref(), |winner| ratio(winner.ratio.median)),
                or_dash(single, |on| name(&on.case)),
                or_dash(single, |on| ratio(on.ratio)),
                or_dash(single, |on| ratio(on.regret_ratio)),
            ]
        })
        .collect();
    let ratio_head = format!("ratio ({})", analysis.setup.origin());
    let head = [
        "workload",
        "weight",
        "its best",
        &ratio_head,
        "the single plan there",
        &ratio_head,
        "regret (derived)",
    ];
    table(out, &head, &rows);
}

/// The single plan in words. Shared by report and terminal.
pub(crate) fn together_lines(analysis: &Analysis, show: impl Fn(&str) -> String) -> Vec<String> {
    let Some(across) = &analysis.across else {
        return Vec::new();
    };
    let single = match &across.single {
        None => "No plan was measured on every workload, so no single plan can be named for all.".to_owned(),
        Some(single) => format!(
            "The best single plan for all workloads, of {} measured on every one: {}; {} (weighted geometric mean, derived).",
            across.common_plans,
            show(&single.plan),
            if analysis.setup.objective.is_duration() {
                format!(
                    "it takes {} of what each workload's own best takes",
                    ratio(single.mean_regret)
                )
            } else {
                format!(
                    "it is worse than each workload's own best by a factor of {}",
                    ratio(single.mean_regret)
                )
            }
        ),
    };
    let objective = &analysis.setup.objective;
    let sum = across.sum.map(|sum| {
        format!(
            "Each as often as its weight says, they take {} with their controls and {} with each one's best: \
             {} (derived).",
            objective.quantity(sum.control),
            objective.quantity(sum.best),
            ratio(sum.ratio)
        )
    });
    [Some(single), sum].into_iter().flatten().collect()
}
