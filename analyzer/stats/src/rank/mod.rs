//! Ranks and rank correlation: how well an estimate orders the cases.

mod inversions;
mod kendall;
mod ranks;
mod spearman;

pub use inversions::{Inversions, inversions};
pub use kendall::kendall_tau_b;
pub use ranks::mid_ranks;
pub use spearman::spearman;
