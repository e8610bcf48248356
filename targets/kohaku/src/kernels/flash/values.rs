//! The values of an attention, in the order in which the caller has them.
//!
//! The second product sums over keys, and a cluster is filled with rows along the summed axis: it reads `[width][key]`.

use super::Flash;
use crate::layout::Shape;
use crate::program::{BufferId, Expr, Gemm, Operand, Program, Role, Statement, Term, Vector, Work};

/// The order in which the caller hands the values over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum ValueOrder {
    /// `[width][key]`, as clusters are filled: the product that made them had its operands swapped.
    #[default]
    Transposed,
    /// `[width][key]`, row after row: copied in the call, then converted by whole words.
    Rows,
    /// `[width][key]` in the tiles that a projection drains. A caller hands a tensor over in one order, so that this one
    /// would go through the host.
    Tiles,
    /// `[key][width]`, as clusters are filled: turned in the call by a product with the identity, then converted.
    ByKey,
}

impl ValueOrder {
    /// The name of the caller's buffer.
    #[must_use]
    pub fn input(self) -> &'static str {
        match self {
            Self::Transposed | Self::Tiles => "v",
            Self::Rows | Self::ByKey => "given-v",
        }
    }
}

/// Sub-tiles along the keys of the product that turns values; key blocks are a whole number of them.
const TURNED_COLUMNS: usize = 8;

/// The caller's values, and those that the second product reads.
pub(super) struct Given {
    v: BufferId,
    /// The caller's own, where they are brought into another order, and the identity where they are turned.
    own: Option<(BufferId, Option<BufferId>)>,
}

impl Given {
    pub(super) fn new(program: &mut Program, f: &Flash) -> Self {
        let read = Shape::matrix(f.value_width, f.padded_keys);
        let shape = match f.values {
            ValueOrder::ByKey => Shape::matrix(f.padded_keys, f.value_width),
            _ => read,
        };
        let own = program.buffer(f.values.input(), Role::Input, f.heads, shape);
        let identity = match f.values {
            ValueOrder::Transposed | ValueOrder::Tiles => return Self { v: own, own: None },
            ValueOrder::Rows => None,
            ValueOrder::ByKey => {
                Some(program.buffer("identity", Role::Input, 1, Shape::matrix(f.value_width, f.value_width)))
            }
        };
        Self {
            v: program.buffer("v", Role::Temporary, f.head_block, read),
            own: Some((own, identity)),
        }
    }

    /// The values of a group of heads as an operand of the second product.
    pub(super) fn operand(&self, f: &Flash, group: usize) -> Operand {
        Operand {
            // A temporary holds the group's own.
            first_batch: if self.own.is_some() { 0 } else { group * f.head_block },
            ..Operand::whole(self.v)
        }
    }

    /// Adds the stage that brings the values of a group of heads, where they come in another order.
    pub(super) fn bring(&self, program: &mut Program, f: &Flash, group: usize) {
        let first_batch = group * f.head_block;
        match self.own {
            None => {}
            Some((own, None)) => {
                let copied = Expr::read(own).times(Expr::constant(1.0));
                let vector = Vector {
                    batch: f.head_block,
                    first_batch,
                    rows: f.value_width,
                    columns: f.padded_keys,
                    part: f.part,
                    statements: vec![Statement::new(self.v, copied)],
                };
                program.stage("take", Work::Vector(vector));
            }
            Some((own, Some(identity))) => {
                let gemm = Gemm {
                    rows: f.value_width,
                    columns: f.padded_keys,
                    terms: vec![Term {
                        a: Operand::whole(identity),
                        b: Operand {
                            first_batch,
                            ..Operand::whole(own)
                        },
                        inner: f.value_width,
                    }],
                    batch: f.head_block,
                    // Its rows are grouped as those of the fills that follow.
                    tile: (f.tile.1, TURNED_COLUMNS),
                    nk: f.nk,
                    out: self.v,
                    epilogue: None,
                };
                program.stage("turn", Work::Gemm(gemm));
            }
        }
    }
}
