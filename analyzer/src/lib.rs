//! Evaluation of estimates against measurements, tables and plots.
//!
//! [`collect`] turns a cohort's parts into a [`Dataset`], [`evaluate`](rows::evaluate) turns that into an [`Analysis`]
//! (both pure), and [`report::write`] writes it down: `report.md`, `summary.csv`, `statistics.json`, and plots as SVG
//! and PNG; [`page`] makes `report.html`. [`analyze()`] does all three; [`tables::render`] shows an analysis on a terminal.
//! [`explain::explain`] tells why one case of a dataset is faster than another, [`compare::compare`] puts two cohorts side
//! by side.
//!
//! Identical input gives identical bytes: nothing depends on a clock, on the order of files or on a hash.

mod across;
pub mod analysis;
pub mod analyze;
pub mod calibration;
mod case_data;
pub mod ceiling;
pub mod collect;
pub mod compare;
pub mod compared;
pub mod coverage;
pub mod dataset;
mod drift;
pub mod error;
pub mod evaluate;
pub mod explain;
pub mod explained;
pub mod explanation;
mod format;
mod front;
mod judge;
pub mod judgement;
mod kinds;
pub mod objective;
pub mod page;
mod places;
pub mod plot;
pub mod report;
pub mod roofline;
mod rounds;
pub mod rows;
pub mod setup;
mod standing;
pub mod tables;
mod usable;
mod value;
mod winner;

pub use analysis::Analysis;
pub use analyze::{Known, analyze, dataset, datasets};
pub use dataset::Dataset;
pub use error::AnalyzeError;
pub use value::value;
