//! `summary.csv`: one line per case.

use std::collections::BTreeSet;

use super::definitions::columns;
use crate::analysis::{Analysis, CaseRow, WorkloadRow};
use crate::error::AnalyzeError;

/// All cases of all workloads, in the order of the cohort, as CSV (RFC 4180, UTF-8, lines end in LF). Columns are those
/// of [`columns`], then phases, other numbers, estimates and attributes. Numbers have all their digits.
pub fn summary(analysis: &Analysis) -> Result<Vec<u8>, AnalyzeError> {
    let rows = || {
        analysis
            .workloads
            .iter()
            .flat_map(|w| w.cases.iter().map(move |case| (w, case)))
    };
    let mut phases: Vec<&str> = Vec::new();
    let mut others: Vec<&str> = Vec::new();
    let mut estimates: Vec<&str> = Vec::new();
    let mut attributes: Vec<&str> = Vec::new();
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for (_, case) in rows() {
        for phase in case
            .phases
            .iter()
            .filter(|phase| !phases.contains(&phase.name.as_str()))
            .collect::<Vec<_>>()
        {
            phases.push(&phase.name);
        }
        attributes.extend(
            case.attributes
                .iter()
                .map(|(name, _)| name)
                .filter(|name| known.insert(name)),
        );
        for name in case.other.keys() {
            if !others.contains(&name.as_str()) {
                others.push(name);
            }
        }
        for name in case.estimates.keys() {
            if !estimates.contains(&name.as_str()) {
                estimates.push(name);
            }
        }
    }
    others.sort_unstable();
    estimates.sort_unstable();

    let mut writer = csv::Writer::from_writer(Vec::new());
    let columns: Vec<&str> = columns(analysis).into_iter().map(|(name, _)| *name).collect();
    let head = columns.iter().map(|name| (*name).to_owned());
    let head = head.chain(phases.iter().map(|name| format!("phase.{name}")));
    let head = head.chain(others.iter().map(|name| format!("other.{name}")));
    let head = head.chain(estimates.iter().map(|name| format!("estimate.{name}")));
    writer.write_record(head.chain(attributes.iter().map(|name| format!("attribute.{name}"))))?;
    for workload in &analysis.workloads {
        for case in &workload.cases {
            let mut line = fixed(analysis, workload, case, &columns);
            line.extend(phases.iter().map(|name| {
                let phase = case.phases.iter().find(|phase| phase.name == *name);
                number(phase.map(|phase| phase.median))
            }));
            line.extend(others.iter().map(|name| number(case.other.get(*name).copied())));
            line.extend(estimates.iter().map(|name| number(case.estimates.get(*name).copied())));
            line.extend(attributes.iter().map(|name| number(case.attributes.get(name))));
            writer.write_record(line)?;
        }
    }
    writer
        .into_inner()
        .map_err(|error| AnalyzeError::Write(error.into_error()))
}

fn number<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// The cells of these columns, in their order.
fn fixed(analysis: &Analysis, workload: &WorkloadRow, case: &CaseRow, columns: &[&str]) -> Vec<String> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let measured = |count: usize| number(Some(count).filter(|_| case.ratio.is_some()));
    let objective = &analysis.setup.objective;
    let cell = |column: &&str| match *column {
        "workload" => workload.name.clone(),
        "case" => case.name.clone(),
        "family" => case.family.clone(),
        "chosen" => case.chosen.word().to_owned(),
        "outcome" => case.outcome.word().to_owned(),
        "is_control" => (case.name == workload.control).to_string(),
        "rank" => number(case.rank),
        "ratio" => number(case.ratio.map(|ratio| ratio.median)),
        "ratio_lower" => number(case.ratio.and_then(|ratio| ratio.lower)),
        "ratio_upper" => number(case.ratio.and_then(|ratio| ratio.upper)),
        "pairs" => measured(case.pairs),
        "rounds" => measured(case.rounds),
        "value" => number(case.value),
        "normalised_value" => number(case.normalised_value),
        "unit" => objective.unit.clone(),
        "direction" => if objective.larger_is_better { "higher" } else { "lower" }.to_owned(),
        "gflops" => number(case.gflops),
        "share_of_peak" => number(case.share_of_peak),
        "share_of_limit" => number(case.share_of_limit),
        "disturbed_rounds" => measured(case.disturbed_rounds.len()),
        "max_absolute_error" => number(case.error.and_then(|error| error.max_absolute)),
        "tolerance" => number(case.error.map(|error| error.tolerance)),
        "attempts" => case.attempts.len().to_string(),
        "reason" => text(&case.reason),
        "because" => case.because.clone(),
        "repeat_of" => text(&case.repeat_of),
        "plan" => case.plan.clone(),
        other => unreachable!("column `{other}` has no cells"),
    };
    columns.iter().map(cell).collect()
}
