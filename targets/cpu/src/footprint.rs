//! How much memory a workload needs, known before anything is allocated.

use planner::{AttentionExtents, OperationKind, Refusal, Workload};

/// Bytes that one workload may need in all: 8 GiB. Fixed, so that a cohort means the same on every machine.
pub const MOST_BYTES: u128 = 8 << 30;

const FLOAT32: u128 = 4;
const FLOAT64: u128 = 8;

/// Bytes that a workload needs. Counts saturate, they never wrap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footprint {
    /// Input and weights in float32, twice: the values and the bytes of their files.
    pub inputs: u128,
    /// Input, the result of each product and the bytes of the reference's file, in float64.
    pub reference: u128,
    /// Activations, weights and results of each product in the byte order of a plan, in float32, for the case and for
    /// its control. Padding and partial sums, which depend on the plan, are not in it.
    pub packed: u128,
}

impl Footprint {
    /// Of `workload`.
    #[must_use]
    pub fn of(workload: &Workload) -> Self {
        let area = |a: u64, b: u64| u128::from(a).saturating_mul(u128::from(b));
        let input = match workload.operations.first().map(|operation| operation.kind) {
            Some(OperationKind::Gemm(e)) => area(e.rows, e.inner),
            Some(OperationKind::Elementwise { rows, columns, .. }) => area(rows, columns),
            Some(OperationKind::Attention(e)) => return Self::of_attention(&e),
            None => 0,
        };
        let (mut read, mut weights, mut results, mut last) = (0_u128, 0_u128, 0_u128, input);
        for (_, e) in workload.gemms() {
            last = area(e.rows, e.columns);
            read = read.saturating_add(area(e.rows, e.inner));
            weights = weights.saturating_add(area(e.inner, e.columns));
            results = results.saturating_add(last);
        }
        let sum = |parts: &[u128]| parts.iter().fold(0_u128, |sum, part| sum.saturating_add(*part));
        Self {
            inputs: sum(&[input, weights]).saturating_mul(2 * FLOAT32),
            reference: sum(&[input, results, last]).saturating_mul(FLOAT64),
            packed: sum(&[read, weights, results]).saturating_mul(2 * FLOAT32),
        }
    }

    /// Queries, keys and values stand for input and weights. Partial results of key splits and a worker's scratch depend
    /// on the plan and are not in it.
    fn of_attention(e: &AttentionExtents) -> Self {
        let volume = |heads: u64, rows: u64, columns: u64| {
            let rows = u128::from(heads).saturating_mul(u128::from(rows));
            rows.saturating_mul(u128::from(columns))
        };
        let queries = volume(e.heads, e.queries, e.width);
        let stored = volume(e.kv_heads, e.keys, e.width.saturating_add(e.value_width));
        let result = volume(e.heads, e.queries, e.value_width);
        Self {
            inputs: queries.saturating_add(stored).saturating_mul(2 * FLOAT32),
            reference: result.saturating_mul(2 * FLOAT64),
            packed: stored.saturating_add(result).saturating_mul(2 * FLOAT32),
        }
    }

    /// All of it.
    #[must_use]
    pub fn total(&self) -> u128 {
        self.inputs.saturating_add(self.reference).saturating_add(self.packed)
    }
}

/// Refuses a workload that needs more than [`MOST_BYTES`].
pub fn check(workload: &Workload) -> Result<(), Refusal> {
    let needed = Footprint::of(workload);
    if needed.total() <= MOST_BYTES {
        return Ok(());
    }
    Err(Refusal::new(
        "memory",
        format!(
            "workload `{}` needs {} bytes: {} for its inputs, {} for the float64 reference, {} for packed copies; at most \
             {MOST_BYTES} (8 GiB) are allowed",
            workload.name,
            needed.total(),
            needed.inputs,
            needed.reference,
            needed.packed
        ),
    ))
}
