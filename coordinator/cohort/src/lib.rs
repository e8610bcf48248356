//! What a cohort is on disk, and its state. No process, no clock, no async.

pub mod addition;
pub mod case;
pub mod manifest;
pub mod record;

pub use addition::{Addition, AdditionKind};
pub use case::Case;
pub use manifest::{FileDigest, Manifest, Measure, Origin, UnitRef, WorkloadEntry};
pub use record::{BuildOutcome, Record, RecordKind, RunOutcome, UnitBuilt};
