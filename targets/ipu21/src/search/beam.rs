//! Whole plans from shortlists.

use std::collections::BTreeMap;

use planner::{Refusal, Workload};

use super::steps::{Ranked, rank};
use crate::costs::CostTable;
use crate::estimate::compact;
use crate::geometry::Geometry;
use crate::program::unplaced;
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

/// Combines the shortlists product by product and keeps the `most` best plans by the compact estimate. Before the last
/// product nothing is dropped while the plans are fewer than `most` times the last shortlist.
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
        let prefix = prefix(workload, at + 1);
        let mut scored = Vec::with_capacity(longer.len());
        for plan in longer {
            let score = compact(&unplaced(&prefix, &plan)?, costs).total();
            scored.push((score, plan_text(&plan), plan));
        }
        let step = rank(
            "beam",
            "compact estimate of the whole plan",
            scored,
            BTreeMap::new(),
            most,
            watch,
        );
        plans.clone_from(&step.kept);
        ranked = Some(step);
    }
    ranked.ok_or_else(|| Refusal::new("chain", format!("`{}` has no product", workload.name)))
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
