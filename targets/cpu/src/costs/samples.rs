//! What a measured plan says of kernels: each of its phases is one kernel's work.

use std::collections::BTreeMap;

use planner::{Plan, Value, Workload};
use target_api::{Clock, KernelProfile, KernelSample, Measurement, Of};

use super::kernel::Kernel;
use crate::attributes::plan_from;
use crate::estimate::{Analytic, PhaseWork};
use crate::geometry::Staging;
use crate::problem::token_extent;

/// What counts: nanoseconds times the core's clock, which a chain of dependent additions told beside each pair.
#[must_use]
pub fn clock() -> Clock {
    Clock {
        name: "core clock".to_owned(),
        unit: "cycles".to_owned(),
        hz: None,
    }
}

/// A sample for each phase of each counted call of the case. Calls that were interrupted are marked as disturbed.
///
/// `None` for plans of several workers: there a phase's time is the mean over workers, and its price that of the busiest.
#[must_use]
pub fn samples(
    analytic: &Analytic,
    workload: &Workload,
    plan: &Plan,
    measurement: &Measurement,
) -> Option<KernelProfile> {
    let plan = plan_from(workload, &plan.attributes, 1).ok()?;
    if plan.threads != 1 {
        return None;
    }
    let works = analytic.works(workload, &plan);
    let by_name: BTreeMap<&str, &PhaseWork<'_>> = works.iter().map(|phase| (phase.name.as_str(), phase)).collect();
    let clock_ghz = clock_of(measurement).unwrap_or(analytic.hardware.clock_ghz);
    let mut samples = Vec::new();
    let calls = measurement.samples.iter();
    for call in calls.filter(|call| call.of == Of::Case && !call.warm_up) {
        let switches = call.extra.get("involuntary_switches").copied().unwrap_or(0.0);
        for phase in &call.phases {
            if let Some(own) = by_name.get(phase.name.as_str()) {
                samples.push(KernelSample {
                    disturbed: switches > 0.0,
                    ..sample(own, phase.value * clock_ghz)
                });
            }
        }
    }
    Some(KernelProfile {
        clock: clock(),
        samples,
    })
}

/// The core's clock during a round: the median over what was probed beside its pairs, which an interrupted probe does not
/// move.
fn clock_of(measurement: &Measurement) -> Option<f64> {
    let mut clocks: Vec<f64> = measurement.probes.iter().filter_map(|probe| probe.clock_ghz).collect();
    clocks.sort_by(f64::total_cmp);
    clocks.get(clocks.len() / 2).copied()
}

fn sample(phase: &PhaseWork<'_>, cycles: f64) -> KernelSample {
    let work = &phase.work;
    let priced = work.kernel.arguments().iter().zip(&work.arguments);
    let mut arguments: BTreeMap<String, Value> = priced
        .map(|((name, _), value)| ((*name).to_owned(), Value::Integer(*value)))
        .collect();
    let g = phase.geometry;
    let tile = [("height", g.height), ("width", g.width)];
    let (unroll, partials) = (("unroll", g.unroll), ("partials", g.inner));
    let side_by_side = ("side_by_side", u32::from(g.staging != Staging::Streamed));
    // What the kernel's code depends on beside its extents: no more, or calls that are alike would be told apart.
    let scalars: &[(&str, u32)] = match work.kernel {
        Kernel::Gemm => &[tile[0], tile[1], unroll, partials, side_by_side],
        Kernel::Reduce | Kernel::Copy => &[tile[0], tile[1], partials],
        Kernel::Pack => &[("panel", token_extent(g))],
        Kernel::Gelu => &[],
    };
    for (name, value) in scalars {
        arguments.insert((*name).to_owned(), Value::from(*value));
    }
    let extents = phase.extents;
    let logical = [
        ("rows", extents.rows),
        ("inner", extents.inner),
        ("columns", extents.columns),
    ];
    KernelSample {
        arguments: Some(arguments),
        logical: logical.map(|(name, extent)| (name.to_owned(), extent)).into(),
        ..KernelSample::call(work.kernel.name(), [], cycles)
    }
}
