//! The control's own times over the sweep.

use serde::Serialize;
use stats::order::median;

use super::columns::short;
use crate::analysis::WorkloadRow;

/// At most so many points are shown; more rounds are put together, neighbour with neighbour.
const MOST: usize = 2_000;

/// The control beside every case of a workload, in order of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Drift {
    /// Seconds since the first of these rounds was over.
    pub seconds: Vec<Option<f64>>,
    /// Median of the control's calls of a round, in the shown unit; of several rounds the median of that.
    pub value: Vec<Option<f64>>,
    /// Least of the rounds that are put together; the value itself for a single one.
    pub least: Vec<Option<f64>>,
    /// Greatest of them.
    pub most: Vec<Option<f64>>,
    /// Whether any of them was disturbed.
    pub disturbed: Vec<bool>,
    /// The case beside which the control was measured, as a number among all cases; `null` where rounds are put together.
    pub case: Vec<Option<usize>>,
    /// Rounds that one point stands for, at most.
    pub rounds_per_point: usize,
}

/// The control of a workload over the sweep; empty where it was not followed. `number` gives a case's number by its name,
/// `one` is what one of the shown unit is in the objective's.
pub fn drift(workload: &WorkloadRow, number: impl Fn(&str) -> Option<usize>, one: f64) -> Drift {
    let points = workload.drift.as_ref().map_or(&[][..], |drift| &drift.points);
    let together = points.len().div_ceil(MOST).max(1);
    let mut drift = Drift {
        rounds_per_point: together,
        ..Drift::default()
    };
    for group in points.chunks(together) {
        let values: Vec<f64> = group.iter().map(|point| point.control / one).collect();
        let middle = &group[group.len() / 2];
        drift.seconds.push(short(Some(middle.seconds)));
        drift.value.push(short(median(&values)));
        drift.least.push(short(values.iter().copied().min_by(f64::total_cmp)));
        drift.most.push(short(values.iter().copied().max_by(f64::total_cmp)));
        drift.disturbed.push(group.iter().any(|point| point.disturbed));
        drift.case.push(number(&middle.case).filter(|_| together == 1));
    }
    drift
}
