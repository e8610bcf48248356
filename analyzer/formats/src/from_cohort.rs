//! From a cohort to a table.

use std::collections::BTreeMap;

use cohort::{Attempt, BuildOutcome, CaseState, CohortError, Manifest, Outcome, RunOutcome, Snapshot, Status};
use planner::counted;
use target_api::{Estimate, Measurement, Of};

use crate::error::listed;
use crate::table::{Failed, Found, Row, Table};

/// Why a cohort can't be written as a table.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The cohort can't be read.
    #[error(transparent)]
    Cohort(#[from] CohortError),
    /// A table has one workload.
    #[error("the cohort has several workloads, the file holds one: choose among {}", listed(.0))]
    Workloads(Vec<String>),
    /// There is no such workload.
    #[error("the cohort has no workload `{wanted}`: it has {}", listed(.has))]
    NoWorkload {
        /// What was asked for.
        wanted: String,
        /// What there is.
        has: Vec<String>,
    },
    /// The file can't be written.
    #[error("the table can't be written: {0}")]
    Write(String),
}

/// The cases of one workload that have ended, or have at least one right round: counted samples, never those of the
/// control. Other numbers are medians over these samples. Says what was left out.
pub fn table_of(snapshot: &Snapshot, workload: Option<&str>) -> Result<(Table, Vec<String>), ExportError> {
    let manifest = snapshot.frozen.manifest();
    let has: Vec<String> = manifest
        .workloads
        .iter()
        .map(|entry| entry.workload.name.clone())
        .collect();
    let name = match (workload, has.as_slice()) {
        (Some(wanted), _) if !has.iter().any(|name| name == wanted) => {
            let wanted = wanted.to_owned();
            return Err(ExportError::NoWorkload { wanted, has });
        }
        (Some(wanted), _) => wanted.to_owned(),
        (None, [only]) => only.clone(),
        (None, _) => return Err(ExportError::Workloads(has)),
    };
    let state = snapshot.state()?;
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    let mut waiting = 0;
    for case in state.cases().iter().filter(|case| case.case.workload == name) {
        match row(case, manifest) {
            Some(row) => rows.push(row),
            None => waiting += 1,
        }
    }
    if waiting > 0 {
        notes.push(format!("left out, without any result: {}", counted(waiting, "case")));
    }
    let machine = &manifest.machine;
    // Host names and boots of this machine are nobody else's affair; what a file said goes out again.
    let instance = manifest.imported.as_ref().map(|_| &machine.instance);
    let facts = machine.class.iter().chain(instance.into_iter().flatten());
    let facts = facts.map(|(name, value)| (name.clone(), value.clone())).collect();
    // People's own number, whichever way it is better.
    let (objective, unit) = manifest.inverse_of.as_ref().unwrap_or(&manifest.objective).clone();
    let workload = name;
    Ok((
        Table {
            workload,
            objective,
            larger_is_better: manifest.inverse_of.is_some(),
            unit,
            facts,
            rows,
        },
        notes,
    ))
}

fn row(state: &CaseState<'_>, manifest: &Manifest) -> Option<Row> {
    let latest = state.latest()?;
    let (mut extra, mut samples) = (BTreeMap::new(), Vec::new());
    let found = match state.status() {
        Status::Waiting | Status::Built => return None,
        Status::Done(Outcome::Correct) | Status::Partial => {
            let mut measurements: Vec<&Measurement> = Vec::new();
            for (round, done) in latest.correct() {
                if let RunOutcome::Correct { measurement } = done.outcome {
                    let values = measurement.values(Of::Case).into_iter();
                    samples.extend(values.map(|value| (round, number(manifest, value))));
                    measurements.push(measurement);
                }
            }
            extra = medians(&measurements);
            Found::Measured { samples }
        }
        Status::Done(outcome) => Found::Failed {
            how: match outcome {
                Outcome::Rejected => Failed::Rejected,
                Outcome::BuildFailed => Failed::BuildFailed,
                Outcome::TimedOut => Failed::TimedOut,
                Outcome::Incorrect => Failed::Incorrect,
                Outcome::RunFailed | Outcome::Correct => Failed::RunFailed,
            },
            reason: reason(latest, outcome),
        },
    };
    let built = latest.build.map_or(&[][..], |build| build.estimates);
    let last = latest
        .rounds
        .values()
        .filter_map(cohort::RoundState::done)
        .map(|done| done.record.at)
        .max();
    Some(Row {
        workload: None,
        name: Some(state.case.name.clone()),
        family: Some(state.case.family.clone()),
        configuration: state.case.plan.attributes.clone(),
        found,
        extra,
        estimates: state
            .case
            .estimates
            .iter()
            .chain(built)
            .map(|one| predicted(manifest, one))
            .collect(),
        at: last.or(latest.build.map(|build| build.record.at)),
        times: latest
            .rounds
            .iter()
            .filter_map(|(round, state)| Some((*round, state.done()?.record.at)))
            .collect(),
    })
}

/// The number that people know, of a value that is compared. Rounded to 15 significant digits, which gives back what was read.
fn number(manifest: &Manifest, value: f64) -> f64 {
    if manifest.inverse_of.is_none() {
        return value;
    }
    let over = 1.0 / value;
    format!("{over:.14e}").parse().unwrap_or(over)
}

/// The same of an estimate of it.
fn predicted(manifest: &Manifest, estimate: &Estimate) -> Estimate {
    match &manifest.inverse_of {
        Some((_, unit)) if estimate.unit == manifest.objective.1 => Estimate {
            value: number(manifest, estimate.value),
            unit: unit.clone(),
            ..estimate.clone()
        },
        _ => estimate.clone(),
    }
}

fn reason(attempt: &Attempt<'_>, outcome: Outcome) -> String {
    let built = attempt.build.and_then(|build| match build.outcome {
        BuildOutcome::Rejected { reason }
        | BuildOutcome::BuildFailed { reason }
        | BuildOutcome::TimedOut { reason } => Some(reason),
        BuildOutcome::Built { .. } => None,
    });
    let mut rounds = attempt.rounds.values().filter_map(cohort::RoundState::done);
    let of_round = rounds.find_map(|done| match (done.outcome, outcome) {
        (RunOutcome::Incorrect { reason, .. }, Outcome::Incorrect)
        | (RunOutcome::Rejected { reason }, Outcome::Rejected)
        | (RunOutcome::RunFailed { reason }, Outcome::RunFailed)
        | (RunOutcome::TimedOut { reason }, Outcome::TimedOut) => Some(reason),
        _ => None,
    });
    built.or(of_round).cloned().unwrap_or_default()
}

fn medians(measurements: &[&Measurement]) -> BTreeMap<String, f64> {
    let mut all: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
    let samples = measurements.iter().flat_map(|one| &one.samples);
    for (name, x) in samples
        .filter(|s| s.of == Of::Case && !s.warm_up)
        .flat_map(|s| &s.extra)
    {
        all.entry(name).or_default().push(*x);
    }
    let medians = all
        .into_iter()
        .filter_map(|(name, mut xs)| Some((name.clone(), median(&mut xs)?)));
    medians.collect()
}

/// The middle, or the mean of the two in the middle.
pub(crate) fn median(xs: &mut [f64]) -> Option<f64> {
    xs.sort_by(f64::total_cmp);
    let upper = *xs.get(xs.len() / 2)?;
    if xs.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(xs[xs.len() / 2 - 1], upper))
}
