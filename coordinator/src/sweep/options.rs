//! What a run is asked for, and what it says at its end.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cohort::{Counts, Dropped, Record, RecordKind, ShardId, State};
use target_api::{Configured, Machine, Program};

use super::filter::Retry;
use crate::cache::BuildCache;
use crate::exit::ExitCode;

/// What a run is asked for.
pub struct RunOptions<'a> {
    /// The target, configured as it was when the cohort was frozen.
    pub target: &'a dyn Configured,
    /// The machine as it is now; its class must be the frozen one.
    pub machine: &'a Machine,
    /// Builds side by side.
    pub jobs: usize,
    /// Cases to work on, by name or pattern (`*` stands for anything); all when empty.
    pub only: Vec<String>,
    /// Cases to leave alone, by name or pattern.
    pub exclude: Vec<String>,
    /// Cases to begin again.
    pub retry: Vec<Retry>,
    /// Builds of this machine that are there already; `None` to build everything here.
    pub cache: Option<BuildCache>,
    /// Differences of the machine to consent to: `machine.governor`, `tool.compiler`.
    pub accept: Vec<String>,
    /// In what this machine may be unlike the frozen one, by names or patterns: then what it measures is kept apart.
    pub unlike: Vec<String>,
    /// Cases whose wrong results don't stop the sweep (any more).
    pub accept_incorrect: Vec<String>,
    /// Programs that the definition names itself and that were there when the cohort was frozen.
    pub programs: Vec<Program>,
    /// When to stop: no round begins after it.
    pub time_limit: Option<Duration>,
    /// The device's lock, where it is not the usual one.
    pub device_lock: Option<PathBuf>,
    /// How long to wait for the device's lock, and for another coordinator of the cohort. When `None`: for the device as
    /// long as it takes, for the other coordinator not at all (it leaves nothing to do).
    pub lock_timeout: Option<Duration>,
    /// Folder of this node in which workers of shards keep digests of what they verified; `None` to hash everything anew.
    pub node_cache: Option<PathBuf>,
    /// Work on this shard only, beside whoever works on others; else on the whole cohort, alone.
    pub shard: Option<ShardId>,
    /// Build what is left, and run nothing.
    pub builds_only: bool,
    /// Take over shards whose holders may still work: somebody knows that they don't.
    pub take_over: bool,
    /// The time that records carry. They never decide anything by it.
    pub clock: fn() -> jiff::Timestamp,
}

impl<'a> RunOptions<'a> {
    /// Everything that is left, with one build per core.
    #[must_use]
    pub fn new(target: &'a dyn Configured, machine: &'a Machine) -> Self {
        Self {
            target,
            machine,
            jobs: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            only: Vec::new(),
            exclude: Vec::new(),
            retry: Vec::new(),
            cache: None,
            accept: Vec::new(),
            unlike: Vec::new(),
            accept_incorrect: Vec::new(),
            programs: Vec::new(),
            time_limit: None,
            device_lock: None,
            lock_timeout: None,
            node_cache: None,
            shard: None,
            builds_only: false,
            take_over: false,
            clock: jiff::Timestamp::now,
        }
    }

    /// Whether a wrong result of `case` is no reason to stop.
    pub(crate) fn accepts(&self, case: &str) -> bool {
        self.accept_incorrect.iter().any(|accepted| accepted == case)
    }

    /// Cases whose wrong results stop the sweep.
    pub(crate) fn stopped_by<'s>(&self, state: &'s State<'_>) -> impl Iterator<Item = &'s str> {
        state.stopped_by().into_iter().filter(|case| !self.accepts(case))
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSummary {
    /// Cases by status; those of the shard, where it was one.
    pub counts: Counts,
    /// Rounds done by this run.
    pub rounds_done: u64,
    /// Rounds that an earlier run measured, taken from their logs.
    pub rounds_recovered: u64,
    /// Whether Ctrl-C ended it.
    pub interrupted: bool,
    /// Whether the time limit ended it.
    pub time_over: bool,
    /// Whether it was only to build.
    pub only_built: bool,
    /// Cases with wrong results, not accepted: they stopped it.
    pub stopped_by: Vec<String>,
    /// Torn last lines of record files, left by kills.
    pub dropped: Vec<Dropped>,
}

impl RunSummary {
    /// What a run that nobody interrupted came to: `new` records were made by it, and `left` is undone of what it was asked
    /// for until `deadline`.
    pub(crate) fn of(
        options: &RunOptions<'_>,
        state: &State<'_>,
        new: &[Record],
        counts: Counts,
        (left, deadline): (impl Fn(&str) -> bool, Option<Instant>),
    ) -> Self {
        let rounds = |wanted: bool| {
            let own = new.iter();
            own.filter(|r| matches!(r.kind, RecordKind::Run { recovered, .. } if recovered == wanted))
                .count() as u64
        };
        let mut undone = state.cases().iter().filter(|case| case.outcome().is_none());
        let left = undone.any(|case| left(&case.case.name));
        Self {
            counts,
            rounds_done: rounds(false),
            rounds_recovered: rounds(true),
            interrupted: false,
            time_over: left && deadline.is_some_and(|deadline| Instant::now() >= deadline),
            only_built: false,
            stopped_by: options.stopped_by(state).map(str::to_owned).collect(),
            dropped: Vec::new(),
        }
    }

    /// Whether work is left that was asked for.
    #[must_use]
    pub fn partial(&self) -> bool {
        self.interrupted || self.time_over || !self.stopped_by.is_empty()
    }

    /// Why work is left that was asked for, in words; `None` when none is.
    #[must_use]
    pub(crate) fn why_partial(&self) -> Option<String> {
        if !self.stopped_by.is_empty() {
            Some(format!("wrong results of {}", self.stopped_by.join(", ")))
        } else if self.interrupted {
            Some("it was interrupted".to_owned())
        } else if self.only_built {
            Some("it was only to build".to_owned())
        } else {
            self.time_over.then(|| "its time limit was over".to_owned())
        }
    }

    /// What the program should end with.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        if !self.stopped_by.is_empty() {
            ExitCode::Incorrect
        } else if self.interrupted {
            ExitCode::Interrupted
        } else if self.counts.failed() > 0 {
            ExitCode::SomeFailed
        } else {
            ExitCode::Done
        }
    }
}
