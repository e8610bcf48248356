//! From a program to what tiles do and when.

use planner::Refusal;

use super::memory;
use crate::exchange::{Policy, Schedule, schedule};
use crate::program::Program;
use crate::traffic::{Phase, phases};
use crate::work::{Segment, segments};

/// A program, placed and scheduled. A segment of work follows each phase.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// Its phases.
    pub phases: Vec<Phase>,
    /// The schedule of each phase.
    pub schedules: Vec<Schedule>,
    /// What tiles compute after each phase.
    pub segments: Vec<Segment>,
}

impl Compiled {
    /// Cycles of each phase's schedule.
    #[must_use]
    pub fn horizons(&self) -> Vec<usize> {
        self.schedules
            .iter()
            .map(|schedule| usize::try_from(schedule.horizon).unwrap_or(0))
            .collect()
    }
}

/// Compiles a program; fails when it does not fit.
pub fn compile(program: Program, policy: Policy) -> Result<Compiled, Refusal> {
    let phases = phases(&program);
    memory::check(&program, &phases)?;
    let schedules = phases.iter().map(|phase| schedule(&program, phase, policy)).collect();
    let segments = segments(&program);
    Ok(Compiled {
        program,
        phases,
        schedules,
        segments,
    })
}
