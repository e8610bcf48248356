//! What is known of each case.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use target_api::Estimate;

use super::apart::Unlike;
use crate::case::Case;
use crate::layout::Source;
use crate::record::{BuildOutcome, Record, RunOutcome};

/// How a case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// All wanted rounds of the latest attempt were right.
    Correct,
    /// The target says no: a result.
    Rejected,
    /// It couldn't be built.
    BuildFailed,
    /// A round ended without a result.
    RunFailed,
    /// A build step or a round took longer than its limit.
    TimedOut,
    /// The device computed something wrong.
    Incorrect,
}

impl Outcome {
    /// All outcomes, in the order in which they are shown.
    pub const ALL: [Self; 6] = [
        Self::Correct,
        Self::Rejected,
        Self::BuildFailed,
        Self::RunFailed,
        Self::TimedOut,
        Self::Incorrect,
    ];

    /// Its word in records, tables and options.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Correct => "correct",
            Self::Rejected => "rejected",
            Self::BuildFailed => "build-failed",
            Self::RunFailed => "run-failed",
            Self::TimedOut => "timed-out",
            Self::Incorrect => "incorrect",
        }
    }
}

/// How far a case is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The latest attempt has no build yet.
    Waiting,
    /// Built, no round done.
    Built,
    /// Some rounds done, some left.
    Partial,
    /// Terminal: nothing is left to do unless somebody asks for another attempt or grants more rounds.
    Done(Outcome),
}

/// A finished build.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DoneBuild<'a> {
    /// The record.
    pub record: &'a Record,
    /// How it ended.
    pub outcome: &'a BuildOutcome,
    /// Estimates of moment `build`.
    pub estimates: &'a [Estimate],
}

/// A finished round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DoneRound<'a> {
    /// The record.
    pub record: &'a Record,
    /// How it ended.
    pub outcome: &'a RunOutcome,
    /// The device.
    pub device: &'a str,
    /// Wall time of the command, without waiting for the device.
    pub run_ms: u64,
    /// Time that it waited for the device.
    pub waited_ms: u64,
    /// Whether it was taken from the log of a coordinator that had died.
    pub recovered: bool,
}

/// What is known of one round of one attempt. Rounds that never began are not listed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RoundState<'a> {
    /// It ended.
    Done(DoneRound<'a>),
    /// It began (this is the latest such record by writer and number) and never ended, or still runs: records alone
    /// can't tell. It never counts as done.
    Lost(&'a Record),
}

impl<'a> RoundState<'a> {
    /// The finished round.
    #[must_use]
    pub fn done(&self) -> Option<DoneRound<'a>> {
        match self {
            Self::Done(round) => Some(*round),
            Self::Lost(_) => None,
        }
    }
}

/// One attempt at a case.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attempt<'a> {
    /// What asked for it; `None` for the first attempt.
    pub retry: Option<&'a Record>,
    /// What accepted its wrong result, if somebody did.
    pub accepted: Option<&'a Record>,
    /// Its build, once it ended.
    pub build: Option<DoneBuild<'a>>,
    /// Round -> what is known.
    pub rounds: BTreeMap<u32, RoundState<'a>>,
    /// Starts of rounds that never ended, those that were done again later included.
    pub lost_starts: u64,
}

impl<'a> Attempt<'a> {
    /// Finished rounds whose result was right, in order.
    pub fn correct(&self) -> impl Iterator<Item = (u32, DoneRound<'a>)> {
        self.rounds.iter().filter_map(|(&round, state)| match state {
            RoundState::Done(done) if matches!(done.outcome, RunOutcome::Correct { .. }) => Some((round, *done)),
            _ => None,
        })
    }

    /// How this attempt ended badly, if it did: a wrong result before everything else, then the first failure.
    fn failure(&self) -> Option<Outcome> {
        match self.build?.outcome {
            BuildOutcome::Built { .. } => {}
            BuildOutcome::Rejected { .. } => return Some(Outcome::Rejected),
            BuildOutcome::BuildFailed { .. } => return Some(Outcome::BuildFailed),
            BuildOutcome::TimedOut { .. } => return Some(Outcome::TimedOut),
        }
        let failures = self.rounds.values().filter_map(|round| match round.done()?.outcome {
            RunOutcome::Correct { .. } => None,
            RunOutcome::Incorrect { .. } => Some(Outcome::Incorrect),
            RunOutcome::Rejected { .. } => Some(Outcome::Rejected),
            RunOutcome::RunFailed { .. } => Some(Outcome::RunFailed),
            RunOutcome::TimedOut { .. } => Some(Outcome::TimedOut),
        });
        // The last of equals would win in `max_by_key`, so the first is asked for with `min_by_key`.
        failures.min_by_key(|failure| *failure != Outcome::Incorrect)
    }
}

/// Everything known of one case.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseState<'a> {
    /// The case.
    pub case: &'a Case,
    /// Where it comes from.
    pub source: Source,
    /// Whether the others of its workload are compared with it.
    pub control: bool,
    /// Pairs of each wanted round, in order: those of the manifest, then those that additions granted.
    pub wanted: Vec<u32>,
    /// Attempts that have records. The latest counts, all are shown.
    pub attempts: BTreeMap<u32, Attempt<'a>>,
}

impl<'a> CaseState<'a> {
    /// Number of the latest attempt; 1 before anything happened.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempts.keys().next_back().copied().unwrap_or(1)
    }

    /// The latest attempt; `None` before anything happened.
    #[must_use]
    pub fn latest(&self) -> Option<&Attempt<'a>> {
        self.attempts.values().next_back()
    }

    /// How far the latest attempt is.
    #[must_use]
    pub fn status(&self) -> Status {
        let Some(latest) = self.latest().filter(|attempt| attempt.build.is_some()) else {
            return Status::Waiting;
        };
        if let Some(failure) = latest.failure() {
            return Status::Done(failure);
        }
        match latest.correct().count() {
            0 => Status::Built,
            done if done < self.wanted.len() => Status::Partial,
            _ => Status::Done(Outcome::Correct),
        }
    }

    /// The outcome of a terminal case.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        match self.status() {
            Status::Done(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Rounds of the latest attempt that are to be done, with their pairs, whether or not the build is there; none once
    /// the case is terminal.
    #[must_use]
    pub fn rounds_left(&self) -> Vec<(u32, u32)> {
        if self.outcome().is_some() {
            return Vec::new();
        }
        let done = |round| {
            self.latest()
                .and_then(|l| l.rounds.get(&round))
                .is_some_and(|r| r.done().is_some())
        };
        (0..)
            .zip(&self.wanted)
            .filter(|&(round, _)| !done(round))
            .map(|(round, &pairs)| (round, pairs))
            .collect()
    }

    /// Rounds of the latest attempt that began and never ended.
    pub fn lost(&self) -> impl Iterator<Item = (u32, &'a Record)> {
        let rounds = self.latest().into_iter().flat_map(|latest| &latest.rounds);
        rounds.filter_map(|(&round, state)| match state {
            RoundState::Lost(record) => Some((round, *record)),
            RoundState::Done(_) => None,
        })
    }
}

/// A record that says again what another one says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Duplicate<'a> {
    /// The one that doesn't count.
    pub record: &'a Record,
    /// The one that counts.
    pub counted: &'a Record,
}

/// What is done, left and lost in a cohort.
#[derive(Debug, Clone)]
pub struct State<'a> {
    pub(crate) cases: Vec<CaseState<'a>>,
    pub(crate) index: HashMap<&'a str, usize>,
    pub(crate) crossed: bool,
    pub(crate) duplicates: Vec<Duplicate<'a>>,
    pub(crate) consents: Vec<&'a Record>,
    pub(crate) unlike: Vec<Unlike<'a>>,
}

impl<'a> State<'a> {
    /// All cases: the initial ones as in `cases.jsonl`, then those of the additions.
    #[must_use]
    pub fn cases(&self) -> &[CaseState<'a>] {
        &self.cases
    }

    /// The case called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&CaseState<'a>> {
        self.index.get(name).map(|&at| &self.cases[at])
    }

    /// Consents to differences of the machine ([`crate::RecordKind::AcceptDifference`]), in the order of writers. Those to
    /// wrong results stand in [`Attempt::accepted`].
    #[must_use]
    pub fn consents(&self) -> &[&'a Record] {
        &self.consents
    }

    /// Classes of machines other than the frozen one that measured some of it, in the order of their differences. What the
    /// frozen class measured and what these did must not be compared: [`State::apart`].
    #[must_use]
    pub fn unlike(&self) -> &[Unlike<'a>] {
        &self.unlike
    }

    /// Records that don't count because another one says the same of the same build, round or retry.
    #[must_use]
    pub fn duplicates(&self) -> &[Duplicate<'a>] {
        &self.duplicates
    }
}

impl PartialEq for State<'_> {
    fn eq(&self, other: &Self) -> bool {
        // `index` follows from `cases`.
        self.cases == other.cases
            && self.crossed == other.crossed
            && self.duplicates == other.duplicates
            && self.consents == other.consents
            && self.unlike == other.unlike
    }
}
