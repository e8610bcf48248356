//! What the phases of a plan do, as far as the plan tells: amounts, beside which measured times become rates.

use serde::Serialize;

/// Bytes that one worker moves into one level of the memory in one phase.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Traffic {
    /// Where the bytes go to, and where they come from: `L1 from L2`.
    pub level: String,
    /// How many. Modelled.
    pub bytes: f64,
    /// What one worker by itself could read from there, in 10^9 bytes per second. Measured on the machine.
    pub gb_per_s: f64,
}

/// One phase of a plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Amounts {
    /// The phase, called as in [`crate::Phase::name`].
    pub phase: String,
    /// Floating-point operations of the workload that all workers do in it: a multiply-add counts as two, padding as none.
    /// Derived. `None` for a phase whose work is not counted so (packing, sums, element-wise steps).
    pub flops: Option<f64>,
    /// Calls of the micro-kernel by the busiest worker. Derived.
    pub calls: Option<f64>,
    /// What the busiest worker moves, the nearest level first; empty where no model knows.
    pub traffic: Vec<Traffic>,
}

/// What the phases of one plan do on one machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlanAmounts {
    /// Core clock in GHz: cycles per nanosecond. Measured when the machine was.
    pub clock_ghz: f64,
    /// The phases, in order.
    pub phases: Vec<Amounts>,
}
