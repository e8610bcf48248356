//! Ranks, paired medians, intervals: pure functions over samples.
//!
//! No I/O, no clock, no global state: the same input gives the same bits. Chance comes only from a seed that the caller
//! passes in. What is undefined is `None` or a typed reason; no function returns a NaN or an infinity.

pub mod error;
pub mod interval;
pub mod linear;
mod merge;
pub mod noise;
pub mod order;
pub mod paired;
pub mod random;
pub mod rank;
pub mod regret;
pub mod theil_sen;
