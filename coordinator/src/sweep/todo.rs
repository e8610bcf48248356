//! What is left to do, by the state.

use std::collections::{BTreeMap, BTreeSet};

use cohort::{BuildOutcome, CaseState, Frozen, HARNESS, Outcome, State, Status};

use super::context::Context;
use super::error::RunError;
use super::filter::Filter;
use super::rounds::{Visit, in_seeded_order};
use crate::build::{Needed, Wanted};

/// What to do next.
pub(super) struct Todo<'f> {
    pub(super) builds: Vec<Wanted<'f>>,
    pub(super) needed: Vec<Needed<'f>>,
    pub(super) visits: Vec<Visit<'f>>,
    /// Workloads without a control of which nothing is measured yet.
    pub(super) unreferenced: Vec<&'f str>,
    /// Everything is measured, and nothing is filtered out: the cohort may grow.
    pub(super) growing: bool,
}

impl<'f> Todo<'f> {
    pub(super) fn is_empty(&self) -> bool {
        self.builds.is_empty() && self.visits.is_empty()
    }

    pub(super) fn of(context: &Context<'f>, state: &State<'_>, filter: Filter<'_>) -> Result<Self, RunError> {
        let mut todo = Self {
            builds: Vec::new(),
            needed: Vec::new(),
            visits: Vec::new(),
            unreferenced: unreferenced(context.frozen, state),
            growing: filter.is_open() && state.all_terminal(),
        };
        let open = state
            .cases()
            .iter()
            .filter(|case| case.outcome().is_none() && filter.takes(&case.case.name));
        let open: Vec<_> = open.collect();
        let mut wanted = Vec::new();
        let mut needed = BTreeMap::new();
        for control in controls(context, state, &open)? {
            match control.status() {
                Status::Waiting if filter.owns(&control.case.name) => wanted.push(control),
                // It is built here as well, but its records are for the worker of its shard to write.
                Status::Waiting | Status::Built | Status::Partial => _ = needed.insert(&control.case.name, control),
                Status::Done(Outcome::BuildFailed | Outcome::Rejected) => return Err(no_control(control)),
                Status::Done(_) if is_built(control) => _ = needed.insert(&control.case.name, control),
                Status::Done(_) => return Err(no_control(control)),
            }
        }
        let among: BTreeSet<_> = wanted.iter().map(|control| control.case.name.as_str()).collect();
        for case in open {
            match case.status() {
                Status::Waiting if !among.contains(case.case.name.as_str()) => wanted.push(case),
                Status::Built | Status::Partial => {
                    needed.insert(&case.case.name, case);
                    let name = &case.case.name;
                    for (round, pairs) in case.rounds_left() {
                        let (case, attempt) = (context.case(name)?, case.attempt());
                        todo.visits.push(Visit {
                            case,
                            attempt,
                            round,
                            pairs,
                        });
                    }
                }
                _ => {}
            }
        }
        for case in wanted {
            let (case, attempt) = (context.case(&case.case.name)?, case.attempt());
            todo.builds.push(Wanted { case, attempt });
        }
        for (name, case) in needed {
            let (case, recorded) = (context.case(name)?, recorded(case));
            todo.needed.push(Needed { case, recorded });
        }
        let names: Vec<_> = context.frozen.cases().map(|case| case.name.as_str()).collect();
        in_seeded_order(&mut todo.visits, &names, context.manifest().measure.seed);
        Ok(todo)
    }
}

/// Workloads without a control of which nothing is measured yet.
fn unreferenced<'f>(frozen: &'f Frozen, state: &State<'_>) -> Vec<&'f str> {
    let measured: BTreeSet<&str> = state
        .cases()
        .iter()
        .filter(|case| case.latest().is_some_and(|latest| latest.correct().next().is_some()))
        .map(|case| case.case.workload.as_str())
        .collect();
    let workloads = frozen.manifest().workloads.iter();
    workloads
        .filter(|entry| entry.control.is_none())
        .map(|entry| entry.workload.name.as_str())
        .filter(|name| !measured.contains(name))
        .collect()
}

/// Controls of the workloads of `open` cases.
fn controls<'s, 'r>(
    context: &Context<'_>,
    state: &'s State<'r>,
    open: &[&CaseState<'r>],
) -> Result<Vec<&'s CaseState<'r>>, RunError> {
    let mut names = BTreeSet::new();
    for case in open {
        if let Some(control) = context.control(case.case)? {
            names.insert(control.name.as_str());
        }
    }
    Ok(names.into_iter().filter_map(|name| state.get(name)).collect())
}

fn is_built(case: &CaseState<'_>) -> bool {
    let build = case.latest().and_then(|attempt| attempt.build);
    build.is_some_and(|build| matches!(build.outcome, BuildOutcome::Built { .. }))
}

fn no_control(control: &CaseState<'_>) -> RunError {
    let build = control.latest().and_then(|attempt| attempt.build);
    let reason = match build.map(|build| build.outcome) {
        Some(
            BuildOutcome::Rejected { reason }
            | BuildOutcome::BuildFailed { reason }
            | BuildOutcome::TimedOut { reason },
        ) => reason.clone(),
        Some(BuildOutcome::Built { .. }) | None => "it has no build".to_owned(),
    };
    RunError::Control {
        case: control.case.name.clone(),
        workload: control.case.workload.clone(),
        reason,
    }
}

/// Label -> SHA-256 of the artifacts that the latest attempt was built with.
fn recorded(case: &CaseState<'_>) -> BTreeMap<String, String> {
    let build = case.latest().and_then(|attempt| attempt.build);
    match build.map(|build| build.outcome) {
        // The harness is shared: another one than at the time of the build is no reason to lose the case.
        Some(BuildOutcome::Built { units }) => units
            .iter()
            .filter(|(label, _)| label.as_str() != HARNESS)
            .map(|(label, built)| (label.clone(), built.artifact_sha256.clone()))
            .collect(),
        _ => BTreeMap::new(),
    }
}
