//! What coordinator and guard say to each other: one request on the guard's standard input, events as JSON lines on its
//! standard output. The request's pipe stays open: that it closes means that the coordinator has gone.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::lock::{Holder, Mode};

/// Waiting is told when it has lasted so long.
pub(crate) const TELL_WAITING_AFTER: Duration = Duration::from_secs(1);

/// The lock that a guard takes before it starts anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockRequest {
    /// The lock file.
    pub path: PathBuf,
    /// Alone or beside others.
    pub mode: Mode,
    /// For which cohort; told to those who wait.
    pub cohort: String,
    /// For which case.
    pub case: String,
    /// How long to wait; `None` for as long as it takes.
    pub timeout_ms: Option<u64>,
}

impl LockRequest {
    /// The same, but nobody waits longer than until `deadline`.
    pub(crate) fn until(mut self, deadline: Option<Instant>) -> Self {
        if let Some(deadline) = deadline {
            let left = deadline.saturating_duration_since(Instant::now()).as_millis();
            // Rounded up, so that the deadline is over when the wait is.
            let left = u64::try_from(left).unwrap_or(u64::MAX).saturating_add(1);
            self.timeout_ms = Some(self.timeout_ms.map_or(left, |limit| limit.min(left)));
        }
        self
    }
}

/// Where a guard writes down that its command ended well, for the successor of a coordinator that died meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteRequest {
    /// The file.
    pub path: PathBuf,
    /// Unique to this command; stands in the note.
    pub token: String,
    /// Files that its result is read from, by names of their own.
    pub files: BTreeMap<String, PathBuf>,
}

/// What it writes: only of a command that ended on its own, with exit code 0, and whose output was kept whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndNote {
    /// That of the request.
    pub token: String,
    /// How it ended.
    pub ended: Ended,
    /// SHA-256 of those files of the request that were there, by their names.
    pub sha256: BTreeMap<String, String>,
}

/// A command that runs before or after another under the same lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hook {
    /// The program, as in [`GuardRequest::program`].
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables in addition to the inherited ones.
    pub environment: BTreeMap<String, String>,
    /// How long it may run; `None` for as long as it takes.
    pub timeout_ms: Option<u64>,
}

/// What surrounds a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hooks {
    /// Run before; if it fails, the command is not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Hook>,
    /// Run after, whatever happened, and even if the coordinator has gone meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Hook>,
}

/// A command to run under a guard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardRequest {
    /// The lock to hold meanwhile, if any.
    pub lock: Option<LockRequest>,
    /// What runs before and after it.
    #[serde(default)]
    pub hooks: Hooks,
    /// How long the command may run; waiting for the lock does not count. `None` for as long as it takes.
    pub run_timeout_ms: Option<u64>,
    /// Time between TERM and KILL.
    pub grace_ms: u64,
    /// File that standard output goes to.
    pub stdout: PathBuf,
    /// File that standard error goes to.
    pub stderr: PathBuf,
    /// Where to note its good end, if anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<NoteRequest>,
    /// Bytes kept of each of them; what comes after is read and thrown away.
    pub output_cap: u64,
    /// Folder that the command runs in.
    pub directory: PathBuf,
    /// The program: absolute, or relative to `directory` and beginning with `./`.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables in addition to the inherited ones.
    pub environment: BTreeMap<String, String>,
}

/// How a command ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Its exit code; `None` when a signal ended it.
    pub exit_code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was ended because its time was over.
    pub timed_out: bool,
    /// Whether it was ended because the coordinator asked for that, or has gone.
    pub cancelled: bool,
    /// Wall time of the command.
    pub ran_ms: u64,
    /// Time that it waited for the lock before.
    pub waited_ms: u64,
    /// Other processes of its tree that were still there at its end, and were ended.
    pub killed_tree: u32,
    /// Processes that could not be ended (stuck in the kernel).
    pub left_behind: Vec<i32>,
    /// Bytes of standard output that were not kept.
    pub stdout_dropped: u64,
    /// Bytes of standard error that were not kept.
    pub stderr_dropped: u64,
    /// Why output could not be written down, if so.
    pub capture_error: Option<String>,
    /// Which hook failed, and how, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_error: Option<String>,
}

/// What a guard tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum GuardEvent {
    /// Somebody else has the lock, for more than a second by now. Told again when it goes to another cohort.
    Waiting {
        /// Who, where that can be told.
        holder: Option<Holder>,
    },
    /// It has the lock.
    Locked {
        /// After how long.
        waited_ms: u64,
    },
    /// The command runs.
    Started {
        /// Its process, and its process group.
        pid: i32,
    },
    /// The command ended, and nothing of its tree is left.
    Ended(Ended),
    /// The lock was not to be had in time; nothing was started.
    LockTimedOut {
        /// How long it waited.
        waited_ms: u64,
        /// Who had it last.
        holder: Option<Holder>,
    },
    /// It was asked to stop before anything was started.
    Cancelled {
        /// How long it waited.
        waited_ms: u64,
    },
    /// Something that was not possible and is not needed. Guards don't say this, but who measures a machine does.
    Note {
        /// What, with its causes.
        message: String,
    },
    /// Something else went wrong; nothing runs.
    Failed {
        /// What, with its causes.
        message: String,
    },
}
