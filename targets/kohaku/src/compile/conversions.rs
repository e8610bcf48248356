//! Where a buffer changes its order.

use std::collections::BTreeMap;
use std::sync::Arc;

use planner::Refusal;

use super::cover::overwrites;
use super::pins::Pin;
use crate::layout::{Layout, Shape};
use crate::program::{BufferId, Program, Role};
use crate::relayout::{Relayout, plan};

/// A buffer changes its order before a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversion {
    /// The stage that needs the new order.
    pub stage: usize,
    /// The buffer.
    pub buffer: BufferId,
    /// The order it has.
    pub from: Layout,
    /// The order it gets.
    pub to: Layout,
    /// Whether the stage overwrites it anyway: then it is listed and not run.
    pub dead: bool,
    /// How it is done; none where it can't be done on the machine, and for dead ones, which are not planned.
    pub plan: Option<Arc<Relayout>>,
}

impl Conversion {
    /// Who it is: `scores before softmax: tile:1x1:8x8 -> flat`.
    #[must_use]
    pub fn identity(&self, program: &Program) -> String {
        format!(
            "{} before {}: {} -> {}",
            program.of(self.buffer).name,
            program.stages[self.stage].name,
            self.from,
            self.to
        )
    }
}

/// Plans that were made already: programs convert the same buffers again and again.
type Known = BTreeMap<(Layout, Layout, Shape, usize), Option<Arc<Relayout>>>;

/// All conversions in the order of the stages that need them, the dead ones included.
pub(super) fn conversions(program: &Program, pins: &[Vec<Pin>]) -> Vec<Conversion> {
    let mut known = Known::new();
    let mut listed = Vec::new();
    for (id, (buffer, pins)) in program.buffers.iter().zip(pins).enumerate() {
        if buffer.role != Role::Temporary {
            continue;
        }
        for pair in pins.windows(2) {
            let [before, after] = pair else { continue };
            let (from, to) = (before.layout, after.layout);
            let dead = overwrites(program, &program.stages[after.stage], BufferId(id));
            let mut planned = || {
                let planned = known.entry((from, to, buffer.shape, buffer.batch));
                planned
                    .or_insert_with(|| plan(from, to, buffer.shape, buffer.batch).map(Arc::new))
                    .clone()
            };
            listed.push(Conversion {
                stage: after.stage,
                buffer: BufferId(id),
                from,
                to,
                dead,
                plan: if dead { None } else { planned() },
            });
        }
    }
    listed.sort_by_key(|conversion| (conversion.stage, conversion.buffer));
    listed
}

/// Whether all conversions that run can run on the machine.
pub(super) fn check(program: &Program, conversions: &[Conversion]) -> Result<(), Refusal> {
    let host = conversions.iter().find(|c| !c.dead && c.plan.is_none());
    host.map_or(Ok(()), |conversion| {
        Err(Refusal::new(
            "host-move",
            format!(
                "{} has no plan on the machine (padding, or no walk of 4 dimensions): it would go through the host",
                conversion.identity(program)
            ),
        ))
    })
}
