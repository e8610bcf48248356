//! Whole plans from shortlists.

use std::collections::BTreeMap;

use planner::{Refusal, Workload};

use super::steps::{Ranked, Score, UNPRICED, rank};
use crate::costs::{CostTable, Unpriced};
use crate::device::TILES;
use crate::estimate::compact;
use crate::geometry::Geometry;
use crate::program::{Product, unplaced};
use crate::text;

/// Texts of the products of a plan, without their mapping.
pub(super) fn plan_text(geometries: &[Geometry]) -> String {
    let texts: Vec<String> = geometries
        .iter()
        .enumerate()
        .map(|(at, g)| text::print(at, g))
        .collect();
    texts.join(" ")
}

/// Compact estimate of a whole plan; among equals more tiles are better.
fn score(products: &[Product], plan: &[Geometry], costs: &CostTable) -> Result<Score, Unpriced> {
    let idle = plan
        .iter()
        .map(|g| (2 * TILES).saturating_sub(g.tiles() + g.owners()))
        .sum();
    Ok((compact(products, costs)?.total(), idle))
}

/// Combines the shortlists product by product and keeps the `most` best plans by the compact estimate.
pub(super) fn beam(
    workload: &Workload,
    lists: &[Vec<Geometry>],
    costs: &CostTable,
    most: usize,
    watch: &[(String, String)],
) -> Result<Ranked<Vec<Geometry>>, Refusal> {
    let mut plans: Vec<Vec<Geometry>> = vec![Vec::new()];
    let mut ranked = None;
    for (at, list) in lists.iter().enumerate() {
        let longer: Vec<Vec<Geometry>> = plans
            .iter()
            .flat_map(|plan| list.iter().map(move |g| plan.iter().copied().chain([*g]).collect()))
            .collect();
        if at + 1 < lists.len() && longer.len() <= most {
            plans = longer;
            continue;
        }
        let step = by_score(&prefix(workload, at + 1), longer, costs, ("beam", BEAM), most, watch)?;
        plans.clone_from(&step.kept);
        ranked = Some(step);
    }
    ranked.ok_or_else(|| Refusal::new("chain", format!("`{}` has no product", workload.name)))
}

const BEAM: &str = "compact estimate of the whole plan";
const LANES: &str = "compact estimate without the price of fragments, which weighs most where it is most wrong";

/// Narrows whole plans down by what lanes and kernels take at least.
pub(super) fn lanes(
    workload: &Workload,
    plans: Vec<Vec<Geometry>>,
    costs: &CostTable,
    most: usize,
    watch: &[(String, String)],
) -> Result<Ranked<Vec<Geometry>>, Refusal> {
    by_score(
        workload,
        plans,
        &costs.without_fragments(),
        ("lanes", LANES),
        most,
        watch,
    )
}

fn by_score(
    workload: &Workload,
    plans: Vec<Vec<Geometry>>,
    costs: &CostTable,
    (name, by): (&str, &str),
    most: usize,
    watch: &[(String, String)],
) -> Result<Ranked<Vec<Geometry>>, Refusal> {
    let mut dropped = BTreeMap::new();
    let mut scored = Vec::with_capacity(plans.len());
    for plan in plans {
        match score(&unplaced(workload, &plan)?, &plan, costs) {
            Ok(score) => scored.push((score, plan_text(&plan), plan)),
            Err(Unpriced { .. }) => *dropped.entry(UNPRICED.to_owned()).or_default() += 1,
        }
    }
    Ok(rank(name, by, scored, dropped, most, watch))
}

/// The workload up to its product number `count` and what directly follows it.
fn prefix(workload: &Workload, count: usize) -> Workload {
    let mut seen = 0;
    let operations = workload.operations.iter().take_while(|operation| {
        seen += usize::from(matches!(operation.kind, planner::OperationKind::Gemm(_)));
        seen <= count
    });
    Workload {
        name: workload.name.clone(),
        operations: operations.cloned().collect(),
    }
}
