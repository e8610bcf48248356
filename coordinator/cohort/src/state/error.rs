//! Records that don't fit the cohort or one another.

use crate::layout::LayoutError;
use crate::record::Record;

/// Why there is no state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// Manifest, cases and additions don't fit together.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A record is impossible.
    #[error("record {sequence} of `records/{writer}.jsonl`, case `{case}`, attempt {attempt}: {problem}")]
    Record {
        /// Who wrote it.
        writer: String,
        /// Its number.
        sequence: u64,
        /// Its case.
        case: String,
        /// Its attempt.
        attempt: u32,
        /// Why it is impossible.
        problem: Problem,
    },
}

/// What is impossible about a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each variant and field is")]
pub enum Problem {
    #[error("a record that belongs to no case names one, or an attempt")]
    NoCaseOfIts,
    #[error("record {sequence} of the same file tells of another machine: one writer works on one")]
    AnotherMachine { sequence: u64 },
    #[error("the cohort has no such case")]
    UnknownCase,
    #[error("attempts count from 1, and the first one is no retry")]
    BadAttempt,
    #[error("nobody asked for this attempt: there is no retry before it")]
    NoRetry,
    #[error("round {} was never asked for: {wanted} are wanted", .round + 1)]
    UnknownRound { round: u32, wanted: usize },
    #[error("a round without a successful build before it")]
    RoundWithoutBuild,
    #[error("the build ended `{now}` here, but `{before}` in record {sequence} of `records/{writer}.jsonl`")]
    BuildContradicts {
        now: &'static str,
        before: &'static str,
        writer: String,
        sequence: u64,
    },
    #[error("another record has the same writer and number, but says something else")]
    SequenceTwice,
}

impl Problem {
    /// This problem of `record`.
    pub(crate) fn of(self, record: &Record) -> StateError {
        StateError::Record {
            writer: record.writer.clone(),
            sequence: record.sequence,
            case: record.case.clone(),
            attempt: record.attempt,
            problem: self,
        }
    }
}
