//! How long a compiled program takes.

use super::compile::Compiled;
use crate::costs::{CostTable, Unpriced};
use crate::traffic::{Phase, PhaseKind};
use crate::work::{Pricing, Segment};

/// One phase and the work after it, in cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhaseTiming {
    /// Place of its product in the chain.
    pub product: usize,
    /// What it is for.
    pub kind: PhaseKind,
    /// Cycles between the first and the last tile that reach it. Part of the work before it, not of the exchange.
    pub arrival_spread: usize,
    /// Cycles of its schedule.
    pub scheduled: usize,
    /// Cycles from the last tile's arrival to the end: the schedule and the barrier.
    pub after_arrival: usize,
    /// Work of the busiest tile after it.
    pub work: usize,
}

/// Cycles of a whole program, from the latest tile's first step to the last tile's end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// All phases with the work after them.
    pub phases: Vec<PhaseTiming>,
    /// The full counters of the tiles, kept apart from the result.
    pub counters: Counters,
}

/// Full counters: cycles from the start of the program to the end of a tile's own last step.
///
/// On hardware the largest exceeds the result by what the latest tile does before its first step. The unit model begins
/// with the first phase on all tiles at once, so that here it is the result; the least is that of the tile that ends
/// first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Of the tile that ends last.
    pub most: usize,
    /// Of the tile that ends first.
    pub least: usize,
}

impl Timing {
    /// The result.
    #[must_use]
    pub fn cycles(&self) -> usize {
        self.phases.iter().map(|phase| phase.after_arrival + phase.work).sum()
    }

    /// Scheduled cycles of all phases.
    #[must_use]
    pub fn scheduled(&self) -> usize {
        self.phases.iter().map(|phase| phase.scheduled).sum()
    }
}

/// Times a compiled program: phases start for everybody when the last tile arrives.
///
/// # Errors
/// Where the table has no price for one of its calls.
pub fn timing(compiled: &Compiled, costs: &CostTable) -> Result<Timing, Unpriced> {
    time(&compiled.phases, &compiled.segments, &compiled.horizons(), costs)
}

/// Like [`timing`], from the horizons of the phases alone.
///
/// # Errors
/// Where the table has no price for one of the calls.
pub fn time(phases: &[Phase], segments: &[Segment], horizons: &[usize], costs: &CostTable) -> Result<Timing, Unpriced> {
    let mut spread = 0;
    let mut times = Vec::with_capacity(phases.len());
    for ((phase, segment), &scheduled) in phases.iter().zip(segments).zip(horizons) {
        let (least, most) = segment
            .cycles(costs, Pricing::Executed)
            .try_fold((usize::MAX, 0), |(least, most), cycles| {
                cycles.map(|cycles| (cycles.min(least), cycles.max(most)))
            })?;
        times.push(PhaseTiming {
            product: phase.product,
            kind: phase.kind,
            arrival_spread: spread,
            scheduled,
            after_arrival: scheduled + costs.barrier()?,
            work: most,
        });
        spread = most.saturating_sub(least);
    }
    let most = times.iter().map(|phase| phase.after_arrival + phase.work).sum();
    let counters = Counters {
        most,
        least: most - spread,
    };
    Ok(Timing {
        phases: times,
        counters,
    })
}
