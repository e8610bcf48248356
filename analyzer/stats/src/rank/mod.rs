//! Ranks and rank correlation: how well an estimate orders the cases.

mod intervals;
mod inversions;
mod kendall;
mod ranks;
mod spearman;

pub use intervals::{Draws, RankInterval, kendall_interval, spearman_interval};
pub use inversions::{Inversions, inversions, inversions_beyond};
pub use kendall::kendall_tau_b;
pub use ranks::mid_ranks;
pub use spearman::spearman;
