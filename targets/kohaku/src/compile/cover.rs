//! Whether a stage provably writes a whole buffer without reading it.

use crate::program::{BufferId, Program, Stage, Work};

/// Whether `stage` reads `buffer`.
fn reads(stage: &Stage, buffer: BufferId) -> bool {
    match &stage.work {
        Work::Gemm(gemm) => {
            let operands = gemm.terms.iter().flat_map(|term| [term.a.buffer, term.b.buffer]);
            let side = gemm.epilogue.iter().flat_map(|e| e.bias.iter().chain(&e.full).copied());
            operands.chain(side).any(|id| id == buffer)
        }
        Work::Conv(conv) => conv.input == buffer || conv.weights == buffer,
        Work::Vector(vector) => {
            let views = vector.statements.iter().flat_map(|statement| statement.value.views());
            views.into_iter().any(|view| view.buffer == buffer)
        }
    }
}

/// Whether the tiles that a stage drains, or the spans that it passes over, are all of `buffer`. A fused drain and a
/// reduction by itself prove nothing.
fn covers(program: &Program, stage: &Stage, buffer: BufferId) -> bool {
    let of = program.of(buffer);
    let (rows, columns) = of.shape.rows_and_columns();
    match &stage.work {
        Work::Gemm(gemm) => {
            gemm.out == buffer
                && gemm.epilogue.is_none()
                && (gemm.rows, gemm.columns) == (rows, columns)
                && gemm.batch == of.batch
        }
        Work::Conv(conv) => conv.out == buffer,
        Work::Vector(vector) => vector.statements.iter().any(|statement| {
            statement.target == buffer
                && statement.first_row == 0
                && !statement.value.lone_fold()
                && (vector.rows, vector.columns) == (rows, columns)
                && vector.batch == of.batch
        }),
    }
}

/// Whether what `buffer` holds before `stage` is never read: then it need not be converted.
pub(super) fn overwrites(program: &Program, stage: &Stage, buffer: BufferId) -> bool {
    !reads(stage, buffer) && covers(program, stage, buffer)
}
