//! The placed estimate, under other prices than those of the build.

use planner::{Plan, Refusal, Workload};
use target_api::{Estimate, Moment, NoEstimate};

use super::expanded;
use crate::costs::CostTable;
use crate::program::Program;
use crate::traffic::phases;
use crate::work::segments;
use crate::{attributes, mapping};

/// The estimate of so many cycles.
#[must_use]
pub fn placed(cycles: f64) -> Estimate {
    Estimate {
        name: "placed".to_owned(),
        value: cycles,
        unit: "cycles".to_owned(),
        moment: Moment::Build,
        parts: Vec::new(),
    }
}

/// The placed estimate of a plan whose schedule has these horizons. A schedule does not look at the prices of kernels, so
/// that horizons of a build under any table hold under every other.
///
/// # Errors
/// A plan that has no program, and a call that has no price.
pub fn placed_again(
    workload: &Workload,
    plan: &Plan,
    horizons: &[usize],
    costs: &CostTable,
) -> Result<Estimate, NoEstimate> {
    let typed = attributes::plan(workload, &plan.attributes)?;
    let tiles = mapping::parse(&typed.mapping).map_err(|message| Refusal::new("tile-mapping", message))?;
    let program = Program::new(workload, &typed.geometries, tiles)?;
    let expanded = expanded(&phases(&program), &segments(&program), costs, false)?;
    Ok(placed(expanded.placed(horizons) as f64))
}
