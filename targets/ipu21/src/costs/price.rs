//! Prices of single steps.

use super::table::CostTable;
use crate::device::PANEL;

impl CostTable {
    /// One product of local extents, padding included, with native output.
    #[must_use]
    pub fn gemm(&self, rows: usize, inner: usize, columns: usize) -> usize {
        let panels = inner.div_ceil(PANEL) * columns.div_ceil(PANEL);
        self.gemm.call + panels * (self.gemm.row * rows + self.gemm.panel)
    }

    /// The sum of `partials` F16 partials of `elements` elements, the seed included. Fewer than two cost nothing.
    #[must_use]
    pub fn reduction(&self, elements: usize, partials: usize) -> usize {
        if partials < 2 {
            return 0;
        }
        let r = self.reduction;
        r.call + r.group * elements.div_ceil(r.elements) * (r.start + r.partial * (partials - 1))
    }

    /// GELU of a shard that holds whole panels.
    #[must_use]
    pub fn gelu(&self, elements: usize) -> usize {
        self.gelu.call + self.gelu.block * elements.div_ceil(self.gelu.elements)
    }

    /// One copy call, as a planner prices it.
    #[must_use]
    pub fn copy(&self, bytes: usize) -> usize {
        self.copy.call + bytes.div_ceil(self.copy.bytes_per_cycle)
    }

    /// Clearing a contiguous run.
    #[must_use]
    pub fn fill(&self, bytes: usize) -> usize {
        self.fill.call + bytes.div_ceil(self.fill.bytes_per_cycle)
    }

    /// `phases` exchange phases that bring at most `bytes` to one tile, before anything is known of fragments.
    #[must_use]
    pub fn unplaced_exchange(&self, bytes: usize, phases: usize) -> usize {
        let e = self.exchange;
        let fragments = bytes.div_ceil(e.fragment_bytes).max(phases);
        bytes.div_ceil(e.bytes_per_cycle).max(e.fragment * fragments) + e.phase * phases
    }
}
