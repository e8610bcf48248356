//! What an attention plan will cost: a roofline for screening, and the price of every phase.

use planner::{Plan, Refusal, Workload};

use super::attributes::plan_from;
use super::facts::Context;
use super::geometry::{AttentionGeometry, Exponential, Maximum, Merge, Packing, Scores};
use super::problem::{Extents, attention};
use super::works::works;
use crate::costs::CostTable;
use crate::estimate::{Constants, Hardware};

const FLOAT: f64 = 4.0;

/// Cycles of each phase of one worker, by the harness's names without the operation.
type Phases = Vec<(&'static str, f64)>;

/// The larger of what multiply-adds and what fills of L1 and L2 take, and the softmax: cycles of the busiest worker.
#[must_use]
pub fn roofline(
    extents: Extents,
    geometry: &AttentionGeometry,
    threads: u32,
    hardware: &Hardware,
    constants: &Constants,
) -> Phases {
    let (e, g) = (extents, geometry);
    let tasks = f64::from(e.heads) * f64::from(g.query_blocks);
    let splits = if g.merge == Merge::Complete {
        f64::from(g.key_splits)
    } else {
        1.0
    };
    let threads = f64::from(threads.max(1));
    let share = libm::ceil(tasks * splits / threads) / (tasks * splits);
    let panel = f64::from(g.query_panel);
    let padded = libm::ceil(f64::from(e.queries) / panel) * panel / f64::from(e.queries);
    let pairs = f64::from(e.heads) * e.visible() * padded * share;
    let (width, value_width) = (f64::from(e.width), f64::from(e.value_width));
    let vectors = panel / hardware.lanes;
    // A kernel does at most what its loads allow: so many per multiply-add.
    let efficiency = |height: u32| {
        let rows = f64::from(height);
        let loads = (rows + vectors) / (rows * vectors) / constants.loads_per_cycle;
        libm::fmax(1.0 / hardware.fma_per_cycle, loads)
    };
    let arithmetic =
        pairs / hardware.lanes * (width * efficiency(g.key_height) + value_width * efficiency(g.value_height));
    // Keys and values pass through L1 once for each panel of queries, the kept scores twice more where they exceed it.
    let keys = f64::from(e.keys) / f64::from(g.key_splits);
    let kept = if g.scores == Scores::Online {
        keys / f64::from(g.key_blocks)
    } else {
        keys
    };
    let streamed = (width + value_width) * FLOAT / panel;
    let spilled = if kept * panel * FLOAT > hardware.capacity[0] {
        3.0 * FLOAT
    } else {
        0.0
    };
    let mut bytes = streamed + spilled;
    let block = kept * panel * FLOAT * libm::ceil(f64::from(e.queries) / panel / f64::from(g.query_blocks));
    if block > hardware.capacity[1] {
        bytes += 3.0 * FLOAT;
    }
    let fills = pairs * bytes * hardware.fill[0];
    vec![
        ("products", libm::fmax(arithmetic, fills)),
        ("softmax", pairs / hardware.lanes * softmax_cycles(g, constants)),
    ]
}

/// Degree of the polynomial of `2^x`.
pub(super) fn degree(exponential: Exponential) -> f64 {
    match exponential {
        Exponential::Degree4 => 4.0,
        Exponential::Degree5 => 5.0,
        Exponential::Degree6 => 6.0,
    }
}

/// Cycles of one vector of weights.
fn softmax_cycles(g: &AttentionGeometry, constants: &Constants) -> f64 {
    let maximum = if g.maximum == Maximum::Pass {
        constants.softmax_maximum_cycles
    } else {
        0.0
    };
    constants.softmax_weight_cycles + constants.softmax_degree_cycles * degree(g.exponential) + maximum
}

/// Cycles of every phase of the busiest worker.
///
/// # Errors
/// Where the table has no price for one: the rule `price`.
pub fn model(
    context: Context<'_>,
    hardware: &Hardware,
    constants: &Constants,
    costs: &CostTable,
) -> Result<Phases, Refusal> {
    let mut phases = Vec::new();
    for (name, work) in works(context, hardware, constants) {
        phases.push((name, work.cycles(costs)?));
    }
    phases.push(("wait", wait(context, hardware, constants)));
    Ok(phases)
}

/// Cycles at barriers: behind what is packed ahead, and before a merge of what lies side by side.
fn wait(context: Context<'_>, hardware: &Hardware, constants: &Constants) -> f64 {
    let g = context.geometry;
    let ahead = g.packs() && g.packing == Packing::Ahead;
    let barriers = f64::from(u8::from(g.merge == Merge::Complete)) + f64::from(u8::from(ahead));
    if context.threads > 1 {
        barriers * constants.barrier_ns * hardware.clock_ghz
    } else {
        0.0
    }
}

/// Parts of the screening proxy.
pub(crate) fn bounds(
    workload: &Workload,
    plan: &Plan,
    hardware: &Hardware,
    constants: &Constants,
) -> Result<Vec<(String, f64)>, Refusal> {
    let own = attention(workload)?;
    let typed = plan_from(&own.name, &plan.attributes, 1)?;
    let parts = roofline(own.extents, &typed.geometry, typed.threads, hardware, constants);
    Ok(parts
        .into_iter()
        .map(|(name, cycles)| (name.to_owned(), cycles))
        .collect())
}

/// Parts of the analytic model in nanoseconds, under the names that the harness prints.
pub(crate) fn phases(
    workload: &Workload,
    plan: &Plan,
    hardware: &Hardware,
    constants: &Constants,
    costs: &CostTable,
) -> Result<Vec<(String, f64)>, Refusal> {
    let own = attention(workload)?;
    let typed = plan_from(&own.name, &plan.attributes, 1)?;
    let context = Context {
        isa: hardware.isa,
        threads: typed.threads,
        extents: own.extents,
        geometry: &typed.geometry,
    };
    let named = |(name, cycles): (&'static str, f64)| {
        let name = if name == "wait" {
            name.to_owned()
        } else {
            format!("{}.{name}", own.name)
        };
        (name, cycles / hardware.clock_ghz)
    };
    let phases = model(context, hardware, constants, costs)?;
    Ok(phases.into_iter().map(named).collect())
}
