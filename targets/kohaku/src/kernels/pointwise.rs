//! Activations, as a lane can compute them: with at most three operands and constants in one statement.

use std::f32::consts::LOG2_E;

use crate::program::{BufferId, Expr, Program, Role, Statement, Vector, Work};

/// `-log2(e)`: `exp(-x) = 2^(SILU_SCALE x)`.
pub const SILU_SCALE: f32 = -LOG2_E;

/// Which GELU is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gelu {
    /// `x sigmoid(1.702 x)`.
    Sigmoid,
    /// `x sigmoid(2 sqrt(2/pi) (x + 0.044715 x^3))`, which is the tanh form.
    Tanh,
    /// `x (1 + erf(x / sqrt(2))) / 2`, by the rational approximation 7.1.26 of Abramowitz and Stegun.
    Erf,
}

fn gated(x: Expr, exponent: Expr) -> Expr {
    x.times(exponent.exp2().plus(Expr::constant(1.0)).inverse())
}

/// `x / (1 + exp(-x))`: five operations, three slots.
#[must_use]
pub fn silu(x: Expr) -> Expr {
    let exponent = x.clone().times(Expr::constant(SILU_SCALE));
    gated(x, exponent)
}

/// Adds the passes of a GELU over all of `x` as one stage; gives the buffer of the result.
pub fn gelu(program: &mut Program, x: BufferId, form: Gelu, part: usize) -> BufferId {
    let shape = program.of(x).shape;
    let batch = program.of(x).batch;
    let name = program.of(x).name.clone();
    let mut temporary = |own: &str| program.buffer(&format!("{name}-{own}"), Role::Temporary, batch, shape);
    let read = Expr::read;
    let constant = Expr::constant;
    let y = temporary("gelu");
    let statements: Vec<(BufferId, Expr)> = match form {
        Gelu::Sigmoid => vec![(y, gated(read(x), read(x).times(constant(-1.702 * LOG2_E))))],
        Gelu::Tanh => {
            let t = temporary("inner");
            // 2^(x (a + b x^2)) = exp(-2 sqrt(2/pi) (x + 0.044715 x^3)).
            let a = -2.0 * LOG2_E * 0.797_884_6;
            let square = read(x).times(read(x));
            vec![
                (t, square.times(constant(a * 0.044_715)).plus(constant(a))),
                (y, gated(read(x), read(x).times(read(t)))),
            ]
        }
        Gelu::Erf => erf(x, y, &mut temporary),
    };
    let (rows, columns) = shape.rows_and_columns();
    let vector = Vector {
        batch,
        first_batch: 0,
        rows,
        columns,
        part,
        statements: statements
            .into_iter()
            .map(|(target, value)| Statement::new(target, value))
            .collect(),
    };
    program.stage("gelu", Work::Vector(vector));
    y
}

/// `max(x, 0) - |x| q(t) 2^(-x^2 log2(e) / 2)` with `t = 1 / (1 + p |x|)`, half of the polynomial in `q`.
fn erf(x: BufferId, y: BufferId, temporary: &mut dyn FnMut(&str) -> BufferId) -> Vec<(BufferId, Expr)> {
    const P: f32 = 0.327_591_1 * std::f32::consts::FRAC_1_SQRT_2;
    const HALVES: [f32; 4] = [-0.726_576, 0.710_706_9, -0.142_248_37, 0.127_414_8];
    let (read, constant) = (Expr::read, Expr::constant);
    let [u, t, q, e, z] = ["magnitude", "t", "q", "e", "z"].map(temporary);
    let mut statements = vec![
        (u, read(x).larger(read(x).times(constant(-1.0)))),
        (t, read(u).times(constant(P)).plus(constant(1.0)).inverse()),
        (q, read(t).times(constant(0.530_702_7)).plus(constant(HALVES[0]))),
    ];
    for half in &HALVES[1..] {
        statements.push((q, read(q).times(read(t)).plus(constant(*half))));
    }
    statements.extend([
        (q, read(q).times(read(t)).times(read(u))),
        (e, read(x).times(read(x)).times(constant(-0.5 * LOG2_E)).exp2()),
        (z, read(q).times(read(e))),
        (y, read(x).larger(constant(0.0)).minus(read(z))),
    ]);
    statements
}
