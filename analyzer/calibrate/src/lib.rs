//! Calibration: from kernel samples to cost tables, and the proof that they choose better plans.
//!
//! [`Database`] keeps what was measured of kernels, [`gather`](Database::gather) fills it from profiles and counts what it
//! leaves out, [`fit()`] finds the coefficients of a cost table and says what the data can't decide, [`judge`](judge::judge)
//! compares two tables on plans that the fit never saw. All pure: text and types in, types out.

pub mod database;
pub mod error;
pub mod fit;
mod gather;
pub mod import;
pub mod judge;
mod outcome;
mod overlap;
mod residual;

pub use database::{Database, Key, Measured, SampleSource};
pub use error::CalibrateError;
pub use fit::{Decision, FamilyFit, FitOptions, TableFit, fit};
pub use gather::Gathered;
pub use outcome::{Calibration, Headline, TableName, Unjudged, Verdict, headline, verdict};
pub use overlap::{Overlap, overlap};
pub use residual::{Component, Misled};

/// The kernel whose samples are whole plans: its arguments are the plan's attributes, its value is the objective.
pub const OBJECTIVE: &str = "objective";
