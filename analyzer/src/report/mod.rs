//! The report: `report.md`, `summary.csv`, `statistics.json` and the plots.

mod answer;
mod definitions;
mod files;
mod fronts;
mod headline;
mod limits;
mod lock;
mod machine;
mod markdown;
mod models;
mod summary;
mod together;
mod words;

pub use definitions::{columns, figures};
pub use files::{schema, write, write_with};
pub use markdown::markdown;
pub use summary::summary;

pub(crate) use answer::{chosen_by, role, undecided, verdict};
pub(crate) use fronts::front_lines;
pub(crate) use headline::{Form, headline};
pub(crate) use limits::{limit_lines, limit_table};
pub(crate) use machine::{class_lines, consent_lines, drift_lines, origin_line};
pub(crate) use markdown::{coverage_lines, disturbed_line};
pub(crate) use models::{correlation, inversions, notes};
pub(crate) use together::together_lines;
pub(crate) use words::{achieves, inverse, objective_line, ratio_line, title, workload_line};
