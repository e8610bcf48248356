//! What a cohort is on disk, and its state. No process, no clock, no async.
//!
//! A [`Draft`] is assembled in memory; [`Draft::freeze`] makes it a [`Frozen`] cohort on disk in one step, which only
//! grows by additions. [`RecordWriter`] appends what happened, [`Snapshot`] reads everything without a lock, and
//! [`state()`] alone says what is done, left and lost. [`CohortDir`] alone knows the names of files.

pub mod addition;
pub mod audit;
pub mod case;
mod chain;
pub mod digest;
pub mod draft;
pub mod error;
pub mod freeze;
pub mod frozen;
pub mod grow;
pub mod layout;
pub mod manifest;
pub mod paths;
pub mod profiles;
pub mod record;
pub mod records;
pub mod shard;
pub mod state;
pub mod tail;
pub mod verify;
pub mod write;

pub use addition::{Addition, AdditionKind, Head};
pub use audit::{Audit, audit, built_artifacts, gone_artifacts};
pub use case::Case;
pub use digest::{sha256_file, sha256_hex, unit_digest};
pub use draft::{Draft, Header};
pub use error::CohortError;
pub use freeze::remove_leftovers;
pub use frozen::{Frozen, Snapshot};
pub use grow::Growth;
pub use layout::{LayoutError, Source};
pub use manifest::{
    ChosenFrom, FileDigest, FrozenCosts, Imported, Manifest, Measure, Origin, RefusedCase, UnitRef, WorkloadEntry,
};
pub use paths::{CohortDir, case_folder, fresh_key};
pub use profiles::edited_profiles;
pub use record::{BuildOutcome, HARNESS, Record, RecordKind, RunOutcome, UnitBuilt};
pub use records::{Dropped, RecordWriter, Records, WriterName, read_records};
pub use shard::{
    Batch, Claim, Held, JobId, Release, ShardId, Submission, Worker, batch_numbers, latest_claim, latest_claims,
    make_claim, read_batch, read_submission, release_claim, was_taken_over, write_batch, write_submission,
};
pub use state::{
    Attempt, CaseState, Counts, DoneBuild, DoneRound, Duplicate, Left, LeftBuild, LeftRound, Outcome, Problem,
    RoundState, State, StateError, Status, Unlike, state,
};
pub use tail::RecordTail;
pub use verify::{Difference, edited_records, machine_differences, verify, verify_by};
pub use write::{create_once, mark_script, write_atomic};
