//! What became of a shard whose array is over and which has cases left.

use cohort::{CohortDir, Held, ShardId};

use super::jobs::{Job, JobState};
use super::settings::{NOT_STARTED, NOT_VISIBLE, SETUP_FAILED};
use crate::exit::ExitCode;
use crate::libc;

/// Why a shard has cases left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Its worker came to an orderly end, or never began: the rest is simply handed out again.
    Left(String),
    /// Its worker died with its node, its time or its memory: a round may have been lost with it.
    Lost {
        /// How.
        state: JobState,
        /// The same, for people.
        why: String,
    },
    /// Nothing can be measured on this node.
    BadNode {
        /// The node.
        node: String,
        /// Why.
        why: String,
    },
    /// A signal ended its worker before it began: somebody may have sent it, or the node did and will again.
    Killed {
        /// The node.
        node: String,
        /// How.
        why: String,
    },
    /// Somebody cancelled it before it began or while it ran.
    Cancelled,
}

impl Ending {
    /// In words.
    pub(crate) fn why(&self) -> &str {
        match self {
            Self::Left(why) | Self::Lost { why, .. } | Self::BadNode { why, .. } | Self::Killed { why, .. } => why,
            Self::Cancelled => "it was cancelled",
        }
    }
}

/// The claim that a job made, if it did: that of another one says nothing of it. Where Slurm has forgotten the job, whose it
/// is can't be told any more.
pub(crate) fn begun<'a>(held: Option<&'a Held>, job: Option<&Job>) -> Option<&'a Held> {
    held.filter(|held| {
        let claimed = held.claim.worker.job.as_ref().map(|claimed| claimed.id.as_str());
        job.is_none_or(|job| claimed == Some(&job.id))
    })
}

/// Judges by the claim's end, which is the worker's own word, and where there is none by what Slurm remembers.
pub(crate) fn ending(dir: &CohortDir, shard: ShardId, held: Option<&Held>, job: Option<&Job>) -> Ending {
    let node = job.map_or_else(String::new, |job| job.nodes.clone());
    let place = job.map_or_else(
        || format!("shard {shard}"),
        |job| format!("shard {shard}, job {} on `{}`", job.id, job.nodes),
    );
    let bad = |why: String| {
        let why = format!("{place}: {why}");
        if node.is_empty() {
            Ending::Left(why)
        } else {
            let node = node.clone();
            Ending::BadNode { node, why }
        }
    };
    let own = begun(held, job);
    if let Some(release) = own.and_then(|held| held.release.as_ref()) {
        let why = release.why.clone().unwrap_or_else(|| "it ended".to_owned());
        let refused = [ExitCode::Failure, ExitCode::Usage, ExitCode::Mismatch];
        return if refused.iter().any(|code| code.code() == release.exit_code) {
            bad(why)
        } else {
            // Why it was told to end, where Slurm knows it.
            let taken = job.map(|job| job.state).filter(|state| {
                use JobState::{NodeFailed, OutOfMemory, Preempted, TimedOut};
                matches!(state, TimedOut | OutOfMemory | NodeFailed | Preempted)
            });
            let taken = taken.map_or_else(String::new, |state| format!(" ({})", state.words()));
            Ending::Left(format!("{place}: {why}{taken}"))
        };
    }
    let Some(job) = job else {
        let why = format!("{place}: Slurm knows no more of its job");
        let state = JobState::Ended;
        return Ending::Lost { state, why };
    };
    match (job.state, job.exit_code) {
        (JobState::Cancelled, _) => Ending::Cancelled,
        (JobState::Ended, Some(NOT_VISIBLE)) => bad(format!("`{}` can't be seen there", dir.path().display())),
        (JobState::Ended, Some(NOT_STARTED)) => {
            let needs = libc::needs(&dir.binary()).map_or_else(String::new, |needs| format!(" (it needs {needs})"));
            bad(format!(
                "the frozen program can't be started there{needs}{}",
                said(dir, shard)
            ))
        }
        (JobState::Ended, Some(SETUP_FAILED)) => bad(format!("its `setup` failed{}", said(dir, shard))),
        // Somebody else held the shard, or it was told to end: the node is not to blame.
        (JobState::Ended, Some(code)) if own.is_none() && is_orderly(code) => {
            Ending::Left(format!("{place}: it did not begin{}", said(dir, shard)))
        }
        (JobState::Ended, Some(code)) if own.is_none() => bad(format!(
            "it ended with exit code {code} before it began{}",
            said(dir, shard)
        )),
        (JobState::Ended, None) if own.is_none() => Ending::Killed {
            node: node.clone(),
            why: format!("{place}: a signal ended it before it began{}", said(dir, shard)),
        },
        (state, _) => Ending::Lost {
            state,
            why: format!("{place}: {}", state.words()),
        },
    }
}

/// Whether a worker that ended with this has nothing against its node.
fn is_orderly(code: u8) -> bool {
    [
        ExitCode::Done,
        ExitCode::SomeFailed,
        ExitCode::LockTimeout,
        ExitCode::Incorrect,
        ExitCode::Interrupted,
    ]
    .iter()
    .any(|orderly| orderly.code() == code)
}

/// The last error that a worker printed, as the end of a sentence.
fn said(dir: &CohortDir, shard: ShardId) -> String {
    const LINES: usize = 4;
    let Ok(bytes) = std::fs::read(dir.shard_log(shard)) else {
        return String::new();
    };
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let from = lines.iter().rposition(|line| line.starts_with("error:"));
    let from = from.unwrap_or(lines.len().saturating_sub(1));
    let shown: Vec<&str> = lines.iter().skip(from).take(LINES).copied().collect();
    if shown.is_empty() {
        String::new()
    } else {
        format!(": {}", shown.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(state: JobState, exit_code: Option<u8>) -> Job {
        Job {
            id: "7_3".to_owned(),
            state,
            word: String::new(),
            reason: String::new(),
            restarts: 0,
            exit_code,
            nodes: "n2".to_owned(),
        }
    }

    #[test]
    fn every_end_has_its_rule() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CohortDir::new(folder.path());
        let shard = ShardId { batch: 1, shard: 3 };
        std::fs::create_dir_all(dir.batch_logs(1)).unwrap();
        std::fs::write(
            dir.shard_log(shard),
            "job 7_3 on n2\nerror: no compiler\n  caused by: `cc` is gone\n",
        )
        .unwrap();
        let judged = |job: Job| ending(&dir, shard, None, Some(&job));
        for state in [
            JobState::TimedOut,
            JobState::OutOfMemory,
            JobState::NodeFailed,
            JobState::Preempted,
        ] {
            match judged(job(state, None)) {
                Ending::Lost { state: found, why } => assert!(found == state && why.contains("7_3 on `n2`"), "{why}"),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(judged(job(JobState::Cancelled, None)), Ending::Cancelled);
        for (code, words) in [
            (NOT_VISIBLE, "can't be seen there"),
            (
                NOT_STARTED,
                "can't be started there: error: no compiler; caused by: `cc` is gone",
            ),
            (4, "exit code 4 before it began: error: no compiler"),
        ] {
            match judged(job(JobState::Ended, Some(code))) {
                Ending::BadNode { node, why } => assert!(node == "n2" && why.contains(words), "{why}"),
                other => panic!("{other:?}"),
            }
        }
        match judged(job(JobState::Ended, None)) {
            Ending::Killed { node, why } => assert!(node == "n2" && why.contains("signal"), "{why}"),
            other => panic!("{other:?}"),
        }
        assert!(matches!(judged(job(JobState::Ended, Some(5))), Ending::Left(_)));
        assert!(matches!(ending(&dir, shard, None, None), Ending::Lost { .. }));
    }
}
