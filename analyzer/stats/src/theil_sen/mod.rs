//! A line through points that a few outliers can't bend.

mod line;
mod pairs;
mod select;

pub use line::{Line, NoLine, theil_sen};
