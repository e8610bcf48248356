//! How much each phase of a chain of products does: what the analytic model counts, in bytes instead of cycles.

use planner::Workload;
use target_api::{Amounts, Traffic};

use super::analytic::Analytic;
use super::works::PhaseWork;
use crate::costs::Kernel;
use crate::geometry::CpuPlan;

/// Names of the levels: where bytes go to and come from.
pub(crate) const LEVEL_NAMES: [&str; 3] = ["L1 from L2", "L2 from L3", "L3 from DRAM"];

/// The phases of a legal plan, in the order of execution.
#[must_use]
pub fn amounts(model: &Analytic, workload: &Workload, plan: &CpuPlan) -> Vec<Amounts> {
    let works = model.works(workload, plan).into_iter();
    works.map(|phase| of(model, &phase, plan.threads)).collect()
}

fn of(model: &Analytic, phase: &PhaseWork<'_>, threads: u32) -> Amounts {
    let names = phase.work.kernel.meanings();
    let argument = |name: &str| {
        let at = names.iter().position(|(own, _)| *own == name);
        at.map_or(0.0, |at| phase.work.arguments[at] as f64)
    };
    let sum = |names: &[&str]| names.iter().map(|name| argument(name)).sum::<f64>();
    // The model counts cycles of a fill that nothing overlaps, of one of several workers at the memory.
    let sharing = 1.0 + model.constants.dram_sharing * f64::from(threads - 1);
    let fill = model.hardware.fill;
    let bytes = [
        sum(&["l1_fill"]) / fill[0],
        sum(&["l2_fill", "l2_fill_strided"]) / fill[1],
        sum(&["dram_fill", "dram_fill_prefetched", "dram_fill_strided"]) / (fill[2] * sharing),
    ];
    let multiplies = phase.work.kernel == Kernel::Gemm;
    let extents = phase.extents;
    Amounts {
        phase: phase.name.clone(),
        flops: multiplies.then_some(2.0 * extents.rows as f64 * extents.inner as f64 * extents.columns as f64),
        calls: multiplies.then(|| argument("calls")),
        traffic: (LEVEL_NAMES.iter().zip(bytes).zip(fill))
            .filter(|((_, bytes), _)| *bytes > 0.0)
            .map(|((level, bytes), fill)| Traffic {
                level: (*level).to_owned(),
                bytes,
                gb_per_s: model.hardware.clock_ghz / fill,
            })
            .collect(),
    }
}
