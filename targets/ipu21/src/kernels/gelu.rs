//! GELU kernels with clamped input, for shards of any even size.

use super::WORKERS;

/// Versions of the kernel whose cost is known for any even number of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeluVersion {
    /// Input clamped to finite values (6 September 2026).
    Clamped,
    /// Bounds loaded in pairs (11 September 2026).
    PairedBounds,
}

/// Cycles of GELU over `n` elements (even).
#[must_use]
pub fn gelu(n: usize, version: GeluVersion) -> usize {
    let (whole, block) = match version {
        GeluVersion::Clamped => (510, 528),
        GeluVersion::PairedBounds => (462, 480),
    };
    if n.is_multiple_of(16) {
        return 330 + whole * n.div_ceil(96);
    }
    // Each worker takes blocks of eight pairs in turn, and what is left pair by pair: the slowest one counts.
    let worker = |w: usize| {
        let pairs = n.div_ceil(2).saturating_sub(8 * w);
        let blocks = if pairs >= 8 { (pairs - 8) / 48 + 1 } else { 0 };
        let tail = pairs.saturating_sub(48 * blocks);
        block * blocks + 120 * tail + if tail > 0 { 342 } else { 330 }
    };
    (0..WORKERS).map(worker).max().unwrap_or_default()
}
