//! Can this geometry be described, and can it be executed?

use planner::{Assignment, Refusal, Workload};
use target_api::{Answer, Why};

use crate::beyond::{Beyond, Grain, Order, Sum};
use crate::buildable::buildable;
use crate::constraints::{operation, read, set};
use crate::geometry::Geometry;
use crate::legal;
use crate::shards::{Axis, Shards};

/// Further fields of a constraint text that ask for what no plan of this target can say.
const UNDESCRIBED: &[(&str, &str, &str)] = &[
    (
        "extents-",
        "ownership",
        "an axis is dealt out in balanced contiguous runs of whole blocks: partitions with extents of their own can't be \
         written down",
    ),
    (
        "cyclic-",
        "ownership",
        "every partition owns one contiguous run of an axis: cyclic ownership can't be written down",
    ),
    (
        "disjoint-",
        "ownership",
        "every partition owns one contiguous run of an axis: ownership in several disjoint runs can't be written down",
    ),
    (
        "stride-",
        "storage",
        "operands lie as [panel][row][16] without gaps, as the matrix unit reads them: general local strides can't be \
         written down",
    ),
];

/// Answers both questions about one constraint text. Other operations are as in `base`.
pub fn why(workload: &Workload, constraint: &str, base: &Assignment) -> Result<Why, Refusal> {
    let fields: Vec<&str> = constraint.split(':').collect();
    let rule = fields.iter().skip(8).find_map(|field| {
        UNDESCRIBED
            .iter()
            .find(|(prefix, ..)| field.starts_with(prefix))
            .map(|(_, rule, message)| (*field, Refusal::new(rule, *message)))
    });
    if let Some((field, refusal)) = rule {
        let index = fields
            .first()
            .and_then(|index| index.parse().ok())
            .unwrap_or(usize::MAX);
        return Ok(Why {
            constraint: constraint.to_owned(),
            operation: operation(workload, constraint, index)?.to_owned(),
            described: Answer::no(&refusal),
            executed: Answer::no(&Refusal::new(
                "not-described",
                format!("`{field}` asks for what no plan can say, so there is nothing to execute"),
            )),
            beyond: Vec::new(),
            assignment: None,
        });
    }
    let (name, geometry) = read(workload, constraint)?;
    let mut plan = base.clone();
    set(&mut plan, name, &geometry);
    Ok(Why {
        constraint: constraint.to_owned(),
        operation: name.to_owned(),
        described: described(workload, name, &geometry)?,
        executed: match executed(workload, name, &geometry, &plan) {
            Ok(how) => Answer::yes(how),
            Err(refusal) => Answer::no(&refusal),
        },
        beyond: beyond(&geometry),
        assignment: Some(plan),
    })
}

/// What a geometry has that the published planner does not offer, in words.
#[must_use]
pub fn beyond(g: &Geometry) -> Vec<String> {
    let Beyond { grain, order, sum } = g.beyond;
    let mut words = Vec::new();
    if grain == Grain::Panel {
        words.push("K ownership in grains of 16 elements (published: whole local blocks)".to_owned());
    }
    if order != Order::default() {
        words.push(format!("grid order {order} (published: {})", Order::default()));
    }
    if sum == Sum::Tree {
        words.push("a tree of additions (published: one after another)".to_owned());
    }
    let factors = (g.result_rows, g.result_columns);
    if ![(1, 1), (g.inner, 1), (1, g.inner)].contains(&factors) {
        words.push(format!(
            "result factors {}x{}: the planner of the sweep offers 1x1, {k}x1 or 1x{k} by itself, others only as a constraint",
            factors.0,
            factors.1,
            k = g.inner
        ));
    }
    words
}

fn described(workload: &Workload, name: &str, g: &Geometry) -> Result<Answer, Refusal> {
    let extents = workload
        .gemms()
        .find(|(operation, _)| *operation == name)
        .map(|(_, e)| e);
    let extents = extents.ok_or_else(|| Refusal::new("operation", format!("`{name}` is no product")))?;
    let s = Shards::new(extents, g);
    let axes = [
        ("rows", s.rows),
        ("columns", s.columns),
        ("inner", s.inner),
        ("result rows", s.result_rows),
        ("result columns", s.result_columns),
    ];
    if let Some((axis, found)) = axes.iter().find(|(_, axis)| axis.blocks() < axis.parts()) {
        return Ok(Answer::no(&Refusal::new(
            "empty-partition",
            format!(
                "{axis}: {} partitions of {} blocks leave some empty",
                found.parts(),
                found.blocks()
            ),
        )));
    }
    let axes: Vec<String> = axes
        .iter()
        .map(|(name, axis)| format!("{name} {}", widths(*axis)))
        .collect();
    Ok(Answer::yes(axes.join("; ")))
}

/// Runs of equal partitions: `85x48 + 7x32`.
fn widths(axis: Axis) -> String {
    let widths: Vec<usize> = (0..axis.parts()).map(|part| axis.range(part).len()).collect();
    let runs = widths
        .chunk_by(|a, b| a == b)
        .map(|run| format!("{}x{}", run.len(), run[0]));
    runs.collect::<Vec<_>>().join(" + ")
}

fn executed(workload: &Workload, name: &str, g: &Geometry, plan: &Assignment) -> Result<String, Refusal> {
    let gemms: Vec<_> = workload.gemms().collect();
    let Some((at, (_, extents))) = gemms.iter().enumerate().find(|(_, (operation, _))| *operation == name) else {
        return Err(Refusal::new("operation", format!("`{name}` is no product")));
    };
    // What is asked about comes before the other operations.
    legal::gemm(name, *extents, g)?;
    if at + 1 < gemms.len() {
        legal::payload(name, *extents, g)?;
    }
    let (_, phases) = buildable(workload, plan)?;
    let transfers: usize = phases.iter().map(|phase| phase.transfers.len()).sum();
    Ok(format!(
        "{} of {} tiles compute; {} exchange phases of {transfers} transfers; it fits in memory",
        g.tiles(),
        crate::device::TILES,
        phases.len()
    ))
}
