//! Kernels on float16 data, rounded where the device rounds.

use crate::device::PANEL;
use crate::half;

/// A product of a left operand `[inner panel][row][16]` and weights `[inner][columns]`: the partial
/// `[column panel][row][16]`.
///
/// For each panel of 16 along the inner axis the partial is loaded, 16 products are added in float32 one after another,
/// and the sum is stored as float16.
pub(super) fn gemm(left: &[f32], weights: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    let mut partial = vec![0.0; rows * columns];
    let mut block = [[0.0_f32; PANEL]; PANEL];
    for (column, out) in partial.chunks_exact_mut(rows * PANEL).enumerate() {
        for (left, weights) in left
            .chunks_exact(rows * PANEL)
            .zip(weights.chunks_exact(PANEL * columns))
        {
            for (line, row) in block.iter_mut().zip(weights.chunks_exact(columns)) {
                line.copy_from_slice(&row[column * PANEL..(column + 1) * PANEL]);
            }
            for (out, left) in out.chunks_exact_mut(PANEL).zip(left.chunks_exact(PANEL)) {
                let mut sums = [0.0_f32; PANEL];
                sums.copy_from_slice(out);
                for (x, line) in left.iter().zip(&block) {
                    for (sum, w) in sums.iter_mut().zip(line) {
                        *sum += x * w;
                    }
                }
                for (out, sum) in out.iter_mut().zip(&sums) {
                    *out = half::round(*sum);
                }
            }
        }
    }
    partial
}

/// Adds partials to the first one, in order, rounding each sum.
pub(super) fn reduce(scratch: &mut [f32], elements: usize, partials: usize) {
    let (sum, others) = scratch.split_at_mut(elements);
    for partial in others.chunks_exact(elements).take(partials - 1) {
        for (sum, x) in sum.iter_mut().zip(partial) {
            *sum = half::round(*sum + x);
        }
    }
}

/// Adds neighbouring partials in pairs, then pairs of pairs, rounding each sum; the result is where the first one was.
pub(super) fn reduce_tree(scratch: &mut [f32], elements: usize, partials: usize) {
    let mut step = 1;
    while step < partials {
        for first in (0..partials - step).step_by(2 * step) {
            let (left, right) = scratch.split_at_mut((first + step) * elements);
            let sums = &mut left[first * elements..][..elements];
            for (sum, x) in sums.iter_mut().zip(&right[..elements]) {
                *sum = half::round(*sum + x);
            }
        }
        step *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_orders_of_a_sum_round_differently() {
        // 2048 + 1 is 2048 in float16 (ties to even), but 2048 + (1 + 1) is 2050.
        let partials = [2048.0, 1.0, 1.0, 1.0];
        let (mut chain, mut tree) = (partials, partials);
        reduce(&mut chain, 1, 4);
        reduce_tree(&mut tree, 1, 4);
        assert_eq!((chain[0], tree[0]), (2048.0, 2050.0));
    }
}
