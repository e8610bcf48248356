//! Fronts in words.

use crate::analysis::WorkloadRow;
use crate::format::{counted, grouped, ratio, significant};
use crate::front::fronts;

/// How many cases of a front are named.
const NAMED: usize = 6;

/// One line for each front. Shared by report, page and terminal.
pub(crate) fn front_lines(workload: &WorkloadRow, show: impl Fn(&str) -> String) -> Vec<String> {
    let lines = fronts(workload).into_iter().map(|front| {
        let mut told: Vec<String> = front
            .unbeaten
            .iter()
            .take(NAMED)
            .map(|(slower, second, case)| {
                format!("{} ({}, {})", show(&case.name), ratio(*slower), significant(*second, 4))
            })
            .collect();
        if front.unbeaten.len() > NAMED {
            told.push(format!("{} more", grouped(front.unbeaten.len() - NAMED)));
        }
        format!(
            "{} of {} can't be beaten in both, the ratio and {}: {}.",
            grouped(front.unbeaten.len()),
            counted(front.points.len(), "case"),
            show(front.number),
            told.join(", ")
        )
    });
    lines.collect()
}
