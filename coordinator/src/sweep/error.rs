//! Why a run can't go on.

use std::path::PathBuf;

use cohort::{CohortError, Difference, ShardId, StateError, Worker};

use super::filter::FilterError;
use crate::exit::ExitCode;
use crate::lock::{Holder, LockError};
use crate::process::ProcessError;
use crate::slurm::SlurmError;

/// Why a run can't go on. Everything measured until then is kept.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The cohort's files.
    #[error(transparent)]
    Cohort(#[from] CohortError),
    /// The cohort's records.
    #[error("the cohort's records are impossible")]
    State(#[from] Box<StateError>),
    /// Something is not what was frozen.
    #[error("the cohort can't go on: {difference}{}", more(*.others))]
    Mismatch {
        /// The first difference.
        difference: Difference,
        /// How many more there are.
        others: usize,
    },
    /// Another coordinator works on the cohort.
    #[error("another coordinator works on this cohort: {}", .0.as_deref().map_or_else(|| "it can't be named from here".to_owned(), ToString::to_string))]
    Busy(Option<Box<Holder>>),
    /// There is no such shard.
    #[error("the cohort has no shard `{shard}`: {why}")]
    NoShard {
        /// What was asked for.
        shard: ShardId,
        /// What there is.
        why: String,
    },
    /// Somebody else works on a shard, or may do so.
    #[error("shard {shard} is held by {holder}: {why}")]
    ShardBusy {
        /// The shard.
        shard: ShardId,
        /// Who has it.
        holder: Box<Worker>,
        /// How that is known.
        why: String,
    },
    /// Somebody else took the shard.
    #[error("shard {0} was taken over by another worker while this one worked on it")]
    TakenOver(ShardId),
    /// Slurm, or its nodes.
    #[error(transparent)]
    Slurm(#[from] SlurmError),
    /// A lock file.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A name that is not there.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// What all cases need could not be built.
    #[error("the harness can't be built: {reason}; its log is `{}`", log.display())]
    Harness {
        /// Why.
        reason: String,
        /// The log.
        log: PathBuf,
        /// Whether a step of its build failed by its exit code, so that what it printed is the reason.
        by_compiler: bool,
    },
    /// A command can't start here, whatever the case.
    #[error("`{program}` (`{key}`) can't be started on this machine: no such program is there")]
    Program {
        /// The option that names it.
        key: String,
        /// The program.
        program: String,
    },
    /// A control failed, so nothing can be compared with it.
    #[error(
        "`{case}`, the control of workload `{workload}`, can't be built, so nothing can be compared with it: {reason}"
    )]
    Control {
        /// The control.
        case: String,
        /// Its workload.
        workload: String,
        /// Why.
        reason: String,
    },
    /// An artifact that was measured is gone, and building it again gives other bytes.
    #[error("case `{case}` was measured with artifact {expected}, which is gone; built again it is {found}")]
    Artifact {
        /// The case.
        case: String,
        /// Digest on record.
        expected: String,
        /// Digest now.
        found: String,
    },
    /// The target wants something that can't be done yet.
    #[error("target `{target}` wants {what}, which this version can't do")]
    Unsupported {
        /// The target.
        target: String,
        /// What.
        what: &'static str,
    },
    /// A command could not be run.
    #[error("cannot run a command for `{what}`")]
    Process {
        /// The case or unit.
        what: String,
        /// Why.
        source: ProcessError,
    },
    /// Crosses could not be formed.
    #[error("the crosses of the fastest choices can't be formed")]
    Crosses(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Files could not be written or read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// What to do about files that were frozen or written once and can't be read any more.
pub const DAMAGED: &str = "restore the file from a copy, or begin a new cohort with `layout-sweep sweep DEFINITION --cohort DIR`. Nothing was run or \
     removed";

/// What to do about something that is not as it was frozen: a line for `help:`.
#[must_use]
pub fn help_with(difference: &Difference) -> String {
    let name = &difference.name;
    if super::check::can_be_accepted(name) {
        format!(
            "restore it, consent with `layout-sweep run COHORT --accept {name}`, or freeze a fresh cohort with `--cohort DIR`"
        )
    } else if name.starts_with("records/") {
        "what was measured was edited afterwards: restore the file from a copy, or freeze a fresh cohort with `--cohort DIR` \
         and measure again"
            .to_owned()
    } else if name == "manifest.sha256" {
        "nothing says any more whether `manifest.json` was edited: restore the file from a copy; if the manifest is certain to \
         be what was frozen, `sha256sum manifest.json > manifest.sha256` in the cohort's folder writes it again"
            .to_owned()
    } else {
        crate::handover::RESTORE.to_owned()
    }
}

fn unwritable(error: &std::io::Error) -> Option<String> {
    let help = match error.kind() {
        std::io::ErrorKind::ReadOnlyFilesystem | std::io::ErrorKind::PermissionDenied => {
            "a run writes into the cohort; `layout-sweep status` and `analyze --report DIR` only read it"
        }
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            "make room; the same command goes on, nothing that was measured is lost"
        }
        std::io::ErrorKind::FileTooLarge => {
            "raise the limit on the size of files (`ulimit -f`); the same command goes on, nothing that was measured is lost"
        }
        _ => return None,
    };
    Some(help.to_owned())
}

fn more(others: usize) -> String {
    if others == 0 {
        String::new()
    } else {
        format!(" (and {others} more)")
    }
}

impl RunError {
    /// What the program should end with.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Mismatch { .. } | Self::Artifact { .. } | Self::State(_) | Self::Program { .. } => ExitCode::Mismatch,
            Self::Cohort(error) if error.is_damage() => ExitCode::Mismatch,
            Self::Busy(_)
            | Self::ShardBusy { .. }
            | Self::TakenOver(_)
            | Self::Process {
                source: ProcessError::LockTimedOut { .. },
                ..
            } => ExitCode::LockTimeout,
            Self::Filter(_)
            | Self::NoShard { .. }
            | Self::Unsupported { .. }
            | Self::Cohort(CohortError::NoCohort { .. }) => ExitCode::Usage,
            Self::Control { .. } => ExitCode::SomeFailed,
            Self::Slurm(error) => error.exit_code(),
            _ => ExitCode::Failure,
        }
    }

    /// The next step, where it is known: a line for `help:`.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Mismatch { difference, .. } => Some(help_with(difference)),
            Self::Program { .. } => Some(
                "it was there when the cohort was frozen: put it back, and the same command goes on; no case failed for it"
                    .to_owned(),
            ),
            Self::Busy(_) => {
                Some("`--lock-timeout TIME` waits for it; `layout-sweep status` shows how far it is".to_owned())
            }
            Self::Slurm(error) => error.help().map(str::to_owned),
            Self::NoShard { .. } => Some("`layout-sweep shards COHORT` lists them".to_owned()),
            Self::ShardBusy { .. } => Some(
                "`layout-sweep shards COHORT` shows who has which; `--take-over` if it is certain to have ended"
                    .to_owned(),
            ),
            Self::Cohort(CohortError::Changed { .. }) => Some(crate::handover::RESTORE.to_owned()),
            Self::State(_) => Some(DAMAGED.to_owned()),
            Self::Cohort(error) if error.is_damage() => Some(DAMAGED.to_owned()),
            Self::Cohort(error) => unwritable(error.system()?),
            Self::Io(error) => unwritable(error),
            Self::Lock(LockError::Io { source, .. }) => unwritable(source),
            Self::Artifact { case, .. } => Some(format!("begin again with `--retry {case}`")),
            Self::Control { case, .. } => Some(format!("mend it, then `--retry {case}`")),
            Self::Harness { by_compiler: true, .. } => {
                Some("the compiler's first error is above; `CC` chooses another compiler".to_owned())
            }
            _ => None,
        }
    }
}
