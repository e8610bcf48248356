//! Cases against their control, measured in turn, and cases against each other.

mod flips;
mod ratios;
mod winners;

pub use flips::{Flips, flips};
pub use ratios::{PairError, PairedRatios, can_still_win};
pub use winners::{WinnerError, WinnerSet, winner_set};
