//! Products with what belongs to them.

use super::pointwise::{Gelu, gelu, silu};
use crate::layout::Shape;
use crate::machine::PART;
use crate::program::{BufferId, Epilogue, Expr, Gemm, Operand, Program, Role, Term, Work};

/// How a product is dealt to the clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tiling {
    /// Sub-tiles of one instance along rows and columns.
    pub tile: (usize, usize),
    /// K blocks of one step.
    pub nk: usize,
    /// Elements of one vector instance.
    pub part: usize,
}

impl Default for Tiling {
    /// The published default: 8 x 8 sub-tiles, two K blocks, parts of 8,192.
    fn default() -> Self {
        Self {
            tile: (8, 8),
            nk: 2,
            part: PART,
        }
    }
}

/// Extents of a product: rows, inner, columns.
pub type Extents = [usize; 3];

fn product(program: &mut Program, [m, k, n]: Extents, tiling: Tiling, role: Role) -> BufferId {
    let x = program.buffer("x", Role::Input, 1, Shape::matrix(m, k));
    let w = program.buffer("w", Role::Input, 1, Shape::matrix(n, k));
    let name = if role == Role::Output { "y" } else { "product" };
    let y = program.buffer(name, role, 1, Shape::matrix(m, n));
    program.product("product", [x, w, y], tiling.tile, tiling.nk);
    y
}

/// `y = x w^T`, with weights `[columns][inner]`.
#[must_use]
pub fn matmul(extents: Extents, tiling: Tiling) -> Program {
    let mut program = Program::default();
    product(&mut program, extents, tiling, Role::Output);
    program
}

/// `y = silu(x w^T)`: a product and one pass over its tiles.
#[must_use]
pub fn linear(extents: Extents, tiling: Tiling) -> Program {
    let mut program = Program::default();
    let t = product(&mut program, extents, tiling, Role::Temporary);
    let y = program.buffer("y", Role::Output, 1, program.of(t).shape);
    program.pass("silu", y, tiling.part, silu(Expr::read(t)));
    program
}

/// `y = x w^T + residual`, with the residual at full shape.
#[must_use]
pub fn residual(extents: Extents, tiling: Tiling) -> Program {
    let mut program = Program::default();
    let t = product(&mut program, extents, tiling, Role::Temporary);
    let shape = program.of(t).shape;
    let r = program.buffer("residual", Role::Input, 1, shape);
    let y = program.buffer("y", Role::Output, 1, shape);
    program.pass("add", y, tiling.part, Expr::read(t).plus(Expr::read(r)));
    program
}

/// `y = activation(x w^T + bias)` in one dispatch: tiles pass through a vector core on their way to memory.
#[must_use]
pub fn fused_linear(extents: Extents, tiling: Tiling, activated: bool) -> Program {
    let [m, k, n] = extents;
    let mut program = Program::default();
    let x = program.buffer("x", Role::Input, 1, Shape::matrix(m, k));
    let w = program.buffer("w", Role::Input, 1, Shape::matrix(n, k));
    let bias = program.buffer("bias", Role::Input, 1, Shape::Channels(n));
    let y = program.buffer("y", Role::Output, 1, Shape::matrix(m, n));
    let sum = Expr::read(y).plus(Expr::read(bias));
    let gemm = Gemm {
        rows: m,
        columns: n,
        terms: vec![Term {
            a: Operand::whole(x),
            b: Operand::whole(w),
            inner: k,
        }],
        batch: 1,
        tile: tiling.tile,
        nk: tiling.nk,
        out: y,
        epilogue: Some(Epilogue {
            value: if activated { silu(sum) } else { sum },
            bias: Some(bias),
            full: Vec::new(),
        }),
    };
    program.stage("product", Work::Gemm(gemm));
    program
}

/// The projection of every head by its own slice of the weights: the split of heads is a reshape of the weights.
#[must_use]
pub fn per_head([m, k, n]: Extents, heads: usize, tiling: Tiling) -> Program {
    let mut program = Program::default();
    let x = program.buffer("x", Role::Input, 1, Shape::matrix(m, k));
    let w = program.buffer("w", Role::Input, heads, Shape::matrix(n / heads, k));
    let y = program.buffer("y", Role::Output, heads, Shape::matrix(m, n / heads));
    program.product("product", [x, w, y], tiling.tile, tiling.nk);
    program
}

/// `y = join(heads) w^T + residual`: the join of heads is one accumulator over a chain of products.
#[must_use]
pub fn join([m, k, n]: Extents, heads: usize, tiling: Tiling, with_residual: bool) -> Program {
    let width = k / heads;
    let mut program = Program::default();
    let x = program.buffer("x", Role::Input, heads, Shape::matrix(m, width));
    let w = program.buffer("w", Role::Input, 1, Shape::matrix(n, k));
    let role = if with_residual { Role::Temporary } else { Role::Output };
    let name = if with_residual { "product" } else { "y" };
    let t = program.buffer(name, role, 1, Shape::matrix(m, n));
    let term = |head: usize| Term {
        a: Operand {
            first_batch: head,
            ..Operand::whole(x)
        },
        b: Operand {
            first_inner: head * width,
            ..Operand::whole(w)
        },
        inner: width,
    };
    let gemm = Gemm {
        rows: m,
        columns: n,
        terms: (0..heads).map(term).collect(),
        batch: 1,
        tile: tiling.tile,
        nk: tiling.nk,
        out: t,
        epilogue: None,
    };
    program.stage("product", Work::Gemm(gemm));
    if with_residual {
        let r = program.buffer("residual", Role::Input, 1, Shape::matrix(m, n));
        let y = program.buffer("y", Role::Output, 1, Shape::matrix(m, n));
        program.pass("add", y, tiling.part, Expr::read(t).plus(Expr::read(r)));
    }
    program
}

/// Two products with an activation between them: its result is converted for the second.
#[must_use]
pub fn mlp(tokens: usize, [features, hidden, outputs]: Extents, form: Gelu, tilings: [Tiling; 2]) -> Program {
    let mut program = Program::default();
    let x = program.buffer("x", Role::Input, 1, Shape::matrix(tokens, features));
    let up = program.buffer("w-up", Role::Input, 1, Shape::matrix(hidden, features));
    let down = program.buffer("w-down", Role::Input, 1, Shape::matrix(outputs, hidden));
    let t = program.buffer("up", Role::Temporary, 1, Shape::matrix(tokens, hidden));
    program.product("up", [x, up, t], tilings[0].tile, tilings[0].nk);
    let h = gelu(&mut program, t, form, tilings[0].part);
    let y = program.buffer("y", Role::Output, 1, Shape::matrix(tokens, outputs));
    program.product("down", [h, down, y], tilings[1].tile, tilings[1].nk);
    program
}

/// `y = gelu(x w0^T) (x w1^T)`, or with the second half as the gate.
#[must_use]
pub fn geglu([m, k, n]: Extents, form: Gelu, second_gates: bool, tiling: Tiling) -> Program {
    let mut program = Program::default();
    let x = program.buffer("x", Role::Input, 1, Shape::matrix(m, k));
    let mut halves = [0, 1].map(|half| {
        let w = program.buffer(&format!("w{half}"), Role::Input, 1, Shape::matrix(n, k));
        let t = program.buffer(&format!("half{half}"), Role::Temporary, 1, Shape::matrix(m, n));
        program.product(&format!("half{half}"), [x, w, t], tiling.tile, tiling.nk);
        t
    });
    if second_gates {
        halves.reverse();
    }
    let gate = gelu(&mut program, halves[0], form, tiling.part);
    let y = program.buffer("y", Role::Output, 1, Shape::matrix(m, n));
    program.pass("gate", y, tiling.part, Expr::read(gate).times(Expr::read(halves[1])));
    program
}
