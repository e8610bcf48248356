//! What a vector statement computes.

use super::buffer::BufferId;

/// Which rows a row of the statement reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reading {
    /// Its own.
    Whole,
    /// The one so many rows behind its own.
    From(usize),
    /// The first row of its group of so many: a stride of zero inside the group.
    First(usize),
    /// The row with its number within a period: a table that is repeated.
    Cycle(usize),
}

/// A buffer as a statement sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct View {
    /// Which.
    pub buffer: BufferId,
    /// Which of its rows.
    pub reading: Reading,
}

/// What a lane does with values. Each costs one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a b`.
    Mul,
    /// `a / b`: the reciprocal, then the product.
    Div,
    /// The larger one.
    Max,
    /// `2^a`.
    Exp2,
    /// `1 / a`.
    Inverse,
    /// `1 / sqrt(a)`.
    Rsqrt,
}

/// How a row becomes one value, which all its elements then have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fold {
    /// The sum.
    Sum,
    /// The largest.
    Max,
}

/// An expression.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Expr {
    /// Elements of a buffer.
    Read(View),
    /// A constant (bits of a float).
    Constant(u32),
    /// An operation on one or two values.
    Apply(Op, Vec<Expr>),
    /// A row folded.
    Folded(Fold, Box<Expr>),
}

impl Expr {
    /// Elements of a buffer, as they lie.
    #[must_use]
    pub fn read(buffer: BufferId) -> Self {
        Self::rows(buffer, Reading::Whole)
    }

    /// Elements of a buffer, by rows.
    #[must_use]
    pub fn rows(buffer: BufferId, reading: Reading) -> Self {
        Self::Read(View { buffer, reading })
    }

    /// A constant.
    #[must_use]
    pub fn constant(value: f32) -> Self {
        Self::Constant(value.to_bits())
    }

    fn two(op: Op, a: Self, b: Self) -> Self {
        Self::Apply(op, vec![a, b])
    }

    /// `self + other`.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self::two(Op::Add, self, other)
    }

    /// `self - other`.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self::two(Op::Sub, self, other)
    }

    /// `self other`.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        Self::two(Op::Mul, self, other)
    }

    /// `self / other`.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        Self::two(Op::Div, self, other)
    }

    /// The larger one.
    #[must_use]
    pub fn larger(self, other: Self) -> Self {
        Self::two(Op::Max, self, other)
    }

    /// `2^self`.
    #[must_use]
    pub fn exp2(self) -> Self {
        Self::Apply(Op::Exp2, vec![self])
    }

    /// `1 / self`.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self::Apply(Op::Inverse, vec![self])
    }

    /// `1 / sqrt(self)`.
    #[must_use]
    pub fn rsqrt(self) -> Self {
        Self::Apply(Op::Rsqrt, vec![self])
    }

    /// The row's sum.
    #[must_use]
    pub fn sum(self) -> Self {
        Self::Folded(Fold::Sum, Box::new(self))
    }

    /// The row's largest element.
    #[must_use]
    pub fn largest(self) -> Self {
        Self::Folded(Fold::Max, Box::new(self))
    }

    /// Whether a row is folded anywhere in it.
    #[must_use]
    pub fn folds(&self) -> bool {
        match self {
            Self::Read(_) | Self::Constant(_) => false,
            Self::Apply(_, inner) => inner.iter().any(Self::folds),
            Self::Folded(..) => true,
        }
    }

    /// Whether it is a fold of something that holds no other: a reduction by itself.
    #[must_use]
    pub fn lone_fold(&self) -> bool {
        matches!(self, Self::Folded(_, inner) if !inner.folds())
    }

    /// The buffers that it reads, in the order of reading.
    #[must_use]
    pub fn views(&self) -> Vec<View> {
        let mut views = Vec::new();
        self.collect(&mut views);
        views
    }

    fn collect(&self, views: &mut Vec<View>) {
        match self {
            Self::Read(view) if views.contains(view) => {}
            Self::Read(view) => views.push(*view),
            Self::Constant(_) => {}
            Self::Apply(_, inner) => inner.iter().for_each(|expr| expr.collect(views)),
            Self::Folded(_, inner) => inner.collect(views),
        }
    }
}
