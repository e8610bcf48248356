//! Shards: which cases one worker measures, frozen in a batch, and who works on which.
//!
//! A batch is a list of shards that is written once. Whoever works on a shard first creates a claim, a file that is
//! created once as well: of two only one succeeds, on a folder of the network too, and nothing is locked. A claim ends
//! with a release; one whose holder died without it is taken over by a claim of the next generation that says why.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::CohortError;
use crate::paths::CohortDir;
use crate::records::to_line;
use crate::write::{create_once, sync_folder};

/// A shard: `BATCH/SHARD`, as in `2/17`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ShardId {
    /// Number of its batch, from 1.
    pub batch: u32,
    /// Its number in the batch, from 0.
    pub shard: u32,
}

impl fmt::Display for ShardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.batch, self.shard)
    }
}

impl FromStr for ShardId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected BATCH/SHARD, such as `1/0`, found `{text}`");
        let (batch, shard) = text.split_once('/').ok_or_else(wrong)?;
        let number = |digits: &str| digits.parse().map_err(|_| wrong());
        let id = Self {
            batch: number(batch)?,
            shard: number(shard)?,
        };
        if id.batch == 0 { Err(wrong()) } else { Ok(id) }
    }
}

/// `batches/NNN.json`: what was to be done when it was written, in shards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Its number, from 1.
    pub number: u32,
    /// When, by the clock of whoever planned it.
    pub at: Timestamp,
    /// Names of cases, shard by shard; no case stands in two of them.
    pub shards: Vec<Vec<String>>,
}

/// A job of Slurm, as Slurm calls it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct JobId {
    /// `812`, or `812_3` for an element of an array.
    pub id: String,
    /// How often it was requeued before; another number is another run of it.
    #[serde(default)]
    pub restarts: u32,
    /// The node, by Slurm's name for it; empty where Slurm does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub node: String,
}

/// Who holds a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worker {
    /// Name of its record file, without `.jsonl`.
    pub writer: String,
    /// Whether it is the coordinator of the whole cohort, which holds the cohort's lock all the time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub coordinator: bool,
    /// Host name.
    pub host: String,
    /// Boot of that host: numbers of processes mean nothing beyond it.
    pub boot_id: String,
    /// Process.
    pub pid: u32,
    /// When the process started, in clock ticks since the boot: numbers of processes come again.
    pub started_ticks: u64,
    /// The job it runs in, where it runs in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<JobId>,
    /// The machine's instance as the target saw it there: its class is the frozen one, or nothing would be measured.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub instance: BTreeMap<String, String>,
}

impl fmt::Display for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(job) = &self.job {
            write!(f, "job {}", job.id)?;
            if !job.node.is_empty() && job.node != self.host {
                write!(f, " on node `{}`", job.node)?;
            }
            write!(f, ", ")?;
        }
        write!(f, "pid {} on `{}`", self.pid, self.host)
    }
}

/// `claims/BATCH-SHARD-GENERATION.json`: somebody works on a shard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The shard.
    #[serde(flatten)]
    pub shard: ShardId,
    /// How many claims of this shard there were before, and one more.
    pub generation: u32,
    /// When, by the clock of the worker.
    pub at: Timestamp,
    /// Who.
    pub worker: Worker,
    /// Why the holder of the generation before, which released nothing, is known to be gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes_over: Option<String>,
}

/// `claims/BATCH-SHARD-GENERATION.end.json`: the holder has ended in an orderly way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// When, by the clock of the worker.
    pub at: Timestamp,
    /// Exit code of the worker.
    pub exit_code: u8,
    /// Why it ended before its cases were done, in words; `None` when they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The latest claim of a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The claim.
    pub claim: Claim,
    /// Its end; `None` while its holder works, or when it died.
    pub release: Option<Release>,
}

/// `batches/NNN.job.json`: a batch was handed to Slurm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// Number of the batch.
    pub batch: u32,
    /// Number of the array.
    pub job: String,
    /// When, by the clock of whoever did it.
    pub at: Timestamp,
}

/// Notes that a batch was handed to Slurm.
pub fn write_submission(dir: &CohortDir, submission: &Submission) -> Result<(), CohortError> {
    let line = to_line(submission, || format!("the array of batch {}", submission.batch))?;
    create_once(&dir.submission(submission.batch), &line)
}

/// The array of a batch; `None` where none was noted.
pub fn read_submission(dir: &CohortDir, batch: u32) -> Result<Option<Submission>, CohortError> {
    let path = dir.submission(batch);
    if path.exists() { read(&path).map(Some) } else { Ok(None) }
}

/// Writes the next batch. Only for the holder of the cohort's lock.
pub fn write_batch(dir: &CohortDir, at: Timestamp, shards: Vec<Vec<String>>) -> Result<Batch, CohortError> {
    make_folder(dir, &dir.batches())?;
    make_folder(dir, &dir.claims())?;
    let number = batch_numbers(dir)?.last().map_or(1, |last| last + 1);
    let batch = Batch { number, at, shards };
    let line = to_line(&batch, || format!("batch {number}"))?;
    create_once(&dir.batch(number), &line)?;
    Ok(batch)
}

/// One batch.
pub fn read_batch(dir: &CohortDir, number: u32) -> Result<Batch, CohortError> {
    let path = dir.batch(number);
    let batch: Batch = read(&path)?;
    if batch.number == number {
        Ok(batch)
    } else {
        let message = format!("batch {} stands where batch {number} should", batch.number);
        Err(CohortError::Malformed { path, message })
    }
}

/// Numbers of all batches, ascending; none in a cohort that was never sharded.
pub fn batch_numbers(dir: &CohortDir) -> Result<Vec<u32>, CohortError> {
    let mut numbers = Vec::new();
    for name in names(&dir.batches())? {
        let number = name.strip_suffix(".json").and_then(|number| number.parse().ok());
        if let Some(number) = number.filter(|&number| dir.batch(number).ends_with(&name)) {
            numbers.push(number);
        }
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// The latest claim of `shard`; `None` before the first.
pub fn latest_claim(dir: &CohortDir, shard: ShardId) -> Result<Option<Held>, CohortError> {
    let mut generation = 0;
    while dir.claim(shard, generation + 1).exists() {
        generation += 1;
    }
    if generation == 0 {
        return Ok(None);
    }
    held(dir, shard, generation).map(Some)
}

/// The latest claim of every shard that has one.
pub fn latest_claims(dir: &CohortDir) -> Result<BTreeMap<ShardId, Held>, CohortError> {
    let mut latest: BTreeMap<ShardId, u32> = BTreeMap::new();
    for name in names(&dir.claims())? {
        if let Some((shard, generation)) = CohortDir::claim_of(&name) {
            let known = latest.entry(shard).or_default();
            *known = generation.max(*known);
        }
    }
    let each = latest.into_iter();
    each.map(|(shard, generation)| Ok((shard, held(dir, shard, generation)?)))
        .collect()
}

/// Makes `claim`; false when somebody else made one of this generation before.
pub fn make_claim(dir: &CohortDir, claim: &Claim) -> Result<bool, CohortError> {
    let line = to_line(claim, || format!("a claim of shard {}", claim.shard))?;
    match create_once(&dir.claim(claim.shard, claim.generation), &line) {
        Ok(()) => Ok(true),
        Err(CohortError::Exists { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether a later claim than this one was made: then its shard belongs to somebody else.
#[must_use]
pub fn was_taken_over(dir: &CohortDir, claim: &Claim) -> bool {
    dir.claim(claim.shard, claim.generation + 1).exists()
}

/// Ends a claim.
pub fn release_claim(dir: &CohortDir, claim: &Claim, release: &Release) -> Result<(), CohortError> {
    let line = to_line(release, || format!("the end of a claim of shard {}", claim.shard))?;
    create_once(&dir.release(claim.shard, claim.generation), &line)
}

fn held(dir: &CohortDir, shard: ShardId, generation: u32) -> Result<Held, CohortError> {
    let path = dir.claim(shard, generation);
    let claim: Claim = read(&path)?;
    if (claim.shard, claim.generation) != (shard, generation) {
        let message = format!("it is claim {} of shard {}", claim.generation, claim.shard);
        return Err(CohortError::Malformed { path, message });
    }
    let end = dir.release(shard, generation);
    let release = if end.exists() { Some(read(&end)?) } else { None };
    Ok(Held { claim, release })
}

fn read<T: DeserializeOwned>(path: &std::path::Path) -> Result<T, CohortError> {
    serde_json::from_slice(&fs_err::read(path)?).map_err(|error| CohortError::Malformed {
        path: path.to_owned(),
        message: error.to_string(),
    })
}

/// Names in a folder that may be missing, hidden ones apart.
fn names(folder: &std::path::Path) -> Result<Vec<String>, CohortError> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(_) => fs_err::read_dir(folder)
            .map(|_| Vec::new())
            .map_err(CohortError::from)?,
        Ok(entries) => entries.collect::<Result<_, _>>()?,
    };
    let names = entries
        .into_iter()
        .map(|entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| !name.starts_with('.')).collect())
}

fn make_folder(dir: &CohortDir, folder: &std::path::Path) -> Result<(), CohortError> {
    if !folder.is_dir() {
        fs_err::create_dir(folder)?;
        sync_folder(dir.path())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_written_as_they_are_read() {
        let id: ShardId = "2/17".parse().unwrap();
        assert_eq!((id.batch, id.shard, id.to_string().as_str()), (2, 17, "2/17"));
        for wrong in ["", "2", "0/1", "2/", "/1", "2/-1", "2/1/3", "a/b"] {
            let error = wrong.parse::<ShardId>().unwrap_err();
            assert!(error.contains("BATCH/SHARD"), "{error}");
        }
    }
}
