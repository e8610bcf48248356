//! Words that a call moves between memory and units, buffer by buffer.

use crate::compile::{Compiled, grid};
use crate::machine::{BATCH_STRIDE, BLOCK, GROUP, WORD};
use crate::plan::AttentionPlan;
use crate::program::{BufferId, Role, Work};
use crate::timing::conv_instance;

/// Words of one L1 entry: 4 rows of 32 elements.
const ENTRY_WORDS: usize = GROUP * BLOCK / WORD;

/// Words that fills and drains of clusters and cores move, for every buffer of the program. Conversions fill and drain
/// every word once, twice where they are copied home.
#[must_use]
pub fn words(compiled: &Compiled) -> Vec<usize> {
    let mut moved = vec![0; compiled.program.buffers.len()];
    let mut add = |BufferId(id): BufferId, words: usize| moved[id] += words;
    for (at, stage) in compiled.program.stages.iter().enumerate() {
        match &stage.work {
            Work::Gemm(gemm) => {
                let (gi, gj) = grid(gemm.rows, gemm.columns, gemm.tile);
                let instances = gi * gj * gemm.batch;
                for term in &gemm.terms {
                    let entries = instances * term.inner.div_ceil(BLOCK).div_ceil(gemm.nk) * gemm.nk;
                    add(term.a.buffer, entries * gemm.tile.0 * ENTRY_WORDS);
                    add(term.b.buffer, entries * gemm.tile.1 * ENTRY_WORDS);
                }
                add(gemm.out, instances * gemm.tile.0 * gemm.tile.1);
            }
            Work::Conv(conv) => {
                let (_, instances) = conv_instance(conv);
                let steps = instances * conv.taps.offsets().len() * conv.plane[2].div_ceil(BLOCK);
                add(conv.input, steps * conv.tile.0 * ENTRY_WORDS);
                add(conv.weights, steps * conv.tile.1 * ENTRY_WORDS);
                add(conv.out, instances * conv.tile.0 * conv.tile.1);
            }
            Work::Vector(vector) => {
                let unit = if vector.single(&compiled.program) {
                    WORD
                } else {
                    BATCH_STRIDE
                };
                let span = (vector.rows * vector.columns).next_multiple_of(unit) / WORD * vector.batch;
                for program in &compiled.vectors[at] {
                    let statements = &vector.statements[program.first..program.first + program.count];
                    let mut read: Vec<BufferId> = Vec::new();
                    let mut written: Vec<BufferId> = Vec::new();
                    for statement in statements {
                        for view in statement.value.views() {
                            if !read.contains(&view.buffer) && !written.contains(&view.buffer) {
                                read.push(view.buffer);
                                add(view.buffer, span);
                            }
                        }
                        if written.last() != Some(&statement.target) {
                            add(statement.target, span);
                        }
                        written.push(statement.target);
                    }
                }
            }
        }
    }
    for conversion in compiled.run() {
        if let Some(plan) = &conversion.plan {
            let passes = if plan.in_place { 2 } else { 4 };
            add(conversion.buffer, passes * plan.words * plan.batch);
        }
    }
    moved
}

/// Words to and from the memory of the mesh. What lies in staging memory is loaded once, if the caller gave it.
#[must_use]
pub fn dram_words(compiled: &Compiled, plan: Option<&AttentionPlan>) -> usize {
    let staged = |name: &str| plan.is_some_and(|plan| plan.staged.holds(name));
    let moved = words(compiled);
    let buffers = compiled.program.buffers.iter().zip(&compiled.strides).zip(moved);
    let each = buffers.map(|((buffer, stride), moved)| match (staged(&buffer.name), buffer.role) {
        (false, _) => moved,
        (true, Role::Input) => stride / WORD * buffer.batch,
        (true, _) => 0,
    });
    each.sum()
}
