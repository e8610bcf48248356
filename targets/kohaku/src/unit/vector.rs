//! Vector stages on the cores.

use planner::Refusal;

use super::memory::Memory;
use super::steps::{Step, Steps};
use crate::compile::{Compiled, grid};
use crate::layout::Layout;
use crate::machine::WORD;
use crate::numerics::{exp2, fold, half, lane};
use crate::program::{Epilogue, Gemm, Op, Reading, Statement, Vector, View};

/// Elements that are computed at once: a few registers of them stay near the processor.
const CHUNK: usize = 2048;

/// Where the rows of a chunk lie.
struct Chunk {
    batch: usize,
    first_row: usize,
    rows: usize,
    /// Elements of a row; a word where the order has no rows.
    width: usize,
}

/// Computes a vector stage. A stage whose buffers lie in another order than Flat is computed word by word, as it lies.
pub(super) fn vector(compiled: &Compiled, at: usize, vector: &Vector, memory: &mut Memory) -> Result<(), Refusal> {
    let layout = |statement: &crate::program::Statement| compiled.layout(statement.target, at);
    let first = vector.statements.first().and_then(layout).unwrap_or(Layout::Flat);
    let (rows, width) = if first == Layout::Flat {
        (vector.rows, vector.columns)
    } else {
        let target = vector.statements[0].target;
        (first.size(compiled.program.of(target).shape)? / WORD, WORD)
    };
    check(compiled, vector)?;
    let steps = Steps::new(&vector.statements);
    let step = (CHUNK / width).max(1);
    let mut registers = vec![vec![0.0; step * width]; steps.registers];
    for (register, bits) in &steps.constants {
        registers[*register].fill(f32::from_bits(*bits));
    }
    for batch in 0..vector.batch {
        for first_row in (0..rows).step_by(step) {
            let chunk = Chunk {
                batch,
                first_row,
                rows: step.min(rows - first_row),
                width,
            };
            run(compiled, vector, &steps, &chunk, &mut registers, memory);
        }
    }
    Ok(())
}

/// A statement that reads other rows of what its own stage writes would depend on how rows are dealt.
fn check(compiled: &Compiled, vector: &Vector) -> Result<(), Refusal> {
    let written = |view: &View| {
        vector
            .statements
            .iter()
            .any(|statement| statement.target == view.buffer)
    };
    let views = vector.statements.iter().flat_map(|statement| statement.value.views());
    let bad = views
        .into_iter()
        .find(|view| view.reading != Reading::Whole && written(view));
    bad.map_or(Ok(()), |view| {
        let name = &compiled.program.of(view.buffer).name;
        Err(Refusal::new(
            "own-rows",
            format!("`{name}` is written and read at other rows by one stage"),
        ))
    })
}

fn run(
    compiled: &Compiled,
    vector: &Vector,
    steps: &Steps,
    chunk: &Chunk,
    registers: &mut [Vec<f32>],
    memory: &mut Memory,
) {
    let n = chunk.rows * chunk.width;
    for step in &steps.list {
        match *step {
            Step::Load(to, view) => {
                let element = vector.element(chunk.batch, compiled.program.of(view.buffer).batch);
                let image = &memory.images[view.buffer.0][element * compiled.strides[view.buffer.0]..];
                load(view, image, chunk, &mut registers[to][..n]);
            }
            Step::Store(statement, from) => {
                let statement = &vector.statements[statement];
                let stride = compiled.strides[statement.target.0];
                let element = vector.element(chunk.batch, compiled.program.of(statement.target).batch);
                let at = element * stride + (statement.first_row + chunk.first_row) * chunk.width;
                let image = &mut memory.images[statement.target.0][at..at + n];
                for (slot, value) in image.iter_mut().zip(&registers[from][..n]) {
                    *slot = half(f64::from(*value));
                }
            }
            Step::One(to, op, a) => {
                let mut out = std::mem::take(&mut registers[to]);
                one(op, &registers[a][..n], &mut out[..n]);
                registers[to] = out;
            }
            Step::Two(to, op, a, b) => {
                let mut out = std::mem::take(&mut registers[to]);
                two(op, &registers[a][..n], &registers[b][..n], &mut out[..n]);
                registers[to] = out;
            }
            Step::Fold(to, kind, a) => {
                let mut out = std::mem::take(&mut registers[to]);
                for (row, folded) in registers[a][..n]
                    .chunks(chunk.width)
                    .zip(out[..n].chunks_mut(chunk.width))
                {
                    folded.fill(fold(kind, row));
                }
                registers[to] = out;
            }
        }
    }
}

fn load(view: View, image: &[f32], chunk: &Chunk, out: &mut [f32]) {
    let source = |row: usize| match view.reading {
        Reading::Whole => row,
        Reading::From(rows) => row + rows,
        Reading::First(rows) => row / rows * rows,
        Reading::Cycle(rows) => row % rows,
    };
    if matches!(view.reading, Reading::Whole | Reading::From(_)) {
        let at = source(chunk.first_row) * chunk.width;
        out.copy_from_slice(&image[at..at + out.len()]);
        return;
    }
    for (row, slots) in out.chunks_mut(chunk.width).enumerate() {
        let at = source(chunk.first_row + row) * chunk.width;
        slots.copy_from_slice(&image[at..at + chunk.width]);
    }
}

fn one(op: Op, a: &[f32], out: &mut [f32]) {
    let each = |out: &mut [f32], f: fn(f64) -> f64| {
        for (slot, x) in out.iter_mut().zip(a) {
            *slot = lane(f(f64::from(*x)));
        }
    };
    match op {
        Op::Exp2 => {
            for (slot, x) in out.iter_mut().zip(a) {
                *slot = lane(exp2(f64::from(*x)));
            }
        }
        Op::Rsqrt => each(out, |x| 1.0 / x.sqrt()),
        // An operation on two values never has one operand only; a copy is what is left.
        Op::Inverse => each(out, |x| 1.0 / x),
        Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Max => out.copy_from_slice(a),
    }
}

fn two(op: Op, a: &[f32], b: &[f32], out: &mut [f32]) {
    macro_rules! each {
        ($f:expr) => {
            for ((slot, x), y) in out.iter_mut().zip(a).zip(b) {
                *slot = $f(f64::from(*x), f64::from(*y));
            }
        };
    }
    match op {
        Op::Add => each!(|x, y| lane(x + y)),
        Op::Sub => each!(|x, y| lane(x - y)),
        Op::Mul => each!(|x, y| lane(x * y)),
        Op::Div => each!(|x: f64, y: f64| lane(x * f64::from(lane(1.0 / y)))),
        Op::Max => each!(|x: f64, y: f64| lane(if x > y { x } else { y })),
        Op::Exp2 | Op::Inverse | Op::Rsqrt => one(op, a, out),
    }
}

/// Computes a fused epilogue over every drained tile. The tile reaches the core as float16, as a cluster drains it.
pub(super) fn epilogue(
    compiled: &Compiled,
    gemm: &Gemm,
    epilogue: &Epilogue,
    memory: &mut Memory,
) -> Result<(), Refusal> {
    let (gi, gj) = grid(gemm.rows, gemm.columns, gemm.tile);
    let steps = Steps::new(&[Statement::new(gemm.out, epilogue.value.clone())]);
    let size = gemm.tile.0 * gemm.tile.1 * WORD;
    let mut registers = vec![vec![0.0; size]; steps.registers];
    for (register, bits) in &steps.constants {
        registers[*register].fill(f32::from_bits(*bits));
    }
    let across = gemm.tile.1 * WORD;
    for (batch, instance) in (0..gemm.batch).flat_map(|batch| (0..gi * gj).map(move |i| (batch, i))) {
        let tile = batch * compiled.strides[gemm.out.0] + instance * size;
        for step in &steps.list {
            match *step {
                Step::Load(to, view) if Some(view.buffer) == epilogue.bias => {
                    // The same channels lie beside every row of sub-tiles.
                    let from = instance % gj * across;
                    let channels = &memory.images[view.buffer.0][from..from + across];
                    registers[to]
                        .chunks_mut(across)
                        .for_each(|row| row.copy_from_slice(channels));
                }
                Step::Load(to, view) => {
                    registers[to].copy_from_slice(&memory.images[view.buffer.0][tile..tile + size]);
                }
                Step::Store(_, from) => {
                    let image = &mut memory.images[gemm.out.0][tile..tile + size];
                    for (slot, value) in image.iter_mut().zip(&registers[from]) {
                        *slot = half(f64::from(*value));
                    }
                }
                Step::One(to, op, a) => {
                    let mut out = std::mem::take(&mut registers[to]);
                    one(op, &registers[a], &mut out);
                    registers[to] = out;
                }
                Step::Two(to, op, a, b) => {
                    let mut out = std::mem::take(&mut registers[to]);
                    two(op, &registers[a], &registers[b], &mut out);
                    registers[to] = out;
                }
                Step::Fold(..) => {
                    return Err(Refusal::new(
                        "fused-fold",
                        "a fused epilogue folds no rows: it sees tiles",
                    ));
                }
            }
        }
    }
    Ok(())
}
