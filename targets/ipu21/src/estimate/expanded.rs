//! The expanded estimate: all work of all tiles, with a barrier at every phase.

use crate::costs::CostTable;
use crate::traffic::{Phase, Stats};
use crate::work::{Pricing, Segment};

/// The expanded estimate in cycles, by part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expanded {
    /// Price of each phase.
    pub exchange: Vec<usize>,
    /// Work of the busiest tile between two phases.
    pub work: Vec<usize>,
}

impl Expanded {
    /// The whole estimate.
    #[must_use]
    pub fn total(&self) -> usize {
        self.exchange.iter().chain(&self.work).sum()
    }

    /// The same work with the horizons of the final schedule in place of the prices of phases.
    #[must_use]
    pub fn placed(&self, horizons: &[usize]) -> usize {
        self.work.iter().chain(horizons).sum()
    }
}

/// The expanded estimate. `shared` is the older price of a phase, which sums the sends of a pair of tiles.
#[must_use]
pub fn expanded(phases: &[Phase], segments: &[Segment], costs: &CostTable, shared: bool) -> Expanded {
    Expanded {
        exchange: phases
            .iter()
            .map(|phase| Stats::new(&phase.transfers).price(costs, shared))
            .collect(),
        work: segments
            .iter()
            .map(|segment| segment.cycles(costs, Pricing::Planned).max().unwrap_or(0))
            .collect(),
    }
}
