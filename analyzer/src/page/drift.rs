//! The control's own times over the sweep.

use cohort::{RunOutcome, State};
use serde::Serialize;
use stats::order::median;
use target_api::Of;

use super::columns::short;

/// At most so many points are shown; more rounds are put together, neighbour with neighbour.
const MOST: usize = 2_000;

/// The control's calls beside every case of a workload, in order of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Drift {
    /// Seconds since the first of these rounds ended.
    pub seconds: Vec<Option<f64>>,
    /// Median of the control's calls of a round, in the shown unit.
    pub value: Vec<Option<f64>>,
    /// The fastest of these calls.
    pub least: Vec<Option<f64>>,
    /// The slowest.
    pub most: Vec<Option<f64>>,
    /// The case beside which they were made, as a number among all cases; `null` where rounds are put together.
    pub case: Vec<Option<usize>>,
    /// Rounds that one point stands for, at most.
    pub rounds_per_point: usize,
}

struct Round {
    milliseconds: i64,
    case: usize,
    values: Vec<f64>,
}

/// Reads the control's calls from the right rounds of the attempts that count. `number` gives a case's number by its
/// name, `one` is what one of the shown unit is in the objective's.
pub fn drift(state: &State<'_>, workload: &str, number: impl Fn(&str) -> Option<usize>, one: f64) -> Drift {
    let mut rounds = Vec::new();
    for case in state.cases().iter().filter(|case| case.case.workload == workload) {
        let (Some(index), Some(latest)) = (number(&case.case.name), case.latest()) else {
            continue;
        };
        for (_, round) in latest.correct() {
            let RunOutcome::Correct { measurement } = round.outcome else {
                continue;
            };
            let values = measurement.values(Of::Control);
            if !values.is_empty() {
                rounds.push(Round {
                    milliseconds: round.record.at.as_millisecond(),
                    case: index,
                    values,
                });
            }
        }
    }
    // Sorting is stable: of rounds that ended at once the cohort's order decides.
    rounds.sort_by_key(|round| round.milliseconds);
    let start = rounds.first().map_or(0, |round| round.milliseconds);
    let together = rounds.len().div_ceil(MOST).max(1);
    let mut drift = Drift {
        rounds_per_point: together,
        ..Drift::default()
    };
    for group in rounds.chunks(together) {
        let values: Vec<f64> = group.iter().flat_map(|round| round.values.iter().copied()).collect();
        let shown = |value: Option<f64>| short(value.map(|value| value / one));
        let middle = &group[group.len() / 2];
        drift
            .seconds
            .push(short(Some((middle.milliseconds - start) as f64 / 1e3)));
        drift.value.push(shown(median(&values)));
        drift.least.push(shown(values.iter().copied().min_by(f64::total_cmp)));
        drift.most.push(shown(values.iter().copied().max_by(f64::total_cmp)));
        drift.case.push((together == 1).then_some(middle.case));
    }
    drift
}
