//! Products on the clusters.

use planner::Refusal;
use planner::order::{ByteOrder, Digits};

use super::memory::Memory;
use super::operand::Blocks;
use crate::compile::Compiled;
use crate::layout::{Layout, Shape};
use crate::numerics::{Block, accumulated, half};
use crate::program::{BufferId, Conv, Gemm};

/// Exact product of two blocks.
#[inline]
fn dot(a: &Block, b: &Block) -> f64 {
    let sum: i32 = a
        .values
        .iter()
        .zip(&b.values)
        .map(|(x, y)| i32::from(*x) * i32::from(*y))
        .sum();
    f64::from(sum) * (a.scale * b.scale)
}

/// Adds the products of two rows: each step first sums its own `nk` blocks, then goes to the accumulator; every sum is
/// rounded. `None` is the cleared accumulator.
#[inline]
fn chain(mut sum: Option<f64>, a: &[Block], b: &[Block], nk: usize) -> Option<f64> {
    for (a, b) in a.chunks(nk).zip(b.chunks(nk)) {
        let mut own = 0.0;
        for (a, b) in a.iter().zip(b) {
            own = accumulated(own + dot(a, b));
        }
        sum = Some(sum.map_or(own, |before| accumulated(before + own)));
    }
    sum
}

/// Offsets of rows and columns in an order whose offsets are sums of both.
fn axes(layout: Layout, rows: usize, columns: usize, shape: Shape) -> (Vec<usize>, Vec<usize>) {
    let (all, wide) = shape.rows_and_columns();
    let order = match layout {
        Layout::Tile { grid, tile } => Digits::tile(grid, tile, all, wide),
        _ => Digits::flat(all, wide),
    };
    (
        (0..rows).map(|row| order.offset(&[row, 0])).collect(),
        (0..columns).map(|column| order.offset(&[0, column])).collect(),
    )
}

fn needed(compiled: &Compiled, buffer: BufferId, stage: usize) -> Result<Layout, Refusal> {
    compiled.layout(buffer, stage).ok_or_else(|| {
        let name = &compiled.program.of(buffer).name;
        Refusal::new("byte-order", format!("`{name}` has no order yet"))
    })
}

/// Computes a product stage.
pub(super) fn gemm(compiled: &Compiled, at: usize, gemm: &Gemm, memory: &mut Memory) -> Result<(), Refusal> {
    let program = &compiled.program;
    let (out, layout) = (program.of(gemm.out), needed(compiled, gemm.out, at)?);
    let (row_at, column_at) = axes(layout, gemm.rows, gemm.columns, out.shape);
    let out_stride = compiled.strides[gemm.out.0];
    for batch in 0..gemm.batch {
        let mut sides = Vec::new();
        for term in &gemm.terms {
            let side = |operand: &crate::program::Operand, rows| {
                let buffer = program.of(operand.buffer);
                let element = if buffer.batch == 1 {
                    0
                } else {
                    operand.first_batch + batch
                };
                let stride = compiled.strides[operand.buffer.0];
                let image = &memory.images[operand.buffer.0][element * stride..(element + 1) * stride];
                let layout = needed(compiled, operand.buffer, at)?;
                Blocks::window(image, layout, buffer.shape, operand, [rows, term.inner])
            };
            sides.push((side(&term.a, gemm.rows)?, side(&term.b, gemm.columns)?));
        }
        let image = &mut memory.images[gemm.out.0][batch * out_stride..(batch + 1) * out_stride];
        for (row, row_at) in row_at.iter().enumerate() {
            for (column, column_at) in column_at.iter().enumerate() {
                let sum = sides
                    .iter()
                    .fold(None, |sum, (a, b)| chain(sum, a.row(row), b.row(column), gemm.nk));
                image[row_at + column_at] = half(sum.unwrap_or(0.0));
            }
        }
    }
    Ok(())
}

/// Computes a convolution stage.
pub(super) fn conv(compiled: &Compiled, at: usize, conv: &Conv, memory: &mut Memory) -> Result<(), Refusal> {
    let out = compiled.program.of(conv.out);
    let (rows, columns) = out.shape.rows_and_columns();
    let layout = needed(compiled, conv.out, at)?;
    let (row_at, column_at) = axes(layout, rows, columns, out.shape);
    let a = Blocks::swept(&memory.images[conv.input.0], conv, rows);
    let inner = conv.taps.offsets().len() * conv.plane[2];
    let weights = compiled.program.of(conv.weights);
    let b = Blocks::window(
        &memory.images[conv.weights.0],
        needed(compiled, conv.weights, at)?,
        weights.shape,
        &crate::program::Operand::whole(conv.weights),
        [columns, inner],
    )?;
    let image = &mut memory.images[conv.out.0];
    for (row, row_at) in row_at.iter().enumerate() {
        for (column, column_at) in column_at.iter().enumerate() {
            let sum = chain(None, a.row(row), b.row(column), 1);
            image[row_at + column_at] = half(sum.unwrap_or(0.0));
        }
    }
    Ok(())
}
