//! Held-out plans under two tables.

use std::collections::BTreeMap;

use analyzer::dataset::{CaseData, WorkloadData};
use calibrate::FitOptions;
use calibrate::judge::{HeldOutCase, HeldOutFamily, Judgement, PhaseTime, Predicted, held_out_families, judge};
use cohort::{Case, CohortDir};
use target_api::Estimate;

use super::inputs::{Inputs, ReadCohort};
use super::refused;
use crate::costs::Costs;
use crate::failure::Failure;
use crate::freezing;
use crate::planning::Planning;

/// What held-out keys and plans say.
#[derive(Default)]
pub(crate) struct Judged {
    pub(crate) families: Vec<HeldOutFamily>,
    pub(crate) judgements: Vec<Judgement>,
    /// Estimates in the objective's unit, in the target's order.
    in_unit: Vec<String>,
    /// Unit of the objective.
    pub(crate) unit: Option<String>,
}

/// Judges both tables on everything that is held out.
pub(crate) fn judge_all(held_out: &Inputs, old: &Costs, new: &Costs, options: FitOptions) -> Result<Judged, Failure> {
    let mut judged = Judged {
        families: held_out_families(&held_out.database, &old.table, &new.table).map_err(refused)?,
        ..Judged::default()
    };
    for cohort in &held_out.cohorts {
        let unit = cohort.dataset.setup.objective.unit.clone();
        let before = cohort.planning.repriced(old.clone())?;
        let after = cohort.planning.repriced(new.clone())?;
        for estimate in estimates(cohort, &before, &after)? {
            let in_unit = estimate.unit == unit;
            if in_unit && !judged.in_unit.contains(&estimate.name) {
                judged.in_unit.push(estimate.name.clone());
            }
            for cases in estimate.by_workload.values() {
                let judgement = judge(&estimate.name, cases, in_unit, options).map_err(refused)?;
                judged.judgements.extend(judgement);
            }
        }
        judged.unit = Some(unit);
    }
    Ok(judged)
}

/// The estimate of the headline.
pub(crate) fn headline_estimate(judged: &Judged, wanted: Option<&str>) -> Result<Option<String>, Failure> {
    let mut all: Vec<&str> = judged
        .judgements
        .iter()
        .map(|judgement| judgement.estimate.as_str())
        .collect();
    all.dedup();
    match wanted {
        None => Ok(judged
            .in_unit
            .first()
            .cloned()
            .or(all.first().map(|name| (*name).to_owned()))),
        Some(name) if all.contains(&name) => Ok(Some(name.to_owned())),
        Some(name) => Err(Failure::usage(format!(
            "no estimate is called `{name}`: expected one of `{}`",
            all.join("`, `")
        ))),
    }
}

/// One estimate of all held-out cases.
struct OfEstimate {
    name: String,
    unit: String,
    by_workload: BTreeMap<String, Vec<HeldOutCase>>,
}

fn predicted(estimate: Estimate) -> Predicted {
    Predicted {
        value: estimate.value,
        parts: estimate.parts,
    }
}

/// Estimates of moment `plan` under both tables, of every case that judges.
fn estimates(cohort: &ReadCohort, before: &Planning, after: &Planning) -> Result<Vec<OfEstimate>, Failure> {
    let mut all: Vec<OfEstimate> = Vec::new();
    let (of_old, of_new) = (before.configured.estimators(), after.configured.estimators());
    for workload in &cohort.dataset.workloads {
        let extents = freezing::workload(&cohort.planning, &workload.name)?;
        for (case, frozen, value) in cohort.judges(workload)? {
            let phases: Vec<PhaseTime> = case
                .phases
                .iter()
                .map(|phase| PhaseTime {
                    kind: phase.kind.clone(),
                    value: phase.median,
                })
                .collect();
            let beyond_lanes = beyond_lanes(cohort, &case.name);
            for (old, new) in of_old.iter().zip(&of_new) {
                // A plan that either table says nothing of judges neither.
                let both = [old, new].map(|model| model.estimate(extents, &frozen.plan).ok());
                let [Some(old), Some(new)] = both else { continue };
                let at = all.iter().position(|one| one.name == old.name).unwrap_or_else(|| {
                    all.push(OfEstimate {
                        name: old.name.clone(),
                        unit: old.unit.clone(),
                        by_workload: BTreeMap::new(),
                    });
                    all.len() - 1
                });
                let one = HeldOutCase {
                    name: case.name.clone(),
                    workload: workload.name.clone(),
                    value,
                    phases: phases.clone(),
                    beyond_lanes,
                    old: predicted(old),
                    new: predicted(new),
                };
                all[at].by_workload.entry(workload.name.clone()).or_default().push(one);
            }
        }
    }
    Ok(all)
}

/// Time of a case's exchange beyond what its lanes need, where its profile tells it.
fn beyond_lanes(cohort: &ReadCohort, case: &str) -> Option<f64> {
    let path = CohortDir::new(&cohort.path).case_profile(case);
    let text = fs_err::read_to_string(path).ok()?;
    cohort.planning.configured.beyond_lanes(&text)
}

/// One estimate of the cases of one workload, beside what was measured.
pub(crate) struct Predictions {
    pub(crate) estimate: String,
    pub(crate) unit: String,
    pub(crate) workload: String,
    pub(crate) names: Vec<String>,
    pub(crate) predicted: Vec<f64>,
    pub(crate) measured: Vec<f64>,
}

impl ReadCohort {
    /// The cases of a workload that judge, as they were measured and as they were frozen, each with what it takes.
    fn judges<'a>(&'a self, workload: &'a WorkloadData) -> Result<Vec<(&'a CaseData, &'a Case, f64)>, Failure> {
        let initial = self.snapshot.frozen.initial_cases().iter();
        let frozen: BTreeMap<&str, &Case> = initial.map(|own| (own.name.as_str(), own)).collect();
        let mut judges = Vec::new();
        for case in workload.cases.iter().filter(|case| case.is_judge()) {
            let value = analyzer::value(workload, case).map_err(crate::explain::unreadable)?;
            if let (Some(frozen), Some(value)) = (frozen.get(case.name.as_str()), value) {
                judges.push((case, *frozen, value));
            }
        }
        Ok(judges)
    }

    /// What estimates say of the cases that judge: as the cohort has them, or under another table.
    pub(crate) fn predictions(&self, costs: Option<Costs>) -> Result<Vec<Predictions>, Failure> {
        let repriced = costs.map(|costs| self.planning.repriced(costs)).transpose()?;
        let mut all: BTreeMap<(String, String), Predictions> = BTreeMap::new();
        for workload in &self.dataset.workloads {
            let extents = freezing::workload(&self.planning, &workload.name)?;
            for (case, frozen, value) in self.judges(workload)? {
                let estimates: Vec<(String, String, f64)> = if let Some(planning) = &repriced {
                    let all = planning.configured.estimators().into_iter();
                    // What has no estimate is judged by none.
                    let all = all.filter_map(|model| model.estimate(extents, &frozen.plan).ok());
                    all.map(|estimate| (estimate.name, estimate.unit, estimate.value))
                        .collect()
                } else {
                    let all = case.estimates.iter();
                    all.map(|(name, own)| (name.clone(), own.unit.clone(), own.value))
                        .collect()
                };
                for (name, unit, predicted) in estimates {
                    let key = (name.clone(), workload.name.clone());
                    let one = all.entry(key).or_insert_with(|| Predictions {
                        estimate: name,
                        unit,
                        workload: workload.name.clone(),
                        names: Vec::new(),
                        predicted: Vec::new(),
                        measured: Vec::new(),
                    });
                    one.names.push(case.name.clone());
                    one.predicted.push(predicted);
                    one.measured.push(value);
                }
            }
        }
        Ok(all.into_values().collect())
    }
}
