//! Reductions of a row.

use super::round::lane;
use crate::machine::{LANES, VECTOR};
use crate::program::Fold;

/// Folds a row of at most 128 elements (a multiple of 16): the 16 values of every chunk by a tree of pairs, then the
/// totals of the chunks, padded to 16 with the identity, by a second tree; every node is rounded.
#[inline]
#[must_use]
pub fn fold(kind: Fold, row: &[f32]) -> f32 {
    match kind {
        Fold::Sum => trees(row, 0.0, |a, b| lane(f64::from(a) + f64::from(b))),
        Fold::Max => trees(row, f32::NEG_INFINITY, f32::max),
    }
}

#[inline]
fn trees(row: &[f32], identity: f32, combine: impl Fn(f32, f32) -> f32) -> f32 {
    let tree = |values: &mut [f32; LANES]| {
        let mut width = LANES / 2;
        while width > 0 {
            for i in 0..width {
                values[i] = combine(values[2 * i], values[2 * i + 1]);
            }
            width /= 2;
        }
        values[0]
    };
    let mut totals = [identity; LANES];
    for (total, chunk) in totals.iter_mut().zip(row[..row.len().min(VECTOR)].chunks(LANES)) {
        let mut values = [identity; LANES];
        values[..chunk.len()].copy_from_slice(chunk);
        *total = tree(&mut values);
    }
    tree(&mut totals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_of_a_sum_is_rounded() {
        // 65,536 + 1 is a tie of 16 bits that goes to even; two ones first add up to something that stays.
        let mut row = [0.0_f32; 32];
        row[0] = 65_536.0;
        row[1] = 1.0;
        assert!((fold(Fold::Sum, &row) - 65_536.0).abs() <= 0.0);
        row[1] = 0.0;
        row[2] = 1.0;
        row[3] = 1.0;
        assert!((fold(Fold::Sum, &row) - 65_538.0).abs() <= 0.0);
        row[16] = -7.0;
        assert!((fold(Fold::Max, &row[16..]) - 0.0).abs() <= 0.0);
        assert!(
            (fold(Fold::Max, &[-3.0; 64]) + 3.0).abs() <= 0.0,
            "the padding of the tree is no zero"
        );
    }
}
