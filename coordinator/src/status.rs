//! How far a cohort is, from another shell, while it runs or not. Takes no lock and executes nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cohort::{
    BuildOutcome, CaseState, CohortDir, CohortError, Counts, Record, RunOutcome, Snapshot, State, WriterName,
};
use serde::Serialize;

use crate::lock::{Holder, holder};

/// Who has the device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceUse {
    /// Its lock.
    pub lock: PathBuf,
    /// Who holds it, where that can be told.
    pub holder: Option<Holder>,
    /// Whether that is this cohort: then [`Holder::case`] is what runs now.
    pub ours: bool,
}

/// A round that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Running {
    /// Its case.
    pub case: String,
    /// Which, from 0.
    pub round: u32,
}

/// How far a cohort is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CohortStatus {
    /// Cases by status.
    pub counts: Counts,
    /// The coordinator that works on it now.
    pub coordinator: Option<Holder>,
    /// The device, if the caller named its lock.
    pub device: Option<DeviceUse>,
    /// Cases that wait for their build.
    pub builds_left: u64,
    /// Rounds that the coordinator runs now; they are not among [`Counts::lost_rounds`].
    pub running: Vec<Running>,
    /// Rounds that are left of cases that have not failed, as far as they are decided.
    pub rounds_left: u64,
    /// What the rounds that are left take, by the mean of those done (without waiting); `None` before the first.
    pub left_ms: Option<u64>,
    /// Reason -> cases that failed for it, or were rejected.
    pub failures: BTreeMap<String, Vec<String>>,
    /// Cases with wrong results.
    pub incorrect: Vec<String>,
    /// Record files with a torn last line.
    pub torn: Vec<PathBuf>,
}

/// Reads the status of the cohort in `folder`. `device_lock` is the lock of the device that it runs on
/// ([`crate::lock::device_lock_path`]).
pub fn status(folder: &Path, device_lock: Option<&Path>) -> Result<CohortStatus, CohortError> {
    let dir = CohortDir::new(fs_err::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()));
    // Asked before the records are read: of a coordinator that begins in between nothing is shown, rather than that
    // rounds of an earlier one run.
    let coordinator = holder(&dir.coordinator_lock());
    let snapshot = Snapshot::read(&dir)?;
    let state = snapshot.state()?;
    let name = dir.path().display().to_string();
    let device = device_lock.map(|lock| {
        let holder = holder(lock);
        DeviceUse {
            lock: lock.to_owned(),
            ours: holder.as_ref().is_some_and(|holder| holder.cohort == name),
            holder,
        }
    });
    let rounds_left = state.cases().iter().map(|case| case.rounds_left().len() as u64).sum();
    let running = coordinator
        .as_ref()
        .map_or_else(Vec::new, |holder| running(&state, &snapshot.records.records, holder));
    let mut counts = state.counts();
    counts.lost_rounds = counts.lost_rounds.saturating_sub(running.len() as u64);
    Ok(CohortStatus {
        counts,
        coordinator,
        running,
        device,
        builds_left: state.left().builds.len() as u64,
        rounds_left,
        left_ms: left_ms(&state, rounds_left),
        failures: failures(&state),
        incorrect: state.stopped_by().into_iter().map(str::to_owned).collect(),
        torn: snapshot
            .records
            .dropped
            .iter()
            .map(|dropped| dropped.file.clone())
            .collect(),
    })
}

/// Rounds that the live coordinator began and did not end: those of its writer. Numbers of processes come again, so only
/// rounds since it took the lock count.
fn running(state: &State<'_>, records: &[Record], live: &Holder) -> Vec<Running> {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let own = WriterName::new(jiff::Timestamp::UNIX_EPOCH, live.pid, &host);
    // `-<pid>-<host>`: what follows the time, which ends in `Z`.
    let Some((_, own)) = own.as_str().split_once('Z') else {
        return Vec::new();
    };
    let writers = records.iter().map(|record| record.writer.as_str());
    let Some(writer) = writers.filter(|writer| writer.ends_with(own)).max() else {
        return Vec::new();
    };
    let of_case = |case: &CaseState<'_>| -> Vec<Running> {
        case.lost()
            .filter(|(_, began)| began.writer == writer && live.since.is_none_or(|since| began.at >= since))
            .map(|(round, _)| Running {
                case: case.case.name.clone(),
                round,
            })
            .collect()
    };
    state.cases().iter().flat_map(of_case).collect()
}

/// Mean wall time of the rounds done, times those left; in whole milliseconds.
fn left_ms(state: &State<'_>, rounds_left: u64) -> Option<u64> {
    let attempts = state.cases().iter().filter_map(|case| case.latest());
    let rounds = attempts.flat_map(|attempt| attempt.correct().map(|(_, round)| round.run_ms));
    let (count, sum) = rounds.fold((0_u64, 0_u64), |(count, sum), ms| (count + 1, sum.saturating_add(ms)));
    sum.saturating_mul(rounds_left).checked_div(count)
}

fn failures(state: &State<'_>) -> BTreeMap<String, Vec<String>> {
    let mut by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for case in state.cases().iter().filter(|case| case.outcome().is_some()) {
        let Some(latest) = case.latest() else { continue };
        let build = latest.build.and_then(|build| match build.outcome {
            BuildOutcome::Built { .. } => None,
            BuildOutcome::Rejected { reason }
            | BuildOutcome::BuildFailed { reason }
            | BuildOutcome::TimedOut { reason } => Some(reason),
        });
        let run = latest.rounds.values().find_map(|round| match round.done()?.outcome {
            RunOutcome::Correct { .. } => None,
            RunOutcome::Incorrect { reason, .. }
            | RunOutcome::RunFailed { reason }
            | RunOutcome::TimedOut { reason } => Some(reason),
        });
        if let Some(reason) = build.or(run) {
            by_reason
                .entry(reason.clone())
                .or_default()
                .push(case.case.name.clone());
        }
    }
    by_reason
}
