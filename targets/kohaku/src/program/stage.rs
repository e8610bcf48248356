//! Stages.

use super::buffer::BufferId;
use super::build::Program;
use super::expr::{Expr, View};

/// A matrix operand: a window of a buffer, `[rows][inner]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operand {
    /// Which buffer.
    pub buffer: BufferId,
    /// First row of the window.
    pub first_row: usize,
    /// First element along the summed axis.
    pub first_inner: usize,
    /// First batch element; those of the stage follow, or share it where the buffer has only one.
    pub first_batch: usize,
}

impl Operand {
    /// A whole buffer.
    #[must_use]
    pub fn whole(buffer: BufferId) -> Self {
        Self {
            buffer,
            first_row: 0,
            first_inner: 0,
            first_batch: 0,
        }
    }
}

/// One product of a chain that is summed in one accumulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// Rows of the result.
    pub a: Operand,
    /// Columns of the result, `[columns][inner]`.
    pub b: Operand,
    /// Length of the summed axis.
    pub inner: usize,
}

/// What happens to a drained tile on its way to memory, in a vector core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epilogue {
    /// The value; the tile itself is read as the stage's `out`.
    pub value: Expr,
    /// The operand in channel order, if there is one.
    pub bias: Option<BufferId>,
    /// Operands of the tile's own shape.
    pub full: Vec<BufferId>,
}

/// Matrix products `out[b] = sum of terms A[b] B[b]^T`, rows x columns, on the clusters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gemm {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Products that are summed, at least one.
    pub terms: Vec<Term>,
    /// Batch elements.
    pub batch: usize,
    /// Sub-tiles of one instance along rows and columns.
    pub tile: (usize, usize),
    /// K blocks of one step.
    pub nk: usize,
    /// Result.
    pub out: BufferId,
    /// A fused vector program, if there is one.
    pub epilogue: Option<Epilogue>,
}

/// Which taps a convolution has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taps {
    /// 3 x 3.
    Nine,
    /// 2 x 2, of which the first reads from this row and column of the 3 x 3 neighbourhood: one phase of a convolution
    /// behind a nearest upsampling.
    Four(usize, usize),
}

impl Taps {
    /// Rows and columns in the 3 x 3 neighbourhood, in the order of the weights.
    #[must_use]
    pub fn offsets(self) -> Vec<(usize, usize)> {
        let (size, y, x) = match self {
            Self::Nine => (3, 0, 0),
            Self::Four(y, x) => (2, y, x),
        };
        (0..size * size).map(|tap| (y + tap / size, x + tap % size)).collect()
    }
}

/// A convolution with padding 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conv {
    /// Activations, a plane.
    pub input: BufferId,
    /// Weights `[out channels][tap][in channels]`.
    pub weights: BufferId,
    /// Result: row `oy wp + ox`, column `out channel`.
    pub out: BufferId,
    /// Height, width, channels of the input.
    pub plane: [usize; 3],
    /// Channels of the result.
    pub channels: usize,
    /// Its taps.
    pub taps: Taps,
    /// Its step.
    pub step: usize,
    /// Sub-tiles of one instance along positions and channels.
    pub tile: (usize, usize),
}

/// `target = value`, element by element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// What is written.
    pub target: BufferId,
    /// Its first row that is written.
    pub first_row: usize,
    /// What is computed.
    pub value: Expr,
}

impl Statement {
    /// Writes `target` from its first row on.
    #[must_use]
    pub fn new(target: BufferId, value: Expr) -> Self {
        Self {
            target,
            first_row: 0,
            value,
        }
    }
}

/// Vector programs over rows x columns of each batch element, on the vector cores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector {
    /// Batch elements.
    pub batch: usize,
    /// Where they begin in buffers that have more.
    pub first_batch: usize,
    /// Rows that are written.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Elements per instance.
    pub part: usize,
    /// Statements, in order.
    pub statements: Vec<Statement>,
}

impl Vector {
    /// Whether a row is folded.
    #[must_use]
    pub fn folds(&self) -> bool {
        self.statements.iter().any(|statement| statement.value.folds())
    }

    /// The element of a buffer of so many that batch element `at` of the stage reads or writes: buffers of one are shared,
    /// larger ones than the stage's batch are a window.
    #[must_use]
    pub fn element(&self, at: usize, batch: usize) -> usize {
        match batch {
            1 => 0,
            batch if batch > self.batch => self.first_batch + at,
            _ => at,
        }
    }

    /// Whether each batch element is one instance: where rows are folded, and where a buffer is repeated for all batch
    /// elements (a repeated buffer serves one instance only).
    #[must_use]
    pub fn single(&self, program: &Program) -> bool {
        let repeated = |view: &View| self.batch > 1 && program.of(view.buffer).batch == 1;
        let views = self.statements.iter().flat_map(|statement| statement.value.views());
        self.folds() || views.into_iter().any(|view| repeated(&view))
    }
}

/// What a stage does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// Products on clusters.
    Gemm(Gemm),
    /// A convolution on clusters.
    Conv(Conv),
    /// Programs on vector cores.
    Vector(Vector),
}

/// One dispatch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// `scores`, `softmax`.
    pub name: String,
    /// What it does.
    pub work: Work,
}
