//! What a sweep tells while it goes on. Nothing is printed here.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use cohort::{BuildOutcome, Difference, RunOutcome};

use crate::guard::TELL_WAITING_AFTER;
use crate::lock::Holder;

/// Something that happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// The cohort is what was frozen; these differences of the machine were accepted.
    Verified {
        /// What differs and was consented to.
        accepted: &'a [Difference],
        /// Cases that are measured in spite of it: those that are left of what was asked for.
        cases: &'a [&'a str],
        /// Artifacts of finished cases that are gone.
        gone: &'a [PathBuf],
    },
    /// This machine is another one than the frozen: what it measures is kept apart.
    Unlike {
        /// In what.
        differences: &'a [Difference],
    },
    /// The wrong result of a case was accepted: it stops nothing any more.
    WrongAccepted {
        /// The case.
        case: &'a str,
    },
    /// Another coordinator works on the cohort; this one waits for it.
    CohortBusy {
        /// Who, where that can be told.
        holder: Option<&'a Holder>,
    },
    /// Builds begin.
    Building {
        /// Things to build.
        units: usize,
        /// Cases that need them.
        cases: usize,
    },
    /// An artifact of an earlier time is damaged or gone, and is built again.
    Rebuilding {
        /// Digest of the unit.
        unit: &'a str,
        /// What was found.
        why: &'a str,
    },
    /// The build cache can't be used for a unit; it is built without.
    CacheUnused {
        /// Digest of the unit.
        unit: &'a str,
        /// Why.
        why: &'a str,
    },
    /// The build of a case ended.
    Built {
        /// The case.
        case: &'a str,
        /// How.
        outcome: &'a BuildOutcome,
    },
    /// A build or a round has waited for the lock for more than a second. Told again when the lock goes to another
    /// cohort, or when it was free in between.
    Waiting {
        /// The case, or the digest of the unit.
        what: &'a str,
        /// Who has it, where that can be told.
        holder: Option<&'a Holder>,
    },
    /// Another coordinator builds the same; its build is copied when it is done.
    BuiltElsewhere {
        /// Digest of the unit.
        unit: &'a str,
        /// Who, where that can be told.
        holder: Option<&'a Holder>,
    },
    /// A round has the device.
    RoundBegan {
        /// The case.
        case: &'a str,
        /// Which, from 0.
        round: u32,
    },
    /// A round ended.
    RoundDone {
        /// The case.
        case: &'a str,
        /// Which, from 0.
        round: u32,
        /// How.
        outcome: &'a RunOutcome,
    },
    /// A case was measured without numbers that were looked for; told once for each case.
    Missing {
        /// The case.
        case: &'a str,
        /// Which, and what was looked for.
        what: &'a str,
    },
    /// A round of a coordinator that died was taken from its log.
    Recovered {
        /// The case.
        case: &'a str,
        /// Which, from 0.
        round: u32,
    },
    /// The end of a round of a coordinator that died was noted, but it is measured again.
    Doubted {
        /// The case.
        case: &'a str,
        /// Which, from 0.
        round: u32,
        /// Which file does not fit, and in what.
        why: &'a str,
    },
    /// The cohort grew.
    Grown {
        /// Why, in words and numbers.
        reason: &'a str,
    },
    /// Something about arrays of Slurm that a person should know.
    Note {
        /// What, in words.
        text: &'a str,
    },
    /// The first Ctrl-C, told when it comes: what runs is finished.
    Finishing,
    /// The time limit is over.
    TimeOver,
}

/// Where a sweep stands, as far as it can see: crosses and finalists appear when they are decided.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Progress {
    /// Cases whose build is decided in this phase.
    pub builds_done: u64,
    /// Cases to build in this phase.
    pub builds: u64,
    /// Rounds done in this phase.
    pub rounds_done: u64,
    /// Rounds of this phase.
    pub rounds: u64,
    /// Cases that failed since the start.
    pub failed: u64,
    /// Time that the rest of this phase takes if it goes on as it went; `None` before anything is known.
    pub left: Option<Duration>,
}

/// Hears of events, with where the sweep stands after each.
pub type OnEvent<'a> = dyn FnMut(&Event<'_>, &Progress) + 'a;

/// Tells events and keeps count.
pub(crate) struct Reporter<'a> {
    on_event: &'a mut OnEvent<'a>,
    pub(crate) progress: Progress,
    phase: Instant,
    finishing: bool,
    /// The cohort that is waited for, once that was told; empty where it can't be named.
    waiting: Option<String>,
}

impl<'a> Reporter<'a> {
    pub(crate) fn new(on_event: &'a mut OnEvent<'a>) -> Self {
        Self {
            on_event,
            progress: Progress::default(),
            phase: Instant::now(),
            finishing: false,
            waiting: None,
        }
    }

    pub(crate) fn tell(&mut self, event: &Event<'_>) {
        (self.on_event)(event, &self.progress);
    }

    /// Says once that the run comes to its end.
    pub(crate) fn finishing(&mut self) {
        if !std::mem::replace(&mut self.finishing, true) {
            self.tell(&Event::Finishing);
        }
    }

    /// Says for whom `what` waits, unless that is known: cohorts that take turns would be told in every round.
    pub(crate) fn waiting(&mut self, what: &str, holder: Option<&Holder>) {
        let cohort = holder.map_or_else(String::new, |holder| holder.cohort.clone());
        let told = self.waiting.as_ref();
        let known = told.is_some_and(|told| cohort.is_empty() || *told == cohort);
        if !known {
            self.waiting = Some(cohort);
            self.tell(&Event::Waiting { what, holder });
        }
    }

    /// The lock came after `waited_ms`. Where that was no time worth telling, the next wait is news.
    pub(crate) fn locked(&mut self, waited_ms: u64) {
        if u128::from(waited_ms) < TELL_WAITING_AFTER.as_millis() {
            self.waiting = None;
        }
    }

    /// A phase with so many builds or rounds begins.
    pub(crate) fn begin(&mut self, builds: usize, rounds: usize) {
        self.phase = Instant::now();
        self.progress = Progress {
            builds: builds as u64,
            rounds: rounds as u64,
            failed: self.progress.failed,
            ..Progress::default()
        };
    }

    /// One more is done: the time left follows from what the ones before took.
    pub(crate) fn done(&mut self, builds: u64, rounds: u64) {
        let progress = &mut self.progress;
        progress.builds_done += builds;
        progress.rounds_done += rounds;
        let done = progress.builds_done + progress.rounds_done;
        let left = (progress.builds + progress.rounds).saturating_sub(done);
        progress.left = (done > 0).then(|| self.phase.elapsed().mul_f64(left as f64 / done as f64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_told_again_when_it_is_news() {
        let mut told = Vec::new();
        let mut on_event = |event: &Event<'_>, _: &Progress| {
            if let Event::Waiting { holder, .. } = event {
                told.push(holder.map(|holder| holder.cohort.clone()));
            }
        };
        let mut reporter = Reporter::new(&mut on_event);
        let (one, two) = (Holder::this_process("one", "a"), Holder::this_process("two", "b"));
        // The same one in every round, then another one.
        for holder in [Some(&one), Some(&one), None, Some(&one), Some(&two)] {
            reporter.waiting("case", holder);
            reporter.locked(3000);
        }
        // It was free in between.
        reporter.locked(10);
        reporter.waiting("case", Some(&two));
        let expected = ["one", "two", "two"].map(|name| Some(name.to_owned()));
        assert_eq!(told, expected);
    }
}
