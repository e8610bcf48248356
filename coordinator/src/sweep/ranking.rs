//! Which cases are the fastest, as far as is known while the sweep runs.

use std::collections::BTreeSet;

use cohort::{Case, CaseState, Manifest, Outcome, RunOutcome, State};
use stats::interval::{Level, MedianInterval};
use stats::order::median;
use stats::paired::PairedRatios;
use target_api::{Measurement, Of};

/// A case with its paired ratio to the control.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked<'a> {
    /// The case.
    pub case: &'a Case,
    /// Pairs that were measured.
    pub pairs: usize,
    /// Median of case / control over all pairs, with its 95 % interval; below 1 is faster than the control. Pairs are
    /// taken as independent.
    pub ratio: MedianInterval,
}

/// The correct cases of one workload, fastest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking<'a> {
    /// The workload's name.
    pub workload: &'a str,
    /// Its control.
    pub control: Option<&'a Case>,
    /// By median ratio, then by name.
    pub cases: Vec<Ranked<'a>>,
}

impl Ranking<'_> {
    /// The `k` fastest choices for one operation, each by the fastest case that has it: cases count here that differ
    /// from the control in this operation only, as far as attributes called `<operation>.<name>` tell, and the control
    /// itself. (A case that changes two operations says nothing about either alone.)
    #[must_use]
    pub fn choices(&self, operation: &str, k: usize) -> Vec<Ranked<'_>> {
        let Some(control) = self.control else { return Vec::new() };
        let attributes = |case: &Case, own: bool| -> Vec<(String, String)> {
            let all = case.plan.attributes.iter();
            let of_an_operation = all.filter_map(|(name, value)| Some((name.split_once('.')?.0, name, value)));
            of_an_operation
                .filter(|(of, ..)| (*of == operation) == own)
                .map(|(_, name, value)| (name.to_owned(), value.to_string()))
                .collect()
        };
        let others = attributes(control, false);
        let mut seen = BTreeSet::new();
        let alone = self
            .cases
            .iter()
            .filter(|ranked| attributes(ranked.case, false) == others);
        alone
            .filter(|ranked| seen.insert(attributes(ranked.case, true)))
            .take(k)
            .copied()
            .collect()
    }
}

/// One ranking for each workload, in the manifest's order.
pub(super) fn rankings<'a>(manifest: &'a Manifest, state: &State<'a>) -> Vec<Ranking<'a>> {
    let each = manifest.workloads.iter().map(|entry| {
        let workload = entry.workload.name.as_str();
        let own = state.cases().iter().filter(|case| case.case.workload == workload);
        let mut cases: Vec<_> = own.filter_map(ranked).collect();
        cases.sort_by(|a, b| {
            let by_ratio = a.ratio.point.total_cmp(&b.ratio.point);
            by_ratio.then_with(|| a.case.name.cmp(&b.case.name))
        });
        Ranking {
            workload,
            control: state.get(&entry.control).map(|control| control.case),
            cases,
        }
    });
    each.collect()
}

fn ranked<'a>(state: &CaseState<'a>) -> Option<Ranked<'a>> {
    if state.outcome() != Some(Outcome::Correct) {
        return None;
    }
    let rounds = state.latest()?.correct();
    let pairs: Vec<_> = rounds
        .filter_map(|(_, round)| match round.outcome {
            RunOutcome::Correct { measurement } => Some(pairs_of(measurement)),
            _ => None,
        })
        .flatten()
        .collect();
    let ratios = PairedRatios::new(&pairs).ok()?;
    Some(Ranked {
        case: state.case,
        pairs: ratios.pairs(),
        ratio: ratios.interval(Level::P95),
    })
}

/// Pairs of a round; where there is no control, the case's median against 1, so that values themselves are ranked.
fn pairs_of(measurement: &Measurement) -> Vec<(f64, f64)> {
    let pairs = measurement.pairs();
    if pairs.is_empty() {
        let alone = median(&measurement.values(Of::Case));
        return alone.map(|value| (value, 1.0)).into_iter().collect();
    }
    pairs
}
