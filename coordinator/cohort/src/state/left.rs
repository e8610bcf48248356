//! What is left to do, and how many cases are where.

use serde::{Deserialize, Serialize};

use super::model::{Outcome, State, Status};
use crate::layout::Source;

/// A build to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftBuild<'a> {
    /// The case.
    pub case: &'a str,
    /// The attempt it is for.
    pub attempt: u32,
}

/// A round to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftRound<'a> {
    /// The case.
    pub case: &'a str,
    /// The attempt it is for.
    pub attempt: u32,
    /// Which, from 0.
    pub round: u32,
    /// Pairs of calls in it.
    pub pairs: u32,
}

/// What can be done now. Rounds of cases that wait for their build appear once it succeeded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Left<'a> {
    /// Builds, in the order of cases.
    pub builds: Vec<LeftBuild<'a>>,
    /// Rounds of built cases, in the order of cases and then of rounds.
    pub rounds: Vec<LeftRound<'a>>,
}

impl Left<'_> {
    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.builds.is_empty() && self.rounds.is_empty()
    }
}

/// Numbers of cases by status; they add up to the number of cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Without a build in their latest attempt.
    pub waiting: u64,
    /// Built, no round done.
    pub built: u64,
    /// Some rounds done.
    pub partial: u64,
    /// Terminal: all rounds right.
    pub correct: u64,
    /// Terminal: the target says no.
    pub rejected: u64,
    /// Terminal.
    pub build_failed: u64,
    /// Terminal.
    pub run_failed: u64,
    /// Terminal.
    pub timed_out: u64,
    /// Terminal: wrong results.
    pub incorrect: u64,
    /// Rounds (not cases) that began in the latest attempt of a case and never ended.
    pub lost_rounds: u64,
}

impl Counts {
    /// Terminal cases that failed: neither right nor rejected.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.build_failed + self.run_failed + self.timed_out + self.incorrect
    }

    /// All cases.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.waiting + self.built + self.partial + self.correct + self.rejected + self.failed()
    }

    fn of(&mut self, status: Status) -> &mut u64 {
        match status {
            Status::Waiting => &mut self.waiting,
            Status::Built => &mut self.built,
            Status::Partial => &mut self.partial,
            Status::Done(Outcome::Correct) => &mut self.correct,
            Status::Done(Outcome::Rejected) => &mut self.rejected,
            Status::Done(Outcome::BuildFailed) => &mut self.build_failed,
            Status::Done(Outcome::RunFailed) => &mut self.run_failed,
            Status::Done(Outcome::TimedOut) => &mut self.timed_out,
            Status::Done(Outcome::Incorrect) => &mut self.incorrect,
        }
    }
}

impl<'a> State<'a> {
    /// What can be done now.
    #[must_use]
    pub fn left(&self) -> Left<'a> {
        let mut left = Left::default();
        for state in &self.cases {
            let (case, attempt) = (state.case.name.as_str(), state.attempt());
            match state.status() {
                Status::Waiting => left.builds.push(LeftBuild { case, attempt }),
                Status::Built | Status::Partial => {
                    let rounds = state.rounds_left().into_iter();
                    left.rounds.extend(rounds.map(|(round, pairs)| LeftRound {
                        case,
                        attempt,
                        round,
                        pairs,
                    }));
                }
                Status::Done(_) => {}
            }
        }
        left
    }

    /// How many cases are where.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts_of(|_| true)
    }

    /// The same for the cases whose names `wanted` takes.
    #[must_use]
    pub fn counts_of(&self, wanted: impl Fn(&str) -> bool) -> Counts {
        let mut counts = Counts::default();
        for state in self.cases.iter().filter(|state| wanted(&state.case.name)) {
            *counts.of(state.status()) += 1;
            counts.lost_rounds += state.lost().count() as u64;
        }
        counts
    }

    /// Whether every case is terminal.
    #[must_use]
    pub fn all_terminal(&self) -> bool {
        self.cases.iter().all(|state| state.outcome().is_some())
    }

    /// Whether every case of `cases.jsonl` is terminal.
    #[must_use]
    pub fn initial_terminal(&self) -> bool {
        let mut initial = self.cases.iter().filter(|state| state.source == Source::Initial);
        initial.all(|state| state.outcome().is_some())
    }

    /// Whether crosses may be formed: every initial case is terminal, and no addition holds crosses yet.
    #[must_use]
    pub fn may_cross(&self) -> bool {
        !self.crossed && self.initial_terminal()
    }

    /// Cases whose latest attempt is incorrect and was not accepted: they stop a sweep until somebody accepts or retries
    /// them.
    #[must_use]
    pub fn stopped_by(&self) -> Vec<&'a str> {
        let incorrect = self
            .cases
            .iter()
            .filter(|state| state.outcome() == Some(Outcome::Incorrect))
            .filter(|state| state.latest().is_none_or(|latest| latest.accepted.is_none()));
        incorrect.map(|state| state.case.name.as_str()).collect()
    }
}
