//! Softmax over rows, and over rows that are wider than a reduction takes.

use std::f32::consts::LOG2_E;

use super::norm::Folding;
use crate::layout::Shape;
use crate::machine::{PART, VECTOR};
use crate::program::{BufferId, Expr, Program, Reading, Role};

/// Softmax of rows of at most 128 elements (a multiple of 16), in one stage. With `masked`, exponentials are multiplied
/// with the input `mask` (1 or 0 at full shape), so that padded columns are exactly zero.
#[must_use]
pub fn softmax(rows: usize, columns: usize, masked: bool) -> Program {
    let mut program = Program::default();
    let shape = Shape::matrix(rows, columns);
    let x = program.buffer("x", Role::Input, 1, shape);
    let mask = masked.then(|| program.buffer("mask", Role::Input, 1, shape));
    let y = program.buffer("y", Role::Output, 1, shape);
    let scaled = Expr::read(x).times(Expr::constant(LOG2_E));
    let mut powers = scaled.clone().minus(scaled.largest()).exp2();
    if let Some(mask) = mask {
        powers = powers.times(Expr::read(mask));
    }
    program.pass("softmax", y, PART, powers.clone().over(powers.sum()));
    program
}

/// Softmax of rows of `sub_rows` x 128 elements; `masked` as in [`softmax`].
#[must_use]
pub fn wide_softmax(rows: usize, sub_rows: usize, masked: bool) -> Program {
    let mut program = Program::default();
    let all = rows * sub_rows;
    let shape = Shape::matrix(all, VECTOR);
    let x = program.buffer("x", Role::Input, 1, shape);
    let mask = masked.then(|| program.buffer("mask", Role::Input, 1, shape));
    let y = program.buffer("y", Role::Output, 1, shape);
    let group = sub_rows * VECTOR;
    let part = (PART / group).max(1) * group;
    let mut f = Folding {
        program: &mut program,
        rows: all,
        small: all - sub_rows + 1,
        width: VECTOR,
        part,
        combine: Expr::larger,
        tag: "softmax",
    };
    let of_group = |(buffer, from): (BufferId, usize), f: &mut Folding<'_>| {
        // A group's value must stand in its first row before it can be spread.
        let small = f.small;
        let buffer = if from == 0 {
            buffer
        } else {
            f.pass(
                "move",
                small,
                Expr::rows(buffer, Reading::From(from)).times(Expr::constant(1.0)),
            )
        };
        Expr::rows(buffer, Reading::First(sub_rows))
    };
    let largest = f.pass("row-max", all, Expr::read(x).largest());
    let largest = f.fold(largest, 0, all, sub_rows);
    let largest = of_group(largest, &mut f);
    let shifted = f.pass("shift", all, Expr::read(x).minus(largest));
    let mut powers = f.pass("powers", all, Expr::read(shifted).times(Expr::constant(LOG2_E)).exp2());
    if let Some(mask) = mask {
        powers = f.pass("mask", all, Expr::read(powers).times(Expr::read(mask)));
    }
    f.combine = Expr::plus;
    let sums = f.pass("row-sum", all, Expr::read(powers).sum());
    let sums = f.fold(sums, 0, all, sub_rows);
    let sums = of_group(sums, &mut f);
    let part = f.part;
    program.pass("divide", y, part, Expr::read(powers).over(sums));
    program
}
