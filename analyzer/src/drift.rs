//! The control's own times over the sweep: whether the machine changed meanwhile, and which rounds it disturbed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use stats::noise::mann_whitney;
use stats::order::median;

use crate::dataset::{CaseData, Objective, RoundTime, WorkloadData};

/// Rounds on each side below which the test says nothing: its approximation begins to hold there.
const FEWEST: usize = 8;
/// A round is disturbed beyond so many scaled median absolute deviations: the rule of Hampel ("The influence curve and its
/// role in robust estimation", 1974) with 5 in place of his 3, since a sweep has thousands of rounds.
const DEVIATIONS: f64 = 5.0;
/// Makes a median absolute deviation the standard deviation of normal values.
const SCALE: f64 = 1.4826;

/// Mann-Whitney test of the first half of the rounds against the second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct DriftTest {
    /// Pairs of rounds in which that of the first half is larger, ties counting a half.
    pub u: f64,
    /// Standard score of `u`; positive if the control's values were larger at first.
    pub z: f64,
    /// Two-sided p value: small if the halves differ. Rounds near in time resemble each other, so it is somewhat too
    /// small.
    pub p_two_sided: f64,
}

/// A round in which the control took another time than usual.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DisturbedRound {
    /// The case that was measured beside it.
    pub case: String,
    /// The round, from 0.
    pub round: u32,
    /// The control's median in it, over the median of all rounds.
    pub over_median: f64,
}

/// One round of the sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct DriftPoint {
    /// Seconds since the first round was over.
    pub seconds: f64,
    /// The case that was measured.
    pub case: String,
    /// Its round, from 0.
    pub round: u32,
    /// The control's median in it, in the objective's unit.
    pub control: f64,
    /// Whether it was disturbed.
    pub disturbed: bool,
}

/// The control over the sweep.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Drift {
    /// Rounds with calls of the control.
    pub rounds: usize,
    /// Median over the first half of the rounds, in order of time, of the control's median in each. Measured.
    pub first_half: f64,
    /// The same of the second half.
    pub second_half: f64,
    /// Whether the halves differ; `null` under 8 rounds a side, or if nothing varies.
    pub test: Option<DriftTest>,
    /// Rounds whose control median lies more than 5 scaled median absolute deviations from the median of all: their
    /// values are kept, since paired ratios cancel what disturbs both calls alike.
    pub disturbed: Vec<DisturbedRound>,
    /// Every round, in order of time; for plots, not in `statistics.json`.
    #[serde(skip)]
    pub points: Vec<DriftPoint>,
}

/// The control's values over the sweep, as people know them; `None` under 2 rounds.
pub(crate) fn drift(workload: &WorkloadData, objective: &Objective) -> Option<Drift> {
    let mut rounds: Vec<(RoundTime, &CaseData, f64)> = Vec::new();
    for case in &workload.cases {
        let is_control = case.name == workload.control;
        if workload.paired || is_control {
            let own = controls(case, workload.paired);
            rounds.extend(own.map(|(time, case, value)| (time, case, objective.shown(value))));
        }
    }
    // Cases stand in the cohort's order, which the stable sort keeps among equals.
    rounds.sort_by_key(|(time, _, _)| (time.at_ms, time.sequence));
    let values: Vec<f64> = rounds.iter().map(|(_, _, value)| *value).collect();
    let (first, second) = values.split_at(values.len() / 2);
    let (first_half, second_half) = median(first).zip(median(second))?;
    let middle = median(&values)?;
    let spread = SCALE * median(&values.iter().map(|value| (value - middle).abs()).collect::<Vec<f64>>())?;
    let is_disturbed = |value: f64| spread > 0.0 && (value - middle).abs() > DEVIATIONS * spread;
    let start = rounds.first().map_or(0, |(time, _, _)| time.at_ms);
    let points: Vec<DriftPoint> = rounds
        .iter()
        .map(|(time, case, value)| DriftPoint {
            seconds: (time.at_ms - start) as f64 / 1e3,
            case: case.name.clone(),
            round: time.round,
            control: *value,
            disturbed: is_disturbed(*value),
        })
        .collect();
    let disturbed = points
        .iter()
        .filter(|point| point.disturbed)
        .map(|point| DisturbedRound {
            case: point.case.clone(),
            round: point.round,
            over_median: point.control / middle,
        });
    Some(Drift {
        rounds: values.len(),
        first_half,
        second_half,
        test: mann_whitney(first, second)
            .filter(|_| first.len() >= FEWEST)
            .map(|test| DriftTest {
                u: test.u,
                z: test.z,
                p_two_sided: test.p_two_sided,
            }),
        disturbed: disturbed.collect(),
        points,
    })
}

/// The control's median in each round of a case.
fn controls(case: &CaseData, paired: bool) -> impl Iterator<Item = (RoundTime, &CaseData, f64)> {
    let mut by_round: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for pair in &case.pairs {
        let value = if paired { pair.control } else { pair.case };
        by_round.entry(pair.round).or_default().push(value);
    }
    case.times
        .iter()
        .filter_map(move |time| Some((*time, case, median(by_round.get(&time.round)?)?)))
}
