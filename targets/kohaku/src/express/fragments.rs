//! Programs of layers that have no workload kind.

use planner::Refusal;
use planner::network::{Function, GatingHalf, Layer};

use super::gelu_form;
use crate::kernels::{Norm, gelu, norm, silu, softmax, wide_softmax};
use crate::layout::Shape;
use crate::machine::{PART, VECTOR, WORD};
use crate::program::{BufferId, Expr, Program, Reading, Role};
use crate::work::extent;

/// Epsilon of norms: it costs the same whatever it is.
const EPSILON: f32 = 1e-5;

/// The program of a layer, and what serves it in words.
pub(super) fn of(layer: &Layer) -> Result<(Program, String), Refusal> {
    match *layer {
        Layer::LayerNorm { rows, columns } => normed(extent(rows), extent(columns)),
        Layer::GroupNorm {
            height,
            width,
            channels,
            groups,
        } => {
            let own = extent(channels) / extent(groups).max(1);
            let elements = own.saturating_mul(extent(height)).saturating_mul(extent(width));
            let (program, words) = normed(extent(groups), elements)?;
            Ok((
                program,
                format!("{words}; a group is {own} channels of the whole plane, gathered from blocks of 32"),
            ))
        }
        Layer::Softmax { rows, columns } => Ok(soft(extent(rows), extent(columns))),
        Layer::Activation {
            function,
            rows,
            columns,
        } => {
            let mut program = Program::default();
            let x = input(&mut program, "x", rows, columns);
            let y = function_of(&mut program, function, x);
            program.buffers[y.0].role = Role::Output;
            Ok((
                program,
                "a pass of the vector cores; none of its own behind a fused product".to_owned(),
            ))
        }
        Layer::Gate {
            function,
            half,
            rows,
            columns,
        } => {
            let mut program = Program::default();
            let [first, second] = ["first", "second"].map(|name| input(&mut program, name, rows, columns));
            let (gate, other, which) = match half {
                GatingHalf::First => (first, second, "first"),
                GatingHalf::Second => (second, first, "second"),
            };
            let gate = function_of(&mut program, function, gate);
            let y = output(&mut program, rows, columns);
            program.pass("gate", y, PART, Expr::read(gate).times(Expr::read(other)));
            Ok((
                program,
                format!("behind two products that share their fills; the {which} half gates"),
            ))
        }
        Layer::Add {
            rows,
            columns,
            broadcast,
        } => {
            let mut program = Program::default();
            let x = input(&mut program, "x", rows, columns);
            let (other, reading) = if broadcast {
                (input(&mut program, "row", 1, columns), Reading::Cycle(1))
            } else {
                (input(&mut program, "other", rows, columns), Reading::Whole)
            };
            let y = output(&mut program, rows, columns);
            program.pass("add", y, PART, Expr::read(x).plus(Expr::rows(other, reading)));
            Ok((program, "a pass of the vector cores".to_owned()))
        }
        _ => Err(Refusal::new("kernel", format!("no kernel computes {}", layer.class()))),
    }
}

/// A program whose result gets a bias at full shape.
pub(super) fn with_bias(mut program: Program) -> Program {
    let Some(y) = program.buffers.iter().position(|buffer| buffer.role == Role::Output) else {
        return program;
    };
    let shape = program.buffers[y].shape;
    program.buffers[y].role = Role::Temporary;
    let bias = program.buffer("bias", Role::Input, 1, shape);
    let z = program.buffer("z", Role::Output, 1, shape);
    program.pass("bias", z, PART, Expr::read(BufferId(y)).plus(Expr::read(bias)));
    program
}

fn input(program: &mut Program, name: &str, rows: u64, columns: u64) -> BufferId {
    program.buffer(name, Role::Input, 1, Shape::matrix(extent(rows), extent(columns)))
}

fn output(program: &mut Program, rows: u64, columns: u64) -> BufferId {
    program.buffer("y", Role::Output, 1, Shape::matrix(extent(rows), extent(columns)))
}

fn function_of(program: &mut Program, function: Function, x: BufferId) -> BufferId {
    if let Some(form) = gelu_form(function) {
        return gelu(program, x, form, PART);
    }
    let shape = program.of(x).shape;
    let y = program.buffer("activated", Role::Temporary, 1, shape);
    let value = match function {
        Function::Relu => Expr::read(x).larger(Expr::constant(0.0)),
        _ => silu(Expr::read(x)),
    };
    program.pass("function", y, PART, value);
    y
}

fn normed(groups: usize, elements: usize) -> Result<(Program, String), Refusal> {
    if elements > VECTOR && !elements.is_multiple_of(VECTOR) {
        let message = format!("a group of {elements} elements is no whole number of rows of {VECTOR}");
        return Err(Refusal::new("fold-row", message));
    }
    let own = Norm::wide(groups, elements, EPSILON, false);
    let words = format!(
        "{groups} groups of {} rows of {}, gain and shift at full shape",
        own.sub_rows, own.width
    );
    Ok((norm(&own), words))
}

fn soft(rows: usize, columns: usize) -> (Program, String) {
    // A row that one fold takes is padded to whole words, others to whole sub-rows.
    let unit = if columns <= VECTOR { WORD } else { VECTOR };
    let masked = !columns.is_multiple_of(unit);
    let mask = if masked {
        ", padded and masked behind the exponential"
    } else {
        ""
    };
    if columns <= VECTOR {
        let padded = columns.next_multiple_of(WORD);
        return (softmax(rows, padded, masked), format!("one stage{mask}"));
    }
    let sub_rows = columns.div_ceil(VECTOR);
    (
        wide_softmax(rows, sub_rows, masked),
        format!("{sub_rows} sub-rows of {VECTOR}{mask}"),
    )
}
