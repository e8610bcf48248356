//! Constants of the analytic model, each with its source; a fit may replace them.

/// What the machine probe does not measure. Fractions are of the unoverlapped rate of [`super::Hardware`].
///
/// *Fitted* constants come from non-negative least squares over 44 random plans of the `SigLIP` MLP (729 x 1152 x 4304) on
/// a Zen 3 guest with AVX2, 4 pairs each, halves swapped; *paired* ones from ratios to a control, 9 or 18 pairs, there.
#[derive(Debug, Clone, PartialEq)]
pub struct Constants {
    /// Cycles from a multiply-add to its dependent one. Agner Fog, instruction tables, Zen 3: 4.
    pub fma_latency: f64,
    /// Vector loads per cycle. Agner Fog, microarchitecture, Zen 3 (256 bits): 2.
    pub loads_per_cycle: f64,
    /// Cycles of one call of the micro-kernel beside its loop. Paired, L1-resident, depths 32 to 256: 30.
    pub call_cycles: f64,
    /// Cycles of one iteration of the loop beside its steps. Paired: unroll 2 and 4 against 8 with pinned accumulators.
    pub iteration_cycles: f64,
    /// Factor on the micro-kernel when activations are read row by row in place. Paired: 1.04.
    pub in_place_factor: f64,
    /// Share of an L2 fill that is not hidden, operands in panels. Fitted: 0.01 of 0.044 cycles per byte.
    pub l2_exposed: f64,
    /// The same for row-major weights, which no stream detector follows. Paired: 1.17 and 1.71 for the two products.
    pub l2_exposed_strided: f64,
    /// Cycles per byte of the result that passes through L2 when its tile was prefetched. Fitted: 0.08.
    pub result_cycles_per_byte: f64,
    /// Share of the latency of L3 per tile when the result is read without prefetch. Paired: 1.07 for four inner blocks.
    pub result_read_exposed: f64,
    /// Share of what DRAM's latency adds to it. Paired: both prefetches off, 1.09 for four inner blocks of a wide result.
    pub result_dram_exposed: f64,
    /// Share of the latency per tile when the result is only written without prefetch. Paired: 1.01.
    pub result_write_exposed: f64,
    /// Share of the DRAM rate that a prefetched operand pays. Fitted: 0 to 0.055 of 0.28 cycles per byte.
    pub dram_prefetched: f64,
    /// Share of the DRAM rate that an operand without prefetch pays. Fitted: 0.28 to 0.30 of 0.28.
    pub dram_exposed: f64,
    /// The same for row-major weights: also misses in the translation buffer. Paired: 1.17 for the wide product.
    pub dram_exposed_strided: f64,
    /// By how much the DRAM rate of one core falls for each further worker. Assumed: two workers reached 1.88 x one.
    pub dram_sharing: f64,
    /// Cycles per byte of activations that are packed. Measured: 1.5 to 2 ms for 12.5 MB, 0.5 ms for 3.4 MB.
    pub pack_cycles_per_byte: f64,
    /// Share of the DRAM rate that a linear pass (reduction, element-wise) pays. Paired: 1.005 for two complete partials.
    pub pass_exposed: f64,
    /// Cycles per vector of tanh GELU in the exp form. Measured: 17 core cycles per 8 values.
    pub gelu_cycles_per_vector: f64,
    /// Cycles per element that is stored transposed. Paired: 1.03 for the wide product.
    pub transposed_cycles_per_element: f64,
    /// Nanoseconds that workers wait for each other between two phases. Assumed: a few cache misses.
    pub barrier_ns: f64,
}

impl Default for Constants {
    fn default() -> Self {
        Self {
            fma_latency: 4.0,
            loads_per_cycle: 2.0,
            call_cycles: 30.0,
            iteration_cycles: 0.6,
            in_place_factor: 1.035,
            l2_exposed: 0.23,
            l2_exposed_strided: 1.0,
            result_cycles_per_byte: 0.08,
            result_read_exposed: 1.0,
            result_dram_exposed: 0.3,
            result_write_exposed: 0.2,
            dram_prefetched: 0.1,
            dram_exposed: 1.0,
            dram_exposed_strided: 1.5,
            dram_sharing: 0.1,
            pack_cycles_per_byte: 0.4,
            pass_exposed: 0.6,
            gelu_cycles_per_vector: 17.0,
            transposed_cycles_per_element: 2.0,
            barrier_ns: 2000.0,
        }
    }
}
