//! Prices of single steps.

use planner::Refusal;
use planner::costs::Kernels;
use target_api::NoEstimate;

use super::table::CostTable;

/// Most cycles of one call: two days at the clock of any machine. Sums of tens of thousands of calls stay far within 64
/// bits.
const MOST: usize = 1 << 48;

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

impl Kernels for Kernel {
    const UNIT: &'static str = "cycles";
    const ALL: &'static [Self] = &[
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

    fn number(self) -> usize {
        self as usize
    }

    fn name(self) -> &'static str {
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

    /// In the order in which this crate gives them.
    fn arguments(self) -> Vec<&'static str> {
        match self {
            Self::Gemm => vec!["rows", "inner", "columns"],
            Self::Reduction => vec!["elements", "partials"],
            Self::Gelu => vec!["elements"],
            Self::Copy | Self::CopyExecuted | Self::Fill | Self::Lane => vec!["bytes"],
            Self::Fragment => vec!["fragments"],
            Self::Phase | Self::Barrier => vec![],
        }
    }
}

/// A call that a table has no price for. There is no number for it: whatever is made of prices has none either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unpriced {
    /// What was called.
    pub kernel: Kernel,
    /// With which arguments, in the order of [`Kernels::arguments`]; zeros behind them.
    pub arguments: [usize; 3],
    /// What the terms add up to, where they add up to a number.
    pub found: Option<i64>,
}

impl std::fmt::Display for Unpriced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the cost table has no price of `{}`", self.kernel.name())?;
        for (at, (name, value)) in self.kernel.arguments().iter().zip(self.arguments).enumerate() {
            write!(f, "{}{name} {value}", if at == 0 { " of " } else { ", " })?;
        }
        match self.found {
            Some(found) => write!(f, ": its terms give {found} cycles")?,
            None => write!(f, ": its terms give no number of 64 bits")?,
        }
        write!(f, ", expected 0 to {MOST}")
    }
}

impl std::error::Error for Unpriced {}

impl From<Unpriced> for Refusal {
    fn from(unpriced: Unpriced) -> Self {
        Self::new("price", unpriced.to_string())
    }
}

impl From<Unpriced> for NoEstimate {
    fn from(unpriced: Unpriced) -> Self {
        Self {
            key: None,
            message: unpriced.to_string(),
        }
    }
}

/// Cycles, or what has no price.
pub type Cycles = Result<usize, Unpriced>;

impl CostTable {
    /// Cycles of one call, rounded to whole ones where the table has broken coefficients. A number below zero is no
    /// price, and neither is one that is too large to be added up.
    fn cycles<const N: usize>(&self, kernel: Kernel, arguments: [usize; N]) -> Cycles {
        // An extent beyond 63 bits has no price either.
        let whole = arguments.map(|n| i64::try_from(n).unwrap_or(i64::MAX));
        let fits = whole.iter().all(|n| *n < i64::MAX);
        let found = self.compiled(kernel).filter(|_| fits);
        let found = found
            .and_then(|compiled| compiled.price(&whole))
            .map(planner::costs::Priced::rounded);
        let price = found
            .and_then(|cycles| usize::try_from(cycles).ok())
            .filter(|cycles| *cycles <= MOST);
        price.ok_or_else(|| {
            let mut all = [0; 3];
            for (place, argument) in all.iter_mut().zip(arguments) {
                *place = argument;
            }
            Unpriced {
                kernel,
                arguments: all,
                found,
            }
        })
    }

    /// One product of local extents, padding included, with native output.
    pub fn gemm(&self, rows: usize, inner: usize, columns: usize) -> Cycles {
        self.cycles(Kernel::Gemm, [rows, inner, columns])
    }

    /// The sum of `partials` F16 partials of `elements` elements, the seed included. Fewer than two are no call.
    pub fn reduction(&self, elements: usize, partials: usize) -> Cycles {
        if partials < 2 {
            return Ok(0);
        }
        self.cycles(Kernel::Reduction, [elements, partials])
    }

    /// GELU of a shard that holds whole panels.
    pub fn gelu(&self, elements: usize) -> Cycles {
        self.cycles(Kernel::Gelu, [elements])
    }

    /// One copy call, as a planner prices it.
    pub fn copy(&self, bytes: usize) -> Cycles {
        self.cycles(Kernel::Copy, [bytes])
    }

    /// One copy call on the machine.
    pub fn copy_executed(&self, bytes: usize) -> Cycles {
        self.cycles(Kernel::CopyExecuted, [bytes])
    }

    /// Clearing a contiguous run.
    pub fn fill(&self, bytes: usize) -> Cycles {
        self.cycles(Kernel::Fill, [bytes])
    }

    /// Cycles of a phase beyond its scheduled horizon.
    pub fn barrier(&self) -> Cycles {
        self.cycles(Kernel::Barrier, [])
    }

    /// Cycles that so many logical fragments take at least.
    pub fn fragments(&self, fragments: usize) -> Cycles {
        self.cycles(Kernel::Fragment, [fragments])
    }

    /// A phase whose busiest tile sends or receives so many bytes in so many fragments, before it is scheduled.
    pub fn phase(&self, bytes: usize, fragments: usize) -> Cycles {
        let stream = self.cycles(Kernel::Phase, [])? + self.cycles(Kernel::Lane, [bytes])?;
        Ok(stream.max(self.fragments(fragments)?))
    }

    /// `phases` exchange phases that bring at most `bytes` to one tile, before anything is known of fragments.
    pub fn unplaced_exchange(&self, bytes: usize, phases: usize) -> Cycles {
        let fragments = bytes.div_ceil(FRAGMENT_BYTES).max(phases);
        let stream = self.cycles(Kernel::Lane, [bytes])?.max(self.fragments(fragments)?);
        Ok(stream + self.cycles(Kernel::Phase, [])? * phases)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_where_its_number_says() {
        for (at, kernel) in Kernel::ALL.iter().enumerate() {
            assert_eq!(kernel.number(), at, "{}", kernel.name());
        }
    }

    #[test]
    fn what_has_no_price_has_none() {
        let table = |of: &str, cycles: &str| {
            let text = super::super::builtin("after").unwrap().families().text();
            let from = "ceil_div(elements, 96)\", cycles = 366";
            assert!(text.contains(from), "{text}");
            let text = text.replace(from, &format!("{of}\", cycles = {cycles}"));
            CostTable::parse(&text).unwrap()
        };
        assert_eq!(table("ceil_div(elements, 96)", "366").gelu(192), Ok(300 + 732));
        // Below zero, beyond what can be added up, beyond 64 bits: never 0, and never a number that could be ranked.
        let negative = table("ceil_div(elements, 96)", "-366").gelu(192).unwrap_err();
        assert_eq!(negative.found, Some(300 - 732));
        let text = negative.to_string();
        assert!(
            text.contains("`gelu` of elements 192") && text.contains("-432 cycles"),
            "{text}"
        );
        let large = table("elements * elements * elements", "1").gelu(1 << 17).unwrap_err();
        assert_eq!(large.found, Some(300 + (1 << 51)));
        let beyond = table("elements * elements * elements", "1").gelu(1 << 22).unwrap_err();
        assert_eq!(beyond.found, None);
        assert!(beyond.to_string().contains("64 bits"), "{beyond}");
        assert!(table("elements", "1").gelu(usize::MAX).is_err());
    }
}
