//! Kernel samples of a profile, as calibration wants them.

use std::collections::BTreeMap;

use planner::costs::Kernels;
use target_api::{Clock, KernelProfile, KernelSample};

use super::types::{CallProfile, Profile};
use crate::costs::Kernel;
use crate::work::Copy;

/// The clock of every profile of the unit model.
#[must_use]
pub fn clock() -> Clock {
    Clock {
        name: "simulated tile cycles".to_owned(),
        unit: "cycles".to_owned(),
        hz: None,
    }
}

/// All kernel calls of all tiles, and one sample of the barrier for each phase. Extents are physical: padding is in them.
#[must_use]
pub fn kernels(profile: &Profile) -> KernelProfile {
    let mut times = vec![0_u64; profile.calls.len()];
    let mut samples = Vec::new();
    for step in &profile.steps {
        for place in step.segment.calls.iter().flatten() {
            if let Some(times) = times.get_mut(*place) {
                *times += 1;
            }
        }
        let beyond = step.after_arrival.saturating_sub(step.scheduled);
        samples.push(KernelSample::call(Kernel::Barrier.name(), [], beyond as f64));
    }
    let called = profile.calls.iter().zip(times).filter(|(_, times)| *times > 0);
    samples.extend(called.map(|(call, times)| KernelSample { times, ..sample(call) }));
    KernelProfile {
        clock: clock(),
        samples,
    }
}

fn sample(call: &CallProfile) -> KernelSample {
    let own = |name: &str| call.arguments.get(name).copied().unwrap_or(0);
    let named = |kernel: Kernel, calls: usize, values: &[usize]| {
        let arguments = kernel.arguments().into_iter().zip(values.iter().map(|n| *n as u64));
        let arguments: Vec<(&str, u64)> = arguments.collect();
        KernelSample {
            physical: arguments.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect(),
            calls: calls as u64,
            // A strided copy is as many calls of equal size: the unit model knows that they are.
            certified: calls > 1,
            ..KernelSample::call(kernel.name(), arguments, call.cycles as f64)
        }
    };
    match call.kernel.as_str() {
        "gemm" => named(Kernel::Gemm, 1, &[own("rows"), own("inner"), own("columns")]),
        "reduce" => named(Kernel::Reduction, 1, &[own("elements"), own("partials")]),
        "gelu" => named(Kernel::Gelu, 1, &[own("elements")]),
        "fill" => named(Kernel::Fill, 1, &[own("bytes")]),
        "copy" => {
            let copy = Copy {
                panels: own("panels"),
                panel_bytes: own("panel_bytes"),
            };
            let calls = copy.calls();
            named(Kernel::CopyExecuted, calls, &[copy.panels * copy.panel_bytes / calls])
        }
        // A kernel of a later version: its arguments as they are.
        other => KernelSample::call(
            other,
            call.arguments
                .iter()
                .map(|(name, n)| (name.as_str(), *n as u64))
                .collect::<BTreeMap<_, _>>(),
            call.cycles as f64,
        ),
    }
}
