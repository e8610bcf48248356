//! Flash attention: key block after key block, with a running maximum and sum. Keys may be split into parts with maximum,
//! sum and result of their own, which are merged at the end.

use planner::Refusal;

use crate::layout::Shape;
use crate::machine::PART;
use crate::program::{BufferId, Epilogue, Expr, Gemm, Operand, Program, Role, Statement, Term, Vector, Work};

/// Where the rescaling of the running result is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Restart {
    /// In a stage of its own, behind the second product, as shipped.
    #[default]
    Accumulate,
    /// Inside the softmax band, so that the accumulation only adds: the first published rewrite.
    InBand,
    /// In the drain of the second product, whose epilogue reads the running result and its correction at full shape: the
    /// machine has no such epilogue, and a what-if one only where all tiles drain into cores at once.
    InDrain,
    /// Not at all: a fixed maximum is subtracted, which is only right for bounded scores.
    Fixed,
}

/// How keys that a query may not see are kept out of its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Mask {
    /// A table of ones and zeros, `s + (m c - c)`: three operations on three operands, which is what the published kernel's
    /// band takes (11 cycles for 16 elements).
    #[default]
    Ones,
    /// A table of what is added, zero or [`LOWEST`]: one operation on two operands, 7 cycles.
    Added,
}

/// An attention call. Queries come scaled by `log2(e) / sqrt(Dqk)`; values come transposed, `[Dv][keys]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flash {
    /// Heads that have keys of their own.
    pub heads: usize,
    /// Query rows of one such head (of all query heads that share it, one behind the other).
    pub queries: usize,
    /// Keys, padding included.
    pub padded_keys: usize,
    /// Keys that are real; fewer than `padded_keys` mask the rest.
    pub keys: usize,
    /// Width of a query and a key.
    pub width: usize,
    /// Width of a value.
    pub value_width: usize,
    /// Whether a query sees only keys up to its own place.
    pub causal: bool,
    /// Keys of one step.
    pub block: usize,
    /// Query rows of one pass.
    pub query_block: usize,
    /// Parts of the keys with a running maximum, sum and result of their own. A stage takes all clusters, so parts run one
    /// after another.
    pub key_splits: usize,
    /// Sub-tiles of one instance.
    pub tile: (usize, usize),
    /// K blocks of one step of a product.
    pub nk: usize,
    /// Elements of one vector instance.
    pub part: usize,
    /// Where the rescaling is computed.
    pub restart: Restart,
    /// How keys are masked, where some are.
    pub mask: Mask,
}

impl Flash {
    /// A call with the published defaults: blocks of 64 keys, all queries at once, tiles of 8 x 8, two K blocks.
    #[must_use]
    pub fn published(heads: usize, queries: usize, keys: usize) -> Self {
        Self {
            heads,
            queries,
            padded_keys: keys,
            keys,
            width: 64,
            value_width: 64,
            causal: false,
            block: 64,
            query_block: queries,
            key_splits: 1,
            tile: (8, 8),
            nk: 2,
            part: PART,
            restart: Restart::Accumulate,
            mask: Mask::Ones,
        }
    }

    /// Whether a query does not see all keys.
    #[must_use]
    pub fn masked(&self) -> bool {
        self.causal || self.keys < self.padded_keys
    }

    /// The table that the program reads as `mask`, `query_block` x `block`; none where nothing is masked.
    #[must_use]
    pub fn mask_table(&self) -> Option<Vec<f32>> {
        let (seen, unseen) = match self.mask {
            Mask::Ones => (1.0, 0.0),
            Mask::Added => (0.0, LOWEST),
        };
        let tail = self.keys % self.block.max(1);
        let sees = |row: usize, column: usize| if self.causal { column <= row } else { column < tail };
        let cell = |at: usize| {
            if sees(at / self.block, at % self.block) {
                seen
            } else {
                unseen
            }
        };
        self.masked()
            .then(|| (0..self.query_block * self.block).map(cell).collect())
    }

    /// Key blocks of one pass over all keys.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.padded_keys / self.block
    }

    /// Passes over the keys.
    #[must_use]
    pub fn passes(&self) -> usize {
        self.queries / self.query_block
    }
}

/// The most negative number that a score may be replaced with: `2^-30000` is zero, and no sum overflows.
pub const LOWEST: f32 = -30_000.0;

struct Call {
    scores: BufferId,
    weights: BufferId,
    part_o: BufferId,
    maximum: BufferId,
    sum: BufferId,
    correction: BufferId,
    running: BufferId,
}

/// The program of a call. Fails where the kernel has no form for it.
pub fn flash(f: &Flash) -> Result<Program, Refusal> {
    crate::attention::check(f)?;
    let mut program = Program::default();
    let square = |rows, columns| Shape::matrix(rows, columns);
    let q = program.buffer("q", Role::Input, f.heads, square(f.queries, f.width));
    let k = program.buffer("k", Role::Input, f.heads, square(f.padded_keys, f.width));
    let v = program.buffer("v", Role::Input, f.heads, square(f.value_width, f.padded_keys));
    let mask = f
        .masked()
        .then(|| program.buffer("mask", Role::Input, 1, square(f.query_block, f.block)));
    let o = program.buffer("o", Role::Output, f.heads, square(f.queries, f.value_width));
    let mut temporary =
        |name: &str, columns| program.buffer(name, Role::Temporary, f.heads, square(f.query_block, columns));
    let (scores, weights, part_o) = (
        temporary("scores", f.block),
        temporary("weights", f.block),
        temporary("part_o", f.value_width),
    );
    let mut calls: Vec<Call> = (0..f.key_splits)
        .map(|split| {
            // The first part has the plain names.
            let mut own = |name: &str, columns| match split {
                0 => temporary(name, columns),
                split => temporary(&format!("{name}-{split}"), columns),
            };
            Call {
                scores,
                weights,
                part_o,
                maximum: own("maximum", f.block),
                sum: own("sum", f.block),
                correction: own("correction", f.block),
                running: own("running", f.value_width),
            }
        })
        .collect();
    let blocks_of_split = f.blocks() / f.key_splits;
    for pass in 0..f.passes() {
        for block in 0..f.blocks() {
            let call = &mut calls[block / blocks_of_split];
            if block.is_multiple_of(blocks_of_split) {
                init(&mut program, f, call);
            }
            let first = pass * f.query_block;
            // A causal block behind the pass's own is not visited.
            if f.causal && block > pass {
                continue;
            }
            score(&mut program, f, call, q, k, first, block * f.block);
            let tail = f.keys < f.padded_keys && block + 1 == f.blocks();
            if let Some(mask) = mask.filter(|_| tail || (f.causal && block == pass)) {
                add_mask(&mut program, f, call, mask);
            }
            softmax(&mut program, f, call);
            weigh(&mut program, f, call, v, block * f.block);
            if f.restart == Restart::InDrain {
                // What was drained is the running result of the next block.
                std::mem::swap(&mut call.running, &mut call.part_o);
            } else {
                accumulate(&mut program, f, call);
            }
        }
        let (whole, parts) = calls.split_at(1);
        for (into, part) in whole.iter().flat_map(|into| parts.iter().map(move |part| (into, part))) {
            merge(&mut program, f, into, part);
        }
        divide(&mut program, f, &calls[0], o, pass);
    }
    Ok(program)
}

fn vector(f: &Flash, columns: usize, statements: Vec<Statement>) -> Work {
    Work::Vector(Vector {
        batch: f.heads,
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

fn score(program: &mut Program, f: &Flash, call: &Call, q: BufferId, k: BufferId, query: usize, key: usize) {
    let window = |buffer, first_row| Operand {
        first_row,
        ..Operand::whole(buffer)
    };
    let gemm = Gemm {
        rows: f.query_block,
        columns: f.block,
        terms: vec![Term {
            a: window(q, query),
            b: window(k, key),
            inner: f.width,
        }],
        batch: f.heads,
        tile: f.tile,
        nk: f.nk,
        out: call.scores,
        epilogue: None,
    };
    program.stage("scores", Work::Gemm(gemm));
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

fn weigh(program: &mut Program, f: &Flash, call: &Call, v: BufferId, key: usize) {
    let gemm = Gemm {
        rows: f.query_block,
        columns: f.value_width,
        terms: vec![Term {
            a: Operand::whole(call.weights),
            b: Operand {
                first_inner: key,
                ..Operand::whole(v)
            },
            inner: f.block,
        }],
        batch: f.heads,
        tile: f.tile,
        nk: f.nk,
        out: call.part_o,
        epilogue: (f.restart == Restart::InDrain).then(|| drained(call)),
    };
    program.stage("values", Work::Gemm(gemm));
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

fn divide(program: &mut Program, f: &Flash, call: &Call, o: BufferId, pass: usize) {
    let value = Expr::read(call.running).over(Expr::read(call.sum));
    let vector = Vector {
        batch: f.heads,
        rows: f.query_block,
        columns: f.value_width,
        part: f.part,
        statements: vec![Statement {
            first_row: pass * f.query_block,
            ..set(o, value)
        }],
    };
    let name = if pass == 0 {
        "divide".to_owned()
    } else {
        format!("divide-{pass}")
    };
    program.stage(&name, Work::Vector(vector));
}
