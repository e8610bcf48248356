//! Constants of the models: few that are of the machine's kind, and the coefficients that screening reads off the cost table.

use planner::costs::CostError;

use crate::costs::{CostTable, Kernel};

/// What the machine probe does not measure. Fractions are of the unoverlapped rate of [`super::Hardware`].
///
/// Those that are called *of the table* are coefficients of its terms, where their source stands; a fit may replace them.
#[derive(Debug, Clone, PartialEq)]
pub struct Constants {
    /// Cycles from a multiply-add to its dependent one. Agner Fog, instruction tables, Zen 3: 4.
    pub fma_latency: f64,
    /// Vector loads per cycle. Agner Fog, microarchitecture, Zen 3 (256 bits): 2.
    pub loads_per_cycle: f64,
    /// Cycles of one call of the micro-kernel beside its loop. Of the table: `gemm`, `calls`.
    pub call_cycles: f64,
    /// Cycles of one iteration of the loop beside its steps. Of the table: `gemm`, `iterations`.
    pub iteration_cycles: f64,
    /// Factor on the micro-kernel when activations are read row by row in place. Of the table: one and `gemm`, `in_place`.
    pub in_place_factor: f64,
    /// Share of an L2 fill that is not hidden, operands in panels. Of the table: `gemm`, `l2`.
    pub l2_exposed: f64,
    /// Cycles per byte of the result that passes through L2 when its tile was prefetched. Of the table: `gemm`, `result`.
    pub result_cycles_per_byte: f64,
    /// Share of the latency of L3 per tile when the result is read without prefetch. Of the table: `gemm`, `late_read`.
    pub result_read_exposed: f64,
    /// Share of the DRAM rate that a prefetched operand pays. Of the table: `gemm`, `dram_prefetched`.
    pub dram_prefetched: f64,
    /// Share of the DRAM rate that an operand without prefetch pays. Of the table: `gemm`, `dram`.
    pub dram_exposed: f64,
    /// By how much the DRAM rate of one core falls for each further worker. Assumed: two workers reached 1.88 x one.
    pub dram_sharing: f64,
    /// Cycles per byte of activations that are packed. Of the table: `pack`, `bytes`.
    pub pack_cycles_per_byte: f64,
    /// Share of the DRAM rate that a linear pass (reduction, element-wise) pays. Of the table: `reduce`, `dram`.
    pub pass_exposed: f64,
    /// Cycles per vector of tanh GELU in the exp form. Of the table: `gelu`, `vectors`.
    pub gelu_cycles_per_vector: f64,
    /// Cycles per vector of softmax weights beside the polynomial. Of the table: `attention_softmax`, `weights`.
    pub softmax_weight_cycles: f64,
    /// Cycles per vector and degree of the polynomial. Of the table: `attention_softmax`, `degrees`.
    pub softmax_degree_cycles: f64,
    /// Cycles per vector of a pass for the maximum. Of the table: `attention_softmax`, `maximum`.
    pub softmax_maximum_cycles: f64,
    /// Nanoseconds that workers wait for each other between two phases. Assumed: a few cache misses.
    pub barrier_ns: f64,
}

impl Constants {
    /// The constants under a cost table.
    ///
    /// # Errors
    /// A term that the table does not have.
    pub fn of(costs: &CostTable) -> Result<Self, CostError> {
        let gemm = |term| costs.coefficient(Kernel::Gemm, term);
        Ok(Self {
            fma_latency: 4.0,
            loads_per_cycle: 2.0,
            dram_sharing: 0.1,
            barrier_ns: 2000.0,
            call_cycles: gemm("calls")?,
            iteration_cycles: gemm("iterations")?,
            in_place_factor: 1.0 + gemm("in_place")?,
            l2_exposed: gemm("l2")?,
            result_cycles_per_byte: gemm("result")?,
            result_read_exposed: gemm("late_read")?,
            dram_prefetched: gemm("dram_prefetched")?,
            dram_exposed: gemm("dram")?,
            pack_cycles_per_byte: costs.coefficient(Kernel::Pack, "bytes")?,
            pass_exposed: costs.coefficient(Kernel::Reduce, "dram")?,
            softmax_weight_cycles: costs.coefficient(Kernel::AttentionSoftmax, "weights")?,
            softmax_degree_cycles: costs.coefficient(Kernel::AttentionSoftmax, "degrees")?,
            softmax_maximum_cycles: costs.coefficient(Kernel::AttentionSoftmax, "maximum")?,
            gelu_cycles_per_vector: costs.coefficient(Kernel::Gelu, "vectors")?,
        })
    }
}
