//! Whether a plan can be built, before anything is scheduled.

use planner::{Assignment, Refusal, Workload};

use crate::program::Program;
use crate::traffic::{Phase, phases};
use crate::{attributes, mapping, unit};

/// The program of a plan and its exchange phases, as far as the compiler goes before it schedules; fails with the rule that
/// refuses the plan: one of [`crate::legal`], of the exchange, or of the tiles' memory.
pub fn buildable(workload: &Workload, plan: &Assignment) -> Result<(Program, Vec<Phase>), Refusal> {
    let typed = attributes::plan(workload, plan)?;
    let tiles = mapping::parse(&typed.mapping).map_err(|message| Refusal::new("tile-mapping", message))?;
    let program = Program::new(workload, &typed.geometries, tiles)?;
    let phases = phases(&program);
    unit::check(&program, &phases)?;
    Ok((program, phases))
}
