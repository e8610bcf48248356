//! Flash attention: key block after key block, with a running maximum and sum. Keys may be split into parts with maximum,
//! sum and result of their own, which are merged at the end. Heads may be taken in groups, one after another.

mod stages;
mod values;

use planner::Refusal;

use crate::layout::Shape;
use crate::machine::PART;
use crate::program::{Program, Role};
use stages::{Call, Pass};
use values::Given;
pub use values::ValueOrder;

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

/// An attention call. Queries come scaled by `log2(e) / sqrt(Dqk)`.
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
    /// Heads of one group: groups follow each other, each through all its passes.
    pub head_block: usize,
    /// The order in which the caller hands the values over.
    pub values: ValueOrder,
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
            head_block: heads,
            values: ValueOrder::Transposed,
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

    /// Groups of heads.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.heads / self.head_block
    }

    /// Passes of one group over the keys.
    #[must_use]
    pub fn passes(&self) -> usize {
        self.queries / self.query_block
    }
}

/// The most negative number that a score may be replaced with: `2^-30000` is zero, and no sum overflows.
pub const LOWEST: f32 = -30_000.0;

/// The program of a call. Fails where the kernel has no form for it.
pub fn flash(f: &Flash) -> Result<Program, Refusal> {
    crate::attention::check(f)?;
    let mut program = Program::default();
    let square = |rows, columns| Shape::matrix(rows, columns);
    let q = program.buffer("q", Role::Input, f.heads, square(f.queries, f.width));
    let k = program.buffer("k", Role::Input, f.heads, square(f.padded_keys, f.width));
    let v = Given::new(&mut program, f);
    let mask = f
        .masked()
        .then(|| program.buffer("mask", Role::Input, 1, square(f.query_block, f.block)));
    let o = program.buffer("o", Role::Output, f.heads, square(f.queries, f.value_width));
    let mut calls = calls(&mut program, f);
    for group in 0..f.groups() {
        v.bring(&mut program, f, group);
        for number in 0..f.passes() {
            let pass = Pass {
                f,
                group,
                number,
                q,
                k,
                v: &v,
                mask,
                o,
            };
            pass.add(&mut program, &mut calls);
        }
    }
    Ok(program)
}

/// The temporaries of each part of the keys; scores, weights and products are those of all.
fn calls(program: &mut Program, f: &Flash) -> Vec<Call> {
    let mut temporary = |name: &str, columns| {
        program.buffer(
            name,
            Role::Temporary,
            f.head_block,
            Shape::matrix(f.query_block, columns),
        )
    };
    let (scores, weights, part_o) = (
        temporary("scores", f.block),
        temporary("weights", f.block),
        temporary("part_o", f.value_width),
    );
    (0..f.key_splits)
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
        .collect()
}
