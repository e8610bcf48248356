//! What every plan must read, beside what the caches and the memory of the machine give.

use planner::{OperationKind, Workload};
use target_api::{Limit, Quantity};

use super::amounts::LEVEL_NAMES;
use super::hardware::{Hardware, LEVELS};

/// Bytes of a float32.
const ELEMENT: f64 = 4.0;

/// Bytes of all operands that come from outside: the input of the first operation and all weights, or queries and the keys
/// and values that any query sees. Whatever a plan does, each is read at least once. Results between two operations are
/// not counted, since a plan may keep them where they were made, nor what is written.
#[must_use]
pub fn read_bytes(workload: &Workload) -> f64 {
    let of = |(at, kind): (usize, OperationKind)| match kind {
        OperationKind::Gemm(e) => {
            let input = if at == 0 { e.rows as f64 * e.inner as f64 } else { 0.0 };
            input + e.inner as f64 * e.columns as f64
        }
        OperationKind::Elementwise { rows, columns, .. } if at == 0 => rows as f64 * columns as f64,
        OperationKind::Elementwise { .. } => 0.0,
        OperationKind::Attention(e) => {
            let keys = if e.causal { e.keys.min(e.queries) } else { e.keys };
            let queries = e.heads as f64 * e.queries as f64 * e.width as f64;
            queries + e.kv_heads as f64 * keys as f64 * (e.width + e.value_width) as f64
        }
    };
    let kinds = workload.operations.iter().map(|operation| operation.kind);
    ELEMENT * kinds.enumerate().map(of).sum::<f64>()
}

/// One limit for each level of the memory: bytes of the operands that can't lie above it before a call begins, over what
/// all workers read if each reads as much as one by itself. Both err towards too little time, so that no plan can beat it:
/// what lies in one cache may lie in no other, each worker may have a third level of its own, and workers that share the
/// memory get less each. `largest_cache` is the size of the largest cache that the system tells, in bytes; the third level
/// holds that, or what it was measured to hold if that is more.
#[must_use]
pub fn limits(hardware: &Hardware, largest_cache: Option<f64>, workers: u32, workload: &Workload) -> Vec<Limit> {
    let bytes = read_bytes(workload);
    let mut capacity = hardware.capacity;
    capacity[LEVELS - 1] = capacity[LEVELS - 1].max(largest_cache.unwrap_or_default());
    let mut above = 0.0;
    let levels = LEVEL_NAMES.iter().zip(capacity).zip(hardware.fill);
    let limit = |((level, capacity), fill): ((&&str, f64), f64)| {
        above += f64::from(workers) * capacity;
        Limit {
            resource: (*level).to_owned(),
            quantity: Quantity::Bytes,
            amount: (bytes - above).max(0.0),
            rate: f64::from(workers) * hardware.clock_ghz / fill,
            label: "measured",
            about: match workers {
                1 => "what one worker reads".to_owned(),
                _ => format!("{workers} times what one worker by itself reads"),
            },
        }
    };
    levels.map(limit).collect()
}

#[cfg(test)]
mod tests {
    use planner::{AttentionExtents, GemmExtents, Operation};

    use super::*;

    fn of(kind: OperationKind) -> Workload {
        let operation = Operation {
            name: "it".to_owned(),
            kind,
        };
        Workload {
            name: "it".to_owned(),
            operations: vec![operation],
        }
    }

    fn product(rows: u64, inner: u64, columns: u64) -> Workload {
        of(OperationKind::Gemm(GemmExtents { rows, inner, columns }))
    }

    /// Caches of 1, 10 and 100 bytes; 8, 4 and 2 bytes a cycle at 2 GHz.
    fn machine() -> Hardware {
        Hardware {
            isa: crate::isa::Isa::Avx2,
            lanes: 8.0,
            fma_per_cycle: 2.0,
            clock_ghz: 2.0,
            capacity: [1.0, 10.0, 100.0],
            fill: [0.125, 0.25, 0.5],
            latency: [1.0; LEVELS],
        }
    }

    #[test]
    fn operands_are_read_once_and_results_between_operations_need_not_be() {
        assert!((read_bytes(&product(2, 3, 5)) - 4.0 * (6.0 + 15.0)).abs() < 1e-9);
        let mut two = product(2, 3, 5);
        two.operations.extend(product(2, 5, 7).operations);
        assert!((read_bytes(&two) - 4.0 * (6.0 + 15.0 + 35.0)).abs() < 1e-9);
        let attention = |causal| {
            of(OperationKind::Attention(AttentionExtents {
                heads: 4,
                kv_heads: 2,
                queries: 3,
                keys: 5,
                width: 8,
                value_width: 16,
                causal,
            }))
        };
        assert!((read_bytes(&attention(false)) - 4.0 * f64::from(4 * 3 * 8 + 2 * 5 * 24)).abs() < 1e-9);
        // Nobody sees the last two keys.
        assert!((read_bytes(&attention(true)) - 4.0 * f64::from(4 * 3 * 8 + 2 * 3 * 24)).abs() < 1e-9);
    }

    #[test]
    fn what_caches_hold_need_not_come_from_below() {
        let amounts = |largest, workers| {
            let all = limits(&machine(), largest, workers, &product(1, 10, 99));
            all.iter().map(|limit| (limit.amount, limit.rate)).collect::<Vec<_>>()
        };
        // 4,000 bytes.
        assert_eq!(amounts(None, 1), [(3999.0, 16.0), (3989.0, 8.0), (3889.0, 4.0)]);
        assert_eq!(amounts(None, 2), [(3998.0, 32.0), (3978.0, 16.0), (3778.0, 8.0)]);
        assert_eq!(amounts(Some(1000.0), 1)[2], (2989.0, 4.0));
        assert_eq!(amounts(Some(1e6), 1)[2], (0.0, 4.0));
    }
}
