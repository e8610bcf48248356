//! Which cases are the fastest, as far as is known while the sweep runs.

use cohort::{Case, CaseState, Frozen, Outcome, RunOutcome, State};
use stats::interval::{Level, MedianInterval};
use stats::order::median;
use stats::paired::{PairedRatios, pooled_noise};
use target_api::{Measurement, Of};

/// A case with its paired ratio to the control.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked<'a> {
    /// The case.
    pub case: &'a Case,
    /// Pairs that were measured.
    pub pairs: usize,
    /// Median of case / control over all pairs, with its 95 % interval; below 1 is faster than the control. Pairs are
    /// taken as independent. The control's own is exactly 1, as in reports: what it measured beside itself is noise.
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
    /// Standard deviation of the logarithm of one pair's ratio, pooled over the cases; `None` before any has two pairs.
    pub noise: Option<f64>,
}

impl Ranking<'_> {
    /// Where the median ratio of one of its cases may lie, lower and upper end; see [`MedianInterval::reach`].
    #[must_use]
    pub fn reach(&self, ranked: &Ranked<'_>) -> (f64, f64) {
        ranked.ratio.reach(self.noise)
    }
}

/// One ranking for each workload, in the manifest's order. Confirmations are not among the cases: they repeat others.
pub(super) fn rankings<'a>(frozen: &'a Frozen, state: &State<'a>) -> Vec<Ranking<'a>> {
    let confirmations = frozen.confirmations();
    let each = frozen.manifest().workloads.iter().map(|entry| {
        let workload = entry.workload.name.as_str();
        let own = state
            .cases()
            .iter()
            .filter(|case| case.case.workload == workload && !confirmations.contains_key(case.case.name.as_str()));
        let (mut cases, ratios): (Vec<_>, Vec<_>) =
            own.filter_map(|case| ranked(case, entry.control.as_deref())).unzip();
        cases.sort_by(|a, b| {
            let by_ratio = a.ratio.point.total_cmp(&b.ratio.point);
            by_ratio.then_with(|| a.case.name.cmp(&b.case.name))
        });
        Ranking {
            workload,
            control: entry
                .control
                .as_deref()
                .and_then(|control| state.get(control))
                .map(|control| control.case),
            cases,
            noise: pooled_noise(ratios.iter().map(Vec::as_slice)),
        }
    });
    each.collect()
}

fn ranked<'a>(state: &CaseState<'a>, control: Option<&str>) -> Option<(Ranked<'a>, Vec<f64>)> {
    if state.outcome() != Some(Outcome::Correct) {
        return None;
    }
    let measurements = state.latest()?.correct().filter_map(|(_, round)| match round.outcome {
        RunOutcome::Correct { measurement } => Some(measurement),
        _ => None,
    });
    let measurements: Vec<_> = measurements.collect();
    let pairs: Vec<_> = measurements
        .iter()
        .flat_map(|measurement| pairs_of(measurement))
        .collect();
    let ratios = PairedRatios::new(&pairs).ok()?;
    let mut ratio = ratios.interval(Level::P95);
    let beside_itself = measurements.iter().any(|measurement| !measurement.pairs().is_empty());
    if beside_itself && control == Some(state.case.name.as_str()) {
        (ratio.point, ratio.lower, ratio.upper) = (1.0, 1.0, 1.0);
    }
    let ranked = Ranked {
        case: state.case,
        pairs: ratios.pairs(),
        ratio,
    };
    Some((ranked, ratios.ratios().to_vec()))
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
