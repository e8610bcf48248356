//! Programs as they are put together.

use super::buffer::{Buffer, BufferId, Role};
use super::expr::Expr;
use super::stage::{Gemm, Operand, Stage, Statement, Term, Vector, Work};
use crate::layout::Shape;

/// Buffers and stages in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Program {
    /// Buffers; a [`BufferId`] counts them.
    pub buffers: Vec<Buffer>,
    /// Stages, in the order of dispatch.
    pub stages: Vec<Stage>,
}

impl Program {
    /// Adds a buffer.
    pub fn buffer(&mut self, name: &str, role: Role, batch: usize, shape: Shape) -> BufferId {
        self.buffers.push(Buffer {
            name: name.to_owned(),
            role,
            batch,
            shape,
        });
        BufferId(self.buffers.len() - 1)
    }

    /// The buffer of this name.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<BufferId> {
        self.buffers.iter().position(|buffer| buffer.name == name).map(BufferId)
    }

    /// What a buffer is. Ids come from this program's own [`Program::buffer`].
    #[must_use]
    pub fn of(&self, id: BufferId) -> &Buffer {
        &self.buffers[id.0]
    }

    /// Adds a stage.
    pub fn stage(&mut self, name: &str, work: Work) {
        self.stages.push(Stage {
            name: name.to_owned(),
            work,
        });
    }

    /// Adds a product of two whole buffers, `out[b] = a[b] b[b]^T`, as wide as `out`.
    pub fn product(&mut self, name: &str, [a, b, out]: [BufferId; 3], tile: (usize, usize), nk: usize) {
        let (rows, columns) = self.of(out).shape.rows_and_columns();
        let (_, inner) = self.of(a).shape.rows_and_columns();
        let gemm = Gemm {
            rows,
            columns,
            terms: vec![Term {
                a: Operand::whole(a),
                b: Operand::whole(b),
                inner,
            }],
            batch: self.of(out).batch,
            tile,
            nk,
            out,
            epilogue: None,
        };
        self.stage(name, Work::Gemm(gemm));
    }

    /// Adds one pass over all of a buffer.
    pub fn pass(&mut self, name: &str, target: BufferId, part: usize, value: Expr) {
        let (rows, _) = self.of(target).shape.rows_and_columns();
        self.pass_rows(name, target, rows, part, value);
    }

    /// Adds one pass over the first rows of a buffer.
    pub fn pass_rows(&mut self, name: &str, target: BufferId, rows: usize, part: usize, value: Expr) {
        let (_, columns) = self.of(target).shape.rows_and_columns();
        let vector = Vector {
            batch: self.of(target).batch,
            first_batch: 0,
            rows,
            columns,
            part,
            statements: vec![Statement::new(target, value)],
        };
        self.stage(name, Work::Vector(vector));
    }
}
