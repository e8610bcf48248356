//! What every plan must read, beside what the caches and the memory of the machine give.

use std::collections::BTreeSet;

use planner::{OperationKind, Workload};
use target_api::{Limit, Quantity};

use super::amounts::LEVEL_NAMES;
use super::hardware::{Hardware, LEVELS};
use crate::harness::MachineReport;

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

/// The largest cache of each core as the system tells it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LargestCache {
    /// Its size in bytes; `None` where the system does not tell it.
    pub bytes: Option<f64>,
    /// How many of it the workers' cores have: one where all share it.
    pub copies: u32,
}

impl LargestCache {
    /// That of these cores. A core of which the sharing is not known counts as one with a cache of its own.
    #[must_use]
    pub fn of(report: &MachineReport, cores: &[u32]) -> Self {
        let lowest = |core: &u32| {
            let at = report.physical_cores.iter().position(|own| own == core)?;
            report.largest_cache_lowest.get(at).copied().flatten()
        };
        let shared: BTreeSet<u32> = cores.iter().filter_map(lowest).collect();
        let alone = cores.iter().filter(|core| lowest(core).is_none()).count();
        Self {
            bytes: report.largest_cache_bytes,
            copies: u32::try_from(shared.len() + alone).unwrap_or(u32::MAX),
        }
    }
}

/// One limit for each level of the memory: bytes of the operands that can't lie above it before a call begins, over what
/// all workers read if each reads as much as one by itself. Both err towards too little time, so that no plan can beat it:
/// what lies in one cache may lie in no other, and workers that share the memory get less each. The third level holds as
/// many copies of `largest` as there are; what it was measured to hold beyond one of them each worker may have for itself.
#[must_use]
pub fn limits(hardware: &Hardware, largest: LargestCache, workers: u32, workload: &Workload) -> Vec<Limit> {
    let bytes = read_bytes(workload);
    let each = f64::from(workers);
    let mut held = hardware.capacity.map(|capacity| each * capacity);
    if let Some(told) = largest.bytes {
        let beyond = (hardware.capacity[LEVELS - 1] - told).max(0.0);
        held[LEVELS - 1] = f64::from(largest.copies.min(workers)) * told + each * beyond;
    }
    let mut above = 0.0;
    let levels = LEVEL_NAMES.iter().zip(held).zip(hardware.fill);
    let limit = |((level, held), fill): ((&&str, f64), f64)| {
        above += held;
        let (label, about) = match workers {
            1 => ("measured", "what one worker reads".to_owned()),
            _ => (
                "derived",
                format!("{workers} times what one worker by itself was measured to read"),
            ),
        };
        Limit {
            resource: (*level).to_owned(),
            quantity: Quantity::Bytes,
            amount: (bytes - above).max(0.0),
            rate: each * hardware.clock_ghz / fill,
            label,
            about,
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
        let amounts = |bytes, copies, workers| {
            let all = limits(&machine(), LargestCache { bytes, copies }, workers, &product(1, 10, 99));
            all.iter().map(|limit| (limit.amount, limit.rate)).collect::<Vec<_>>()
        };
        // 4,000 bytes.
        assert_eq!(amounts(None, 1, 1), [(3999.0, 16.0), (3989.0, 8.0), (3889.0, 4.0)]);
        assert_eq!(amounts(None, 2, 2), [(3998.0, 32.0), (3978.0, 16.0), (3778.0, 8.0)]);
        assert_eq!(amounts(Some(1000.0), 1, 1)[2], (2989.0, 4.0));
        assert_eq!(amounts(Some(1e6), 1, 1)[2], (0.0, 4.0));
        // Two workers, each with a third level of its own or both with the same one.
        assert_eq!(amounts(Some(1000.0), 2, 2)[2], (1978.0, 8.0));
        assert_eq!(amounts(Some(1000.0), 1, 2)[2], (2978.0, 8.0));
        // 60 bytes were measured beyond what is told: nobody tells that these are shared.
        assert_eq!(amounts(Some(40.0), 1, 2)[2], (4000.0 - 22.0 - 40.0 - 120.0, 8.0));
    }

    #[test]
    fn cores_share_the_cache_that_the_system_says() {
        let mut report: MachineReport = serde_json::from_str(include_str!("../../tests/data/zen3-guest.json")).unwrap();
        let copies = |report: &MachineReport, cores: &[u32]| LargestCache::of(report, cores).copies;
        assert_eq!(copies(&report, &[0, 1]), 2, "a report that does not say it");
        report.physical_cores = vec![0, 1, 8, 9];
        report.largest_cache_lowest = vec![Some(0), Some(0), Some(8), None];
        assert_eq!(copies(&report, &[0, 1]), 1);
        assert_eq!(copies(&report, &[1, 8]), 2);
        assert_eq!(copies(&report, &[0, 1, 8, 9, 77]), 4);
    }

    #[test]
    fn what_several_workers_read_is_derived_from_one() {
        let label = |workers| {
            let largest = LargestCache {
                bytes: None,
                copies: workers,
            };
            limits(&machine(), largest, workers, &product(1, 10, 99))[0].label
        };
        assert_eq!((label(1), label(2)), ("measured", "derived"));
    }
}
