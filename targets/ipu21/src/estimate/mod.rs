//! Predictions: from the largest local shapes, from the expanded work, and from the final schedule.

mod compact;
mod estimators;
mod expanded;
mod placed;

pub use compact::{Compact, compact, compact_alone};
pub use estimators::{CompactModel, ExpandedModel};
pub use expanded::{Expanded, expanded};
pub use placed::{placed, placed_again};
