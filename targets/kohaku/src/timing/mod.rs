//! Cycles of a compiled program: stage after stage, unit by unit, conversions beside them.

mod call;
mod deal;
mod stage;

pub use call::{Priced, Timing, listed_cycles, timing};
pub use deal::busiest;
pub use stage::{StageTime, Unit, conv_instance, gemm_instance, stage_time};
