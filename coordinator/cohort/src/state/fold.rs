//! From records to state.

use std::collections::{BTreeMap, BTreeSet};

use super::apart::Unlike;
use super::error::{Problem, StateError};
use super::model::{Attempt, CaseState, DoneBuild, DoneRound, Duplicate, RoundState, State};
use crate::addition::Addition;
use crate::case::Case;
use crate::layout::Layout;
use crate::manifest::Manifest;
use crate::record::{BuildOutcome, Record, RecordKind, RunOutcome};
use crate::verify::Difference;

/// What is done, left and lost, from everything that a cohort holds.
///
/// Pure, and independent of the order of `records`: they count in the order of writer and sequence number, never of
/// time, since clocks go back. Of several records of one round the first counts, except that one with a wrong result
/// counts before all others, so that a repetition can't hide it; of several builds or retries of one attempt the first.
/// What doesn't count is listed as a duplicate. Near-linear in the number of cases and records.
pub fn state<'a>(
    manifest: &'a Manifest,
    cases: &'a [Case],
    additions: &'a [Addition],
    records: &'a [Record],
) -> Result<State<'a>, StateError> {
    fold(Layout::new(manifest, cases, additions)?, records)
}

/// The same of cases that fit together.
pub(crate) fn fold<'a>(layout: Layout<'a>, records: &'a [Record]) -> Result<State<'a>, StateError> {
    let mut duplicates = Vec::new();
    let sorted = in_order(records, &mut duplicates)?;
    let of_no_case = |record: &&Record| {
        matches!(
            record.kind,
            RecordKind::AcceptDifference { .. } | RecordKind::Machine { .. }
        )
    };
    let (of_none, sorted): (Vec<_>, Vec<_>) = sorted.into_iter().partition(of_no_case);
    if let Some(record) = of_none
        .iter()
        .find(|record| !record.case.is_empty() || record.attempt != 0)
    {
        return Err(Problem::NoCaseOfIts.of(record));
    }
    let is_machine = |record: &&Record| matches!(record.kind, RecordKind::Machine { .. });
    let (machines, consents): (Vec<_>, Vec<_>) = of_none.into_iter().partition(is_machine);
    let unlike = unlike(&machines)?;
    let by_case = ByCase::new(&layout, &sorted)?;
    let mut states = Vec::with_capacity(layout.entries.len());
    for (at, entry) in layout.entries.into_iter().enumerate() {
        // One case after another, so that what is only needed on the way is needed for one case at a time.
        let mut folds: BTreeMap<u32, Fold<'a>> = BTreeMap::new();
        for record in by_case.of(at) {
            folds
                .entry(record.attempt)
                .or_default()
                .take(record, entry.wanted.len(), &mut duplicates)?;
        }
        let attempts = finish(folds)?;
        let (case, source, control, wanted) = (entry.case, entry.source, entry.control, entry.wanted);
        states.push(CaseState {
            case,
            source,
            control,
            wanted,
            attempts,
        });
    }
    Ok(State {
        cases: states,
        index: layout.index,
        crossed: layout.crossed,
        duplicates,
        consents,
        unlike,
    })
}

/// The classes of machines other than the frozen one, by their differences, from what their writers say of themselves.
fn unlike<'a>(machines: &[&'a Record]) -> Result<Vec<Unlike<'a>>, StateError> {
    let mut of_writer: BTreeMap<&str, (&'a Record, &'a [Difference])> = BTreeMap::new();
    let mut classes: BTreeMap<&[Difference], Unlike<'a>> = BTreeMap::new();
    for &record in machines {
        let RecordKind::Machine { differences, instance } = &record.kind else {
            continue;
        };
        let (first, own) = *of_writer.entry(&record.writer).or_insert((record, differences));
        if own != differences.as_slice() {
            let sequence = first.sequence;
            return Err(Problem::AnotherMachine { sequence }.of(record));
        }
        let class = classes.entry(differences).or_insert_with(|| Unlike {
            differences,
            writers: BTreeSet::new(),
            instances: BTreeSet::new(),
        });
        class.writers.insert(&record.writer);
        class.instances.insert(instance);
    }
    Ok(classes.into_values().collect())
}

/// Records in groups, one for each case.
struct ByCase<'a> {
    records: Vec<&'a Record>,
    /// Where the records of each case end.
    ends: Vec<usize>,
}

impl<'a> ByCase<'a> {
    /// Keeps the order within each case; a counting sort, so linear.
    fn new(layout: &Layout<'a>, sorted: &[&'a Record]) -> Result<Self, StateError> {
        let mut cases = Vec::with_capacity(sorted.len());
        let mut ends = vec![0; layout.entries.len()];
        for &record in sorted {
            let Some(&at) = layout.index.get(record.case.as_str()) else {
                return Err(Problem::UnknownCase.of(record));
            };
            cases.push(at);
            ends[at] += 1;
        }
        let mut total = 0;
        for end in &mut ends {
            total += std::mem::replace(end, total);
        }
        // Now each is where its case begins; placing the records moves it to where the case ends.
        let mut records = sorted.to_vec();
        for (&record, at) in sorted.iter().zip(cases) {
            records[ends[at]] = record;
            ends[at] += 1;
        }
        Ok(Self { records, ends })
    }

    fn of(&self, at: usize) -> &[&'a Record] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.records[start..self.ends[at]]
    }
}

/// Records by writer and sequence number; of equal ones the first.
fn in_order<'a>(records: &'a [Record], duplicates: &mut Vec<Duplicate<'a>>) -> Result<Vec<&'a Record>, StateError> {
    let mut sorted: Vec<&Record> = records.iter().collect();
    sorted.sort_by_key(|record| (record.writer.as_str(), record.sequence));
    let mut kept: Vec<&Record> = Vec::with_capacity(sorted.len());
    for record in sorted {
        match kept.last() {
            Some(&last) if last.writer == record.writer && last.sequence == record.sequence => {
                if last != record {
                    return Err(Problem::SequenceTwice.of(record));
                }
                duplicates.push(Duplicate { record, counted: last });
            }
            _ => kept.push(record),
        }
    }
    Ok(kept)
}

/// An attempt while its records come in.
#[derive(Debug, Clone, Default)]
struct Fold<'a> {
    attempt: Attempt<'a>,
    /// The first record that isn't a retry.
    first: Option<&'a Record>,
    /// The first record of a round.
    first_round: Option<&'a Record>,
    /// The latest record of a round.
    latest_round: Option<&'a Record>,
    /// Whether there is a build that doesn't follow a round of its own writer.
    build_in_order: bool,
    /// Round -> its latest start, until the same writer ends it.
    open: BTreeMap<u32, &'a Record>,
}

impl<'a> Fold<'a> {
    fn take(
        &mut self,
        record: &'a Record,
        wanted: usize,
        duplicates: &mut Vec<Duplicate<'a>>,
    ) -> Result<(), StateError> {
        let retry = matches!(record.kind, RecordKind::Retry { .. });
        if record.attempt == 0 || (retry && record.attempt == 1) {
            return Err(Problem::BadAttempt.of(record));
        }
        if !retry {
            self.first.get_or_insert(record);
        }
        match &record.kind {
            RecordKind::Retry { .. } => match self.attempt.retry {
                Some(counted) => duplicates.push(Duplicate { record, counted }),
                None => self.attempt.retry = Some(record),
            },
            RecordKind::AcceptIncorrect {} => match self.attempt.accepted {
                Some(counted) => duplicates.push(Duplicate { record, counted }),
                None => self.attempt.accepted = Some(record),
            },
            // Belongs to no case, so none of them gets here.
            RecordKind::AcceptDifference { .. } | RecordKind::Machine { .. } => {}
            RecordKind::Build { outcome, estimates } => {
                let late = self.latest_round.is_some_and(|round| round.writer == record.writer);
                self.build_in_order |= !late;
                match self.attempt.build {
                    Some(before) if word(before.outcome) != word(outcome) => {
                        let (writer, sequence) = (before.record.writer.clone(), before.record.sequence);
                        let (now, before) = (word(outcome), word(before.outcome));
                        return Err(Problem::BuildContradicts {
                            now,
                            before,
                            writer,
                            sequence,
                        }
                        .of(record));
                    }
                    Some(before) => duplicates.push(Duplicate {
                        record,
                        counted: before.record,
                    }),
                    None => {
                        self.attempt.build = Some(DoneBuild {
                            record,
                            outcome,
                            estimates,
                        });
                    }
                }
            }
            RecordKind::Began { round, .. } => {
                self.see_round(record, *round, wanted)?;
                self.attempt.lost_starts += u64::from(self.open.insert(*round, record).is_some());
                let lost = RoundState::Lost(record);
                let known = self.attempt.rounds.entry(*round).or_insert(lost);
                if let RoundState::Lost(_) = known {
                    *known = lost;
                }
            }
            RecordKind::Run {
                round,
                device,
                outcome,
                run_ms,
                waited_ms,
                recovered,
                profile_sha256: _,
            } => {
                self.see_round(record, *round, wanted)?;
                if self.open.get(round).is_some_and(|began| began.writer == record.writer) {
                    self.open.remove(round);
                }
                let (run_ms, waited_ms, recovered) = (*run_ms, *waited_ms, *recovered);
                let mut counted = DoneRound {
                    record,
                    outcome,
                    device,
                    run_ms,
                    waited_ms,
                    recovered,
                };
                if let Some(RoundState::Done(before)) = self.attempt.rounds.get(round) {
                    let mut other = *before;
                    if !wrong(outcome) || wrong(before.outcome) {
                        std::mem::swap(&mut counted, &mut other);
                    }
                    duplicates.push(Duplicate {
                        record: other.record,
                        counted: counted.record,
                    });
                }
                self.attempt.rounds.insert(*round, RoundState::Done(counted));
            }
        }
        Ok(())
    }

    fn see_round(&mut self, record: &'a Record, round: u32, wanted: usize) -> Result<(), StateError> {
        if round as usize >= wanted {
            return Err(Problem::UnknownRound { round, wanted }.of(record));
        }
        self.first_round.get_or_insert(record);
        self.latest_round = Some(record);
        Ok(())
    }
}

/// What only shows when all records of a case are known.
fn finish(folds: BTreeMap<u32, Fold<'_>>) -> Result<BTreeMap<u32, Attempt<'_>>, StateError> {
    let mut attempts = BTreeMap::new();
    let mut last = 1;
    for (number, mut fold) in folds {
        if let Some(record) = fold.first_round {
            let built = fold
                .attempt
                .build
                .is_some_and(|b| matches!(b.outcome, BuildOutcome::Built { .. }));
            if !built || !fold.build_in_order {
                return Err(Problem::RoundWithoutBuild.of(record));
            }
        }
        let asked = number == 1 || (fold.attempt.retry.is_some() && number - last <= 1);
        if let Some(record) = fold.first.or(fold.attempt.retry).filter(|_| !asked) {
            return Err(Problem::NoRetry.of(record));
        }
        last = number;
        fold.attempt.lost_starts += fold.open.len() as u64;
        attempts.insert(number, fold.attempt);
    }
    Ok(attempts)
}

fn word(outcome: &BuildOutcome) -> &'static str {
    match outcome {
        BuildOutcome::Built { .. } => "built",
        BuildOutcome::Rejected { .. } => "rejected",
        BuildOutcome::BuildFailed { .. } => "build-failed",
        BuildOutcome::TimedOut { .. } => "timed-out",
    }
}

fn wrong(outcome: &RunOutcome) -> bool {
    matches!(outcome, RunOutcome::Incorrect { .. })
}
