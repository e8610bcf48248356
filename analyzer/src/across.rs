//! Several workloads: the best plan for each, and the best single plan for all.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::WorkloadRow;
use crate::dataset::Chosen;
use crate::objective::Objective;

/// A single plan on one workload.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OnWorkload {
    /// The workload.
    pub workload: String,
    /// The case there that has the plan.
    pub case: String,
    /// Its median paired ratio to the control of that workload.
    pub ratio: f64,
    /// The workload's own best case.
    pub best: String,
    /// What the single plan takes over what the best case takes: at least 1.
    pub regret_ratio: f64,
}

/// One plan for all workloads.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SinglePlan {
    /// Canonical text of the plan.
    pub plan: String,
    /// Geometric mean of its regrets, each weighted as its workload is: at least 1. No plan in question has a smaller
    /// one.
    pub mean_regret: f64,
    /// Each workload, in the definition's order.
    pub on: Vec<OnWorkload>,
}

/// All workloads, each as often as its weight says: a network that consists of them. In the objective's unit, derived.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct WeightedSum {
    /// Weights times what the controls take.
    pub control: f64,
    /// Weights times what each workload's best takes: its ratio times what the control takes.
    pub best: f64,
    /// `best` over `control`.
    pub ratio: f64,
}

/// What several workloads say together.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Across {
    /// Weights of the workloads, in the definition's order; all 1 where none are given.
    pub weights: Vec<f64>,
    /// What they take together; `null` where a control has no value, and where the objective is
    /// no time.
    pub sum: Option<WeightedSum>,
    /// Plans that were measured on every workload.
    pub common_plans: usize,
    /// The best of these; `null` without any.
    pub single: Option<SinglePlan>,
}

/// The best single plan by the weighted geometric mean of its regrets, among plans that were measured on every workload
/// (the same canonical text; confirmations left out). Of equal ones the first in the order of the first workload's cases.
/// `None` for a single workload, or if one has no measured case.
pub(crate) fn across(workloads: &[WorkloadRow], weights: &[f64], objective: &Objective) -> Option<Across> {
    if workloads.len() < 2 {
        return None;
    }
    // Plan -> its best case on each workload: a wanted repetition counts with its better run.
    let tables: Vec<BTreeMap<&str, (&str, f64)>> = workloads.iter().map(by_plan).collect();
    let bests: Vec<(String, f64)> = workloads
        .iter()
        .map(|workload| {
            let (case, figure) = workload.best().first().copied()?;
            Some((case.name.clone(), figure.median))
        })
        .collect::<Option<_>>()?;
    let total: f64 = weights.iter().sum();
    let mut common_plans = 0;
    let mut single: Option<SinglePlan> = None;
    let mut seen = std::collections::BTreeSet::new();
    for plan in workloads[0].cases.iter().map(|case| case.plan.as_str()) {
        if !seen.insert(plan) {
            continue;
        }
        let found: Option<Vec<(&str, f64)>> = tables.iter().map(|table| table.get(plan).copied()).collect();
        let Some(found) = found else { continue };
        common_plans += 1;
        let on: Vec<OnWorkload> = workloads
            .iter()
            .zip(found)
            .zip(&bests)
            .map(|((workload, (case, ratio)), (best, least))| OnWorkload {
                workload: workload.name.clone(),
                case: case.to_owned(),
                ratio,
                best: best.clone(),
                regret_ratio: ratio / least,
            })
            .collect();
        let logs = on.iter().zip(weights).map(|(on, weight)| weight * on.regret_ratio.ln());
        let mean_regret = (logs.sum::<f64>() / total).exp();
        if single.as_ref().is_none_or(|best| mean_regret < best.mean_regret) {
            single = Some(SinglePlan {
                plan: plan.to_owned(),
                mean_regret,
                on,
            });
        }
    }
    Some(Across {
        weights: weights.to_vec(),
        // Only times add up: not rates, and not what has no unit.
        sum: objective
            .is_duration()
            .then(|| weighted_sum(workloads, &bests, weights))
            .flatten(),
        common_plans,
        single,
    })
}

fn weighted_sum(workloads: &[WorkloadRow], bests: &[(String, f64)], weights: &[f64]) -> Option<WeightedSum> {
    let (mut control, mut best) = (0.0, 0.0);
    for ((workload, (_, ratio)), weight) in workloads.iter().zip(bests).zip(weights) {
        let value = weight * workload.control_value?;
        control += value;
        best += value * ratio;
    }
    Some(WeightedSum {
        control,
        best,
        ratio: best / control,
    })
}

fn by_plan(workload: &WorkloadRow) -> BTreeMap<&str, (&str, f64)> {
    let mut best: BTreeMap<&str, (&str, f64)> = BTreeMap::new();
    for case in workload.cases.iter().filter(|case| case.chosen != Chosen::Confirmation) {
        let Some(ratio) = case.ratio else { continue };
        let entry = best.entry(&case.plan).or_insert((&case.name, ratio.median));
        if ratio.median < entry.1 {
            *entry = (&case.name, ratio.median);
        }
    }
    best
}
