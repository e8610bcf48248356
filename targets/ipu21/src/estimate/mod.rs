//! Predictions: from the largest local shapes, from the expanded work, and from the final schedule.

mod compact;

pub use compact::{Compact, compact};
