//! What the clusters and cores allow of one stage.

use planner::Refusal;

use crate::compile::grid;
use crate::machine::{BANK_ENTRIES, Machine, VECTOR, WORD};
use crate::program::{Gemm, Program, Stage, Vector, Work};

/// Whether a stage can be encoded.
pub(crate) fn stage(program: &Program, stage: &Stage, machine: &Machine) -> Result<(), Refusal> {
    match &stage.work {
        Work::Gemm(gemm) => {
            self::tile(&stage.name, gemm.tile, gemm.nk, machine)?;
            epilogue(&stage.name, gemm, machine)
        }
        Work::Conv(conv) => tile(&stage.name, conv.tile, 1, machine),
        Work::Vector(vector) => self::vector(program, &stage.name, vector),
    }
}

/// Whether a tile of `gm` x `gn` sub-tiles fits an accumulator, and one fill a bank.
pub fn tile(stage: &str, (gm, gn): (usize, usize), nk: usize, machine: &Machine) -> Result<(), Refusal> {
    if gm * gn > machine.tiles {
        let message = format!(
            "`{stage}`: {gm} x {gn} = {} sub-tiles, an accumulator holds {}",
            gm * gn,
            machine.tiles
        );
        return Err(Refusal::new("accumulator", message));
    }
    for (side, groups) in [("gm", gm), ("gn", gn)] {
        if groups * nk >= BANK_ENTRIES || groups == 0 || nk == 0 {
            let message = format!(
                "`{stage}`: {side} {groups} x nk {nk} = {} entries of one fill, expected 1 to {}",
                groups * nk,
                BANK_ENTRIES - 1
            );
            return Err(Refusal::new("fill-entries", message));
        }
    }
    Ok(())
}

fn epilogue(stage: &str, gemm: &Gemm, machine: &Machine) -> Result<(), Refusal> {
    let Some(epilogue) = &gemm.epilogue else { return Ok(()) };
    let (gi, gj) = grid(gemm.rows, gemm.columns, gemm.tile);
    let instances = gi * gj * gemm.batch;
    if instances > machine.cores {
        return Err(Refusal::new(
            "fused-grid",
            format!(
                "`{stage}`: {instances} tiles drain into {} vector cores: a fused epilogue is refused, not staged",
                machine.cores
            ),
        ));
    }
    if !epilogue.full.is_empty() && !machine.full_shape_epilogue {
        return Err(Refusal::new(
            "full-shape-epilogue",
            format!("`{stage}`: an operand of the tile's own shape can't be read by a fused epilogue"),
        ));
    }
    Ok(())
}

fn vector(program: &Program, stage: &str, vector: &Vector) -> Result<(), Refusal> {
    if vector.folds() && (vector.columns > VECTOR || !vector.columns.is_multiple_of(WORD)) {
        return Err(Refusal::new(
            "fold-row",
            format!(
                "`{stage}` folds rows of {} elements: a reduction takes a multiple of {WORD}, at most {VECTOR}",
                vector.columns
            ),
        ));
    }
    for statement in &vector.statements {
        for view in statement.value.views() {
            let (buffer, target) = (program.of(view.buffer), program.of(statement.target));
            let (_, columns) = buffer.shape.rows_and_columns();
            if columns != vector.columns {
                return Err(Refusal::new(
                    "row-length",
                    format!(
                        "`{stage}` reads `{}` with rows of {columns} beside `{}` with rows of {}: a pass has one length",
                        buffer.name, target.name, vector.columns
                    ),
                ));
            }
        }
    }
    Ok(())
}
