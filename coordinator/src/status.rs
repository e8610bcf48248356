//! How far a cohort is, from another shell, while it runs or not. Takes no lock and executes nothing.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use cohort::{
    BuildOutcome, CaseState, Claim, CohortDir, CohortError, Counts, Record, RecordKind, RunOutcome, Snapshot, State,
    WriterName, latest_claims,
};
use serde::Serialize;

use crate::lock::{Holder, holder};
use crate::sweep::runs_here;

/// Who has a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceUse {
    /// Its name.
    pub device: String,
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
    /// The device.
    pub device: String,
    /// The process that holds the device for it: its guard, or a program that takes the lock itself; of a shard the
    /// worker, on whatever host it is. `None` where runs lie side by side, or where that process can't be told.
    pub pid: Option<u32>,
    /// Since when.
    pub since: jiff::Timestamp,
}

/// How far a cohort is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CohortStatus {
    /// Cases by status.
    pub counts: Counts,
    /// The coordinator that works on it now.
    pub coordinator: Option<Holder>,
    /// Shards that workers hold, and those of this host that died with them left out. Of workers on other hosts the claim
    /// is all that is known.
    pub shards: Vec<Claim>,
    /// The devices that the caller named.
    pub devices: Vec<DeviceUse>,
    /// Cases that wait for their build, those that are being built included.
    pub builds_left: u64,
    /// Rounds that the coordinator runs now; they are not among [`Counts::lost_rounds`].
    pub running: Vec<Running>,
    /// Rounds that are left of cases that have not failed, as far as they are decided.
    pub rounds_left: u64,
    /// What is left takes so long by the means of builds and rounds done (without waiting), on the devices that the
    /// caller named and with a build on each core; `None` before the first of what is left was done. Derived.
    pub left_ms: Option<u64>,
    /// Reason -> cases that failed for it, or were rejected.
    pub failures: BTreeMap<String, Vec<String>>,
    /// Cases with wrong results.
    pub incorrect: Vec<String>,
    /// Record files with a torn last line.
    pub torn: Vec<PathBuf>,
}

/// Reads the status of the cohort in `folder`. `devices` are those that it runs on with their locks
/// ([`crate::sweep::locks_of`]).
pub fn status(folder: &Path, devices: &[(String, PathBuf)]) -> Result<CohortStatus, CohortError> {
    let dir = CohortDir::new(fs_err::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()));
    // Asked before the records are read: of a coordinator that begins in between nothing is shown, rather than that
    // rounds of an earlier one run.
    let coordinator = holder(&dir.coordinator_lock());
    let held = latest_claims(&dir)?.into_values().filter(|held| held.release.is_none());
    let shards: Vec<Claim> = held
        .map(|held| held.claim)
        .filter(|claim| !claim.worker.coordinator && runs_here(&claim.worker) != Some(false))
        .collect();
    let snapshot = Snapshot::read(&dir)?;
    let state = snapshot.state()?;
    let name = dir.path().display().to_string();
    let devices: Vec<DeviceUse> = devices
        .iter()
        .map(|(device, lock)| {
            let holder = holder(lock);
            DeviceUse {
                device: device.clone(),
                lock: lock.clone(),
                ours: holder.as_ref().is_some_and(|holder| holder.cohort == name),
                holder,
            }
        })
        .collect();
    let rounds_left = state.cases().iter().map(|case| case.rounds_left().len() as u64).sum();
    let mut running = coordinator.as_ref().map_or_else(Vec::new, |holder| {
        running(&state, &snapshot.records.records, holder, &devices)
    });
    running.extend(running_in_shards(&state, &shards));
    let builds_left = state.left().builds.len() as u64;
    let mut counts = state.counts();
    counts.lost_rounds = counts.lost_rounds.saturating_sub(running.len() as u64);
    Ok(CohortStatus {
        counts,
        coordinator,
        shards,
        running,
        builds_left,
        rounds_left,
        left_ms: left_ms(&state, builds_left, rounds_left, devices.len() as u64),
        devices,
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
fn running(state: &State<'_>, records: &[Record], live: &Holder, devices: &[DeviceUse]) -> Vec<Running> {
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
            .filter_map(|(round, began)| {
                let RecordKind::Began { device, .. } = &began.kind else {
                    return None;
                };
                let used = devices.iter().find(|used| used.device == *device);
                let holder = used.and_then(|used| used.holder.as_ref());
                Some(Running {
                    case: case.case.name.clone(),
                    round,
                    device: device.clone(),
                    pid: holder.map(|holder| holder.pid),
                    since: began.at,
                })
            })
            .collect()
    };
    state.cases().iter().flat_map(of_case).collect()
}

/// Rounds that workers of held shards began and did not end.
fn running_in_shards(state: &State<'_>, shards: &[Claim]) -> Vec<Running> {
    let workers: HashMap<&str, &Claim> = shards
        .iter()
        .map(|claim| (claim.worker.writer.as_str(), claim))
        .collect();
    if workers.is_empty() {
        return Vec::new();
    }
    let lost = state
        .cases()
        .iter()
        .flat_map(|case| case.lost().map(move |lost| (case, lost)));
    let found = lost.filter_map(|(case, (round, began))| {
        let claim = workers.get(began.writer.as_str())?;
        let RecordKind::Began { device, .. } = &began.kind else {
            return None;
        };
        Some(Running {
            case: case.case.name.clone(),
            round,
            device: device.clone(),
            pid: Some(claim.worker.pid),
            since: began.at,
        })
    });
    found.collect()
}

/// Mean wall times of builds and rounds done, times those left; in whole milliseconds.
fn left_ms(state: &State<'_>, builds_left: u64, rounds_left: u64, devices: u64) -> Option<u64> {
    let attempts = || state.cases().iter().filter_map(|case| case.latest());
    let rounds = attempts().flat_map(|attempt| attempt.correct().map(|(_, round)| round.run_ms));
    let builds = attempts().filter_map(|attempt| match attempt.build?.outcome {
        // A case whose units were all there already took no time.
        BuildOutcome::Built { units } => Some(units.values().filter_map(|unit| unit.build_ms).sum::<u64>()),
        _ => None,
    });
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get) as u64;
    let rounds = expected(rounds, rounds_left)? / devices.max(1);
    Some(rounds.saturating_add(expected(builds, builds_left)? / cores))
}

/// So many more of what took these times; `None` where none is known and some are left.
fn expected(times: impl Iterator<Item = u64>, left: u64) -> Option<u64> {
    let (count, sum) = times.fold((0_u64, 0_u64), |(count, sum), ms| (count + 1, sum.saturating_add(ms)));
    if left == 0 {
        return Some(0);
    }
    sum.saturating_mul(left).checked_div(count)
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
            | RunOutcome::Rejected { reason }
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
