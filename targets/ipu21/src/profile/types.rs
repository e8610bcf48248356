//! The profile as it lies beside a case.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A profile. All cycles are simulated; all lists over tiles have one entry for each of the device's tiles, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// `ipu21`.
    pub target: String,
    /// Unit of all times.
    pub unit: String,
    /// Constraint texts of the products, and the mapping.
    pub plan: String,
    /// Name of the prices of kernels.
    pub costs: String,
    /// Cycles from the start of the first phase to the end of the last tile's work.
    pub cycles: usize,
    /// Full counters of the tiles that end last and first, from the start of the program to the end of their own last step.
    pub full_counters: [usize; 2],
    /// Exchange phases with the work after each, in order.
    pub steps: Vec<StepProfile>,
    /// Distinct kernel calls.
    pub calls: Vec<CallProfile>,
    /// What tiles hold at most.
    pub memory: MemoryProfile,
}

/// One exchange phase and the work after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepProfile {
    /// `down.gather`.
    pub name: String,
    /// The operation that it belongs to.
    pub operation: String,
    /// Cycle in which the last tile arrives and the phase starts.
    pub start: usize,
    /// Cycles of the schedule.
    pub scheduled: usize,
    /// Cycles from the last arrival to the end of the phase: the schedule and the barrier.
    pub after_arrival: usize,
    /// Cycles between the first and the last tile that arrive. Part of the work before, not of the exchange.
    pub arrival_spread: usize,
    /// Transfers.
    pub transfers: usize,
    /// Receivers of all transfers.
    pub endpoints: usize,
    /// Words that leave a tile.
    pub source_words: usize,
    /// Words that arrive at a tile.
    pub delivered_words: usize,
    /// Transfers that run paired, 8 bytes per cycle.
    pub paired: usize,
    /// Cycles of the busiest lane when nothing is paired, and when all that may be is.
    pub endpoint_bounds: [usize; 2],
    /// Cycles in which lanes are busy.
    pub lanes: LaneProfile,
    /// The work after it.
    pub segment: SegmentProfile,
}

/// Cycles in which the lanes of each tile are busy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneProfile {
    /// Sending, a lane that is lent to the partner included.
    pub send: Vec<usize>,
    /// Receiving.
    pub receive: Vec<usize>,
}

/// Work between two phases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentProfile {
    /// `down.gemm`.
    pub name: String,
    /// Cycles of each tile.
    pub cycles: Vec<usize>,
    /// Calls of each tile, in order, as places in [`Profile::calls`].
    pub calls: Vec<Vec<usize>>,
}

/// One distinct kernel call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CallProfile {
    /// `gemm`, `copy`, `reduce`, `gelu`, `fill`.
    pub kernel: String,
    /// Its arguments: local extents, padding included.
    pub arguments: BTreeMap<String, usize>,
    /// Cycles of one call.
    pub cycles: usize,
}

/// Bytes of each tile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryProfile {
    /// Most in the interleaved region at any time.
    pub interleaved: Vec<usize>,
    /// Most in the standard region at any time.
    pub standard: Vec<usize>,
    /// Estimated tables of the exchange.
    pub tables: Vec<usize>,
}
