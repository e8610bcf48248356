//! The stages of a flash attention.

use super::values::Given;
use super::{Flash, LOWEST, Mask, Restart};
use crate::program::{BufferId, Epilogue, Expr, Gemm, Operand, Program, Statement, Term, Vector, Work};

/// Temporaries of one part of the keys.
pub(super) struct Call {
    pub(super) scores: BufferId,
    pub(super) weights: BufferId,
    pub(super) part_o: BufferId,
    pub(super) maximum: BufferId,
    pub(super) sum: BufferId,
    pub(super) correction: BufferId,
    pub(super) running: BufferId,
}

/// One pass of a group of heads over the keys.
pub(super) struct Pass<'a> {
    pub(super) f: &'a Flash,
    pub(super) group: usize,
    pub(super) number: usize,
    pub(super) q: BufferId,
    pub(super) k: BufferId,
    pub(super) v: &'a Given,
    pub(super) mask: Option<BufferId>,
    pub(super) o: BufferId,
}

impl Pass<'_> {
    /// Adds the stages of the pass.
    pub(super) fn add(&self, program: &mut Program, calls: &mut [Call]) {
        let f = self.f;
        let blocks_of_split = f.blocks() / f.key_splits;
        for block in 0..f.blocks() {
            let call = &mut calls[block / blocks_of_split];
            if block.is_multiple_of(blocks_of_split) {
                init(program, f, call);
            }
            // A causal block behind the pass's own is not visited.
            if f.causal && block > self.number {
                continue;
            }
            self.score(program, call, block * f.block);
            let tail = f.keys < f.padded_keys && block + 1 == f.blocks();
            if let Some(mask) = self.mask.filter(|_| tail || (f.causal && block == self.number)) {
                add_mask(program, f, call, mask);
            }
            softmax(program, f, call);
            self.weigh(program, call, block * f.block);
            if f.restart == Restart::InDrain {
                // What was drained is the running result of the next block.
                std::mem::swap(&mut call.running, &mut call.part_o);
            } else {
                accumulate(program, f, call);
            }
        }
        let (whole, parts) = calls.split_at(1);
        for (into, part) in whole.iter().flat_map(|into| parts.iter().map(move |part| (into, part))) {
            merge(program, f, into, part);
        }
        self.divide(program, &calls[0]);
    }

    /// First head of the group.
    fn first_head(&self) -> usize {
        self.group * self.f.head_block
    }

    fn score(&self, program: &mut Program, call: &Call, key: usize) {
        let f = self.f;
        let window = |buffer, first_row| Operand {
            first_row,
            first_batch: self.first_head(),
            ..Operand::whole(buffer)
        };
        let gemm = Gemm {
            rows: f.query_block,
            columns: f.block,
            terms: vec![Term {
                a: window(self.q, self.number * f.query_block),
                b: window(self.k, key),
                inner: f.width,
            }],
            batch: f.head_block,
            tile: f.tile,
            nk: f.nk,
            out: call.scores,
            epilogue: None,
        };
        program.stage("scores", Work::Gemm(gemm));
    }

    fn weigh(&self, program: &mut Program, call: &Call, key: usize) {
        let f = self.f;
        let gemm = Gemm {
            rows: f.query_block,
            columns: f.value_width,
            terms: vec![Term {
                a: Operand::whole(call.weights),
                b: Operand {
                    first_inner: key,
                    ..self.v.operand(f, self.group)
                },
                inner: f.block,
            }],
            batch: f.head_block,
            tile: f.tile,
            nk: f.nk,
            out: call.part_o,
            epilogue: (f.restart == Restart::InDrain).then(|| drained(call)),
        };
        program.stage("values", Work::Gemm(gemm));
    }

    fn divide(&self, program: &mut Program, call: &Call) {
        let f = self.f;
        let value = Expr::read(call.running).over(Expr::read(call.sum));
        let vector = Vector {
            batch: f.head_block,
            first_batch: self.first_head(),
            rows: f.query_block,
            columns: f.value_width,
            part: f.part,
            statements: vec![Statement {
                first_row: self.number * f.query_block,
                ..set(self.o, value)
            }],
        };
        let name = match self.group * f.passes() + self.number {
            0 => "divide".to_owned(),
            at => format!("divide-{at}"),
        };
        program.stage(&name, Work::Vector(vector));
    }
}

fn vector(f: &Flash, columns: usize, statements: Vec<Statement>) -> Work {
    Work::Vector(Vector {
        batch: f.head_block,
        first_batch: 0,
        rows: f.query_block,
        columns,
        part: f.part,
        statements,
    })
}

fn set(target: BufferId, value: Expr) -> Statement {
    Statement::new(target, value)
}

fn init(program: &mut Program, f: &Flash, call: &Call) {
    // A constant is stored as `x 0 + c`.
    let zero = |buffer| {
        let nothing = Expr::constant(0.0);
        set(buffer, Expr::read(buffer).times(nothing.clone()).plus(nothing))
    };
    let lowest = Expr::read(call.maximum)
        .times(Expr::constant(0.0))
        .plus(Expr::constant(LOWEST));
    let mut statements = vec![zero(call.running), zero(call.sum)];
    if f.restart != Restart::Fixed {
        statements.push(set(call.maximum, lowest));
    }
    program.stage("init", vector(f, f.block, statements));
}

fn add_mask(program: &mut Program, f: &Flash, call: &Call, mask: BufferId) {
    let (scores, mask) = (Expr::read(call.scores), Expr::read(mask));
    let masked = match f.mask {
        Mask::Ones => {
            let lowest = Expr::constant(-LOWEST);
            scores.plus(mask.times(lowest.clone()).minus(lowest))
        }
        Mask::Added => scores.plus(mask),
    };
    program.stage("mask", vector(f, f.block, vec![set(call.scores, masked)]));
}

/// The band of one key block: what the new maximum makes of the old sums and of the scores.
fn softmax(program: &mut Program, f: &Flash, call: &Call) {
    let (scores, maximum, sum) = (Expr::read(call.scores), Expr::read(call.maximum), Expr::read(call.sum));
    let statements = if f.restart == Restart::Fixed {
        let weights = scores.exp2();
        // The sum comes first: it folds, so that scores are rows for the weights too.
        vec![
            set(call.sum, sum.plus(weights.clone().sum())),
            set(call.weights, weights),
        ]
    } else {
        let new = maximum.clone().larger(scores.clone().largest());
        let correction = maximum.minus(new.clone()).exp2();
        let weights = scores.minus(new.clone()).exp2();
        let total = sum.times(correction.clone()).plus(weights.clone().sum());
        let mut statements = vec![
            set(call.correction, correction.clone()),
            set(call.weights, weights),
            set(call.sum, total),
            set(call.maximum, new),
        ];
        if f.restart == Restart::InBand {
            let scaled = Expr::read(call.running).times(Expr::read(call.correction));
            statements.push(set(call.running, scaled));
        }
        statements
    };
    program.stage("softmax", vector(f, f.block, statements));
}

/// Rescales what runs, and adds the drained tile.
fn drained(call: &Call) -> Epilogue {
    let rescaled = Expr::read(call.running).times(Expr::read(call.correction));
    Epilogue {
        value: Expr::read(call.part_o).plus(rescaled),
        bias: None,
        full: vec![call.running, call.correction],
    }
}

fn accumulate(program: &mut Program, f: &Flash, call: &Call) {
    let (running, part) = (Expr::read(call.running), Expr::read(call.part_o));
    let value = match f.restart {
        Restart::Accumulate | Restart::InDrain => running.times(Expr::read(call.correction)).plus(part),
        Restart::InBand => running.plus(part),
        // Nothing rescales it by rows: the running result may lie as the tiles do.
        Restart::Fixed => part.plus(running),
    };
    program.stage("accumulate", vector(f, f.value_width, vec![set(call.running, value)]));
}

/// Adds a part of the keys to another one: both are rescaled to the larger maximum (Milakov and Gimelshein, "Online normalizer
/// calculation for softmax", 2018, section 3.1).
fn merge(program: &mut Program, f: &Flash, into: &Call, part: &Call) {
    let both = |of: fn(&Call) -> BufferId| (Expr::read(of(into)), Expr::read(of(part)));
    let (sum, part_sum) = both(|call| call.sum);
    let (running, part_running) = both(|call| call.running);
    if f.restart == Restart::Fixed {
        // Both stand over the same maximum. The result may lie as the tiles do, sums are rows.
        program.stage("merge-sum", vector(f, f.block, vec![set(into.sum, sum.plus(part_sum))]));
        let result = vec![set(into.running, running.plus(part_running))];
        program.stage("merge", vector(f, f.value_width, result));
        return;
    }
    let (maximum, part_maximum) = both(|call| call.maximum);
    let (own, other) = both(|call| call.correction);
    let new = maximum.clone().larger(part_maximum.clone());
    // A core has no descriptors for four operands at once: the part is rescaled first.
    let statements = vec![
        set(into.correction, maximum.minus(new.clone()).exp2()),
        set(part.correction, part_maximum.minus(new.clone()).exp2()),
        set(part.sum, part_sum.clone().times(other.clone())),
        set(into.sum, sum.times(own.clone()).plus(part_sum)),
        set(into.maximum, new),
    ];
    program.stage("merge-sum", vector(f, f.block, statements));
    let statements = vec![
        set(part.running, part_running.clone().times(other)),
        set(into.running, running.times(own).plus(part_running)),
    ];
    program.stage("merge", vector(f, f.value_width, statements));
}
