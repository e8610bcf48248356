//! Products with packed output, and the fused end of a reduction.

use super::WORKERS;
use crate::device::PANEL;
use crate::geometry::Memory;

/// A product whose output is packed in blocks of 64 columns (attention projections).
#[must_use]
pub fn gemm_packed(rows: usize, inner: usize, columns: usize, weights: Memory) -> usize {
    let (each, more) = (rows / WORKERS, rows % WORKERS);
    let worker = |w: usize| {
        let start = w * each + w.min(more);
        let run = each + usize::from(w < more);
        24 * run + 184 * (start % 16 + run).div_ceil(16)
    };
    let feed = match weights {
        Memory::Interleaved => 170,
        Memory::Standard => 202,
    };
    let group = (0..WORKERS).map(worker).max().unwrap_or_default() + feed;
    342 + inner.div_ceil(PANEL) * columns.div_ceil(PANEL) * group
}

/// Reduction, bias and GELU in one call (an experiment).
#[must_use]
pub fn fused_reduction_gelu(rows: usize, columns: usize, partials: usize) -> usize {
    288 + columns / PANEL * (222 + 6 * (4 * rows).div_ceil(WORKERS) * (20 + partials))
}
