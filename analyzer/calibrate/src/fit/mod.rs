//! From samples to coefficients.

mod exact;
mod family;
mod held_out;
mod report;
mod rows;
mod table;

pub use family::fit_family;
pub use report::{Decision, FamilyFit, Point, TermFit};
pub use rows::{Rows, rows};
pub(crate) use table::same_units;
pub use table::{FitOptions, TableFit, fit};
