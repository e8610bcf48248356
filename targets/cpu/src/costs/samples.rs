//! What a measured plan says of kernels: each of its phases is one kernel's work.

use std::collections::BTreeMap;

use planner::costs::Kernels;
use planner::{Plan, Value, Workload};
use target_api::{Clock, KernelProfile, KernelSample, Measurement, Of};

use super::kernel::{Kernel, Work};
use crate::attention::attributes::plan_from as attention_plan_from;
use crate::attention::facts::Context;
use crate::attention::problem::{attends, attention};
use crate::attention::works::works;
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
    let by_name = if attends(workload) {
        of_attention(analytic, workload, plan)?
    } else {
        of_products(analytic, workload, plan)?
    };
    let clock_ghz = clock_of(measurement).unwrap_or(analytic.hardware.clock_ghz);
    let mut samples = Vec::new();
    let calls = measurement.samples.iter();
    for call in calls.filter(|call| call.of == Of::Case && !call.warm_up) {
        let switches = call.extra.get("involuntary_switches").copied().unwrap_or(0.0);
        for phase in &call.phases {
            if let Some(own) = by_name.get(phase.name.as_str()) {
                samples.push(KernelSample {
                    disturbed: switches > 0.0,
                    value: phase.value * clock_ghz,
                    ..own.clone()
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

/// What one call of each phase of a chain of products is, by the harness's names.
fn of_products(analytic: &Analytic, workload: &Workload, plan: &Plan) -> Option<BTreeMap<String, KernelSample>> {
    let plan = plan_from(workload, &plan.attributes, 1).ok()?;
    if plan.threads != 1 {
        return None;
    }
    let works = analytic.works(workload, &plan);
    Some(works.iter().map(|phase| (phase.name.clone(), product(phase))).collect())
}

fn product(phase: &PhaseWork<'_>) -> KernelSample {
    let g = phase.geometry;
    let tile = [("height", g.height), ("width", g.width)];
    let (unroll, partials) = (("unroll", g.unroll), ("partials", g.inner));
    let side_by_side = ("side_by_side", u32::from(g.staging != Staging::Streamed));
    // What the kernel's code depends on beside its extents: no more, or calls that are alike would be told apart.
    let scalars: &[(&str, u32)] = match phase.work.kernel {
        Kernel::Gemm => &[tile[0], tile[1], unroll, partials, side_by_side],
        Kernel::Reduce | Kernel::Copy => &[tile[0], tile[1], partials],
        Kernel::Pack => &[("panel", token_extent(g))],
        _ => &[],
    };
    let extents = phase.extents;
    let logical = [
        ("rows", extents.rows),
        ("inner", extents.inner),
        ("columns", extents.columns),
    ];
    sample(&phase.work, scalars, &logical)
}

/// The same of an attention.
fn of_attention(analytic: &Analytic, workload: &Workload, plan: &Plan) -> Option<BTreeMap<String, KernelSample>> {
    let own = attention(workload).ok()?;
    let plan = attention_plan_from(&own.name, &plan.attributes, 1).ok()?;
    if plan.threads != 1 {
        return None;
    }
    let (e, g) = (own.extents, &plan.geometry);
    let context = Context {
        isa: analytic.hardware.isa,
        threads: plan.threads,
        extents: e,
        geometry: g,
    };
    let logical = [
        ("heads", e.heads),
        ("queries", e.queries),
        ("keys", e.keys),
        ("width", e.width),
        ("value_width", e.value_width),
    ]
    .map(|(name, extent)| (name, u64::from(extent)));
    let (panel, unroll, blocks) = (
        ("panel", g.query_panel),
        ("unroll", g.unroll),
        ("key_blocks", g.key_blocks),
    );
    let mut samples = BTreeMap::new();
    for (name, work) in works(context, &analytic.hardware, &analytic.constants) {
        let scalars: &[(&str, u32)] = match work.kernel {
            Kernel::AttentionPack => &[panel, ("key_height", g.key_height), ("value_height", g.value_height)],
            Kernel::AttentionScores => &[panel, unroll, ("height", g.key_height)],
            Kernel::AttentionValues => &[panel, unroll, ("height", g.value_height), blocks],
            Kernel::AttentionSoftmax => &[panel, blocks],
            _ => &[panel],
        };
        samples.insert(format!("{}.{name}", own.name), sample(&work, scalars, &logical));
    }
    Some(samples)
}

/// A call of a kernel with its arguments, before it is said how long it took.
fn sample(work: &Work, scalars: &[(&str, u32)], logical: &[(&str, u64)]) -> KernelSample {
    let priced = work.kernel.meanings().iter().zip(&work.arguments);
    let mut arguments: BTreeMap<String, Value> = priced
        .map(|((name, _), value)| ((*name).to_owned(), Value::Integer(*value)))
        .collect();
    for (name, value) in scalars {
        arguments.insert((*name).to_owned(), Value::from(*value));
    }
    KernelSample {
        arguments: Some(arguments),
        logical: logical
            .iter()
            .map(|(name, extent)| ((*name).to_owned(), *extent))
            .collect(),
        ..KernelSample::call(work.kernel.name(), [], 0.0)
    }
}

#[cfg(test)]
mod tests {
    use target_api::{Estimator, Phase, Sample, Verdict};

    use super::*;
    use crate::attention::attributes::plan_attributes as attention_attributes;
    use crate::attention::space::default_plan;
    use crate::costs::shipped;
    use crate::estimate::{Constants, Hardware};
    use crate::isa::Isa;
    use crate::options::Settings;

    /// A plan of one worker whose phases took what the model says: every phase but waits is a sample, and what the table
    /// says of its arguments is what the model said.
    #[test]
    fn phases_of_an_attention_are_samples_of_its_kernels() {
        let report = serde_json::from_str(include_str!("../../tests/data/zen3-guest.json")).unwrap();
        let costs = shipped(Isa::Avx2).unwrap();
        let analytic = Analytic {
            hardware: Hardware::new(&report, Isa::Avx2).unwrap(),
            constants: Constants::of(&costs).unwrap(),
            costs: costs.clone(),
        };
        let text = "target = \"cpu\"\ncontrol = \"c\"\n[[workload]]\nname = \"a\"\nkind = \"attention\"\nheads = 2\n\
                    queries = 100\nwidth = 32\n";
        let definition = planner::Definition::parse("a.toml", text).unwrap();
        let workload = &definition.workloads[0].workload;
        let own = attention(workload).unwrap();
        let plan_of = |threads: u32, splits: u32| {
            let settings = Settings {
                threads,
                isa: Isa::Avx2,
                cores: (0..threads).collect(),
            };
            let mut typed = default_plan(own.extents, &settings);
            typed.geometry.key_splits = splits;
            Plan {
                target: "cpu".to_owned(),
                text: String::new(),
                attributes: attention_attributes(&own.name, &typed),
            }
        };
        let measured = |plan: &Plan, switches: f64| {
            let estimate = analytic.estimate(workload, plan).unwrap();
            let phases = estimate.parts.iter().map(|(name, value)| Phase {
                name: name.clone(),
                kind: "compute".to_owned(),
                value: *value,
            });
            Measurement {
                verdict: Verdict::Correct,
                error: None,
                samples: vec![Sample {
                    of: Of::Case,
                    warm_up: false,
                    value: estimate.value,
                    phases: phases.collect(),
                    extra: [("involuntary_switches".to_owned(), switches)].into(),
                }],
                probes: Vec::new(),
                facts: BTreeMap::new(),
            }
        };
        let plan = plan_of(1, 2);
        let profile = samples(&analytic, workload, &plan, &measured(&plan, 0.0)).unwrap();
        let kernels: Vec<&str> = profile.samples.iter().map(|sample| sample.kernel.as_str()).collect();
        assert_eq!(
            kernels,
            [
                "attention_pack",
                "attention_scores",
                "attention_softmax",
                "attention_values",
                "attention_finish",
                "attention_merge"
            ]
        );
        for sample in &profile.samples {
            let kernel = *Kernel::ALL.iter().find(|own| own.name() == sample.kernel).unwrap();
            let arguments = sample.arguments.as_ref().unwrap();
            let of = |name: &str| arguments[name].as_integer().unwrap();
            let work = Work {
                kernel,
                arguments: kernel.meanings().iter().map(|(name, _)| of(name)).collect(),
            };
            let price = work.cycles(&costs).unwrap();
            assert!((price / sample.value - 1.0).abs() < 1e-9, "{sample:?}: {price}");
            assert!(!sample.disturbed && sample.logical["keys"] == 100);
        }
        let interrupted = samples(&analytic, workload, &plan, &measured(&plan, 1.0)).unwrap();
        assert!(interrupted.samples.iter().all(|sample| sample.disturbed));
        // Of two workers a phase tells the mean.
        let shared = plan_of(2, 1);
        assert_eq!(samples(&analytic, workload, &shared, &measured(&shared, 0.0)), None);
    }
}
