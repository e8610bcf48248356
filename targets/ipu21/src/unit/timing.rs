//! How long a compiled program takes.

use super::compile::Compiled;
use crate::costs::CostTable;
use crate::traffic::PhaseKind;
use crate::work::Pricing;

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
#[must_use]
pub fn timing(compiled: &Compiled, costs: &CostTable) -> Timing {
    let mut spread = 0;
    let mut phases = Vec::with_capacity(compiled.phases.len());
    for ((phase, segment), scheduled) in compiled.phases.iter().zip(&compiled.segments).zip(compiled.horizons()) {
        let (least, most) = segment
            .cycles(costs, Pricing::Executed)
            .fold((usize::MAX, 0), |(least, most), cycles| {
                (least.min(cycles), most.max(cycles))
            });
        phases.push(PhaseTiming {
            product: phase.product,
            kind: phase.kind,
            arrival_spread: spread,
            scheduled,
            after_arrival: scheduled + costs.barrier(),
            work: most,
        });
        spread = most.saturating_sub(least);
    }
    Timing { phases }
}
