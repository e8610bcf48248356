//! Building what cases need: every distinct unit once, side by side.

mod artifacts;
mod cases;
mod pool;

pub(crate) use artifacts::{Artifacts, remove_leftovers};
pub(crate) use cases::{Needed, Wanted, build_cases};
