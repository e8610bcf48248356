//! What has a price: the families that a table must have, and what their terms may look at.
//!
//! Arguments named `..._fill` are cycles that so many bytes take into a level with nothing overlapped, at the rates that
//! were measured on the machine: a coefficient is the share of it that shows. So a table outlives a faster memory.

use planner::costs::Kernels;

/// What one worker does in one phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kernel {
    /// All calls of the micro-kernel of one product.
    Gemm,
    /// Activations into panels.
    Pack,
    /// The sum of two or more partials.
    Reduce,
    /// The "sum" of one partial: a product with all partials side by side that has only one.
    Copy,
    /// GELU as a pass of its own.
    Gelu,
    /// Queries, keys and values of an attention into panels.
    AttentionPack,
    /// All calls of an attention's kernel of scores.
    AttentionScores,
    /// Scores into weights.
    AttentionSoftmax,
    /// All calls of an attention's kernel of results.
    AttentionValues,
    /// Results of an attention into rows.
    AttentionFinish,
    /// The results of key splits, merged.
    AttentionMerge,
}

/// What terms of [`Kernel::Gemm`] may look at.
const GEMM: &[(&str, &str)] = &[
    ("calls", "calls of the micro-kernel"),
    ("steps", "inner steps of all calls"),
    (
        "step_cycles",
        "what bounds these steps: multiply-adds, loads, fills of L1, or the latency of dependent sums",
    ),
    (
        "in_place_cycles",
        "the same, where activations are read row by row in place",
    ),
    ("iterations", "iterations of the micro-kernel's loop"),
    (
        "tile_vectors",
        "vectors of accumulators that are stored, and loaded where a call adds to a result",
    ),
    ("l1_fill", "operands into L1"),
    ("l2_fill", "operands in panels into L2"),
    ("l2_fill_strided", "operands at a stride into L2"),
    ("dram_fill", "operands out of DRAM without prefetch"),
    ("dram_fill_prefetched", "the prefetched operand out of DRAM"),
    ("dram_fill_strided", "operands at a stride out of DRAM"),
    (
        "result_bytes",
        "bytes of the result that pass through L2, twice where it is added to",
    ),
    ("late_read", "latencies of L3 for tiles that are read without prefetch"),
    ("late_read_dram", "what DRAM's latency adds to them"),
    (
        "late_write",
        "latencies of L3 for tiles that are only written without prefetch",
    ),
    ("late_write_dram", "what DRAM's latency adds to them"),
    ("transposed", "elements that turn on their way into memory"),
    ("gelu_vectors", "vectors of a fused GELU"),
    (
        "single_vector_cycles",
        "multiply-adds of kernels one vector wide: each needs a load of its own",
    ),
    (
        "aliased_cycles",
        "what steps take longer when lines that meet in one set of L1 come from L2 one after another",
    ),
    (
        "streamed_cycles",
        "what steps take longer when operands come from L3 or DRAM more slowly than they are computed with",
    ),
    (
        "waiting_vectors",
        "vectors of accumulators beyond eight of each call, where the result is larger than half of L3",
    ),
];

const PACK: &[(&str, &str)] = &[
    ("bytes", "bytes that are packed"),
    ("l2_fill", "bytes read and written, where both do not fit L2"),
    ("dram_fill", "bytes read and written, where they lie in DRAM"),
];

const SUM: &[(&str, &str)] = &[
    ("tiles", "tiles of all batches"),
    ("l1_fill", "bytes of partials and result"),
    ("l2_fill", "the same, where they do not fit L2"),
    ("dram_fill", "the same, where they lie in DRAM"),
    ("gelu_vectors", "vectors of a fused GELU"),
];

const GELU: &[(&str, &str)] = &[
    ("vectors", "vectors"),
    ("l1_fill", "bytes read and written"),
    ("l2_fill", "the same, where they do not fit L2"),
    ("dram_fill", "the same, where they lie in DRAM"),
];

const ATTENTION_PACK: &[(&str, &str)] = &[
    ("query_vectors", "vectors of queries that turn into panels"),
    (
        "key_elements",
        "elements of keys that turn into panels of a kernel's rows, one by one",
    ),
    (
        "turned_elements",
        "elements of keys and values that turn in squares of a vector",
    ),
    (
        "value_bytes",
        "bytes of values that are copied into panels of a kernel's rows",
    ),
    ("dram_fill", "bytes read, where they lie in DRAM"),
];

/// What terms of both kernels of products may look at.
const ATTENTION_PRODUCT: &[(&str, &str)] = &[
    ("calls", "calls of the kernel"),
    ("steps", "inner steps of all calls"),
    (
        "step_cycles",
        "what bounds these steps: multiply-adds, loads, fills of L1, or the latency of dependent sums",
    ),
    ("iterations", "iterations of the kernel's loop"),
    (
        "tile_vectors",
        "vectors of accumulators that are stored, and loaded where a call adds to a result",
    ),
    (
        "maximum_vectors",
        "vectors of accumulators of which the maximum is taken",
    ),
    ("score_bytes", "bytes of scores that lie beyond L1"),
    ("l2_fill", "scores, keys or values into L2"),
    ("dram_fill", "keys or values that are read as given, out of DRAM"),
    (
        "single_vector_cycles",
        "multiply-adds of kernels one vector wide: each needs a load of its own",
    ),
];

const ATTENTION_SOFTMAX: &[(&str, &str)] = &[
    (
        "rows",
        "keys of all panels of queries: each is a step of the running sums",
    ),
    ("vectors", "vectors of weights"),
    ("degrees", "the same, times the degree of the polynomial"),
    ("maximum_vectors", "vectors of scores in passes for the maximum"),
    ("panels", "panels of queries with one block of keys"),
    (
        "l1_fill",
        "scores read and written, where those of a panel do not fit L1",
    ),
    ("l2_fill", "the same, where those of a block do not fit L2"),
];

const ATTENTION_FINISH: &[(&str, &str)] = &[
    ("vectors", "vectors of results"),
    ("dram_fill", "bytes written, where they lie in DRAM"),
];

const ATTENTION_MERGE: &[(&str, &str)] = &[("vectors", "vectors of results of all splits but the first")];

impl Kernel {
    /// Its arguments in the order in which this crate gives them, each with its meaning.
    #[must_use]
    pub const fn meanings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Gemm => GEMM,
            Self::Pack => PACK,
            Self::Reduce | Self::Copy => SUM,
            Self::Gelu => GELU,
            Self::AttentionPack => ATTENTION_PACK,
            Self::AttentionScores | Self::AttentionValues => ATTENTION_PRODUCT,
            Self::AttentionSoftmax => ATTENTION_SOFTMAX,
            Self::AttentionFinish => ATTENTION_FINISH,
            Self::AttentionMerge => ATTENTION_MERGE,
        }
    }
}

impl Kernels for Kernel {
    const UNIT: &'static str = "cycles";
    const ALL: &'static [Self] = &[
        Self::Gemm,
        Self::Pack,
        Self::Reduce,
        Self::Copy,
        Self::Gelu,
        Self::AttentionPack,
        Self::AttentionScores,
        Self::AttentionSoftmax,
        Self::AttentionValues,
        Self::AttentionFinish,
        Self::AttentionMerge,
    ];

    fn number(self) -> usize {
        self as usize
    }

    fn name(self) -> &'static str {
        match self {
            Self::Gemm => "gemm",
            Self::Pack => "pack",
            Self::Reduce => "reduce",
            Self::Copy => "copy",
            Self::Gelu => "gelu",
            Self::AttentionPack => "attention_pack",
            Self::AttentionScores => "attention_scores",
            Self::AttentionSoftmax => "attention_softmax",
            Self::AttentionValues => "attention_values",
            Self::AttentionFinish => "attention_finish",
            Self::AttentionMerge => "attention_merge",
        }
    }

    fn arguments(self) -> Vec<&'static str> {
        self.meanings().iter().map(|(name, _)| *name).collect()
    }
}

/// One kernel with its arguments: what one phase of a plan is for its busiest worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// Which.
    pub kernel: Kernel,
    /// Its arguments, in the order of [`Kernel::meanings`].
    pub arguments: Vec<i64>,
}

impl Work {
    /// From figures that may be broken; what is broken counts as the next whole number, so that a phase that does anything
    /// is never free.
    #[must_use]
    pub fn new<const N: usize>(kernel: Kernel, figures: [f64; N]) -> Self {
        debug_assert_eq!(N, kernel.meanings().len(), "{}", kernel.name());
        Self {
            kernel,
            arguments: figures.map(whole).to_vec(),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "what is beyond 64 bits stops there, and has no price"
)]
fn whole(figure: f64) -> i64 {
    libm::ceil(figure) as i64
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
    fn work_is_never_free_and_never_wraps() {
        let work = Work::new(Kernel::Pack, [0.1, 0.0, 1e300]);
        assert_eq!(work.arguments, [1, 0, i64::MAX]);
    }
}
