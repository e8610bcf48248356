//! The expanded estimate: all work of all tiles, with a barrier at every phase.

use crate::costs::{CostTable, Unpriced};
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
///
/// # Errors
/// Where the table has no price for one of the calls.
pub fn expanded(phases: &[Phase], segments: &[Segment], costs: &CostTable, shared: bool) -> Result<Expanded, Unpriced> {
    Ok(Expanded {
        exchange: phases
            .iter()
            .map(|phase| Stats::new(&phase.transfers).price(costs, shared))
            .collect::<Result<_, _>>()?,
        work: segments
            .iter()
            .map(|segment| {
                segment
                    .cycles(costs, Pricing::Planned)
                    .try_fold(0, |most, cycles| cycles.map(|cycles| cycles.max(most)))
            })
            .collect::<Result<_, Unpriced>>()?,
    })
}
