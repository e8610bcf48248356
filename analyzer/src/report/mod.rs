//! The report: `report.md`, `summary.csv`, `statistics.json` and the plots.

mod answer;
mod definitions;
mod files;
mod markdown;
mod models;
mod summary;

pub use definitions::{COLUMNS, FIGURES};
pub use files::{schema, write};
pub use markdown::markdown;
pub use summary::summary;

pub(crate) use answer::verdict;
pub(crate) use markdown::{coverage_lines, disturbed_line};
pub(crate) use models::inversions;
