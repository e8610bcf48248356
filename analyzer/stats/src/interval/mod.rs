//! Intervals: how far a median, or any statistic, can be trusted.

mod bootstrap;
mod level;
mod median;
mod ratio;

pub(crate) use bootstrap::ends;
pub use bootstrap::{Bootstrap, BootstrapError, Interval, bootstrap, bootstrap_indices};
pub use level::{Level, LevelError};
pub(crate) use median::interval_of_sorted;
pub use median::{MedianInterval, median_interval};
pub use ratio::ratio_of_medians;
