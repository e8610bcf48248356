//! `summary.csv`: one line per case.

use std::collections::{BTreeMap, BTreeSet};

use super::definitions::COLUMNS;
use crate::analysis::{Analysis, CaseRow, WorkloadRow};
use crate::error::AnalyzeError;

/// All cases of all workloads, in the order of the cohort, as CSV (RFC 4180, UTF-8, lines end in LF). Columns are those
/// of [`COLUMNS`], then phases, other numbers, estimates and attributes. Numbers have all their digits.
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
    let head = COLUMNS.iter().map(|(name, _)| (*name).to_owned());
    let head = head.chain(phases.iter().map(|name| format!("phase.{name}")));
    let head = head.chain(others.iter().map(|name| format!("other.{name}")));
    let head = head.chain(estimates.iter().map(|name| format!("estimate.{name}")));
    writer.write_record(head.chain(attributes.iter().map(|name| format!("attribute.{name}"))))?;
    let ranks: Vec<BTreeMap<&str, usize>> = analysis.workloads.iter().map(ranks).collect();
    for (workload, ranks) in analysis.workloads.iter().zip(&ranks) {
        for case in &workload.cases {
            let mut line = fixed(analysis, workload, case, ranks.get(case.name.as_str()).copied());
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

fn ranks(workload: &WorkloadRow) -> BTreeMap<&str, usize> {
    workload
        .best()
        .iter()
        .enumerate()
        .map(|(index, (case, _))| (case.name.as_str(), index + 1))
        .collect()
}

fn number<T: ToString>(value: Option<T>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// The cells of [`COLUMNS`], in their order.
fn fixed(analysis: &Analysis, workload: &WorkloadRow, case: &CaseRow, rank: Option<usize>) -> Vec<String> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let measured = |count: usize| number(Some(count).filter(|_| case.ratio.is_some()));
    vec![
        workload.name.clone(),
        case.name.clone(),
        case.family.clone(),
        case.chosen.word().to_owned(),
        case.outcome.word().to_owned(),
        (case.name == workload.control).to_string(),
        number(rank),
        number(case.ratio.map(|ratio| ratio.median)),
        number(case.ratio.and_then(|ratio| ratio.lower)),
        number(case.ratio.and_then(|ratio| ratio.upper)),
        measured(case.pairs),
        measured(case.rounds),
        number(case.value),
        number(case.normalised_value),
        analysis.setup.objective.unit.clone(),
        number(case.gflops),
        number(case.share_of_peak),
        measured(case.disturbed_rounds.len()),
        number(case.error.and_then(|error| error.max_absolute)),
        number(case.error.map(|error| error.tolerance)),
        case.attempts.len().to_string(),
        text(&case.reason),
        case.because.clone(),
        text(&case.repeat_of),
        case.plan.clone(),
    ]
}
