//! One round of a target that needs more than one command: files, hooks, a check, reports.
//!
//! What the coordinator does with a [`Round`], in this order:
//!
//! 1. takes the device lock, unless [`crate::Configured::lock`] is [`LockHolder::Child`];
//! 2. removes what `inspect` names from the case's folder and writes `files` into it;
//! 3. runs `before`; if it fails, the round is `run-failed`;
//! 4. runs `run` in `directory` with the run's time limit; its outputs are the run log;
//! 5. runs `after`, whatever happened since 3 (time-out, interruption and a killed coordinator included: a guard does
//!    it), then unlocks;
//! 6. reads `inspect` from the case's folder (what is missing is left out) into [`Captured::files`];
//! 7. if the run ended with exit code 0, runs `check`; then asks [`crate::Configured::verdict`], also after a time-out
//!    or a bad end (a verdict of `Incorrect` is the outcome then: it was loaded and never passed; anything else is
//!    `timed-out` or `run-failed`);
//! 8. if the verdict is `Correct`, runs `reports` and keeps the standard output of each as `<name>.json` in the case's
//!    folder; a report that fails fails nothing else;
//! 9. asks [`crate::Configured::parse_round`] for the measurement;
//! 10. where the outcome would be `run-failed` or `build-failed`, asks [`crate::Configured::refusal`] with what was
//!     printed: `Some` is the outcome `rejected`, with these words.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::command::{Captured, CommandSpec, SourceFile};

/// Where things are, for one round.
#[derive(Debug, Clone)]
pub struct Places<'a> {
    /// The cohort's folder.
    pub cohort: &'a Path,
    /// Frozen sources of the unit that [`crate::Configured::harness`] describes; `None` where there is none.
    pub sources: Option<&'a Path>,
    /// File that the run's standard output goes to.
    pub run_log: &'a Path,
    /// The device of this round; `host` for the host's own CPU, `none` where runs lie side by side.
    pub device: &'a str,
    /// Its lock; `None` where runs lie side by side.
    pub device_lock: Option<&'a Path>,
}

/// A command with a limit of time.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Limited {
    /// What to run.
    pub command: CommandSpec,
    /// How long it may take, in milliseconds; `None` for the run's own limit.
    pub timeout_ms: Option<u64>,
}

/// A command whose standard output is kept as JSON beside the log.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReportSpec {
    /// Stem of the file.
    pub name: String,
    /// What to run.
    pub command: Limited,
}

/// Everything that one round of one case does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Round {
    /// Folder that all of its commands run in; `None` for the case's folder.
    pub directory: Option<PathBuf>,
    /// Written into the case's folder before anything runs.
    pub files: Vec<SourceFile>,
    /// Run before the run.
    pub before: Option<Limited>,
    /// The run.
    pub run: CommandSpec,
    /// Undoes `before`.
    pub after: Option<Limited>,
    /// Files in the case's folder that are read after the run.
    pub inspect: Vec<String>,
    /// Exit code 0: the result is right.
    pub check: Option<Limited>,
    /// Run after a pass.
    pub reports: Vec<ReportSpec>,
}

impl Round {
    /// A round of one command.
    #[must_use]
    pub fn of(run: CommandSpec) -> Self {
        Self {
            directory: None,
            files: Vec::new(),
            before: None,
            run,
            after: None,
            inspect: Vec::new(),
            check: None,
            reports: Vec::new(),
        }
    }
}

/// What the commands of a round left behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoundCaptured {
    /// Of the run, with the files that were asked for.
    pub run: Captured,
    /// Of the check, where there is one and it ran.
    pub check: Option<Captured>,
    /// Of the reports that ran, by name.
    pub reports: BTreeMap<String, Captured>,
    /// What the build record of the case says of its units: label -> facts.
    pub build: BTreeMap<String, BTreeMap<String, String>>,
}

/// Who takes the device lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockHolder {
    /// The guard.
    Guard,
    /// The program, after what it compiles inside: the guard must not hold the lock.
    Child,
}
