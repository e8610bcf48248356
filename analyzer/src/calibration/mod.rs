//! The report of a calibration: `calibration.md`, `calibration.json` and its pictures; and what of it stands in the reports
//! of cohorts.

mod markdown;
pub mod of_cohort;
mod pictures;
mod write;

pub use markdown::render;
pub use of_cohort::OfCohort;
pub use write::{schema, write};
