//! Which statements of a stage run as one vector program, and what each costs.

use planner::Refusal;

use crate::machine::DESCRIPTORS;
use crate::program::{BufferId, Lane, Statement, Vector, View};

/// One vector program of a stage.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fused {
    /// First statement of the stage that is in it.
    pub first: usize,
    /// How many follow.
    pub count: usize,
    /// Operations (S).
    pub operations: usize,
    /// Distinct operands that no earlier statement of the program wrote; a constant counts as one.
    pub slots: usize,
    /// Groups of consecutive statements that write the same buffer.
    pub regions: usize,
}

impl Fused {
    /// Descriptors that it needs: two for each slot, one for each region, one for the program.
    #[must_use]
    pub fn descriptors(&self) -> usize {
        2 * self.slots + 1 + self.regions
    }

    /// Cycles for each 16 elements: operations, and one to memory and one to L1 for each slot and region.
    #[must_use]
    pub fn rate(&self) -> usize {
        self.operations + 2 * (self.slots + self.regions)
    }
}

fn of(statements: &[Statement], first: usize) -> Fused {
    let mut fused = Fused {
        first,
        count: statements.len(),
        ..Fused::default()
    };
    let mut operands: Vec<View> = Vec::new();
    let mut constants: Vec<u32> = Vec::new();
    let mut written: Vec<BufferId> = Vec::new();
    for statement in statements {
        let lane = Lane::new(&statement.value);
        fused.operations += lane.operations();
        for view in lane.operands {
            if !operands.contains(&view) && !written.contains(&view.buffer) {
                operands.push(view);
            }
        }
        for bits in lane.constants {
            if !constants.contains(&bits) {
                constants.push(bits);
            }
        }
        if written.last() != Some(&statement.target) {
            fused.regions += 1;
        }
        written.push(statement.target);
    }
    fused.slots = operands.len() + constants.len();
    fused
}

/// The programs of a stage: statements are appended while the descriptors last.
pub fn fuse(stage: &str, vector: &Vector) -> Result<Vec<Fused>, Refusal> {
    let mut programs = Vec::new();
    let mut first = 0;
    while first < vector.statements.len() {
        let grown = (1..=vector.statements.len() - first)
            .map(|count| of(&vector.statements[first..first + count], first))
            .take_while(|fused| fused.descriptors() <= DESCRIPTORS)
            .last();
        let Some(fused) = grown else {
            let alone = of(&vector.statements[first..=first], first);
            return Err(Refusal::new(
                "descriptors",
                format!(
                    "statement {first} of `{stage}` reads {} operands and constants: {} descriptors, a vector core has \
                     {DESCRIPTORS}",
                    alone.slots,
                    alone.descriptors()
                ),
            ));
        };
        first += fused.count;
        programs.push(fused);
    }
    Ok(programs)
}

/// What a fused epilogue takes of a vector core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Descriptors: one reads the tile, two bring in and read each side operand, two write and drain the result.
    pub descriptors: usize,
    /// Words of the core's memory: the tile, its side operands, the result.
    pub words: usize,
}

/// The budget of an epilogue over one tile with an operand in channel order, or none, and `full` operands of the tile's
/// shape.
#[must_use]
pub fn epilogue_budget((gm, gn): (usize, usize), bias: bool, full: usize) -> Budget {
    let sides = usize::from(bias) + full;
    Budget {
        descriptors: 3 + 2 * sides,
        words: gm * gn * (2 + full) + if bias { gn } else { 0 },
    }
}
