//! Prices of single steps.

use super::table::CostTable;

/// More cycles than any plan takes: the price of what a table gives no number for (one beyond 64 bits).
const HOPELESS: usize = 1_000_000_000_000_000;

/// Bytes of a fragment before anything is placed.
const FRAGMENT_BYTES: usize = 256;

/// What has a price: the families that a table must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kernel {
    /// A product.
    Gemm,
    /// A sum of partials.
    Reduction,
    /// GELU.
    Gelu,
    /// A copy call as planners price it.
    Copy,
    /// A copy call on the machine.
    CopyExecuted,
    /// Clearing memory.
    Fill,
    /// Words of a lane.
    Lane,
    /// Logical fragments of a phase.
    Fragment,
    /// A phase's synchronisation as planners price it.
    Phase,
    /// The same on the machine.
    Barrier,
}

impl Kernel {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Gemm,
        Self::Reduction,
        Self::Gelu,
        Self::Copy,
        Self::CopyExecuted,
        Self::Fill,
        Self::Lane,
        Self::Fragment,
        Self::Phase,
        Self::Barrier,
    ];

    /// Name of its family, and of its samples.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gemm => "gemm",
            Self::Reduction => "reduction",
            Self::Gelu => "gelu",
            Self::Copy => "copy",
            Self::CopyExecuted => "copy_executed",
            Self::Fill => "fill",
            Self::Lane => "exchange_lane",
            Self::Fragment => "exchange_fragment",
            Self::Phase => "exchange_phase",
            Self::Barrier => "barrier",
        }
    }

    /// What its terms may look at, in the order in which this crate gives it.
    #[must_use]
    pub const fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Gemm => &["rows", "inner", "columns"],
            Self::Reduction => &["elements", "partials"],
            Self::Gelu => &["elements"],
            Self::Copy | Self::CopyExecuted | Self::Fill | Self::Lane => &["bytes"],
            Self::Fragment => &["fragments"],
            Self::Phase | Self::Barrier => &[],
        }
    }
}

impl CostTable {
    /// Cycles of one call, rounded to whole ones where the table has broken coefficients.
    fn cycles<const N: usize>(&self, kernel: Kernel, arguments: [usize; N]) -> usize {
        // A local extent beyond 63 bits has no price either.
        let arguments = arguments.map(|n| i64::try_from(n).unwrap_or(i64::MAX));
        let price = self.compiled(kernel).and_then(|compiled| compiled.price(&arguments));
        price.map_or(HOPELESS, |price| usize::try_from(price.rounded()).unwrap_or(0))
    }

    /// One product of local extents, padding included, with native output.
    #[must_use]
    pub fn gemm(&self, rows: usize, inner: usize, columns: usize) -> usize {
        self.cycles(Kernel::Gemm, [rows, inner, columns])
    }

    /// The sum of `partials` F16 partials of `elements` elements, the seed included. Fewer than two are no call.
    #[must_use]
    pub fn reduction(&self, elements: usize, partials: usize) -> usize {
        if partials < 2 {
            return 0;
        }
        self.cycles(Kernel::Reduction, [elements, partials])
    }

    /// GELU of a shard that holds whole panels.
    #[must_use]
    pub fn gelu(&self, elements: usize) -> usize {
        self.cycles(Kernel::Gelu, [elements])
    }

    /// One copy call, as a planner prices it.
    #[must_use]
    pub fn copy(&self, bytes: usize) -> usize {
        self.cycles(Kernel::Copy, [bytes])
    }

    /// One copy call on the machine.
    #[must_use]
    pub fn copy_executed(&self, bytes: usize) -> usize {
        self.cycles(Kernel::CopyExecuted, [bytes])
    }

    /// Clearing a contiguous run.
    #[must_use]
    pub fn fill(&self, bytes: usize) -> usize {
        self.cycles(Kernel::Fill, [bytes])
    }

    /// Cycles of a phase beyond its scheduled horizon.
    #[must_use]
    pub fn barrier(&self) -> usize {
        self.cycles(Kernel::Barrier, [])
    }

    /// Cycles that so many logical fragments take at least.
    #[must_use]
    pub fn fragments(&self, fragments: usize) -> usize {
        self.cycles(Kernel::Fragment, [fragments])
    }

    /// A phase whose busiest tile sends or receives so many bytes in so many fragments, before it is scheduled.
    #[must_use]
    pub fn phase(&self, bytes: usize, fragments: usize) -> usize {
        let stream = self.cycles(Kernel::Phase, []) + self.cycles(Kernel::Lane, [bytes]);
        stream.max(self.fragments(fragments))
    }

    /// `phases` exchange phases that bring at most `bytes` to one tile, before anything is known of fragments.
    #[must_use]
    pub fn unplaced_exchange(&self, bytes: usize, phases: usize) -> usize {
        let fragments = bytes.div_ceil(FRAGMENT_BYTES).max(phases);
        let stream = self.cycles(Kernel::Lane, [bytes]).max(self.fragments(fragments));
        stream + self.cycles(Kernel::Phase, []) * phases
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_where_its_number_says() {
        for (at, kernel) in Kernel::ALL.into_iter().enumerate() {
            assert_eq!(kernel as usize, at, "{}", kernel.name());
        }
    }
}
