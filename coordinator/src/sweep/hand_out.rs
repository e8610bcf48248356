//! What is left, in shards for workers that work side by side.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

use cohort::{
    Batch, BuildOutcome, CohortDir, Frozen, Held, ShardId, Snapshot, State, batch_numbers, latest_claims, read_batch,
    write_batch,
};
use fs_err as fs;

use super::claims::{Claimant, this_worker};
use super::error::RunError;
use super::log::writer_name;
use super::run::lock_cohort;
use crate::events::{OnEvent, Reporter};
use crate::exit::ExitCode;

/// A shard of unknown cases holds so many.
const USUAL: usize = 16;

/// Wall time that a shard should take: an element of an array costs a scheduler up to two seconds, so that a hundred
/// times that is little beside it, and a node that is lost costs no more than that.
const SHARD_TIME: Duration = Duration::from_secs(200);

/// Hands out everything that is left: writes a batch of shards of `size` cases each, or of so many that a shard takes
/// some minutes. `None` when nothing is left. What an earlier batch left is handed out anew, and nobody can begin a shard
/// of that one any more.
///
/// # Errors
/// When somebody works on the cohort or on a shard of it.
pub fn hand_out(
    folder: &Path,
    size: Option<usize>,
    take_over: bool,
    lock_timeout: Option<Duration>,
    on_event: &mut OnEvent<'_>,
) -> Result<Option<Batch>, RunError> {
    let dir = CohortDir::new(fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()));
    Frozen::open(&dir)?.continuable()?;
    let _lock = lock_cohort(&dir, lock_timeout, &mut Reporter::new(on_event))?;
    let Snapshot { frozen, records } = Snapshot::read(&dir)?;
    let state = frozen
        .state(&records.records)
        .map_err(|error| RunError::State(Box::new(error)))?;
    hand_out_left(&dir, &frozen, &state, size, take_over, &|_| true)
}

/// The same for the holder of the cohort's lock, which has read the cohort, of the cases that `wanted` takes.
pub(crate) fn hand_out_left(
    dir: &CohortDir,
    frozen: &Frozen,
    state: &State<'_>,
    size: Option<usize>,
    take_over: bool,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Option<Batch>, RunError> {
    let clock = jiff::Timestamp::now;
    let claimant = Claimant {
        dir,
        me: this_worker(&writer_name(clock()), true, None),
        take_over,
        clock,
    };
    let claims = claimant.everything(state, &std::collections::HashSet::new())?;
    let shards = split(frozen, state, size, wanted);
    let batch = if shards.is_empty() {
        None
    } else {
        Some(write_batch(dir, clock(), shards)?)
    };
    // Only now: a worker that finds its claim free again finds the new batch as well.
    let why = batch
        .as_ref()
        .map(|batch| format!("what was left was handed out again in batch {}", batch.number));
    claims.release(ExitCode::Done, why.as_deref())?;
    Ok(batch)
}

/// Cases that are not done in the order of the cohort, `size` together. Confirmations of one workload stay together: each
/// is compared with one of the control, which is built from scratch for it.
fn split(frozen: &Frozen, state: &State<'_>, size: Option<usize>, wanted: &dyn Fn(&str) -> bool) -> Vec<Vec<String>> {
    let confirmations = frozen.confirmations();
    let mut shards: Vec<Vec<String>> = Vec::new();
    let mut together: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut others = Vec::new();
    let left = state.cases().iter().filter(|case| case.outcome().is_none());
    for case in left.filter(|case| wanted(&case.case.name)) {
        let name = case.case.name.clone();
        if confirmations.contains_key(name.as_str()) {
            together.entry(&case.case.workload).or_default().push(name);
        } else {
            others.push(name);
        }
    }
    let size = size.unwrap_or_else(|| usual_size(state)).max(1);
    shards.extend(others.chunks(size).map(<[String]>::to_vec));
    shards.extend(together.into_values());
    shards
}

/// So many cases that a shard takes [`SHARD_TIME`], by the mean of those that were measured.
fn usual_size(state: &State<'_>) -> usize {
    let (mut cases, mut total_ms) = (0_u64, 0_u64);
    for case in state.cases().iter().filter(|case| case.outcome().is_some()) {
        let Some(latest) = case.latest() else { continue };
        let built = latest.build.map_or(0, |build| match build.outcome {
            BuildOutcome::Built { units } => units.values().filter_map(|unit| unit.build_ms).sum(),
            _ => 0,
        });
        let rounds: u64 = latest.correct().map(|(_, round)| round.run_ms).sum();
        cases += 1;
        total_ms = total_ms.saturating_add(built).saturating_add(rounds);
    }
    let wanted_ms = u64::try_from(SHARD_TIME.as_millis()).unwrap_or(u64::MAX);
    let size = wanted_ms.saturating_mul(cases).checked_div(total_ms);
    size.map_or(USUAL, |size| usize::try_from(size).unwrap_or(USUAL).clamp(1, 1000))
}

/// A shard of the latest batch.
#[derive(Debug, Clone)]
pub struct ShardStatus {
    /// Which.
    pub shard: ShardId,
    /// Its cases.
    pub cases: usize,
    /// Cases of it that have come to an end.
    pub done: usize,
    /// Its latest claim.
    pub held: Option<Held>,
}

/// The shards of the latest batch; none where nothing was handed out. Takes no lock and asks nobody.
pub fn shards(folder: &Path) -> Result<Vec<ShardStatus>, RunError> {
    let dir = CohortDir::new(folder);
    // Before the records: a shard whose claim has ended is never shown with less than it did.
    let mut claims: HashMap<ShardId, Held> = latest_claims(&dir)?.into_iter().collect();
    let Snapshot { frozen, records } = Snapshot::read(&dir)?;
    let state = frozen
        .state(&records.records)
        .map_err(|error| RunError::State(Box::new(error)))?;
    let Some(&batch) = batch_numbers(&dir)?.last() else {
        return Ok(Vec::new());
    };
    let shards = (0..).zip(read_batch(&dir, batch)?.shards);
    let is_done = |name: &String| state.get(name).is_some_and(|case| case.outcome().is_some());
    let each = shards.map(|(shard, cases)| {
        let shard = ShardId { batch, shard };
        ShardStatus {
            shard,
            cases: cases.len(),
            done: cases.iter().filter(|name| is_done(name)).count(),
            held: claims.remove(&shard),
        }
    });
    Ok(each.collect())
}
