//! Held-out plans under two tables.

use std::collections::{BTreeMap, BTreeSet};

use analyzer::dataset::{CaseData, PhaseFigure, WorkloadData};
use calibrate::judge::{HeldOutCase, HeldOutFamily, Judgement, PhaseTime, Predicted, held_out_families, judge};
use calibrate::{FitOptions, Unjudged};
use cohort::{BuildOutcome, Case, CohortDir};
use target_api::{Estimate, NoEstimate};

use super::inputs::{Inputs, ReadCohort};
use super::refused;
use crate::costs::Costs;
use crate::failure::Failure;
use crate::freeze::unreadable;
use crate::freezing;
use crate::planning::Planning;

/// What held-out keys and plans say.
#[derive(Default)]
pub(crate) struct Judged {
    pub(crate) families: Vec<HeldOutFamily>,
    pub(crate) judgements: Vec<Judgement>,
    /// Held-out plans that an estimate does not judge.
    pub(crate) unjudged: Vec<Unjudged>,
    /// Estimates of moment `build` that the target makes only in a build.
    only_built: BTreeSet<String>,
    /// Estimates in the objective's unit, in the target's order.
    in_unit: Vec<String>,
    /// Unit of the objective.
    pub(crate) unit: Option<String>,
}

impl Judged {
    /// What a reader must know of estimates that judge nothing.
    pub(crate) fn notes(&self) -> Vec<String> {
        let note = |name: &String| {
            format!(
                "`{name}` is no judge: the target makes it in a build, and the plans were built under their cohort's own prices"
            )
        };
        self.only_built.iter().map(note).collect()
    }
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
        let found = estimates(cohort, &before, &after)?;
        judged.unjudged.extend(found.unjudged);
        judged.only_built.extend(found.only_built);
        for estimate in found.all {
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
    judged.unjudged.sort();
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

/// An estimate as the judge takes it: a part that is called like a phase that was measured belongs to that phase's kind.
fn predicted(estimate: Estimate, phases: &[PhaseFigure]) -> Predicted {
    let kind = |part: String| {
        let measured = phases.iter().find(|phase| phase.name == part);
        measured.map_or(part, |phase| phase.kind.clone())
    };
    let parts = estimate.parts.into_iter();
    Predicted {
        value: estimate.value,
        parts: parts.map(|(part, value)| (kind(part), value)).collect(),
    }
}

/// What one table's estimators say of one plan: by name, in the target's order.
type Said = Vec<(&'static str, Result<Estimate, NoEstimate>)>;

/// What estimates say of held-out cases under both tables.
#[derive(Default)]
struct Estimates {
    all: Vec<OfEstimate>,
    unjudged: Vec<Unjudged>,
    /// Estimates of moment `build` that can't be made again.
    only_built: BTreeSet<String>,
}

impl Estimates {
    /// Adds a case that both tables speak of; the others are named.
    fn add(&mut self, case: &CaseData, held_out: &HeldOutCase, [old, new]: [(&str, Result<Estimate, NoEstimate>); 2]) {
        let (name, old) = old;
        let mut none = |table: &str, why: &NoEstimate| {
            self.unjudged.push(Unjudged {
                estimate: name.to_owned(),
                workload: held_out.workload.clone(),
                why: format!("under the {table} table {why}"),
                case: case.name.clone(),
            });
        };
        let (old, new) = match (old, new.1) {
            (Ok(old), Ok(new)) => (old, new),
            (Err(why), _) => return none("old", &why),
            (_, Err(why)) => return none("new", &why),
        };
        let at = self.all.iter().position(|one| one.name == name).unwrap_or_else(|| {
            self.all.push(OfEstimate {
                name: name.to_owned(),
                unit: old.unit.clone(),
                by_workload: BTreeMap::new(),
            });
            self.all.len() - 1
        });
        let one = HeldOutCase {
            old: predicted(old, &case.phases),
            new: predicted(new, &case.phases),
            ..held_out.clone()
        };
        let cases = self.all[at].by_workload.entry(held_out.workload.clone()).or_default();
        cases.push(one);
    }
}

/// Estimates under both tables, of every case that judges: those of moment `plan`, and those of moment `build` where the
/// target can make them again without a build.
fn estimates(cohort: &ReadCohort, before: &Planning, after: &Planning) -> Result<Estimates, Failure> {
    let mut found = Estimates::default();
    let built = cohort.builds()?;
    for workload in &cohort.dataset.workloads {
        let extents = freezing::workload(&cohort.planning, &workload.name)?;
        for (case, frozen, value) in cohort.judges(workload)? {
            let phases = case.phases.iter().map(|phase| PhaseTime {
                kind: phase.kind.clone(),
                value: phase.median,
            });
            let nothing = Predicted {
                value: 0.0,
                parts: Vec::new(),
            };
            let held_out = HeldOutCase {
                name: case.name.clone(),
                workload: workload.name.clone(),
                value,
                rounds: case.ratios_by_round(),
                phases: phases.collect(),
                beyond_lanes: beyond_lanes(cohort, &case.name),
                old: nothing.clone(),
                new: nothing,
            };
            let said = |planning: &Planning| -> Said {
                let models = planning.configured.estimators().into_iter();
                models
                    .map(|model| (model.name(), model.estimate(extents, &frozen.plan)))
                    .collect()
            };
            for (old, new) in said(before).into_iter().zip(said(after)) {
                found.add(case, &held_out, [old, new]);
            }
            let Some(build) = built.get(case.name.as_str()) else {
                continue;
            };
            let again = [before, after].map(|planning| {
                let configured = &planning.configured;
                configured.rebuilt_estimates(extents, &frozen.plan, &build.facts)
            });
            let [Some(old), Some(new)] = again else {
                found.only_built.extend(build.estimates.iter().cloned());
                continue;
            };
            for name in &build.estimates {
                let one = |all: &Result<Vec<Estimate>, NoEstimate>| match all {
                    Ok(all) => all
                        .iter()
                        .find(|one| one.name == *name)
                        .cloned()
                        .ok_or_else(|| NoEstimate {
                            key: None,
                            message: "it is not made again".to_owned(),
                        }),
                    Err(why) => Err(why.clone()),
                };
                found.add(case, &held_out, [(name, one(&old)), (name, one(&new))]);
            }
        }
    }
    Ok(found)
}

/// What a build told of a case.
struct Build {
    facts: BTreeMap<String, BTreeMap<String, String>>,
    /// Names of its estimates.
    estimates: Vec<String>,
}

impl ReadCohort {
    /// Builds that gave estimates, by case.
    fn builds(&self) -> Result<BTreeMap<String, Build>, Failure> {
        let state = self
            .snapshot
            .state()
            .map_err(|error| unreadable(format!("`{}` can't be read", self.path.display()), error))?;
        let mut all = BTreeMap::new();
        for case in state.cases() {
            let Some(build) = case.latest().and_then(|latest| latest.build) else {
                continue;
            };
            let BuildOutcome::Built { units } = build.outcome else {
                continue;
            };
            if !build.estimates.is_empty() {
                let told = Build {
                    facts: units
                        .iter()
                        .map(|(label, unit)| (label.clone(), unit.facts.clone()))
                        .collect(),
                    estimates: build.estimates.iter().map(|estimate| estimate.name.clone()).collect(),
                };
                all.insert(case.case.name.clone(), told);
            }
        }
        Ok(all)
    }
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

    /// What estimates say of the cases that judge, as the cohort has them or under another table; and the cases of which
    /// some say nothing.
    pub(crate) fn predictions(&self, costs: Option<Costs>) -> Result<(Vec<Predictions>, Vec<Unjudged>), Failure> {
        let repriced = costs.map(|costs| self.planning.repriced(costs)).transpose()?;
        let mut all: BTreeMap<(String, String), Predictions> = BTreeMap::new();
        let mut unjudged = Vec::new();
        for workload in &self.dataset.workloads {
            let extents = freezing::workload(&self.planning, &workload.name)?;
            for (case, frozen, value) in self.judges(workload)? {
                let mut none = |estimate: &str, why: String| {
                    unjudged.push(Unjudged {
                        estimate: estimate.to_owned(),
                        workload: workload.name.clone(),
                        why,
                        case: case.name.clone(),
                    });
                };
                let mut estimates: Vec<(String, String, f64)> = Vec::new();
                if let Some(planning) = &repriced {
                    for model in planning.configured.estimators() {
                        match model.estimate(extents, &frozen.plan) {
                            Ok(own) => estimates.push((own.name, own.unit, own.value)),
                            Err(why) => none(model.name(), why.to_string()),
                        }
                    }
                } else {
                    let all = case.estimates.iter();
                    estimates.extend(all.map(|(name, own)| (name.clone(), own.unit.clone(), own.value)));
                    for model in self.planning.configured.estimators() {
                        if !case.estimates.contains_key(model.name()) {
                            none(model.name(), "it had no value when the cohort was frozen".to_owned());
                        }
                    }
                }
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
        unjudged.sort();
        Ok((all.into_values().collect(), unjudged))
    }
}
