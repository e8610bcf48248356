//! Cases against their control, measured in turn, and cases against each other.

mod deviations;
mod flips;
mod pooled;
mod ratios;
mod winners;

pub use flips::{Flips, flips};
pub use pooled::{PooledErrors, pooled_noise};
pub use ratios::{PairError, PairedRatios};
pub use winners::{WinnerError, WinnerSet, winner_set};
