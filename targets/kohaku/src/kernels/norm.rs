//! Normalisation over groups that are wider than a row of a reduction: sub-rows are summed by a split fold.

use super::pointwise::silu;
use crate::layout::Shape;
use crate::machine::{PART, VECTOR};
use crate::program::{BufferId, Expr, Program, Reading, Role};

/// A normalisation. Groups lie one behind the other, each as `sub_rows` rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Norm {
    /// Groups.
    pub groups: usize,
    /// Rows of a group.
    pub sub_rows: usize,
    /// Elements of a row.
    pub width: usize,
    /// What is added to the variance.
    pub epsilon: f32,
    /// Whether `x sigmoid(x)` follows.
    pub silu: bool,
}

impl Norm {
    /// Groups of so many elements in rows of 128, the least number of rows.
    #[must_use]
    pub fn wide(groups: usize, elements: usize, epsilon: f32, silu: bool) -> Self {
        let width = elements.min(VECTOR);
        Self {
            groups,
            sub_rows: elements.div_ceil(width),
            width,
            epsilon,
            silu,
        }
    }

    /// All rows (R).
    #[must_use]
    pub fn rows(&self) -> usize {
        self.groups * self.sub_rows
    }

    /// Elements of one vector instance: whole groups, as many as fit 8,192 elements, at least one.
    #[must_use]
    pub fn part(&self) -> usize {
        let group = self.sub_rows * self.width;
        (PART / group).max(1) * group
    }

    /// Rows over which the results of a fold are needed: each group's first.
    fn small(&self) -> usize {
        self.rows() - self.sub_rows + 1
    }
}

/// Adds rows behind each other; used by every kernel with groups of rows.
pub(super) struct Folding<'a> {
    pub(super) program: &'a mut Program,
    pub(super) rows: usize,
    pub(super) small: usize,
    pub(super) width: usize,
    pub(super) part: usize,
    pub(super) combine: fn(Expr, Expr) -> Expr,
    /// Distinguishes the buffers of several folds.
    pub(super) tag: &'static str,
}

impl Folding<'_> {
    pub(super) fn temporary(&mut self, name: &str) -> BufferId {
        let name = format!("{}-{name}-{}", self.tag, self.program.buffers.len());
        self.program
            .buffer(&name, Role::Temporary, 1, Shape::matrix(self.rows, self.width))
    }

    /// The fold of `count` rows from each row's own plus `from` on, where `length` rows of `source` hold something:
    /// the buffer and the row offset of the result.
    ///
    /// An even count is halved by one pass; an odd one is split at the power of two below it.
    pub(super) fn fold(&mut self, source: BufferId, from: usize, length: usize, count: usize) -> (BufferId, usize) {
        if count == 1 {
            return (source, from);
        }
        if count.is_multiple_of(2) {
            let half = count / 2;
            let rows = if count == 2 { self.small } else { length - from - half };
            let sum = self.pair((source, from), (source, from + half), rows);
            return self.fold(sum, 0, rows, half);
        }
        let below = 1 << (usize::BITS - 1 - (count - 1).leading_zeros());
        let first = self.fold(source, from, length, below);
        let rest = self.fold(source, from + below, length, count - below);
        let sum = self.pair(first, rest, self.small);
        (sum, 0)
    }

    fn pair(&mut self, a: (BufferId, usize), b: (BufferId, usize), rows: usize) -> BufferId {
        let sum = self.temporary("fold");
        let read = |(buffer, from): (BufferId, usize)| {
            let reading = if from == 0 { Reading::Whole } else { Reading::From(from) };
            Expr::rows(buffer, reading)
        };
        let value = (self.combine)(read(a), read(b));
        self.program.pass_rows("fold", sum, rows, self.part, value);
        sum
    }

    pub(super) fn pass(&mut self, name: &str, rows: usize, value: Expr) -> BufferId {
        let target = self.temporary(name);
        self.program.pass_rows(name, target, rows, self.part, value);
        target
    }
}

/// `y = (x - mean) / sqrt(variance + epsilon) gain + shift` for every group, with gain and shift at full shape.
#[must_use]
pub fn norm(n: &Norm) -> Program {
    let mut program = Program::default();
    let shape = Shape::matrix(n.rows(), n.width);
    let [x, gain, shift] = ["x", "gain", "shift"].map(|name| program.buffer(name, Role::Input, 1, shape));
    let y = program.buffer("y", Role::Output, 1, shape);
    let (rows, small, r) = (n.rows(), n.small(), n.sub_rows);
    let mut f = Folding {
        program: &mut program,
        rows,
        small,
        width: n.width,
        part: n.part(),
        combine: Expr::plus,
        tag: "norm",
    };
    let read = Expr::read;
    let per_row = Expr::constant(1.0 / n.width as f32);
    let per_group = Expr::constant(1.0 / r as f32);
    let of_group = |buffer| Expr::rows(buffer, Reading::First(r));
    let at = |(buffer, from): (BufferId, usize)| {
        Expr::rows(buffer, if from == 0 { Reading::Whole } else { Reading::From(from) })
    };
    let scaled = f.pass("scale", rows, read(x).times(per_row.clone()));
    let sums = f.pass("row-sum", rows, read(scaled).sum());
    let total = f.fold(sums, 0, rows, r);
    let mean = f.pass("mean", small, at(total).times(per_group.clone()));
    let centred = f.pass("centre", rows, read(x).minus(of_group(mean)));
    let squares = f.pass("squares", rows, read(centred).times(read(centred)).times(per_row));
    let sums = f.pass("row-sum", rows, read(squares).sum());
    let total = f.fold(sums, 0, rows, r);
    let variance = f.pass("variance", small, at(total).times(per_group));
    let inverse = f.pass("inverse", small, read(variance).plus(Expr::constant(n.epsilon)).rsqrt());
    let normal = f.pass("normal", rows, read(centred).times(of_group(inverse)));
    let affine = read(normal).times(read(gain)).plus(read(shift));
    let part = f.part;
    if n.silu {
        let affine = f.pass("affine", rows, affine);
        program.pass("silu", y, part, silu(read(affine)));
    } else {
        program.pass("affine", y, part, affine);
    }
    program
}
