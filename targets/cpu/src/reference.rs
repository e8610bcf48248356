//! The whole workload in float64: what results on the device are compared with.
//!
//! Every sum runs over the inner axis from first to last, whatever the blocks and however many threads, and nothing is
//! contracted into a fused multiply-add: the result is the same on every machine.

use planner::{Elementwise, GemmExtents, OperationKind, Refusal, Workload};

use crate::inputs::Arrays;

/// Inner steps per block: a panel of 4 columns in float64 is 8 KiB, a quarter of a small L1.
const DEPTH: usize = 256;
/// Rows and columns of the register tile: 16 accumulators fill half of the 16 registers of plain x86-64.
const TILE: usize = 4;

/// Computes the result of the last operation, row-major.
///
/// Rows are dealt to `threads` threads; each element is summed by one of them in a fixed order.
pub fn reference(workload: &Workload, arrays: &Arrays, threads: usize) -> Result<Vec<f64>, Refusal> {
    let mut current: Vec<f64> = arrays.x.iter().map(|value| f64::from(*value)).collect();
    let mut weights = arrays.weights.iter();
    for operation in &workload.operations {
        current = match operation.kind {
            OperationKind::Gemm(extents) => {
                let own = weights.next().map_or(&[][..], Vec::as_slice);
                gemm(&operation.name, &current, own, extents, threads)?
            }
            OperationKind::Elementwise { function, .. } => {
                elementwise(&mut current, function, threads);
                current
            }
            OperationKind::Attention(_) => {
                return Err(Refusal::new(
                    "attention",
                    format!("`{}` is an attention: it has no reference here", operation.name),
                ));
            }
        };
    }
    Ok(current)
}

/// `0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))` (Hendrycks and Gimpel 2016, equation 2 of its second section),
/// in the form `x / (1 + exp(-2 u))`, which doesn't cancel for negative `x`.
#[must_use]
pub fn gelu_tanh(x: f64) -> f64 {
    let u = (std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2) * (x + 0.044_715 * x * x * x);
    x / (1.0 + libm::exp(-2.0 * u))
}

fn elementwise(values: &mut [f64], function: Elementwise, threads: usize) {
    let apply = match function {
        Elementwise::GeluTanh => gelu_tanh,
    };
    let share = values.len().div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        for part in values.chunks_mut(share) {
            scope.spawn(move || part.iter_mut().for_each(|value| *value = apply(*value)));
        }
    });
}

/// `a[rows][inner] b[inner][columns]`.
fn gemm(name: &str, a: &[f64], b: &[f32], extents: GemmExtents, threads: usize) -> Result<Vec<f64>, Refusal> {
    let size = |extent: u64| usize::try_from(extent).unwrap_or(usize::MAX);
    let (rows, inner, columns) = (size(extents.rows), size(extents.inner), size(extents.columns));
    if Some(a.len()) != rows.checked_mul(inner) || Some(b.len()) != inner.checked_mul(columns) {
        return Err(Refusal::new(
            "operand-extents",
            format!(
                "`{name}` of {rows} x {inner} x {columns} got {} activations and {} weights",
                a.len(),
                b.len()
            ),
        ));
    }
    let mut c = vec![0.0; rows * columns];
    let share = rows.div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        for (c, a) in c
            .chunks_mut((share * columns).max(1))
            .zip(a.chunks((share * inner).max(1)))
        {
            scope.spawn(move || rows_of(a, b, c, inner, columns));
        }
    });
    Ok(c)
}

/// One thread's rows: for each inner block its rows are packed once, then each panel of columns passes over them.
fn rows_of(a: &[f64], b: &[f32], c: &mut [f64], inner: usize, columns: usize) {
    let rows = c.len() / columns.max(1);
    let mut packed_b = Vec::with_capacity(DEPTH);
    for start in (0..inner).step_by(DEPTH) {
        let depth = DEPTH.min(inner - start);
        let packed_a = pack_rows(a, rows, inner, start, depth);
        for column in (0..columns).step_by(TILE) {
            let width = TILE.min(columns - column);
            packed_b.clear();
            packed_b.extend((start..start + depth).map(|k| {
                let mut line = [0.0; TILE];
                let source = &b[k * columns + column..][..width];
                line.iter_mut()
                    .zip(source)
                    .for_each(|(slot, value)| *slot = f64::from(*value));
                line
            }));
            for (panel, a_panel) in packed_a.chunks_exact(depth).enumerate() {
                let (row, height) = (panel * TILE, TILE.min(rows - panel * TILE));
                let tile = |i: usize| (row + i) * columns + column..(row + i) * columns + column + width;
                let mut sums = [[0.0; TILE]; TILE];
                for (i, line) in sums.iter_mut().enumerate().take(height) {
                    line[..width].copy_from_slice(&c[tile(i)]);
                }
                multiply(&mut sums, a_panel, &packed_b);
                for (i, line) in sums.iter().enumerate().take(height) {
                    c[tile(i)].copy_from_slice(&line[..width]);
                }
            }
        }
    }
}

/// Panels of `TILE` rows, each `[depth][TILE]`, padded with zeros.
fn pack_rows(a: &[f64], rows: usize, inner: usize, start: usize, depth: usize) -> Vec<[f64; TILE]> {
    let mut packed = vec![[0.0; TILE]; rows.div_ceil(TILE) * depth];
    for (row, line) in a.chunks_exact(inner).enumerate() {
        let panel = &mut packed[row / TILE * depth..][..depth];
        for (slot, value) in panel.iter_mut().zip(&line[start..start + depth]) {
            slot[row % TILE] = *value;
        }
    }
    packed
}

fn multiply(sums: &mut [[f64; TILE]; TILE], a: &[[f64; TILE]], b: &[[f64; TILE]]) {
    let mut own = *sums;
    for (a, b) in a.iter().zip(b) {
        for (line, a) in own.iter_mut().zip(a) {
            for (sum, b) in line.iter_mut().zip(b) {
                *sum += a * b;
            }
        }
    }
    *sums = own;
}
