//! What enumeration and selection ask about an attention.

use planner::{Assignment, Attributes, Refusal, Value, Workload};

use super::attributes::{geometry_from, plan_attributes, plan_from};
use super::estimate::roofline;
use super::facts::{Context, Facts};
use super::problem::attention;
use super::space::default_plan;
use super::text::{geometry_text, plan_text};
use crate::attributes::THREADS;
use crate::estimate::{Constants, Hardware};
use crate::options::Settings;
use crate::planning::whole;

/// Bytes of a float32.
const FLOAT: f64 = 4.0;

/// The plan that is taken where nothing is said.
pub(crate) fn defaults(workload: &Workload, settings: &Settings) -> Result<Assignment, Refusal> {
    let attention = attention(workload)?;
    let all = plan_attributes(&attention.name, &default_plan(attention.extents, settings));
    // Workers are an option of the target, not a choice of the plan.
    let own = all.iter().filter(|(name, _)| *name != THREADS);
    Ok(own.map(|(name, value)| (name.to_owned(), value.clone())).collect())
}

/// Canonical text of an assignment, or its attributes in words where it has none.
pub(crate) fn text(workload: &Workload, assignment: &Assignment, threads: u32) -> String {
    let read = attention(workload).and_then(|own| {
        let plan = plan_from(&own.name, assignment, threads)?;
        Ok(plan_text(&own.name, &plan))
    });
    read.unwrap_or_else(|_| assignment.words(None))
}

/// Canonical text of the operation's geometry, or its attributes in words where it has none.
pub(crate) fn operation_text(operation: &str, assignment: &Assignment) -> String {
    match geometry_from(operation, assignment) {
        Ok(geometry) => geometry_text(operation, &geometry),
        Err(_) => assignment.words(Some(operation)),
    }
}

/// Registers, block extents and footprints: the largest ones. `threads` beside them.
pub(crate) fn derived(workload: &Workload, assignment: &Assignment, settings: &Settings) -> Attributes {
    let threads = (THREADS.to_owned(), Value::from(settings.threads));
    let own = attention(workload).and_then(|own| {
        let geometry = geometry_from(&own.name, assignment)?;
        Ok((own, geometry))
    });
    let Ok((own, g)) = own else {
        return [threads].into_iter().collect();
    };
    let context = Context {
        isa: settings.isa,
        threads: settings.threads,
        extents: own.extents,
        geometry: &g,
    };
    let facts = Facts::new(context);
    let (width, value_width) = (f64::from(own.extents.width), f64::from(own.extents.value_width));
    let queries = f64::from(facts.most_panels() * g.query_panel);
    let keys = f64::from(facts.most_keys());
    let registers = settings.isa.needed(g.key_height.max(g.value_height), g.query_panel);
    let list = [
        ("registers", registers as f64),
        ("tasks", facts.tasks as f64),
        ("query_block_queries", queries),
        ("key_block_keys", keys),
        ("query_block_bytes", queries * width * FLOAT),
        ("key_block_bytes", keys * width * FLOAT),
        ("value_block_bytes", keys * value_width * FLOAT),
        ("kept_scores_bytes", queries * f64::from(facts.kept_keys()) * FLOAT),
        ("worker_bytes", facts.scratch.floats as f64 * FLOAT),
    ];
    list.into_iter()
        .map(|(name, value)| (format!("{}.{name}", own.name), whole(value)))
        .chain([threads])
        .collect()
}

/// The screening proxy: cycles of the roofline; none of an assignment that can't be read.
pub(crate) fn proxy(
    workload: &Workload,
    operation: &str,
    assignment: &Assignment,
    settings: &Settings,
    (hardware, constants): (&Hardware, &Constants),
) -> Option<f64> {
    let own = attention(workload).ok()?;
    let geometry = geometry_from(operation, assignment).ok()?;
    let roofline = roofline(own.extents, &geometry, settings.threads, hardware, constants);
    Some(roofline.iter().map(|(_, cycles)| cycles).sum())
}
