//! Where buffers lie while they are exchanged.

use crate::device::{
    ELEMENT_BYTES, INTERLEAVED_BASE, INTERLEAVED_ELEMENT, LEFT_TAIL_BYTES, STANDARD_BYTES, STANDARD_ELEMENT,
    SUPPORT_BYTES, TILES,
};
use crate::geometry::Memory;
use crate::program::Program;
use crate::shards::Cell;
use crate::traffic::{Buffer, Place};

/// Steps in which the interleaved data of a gather may be moved.
const SHIFT_STEP: usize = 4096;
/// Addresses of buffers that share no memory element with anything of a phase begin here, this far apart.
const APART: usize = 1 << 24;
/// Alignment of the operands of a product.
const OPERAND: usize = 32;

/// Where the left operand of a product lies that does not fit into the standard region. Buffers of the standard class
/// may lie in what the interleaved region has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overflow {
    /// In memory elements of its own.
    Apart,
    /// Directly behind the arriving weights, at the same address on both tiles of a pair, as paired transfers need it.
    Behind,
    /// Directly behind the arriving weights of each tile: where the tiles of a pair differ, no paired transfer writes it.
    BehindUnlevelled,
    /// The same, with paired transfers where none could be: only there to see how much hangs on these tiles.
    BehindUnchecked,
}

/// Addresses of the buffers of one phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addresses {
    product: usize,
    base: usize,
    resident: Vec<usize>,
    result: Vec<usize>,
    /// Bytes before the left operand of each tile, where it lies behind the arriving weights.
    left: Vec<Option<usize>>,
    /// Whether both tiles of a pair must have one address for a paired transfer.
    checked: bool,
}

impl Addresses {
    /// Of the phases of product `at`, before anything is moved.
    ///
    /// In a gather these lie in the interleaved region, directly behind each other: the resident weights (if they are
    /// interleaved), the result of the product before, the arriving weights, and the left operand if it is too large for
    /// what the standard region has left.
    #[must_use]
    pub fn new(program: &Program, at: usize, overflow: Overflow) -> Self {
        let product = &program.products[at];
        let s = &product.shards;
        let mut resident = vec![0; TILES];
        if product.geometry.memory == Memory::Interleaved {
            for inner in 0..s.inner.parts() {
                for column in 0..s.columns.parts() {
                    resident[program.weight_owner(product, inner, column)] =
                        ELEMENT_BYTES * s.inner.range(inner).len() * s.columns.range(column).len();
                }
            }
        }
        let mut result = vec![0; TILES];
        if let Some(before) = at.checked_sub(1) {
            let s = &program.products[before].shards;
            for row in 0..s.result_rows.parts() {
                for column in 0..s.result_columns.parts() {
                    result[program.mapping[s.owner_tile(row, column)]] =
                        ELEMENT_BYTES * s.result_rows.range(row).len() * s.result_columns.range(column).len();
                }
            }
        }
        let mut left = vec![None; TILES];
        for row in 0..s.rows.parts() {
            for column in 0..s.columns.parts() {
                for inner in 0..s.inner.parts() {
                    let tile = program.mapping[s.compute_tile(Cell { row, column, inner })];
                    let depth = s.inner.range(inner).len();
                    let bytes = ELEMENT_BYTES * s.rows.range(row).len() * depth + LEFT_TAIL_BYTES;
                    let weights = ELEMENT_BYTES * depth * s.columns.range(column).len();
                    if overflow != Overflow::Apart
                        && bytes.next_multiple_of(STANDARD_ELEMENT) > STANDARD_BYTES - SUPPORT_BYTES
                    {
                        left[tile] = Some((resident[tile] + result[tile] + weights).next_multiple_of(OPERAND));
                    }
                }
            }
        }
        let level = usize::from(overflow == Overflow::Behind) * TILES;
        for pair in left[..level].chunks_mut(2) {
            let most = pair.iter().copied().max().flatten();
            pair.iter_mut()
                .flatten()
                .for_each(|start| *start = most.unwrap_or(*start));
        }
        Self {
            product: at,
            base: INTERLEAVED_BASE,
            resident,
            result,
            left,
            checked: overflow != Overflow::BehindUnchecked,
        }
    }

    /// The same with everything in the interleaved region moved by the fewest steps that keep an owner's resident weights
    /// and its arriving ones in different memory elements. Where no step does, nothing is moved.
    #[must_use]
    pub fn moved(mut self) -> Self {
        let element = |address: usize| (address - INTERLEAVED_BASE) / INTERLEAVED_ELEMENT;
        let clear = |base: usize| {
            self.resident
                .iter()
                .zip(&self.result)
                .filter(|(resident, _)| **resident > 0)
                .all(|(resident, result)| element(base + resident - 1) < element(base + resident + result))
        };
        let mut steps = (0..INTERLEAVED_ELEMENT / SHIFT_STEP).map(|step| INTERLEAVED_BASE + step * SHIFT_STEP);
        self.base = steps.find(|&base| clear(base)).unwrap_or(INTERLEAVED_BASE);
        self
    }

    /// Whether everything lies where it does in `other`.
    #[must_use]
    pub fn same_place(&self, other: &Self) -> bool {
        self.base == other.base
    }

    /// Whether a place has the same address on both tiles of each pair, as paired transfers need it.
    #[must_use]
    pub fn level(&self, tiles: &[usize], place: Place) -> bool {
        let same = |pair: &[usize]| pair.iter().all(|&tile| self.of(tile, place) == self.of(pair[0], place));
        !self.checked || tiles.chunks(2).all(same)
    }

    /// Address of a place on a tile.
    #[must_use]
    pub fn of(&self, tile: usize, place: Place) -> usize {
        let start = match (place.buffer, self.left[tile]) {
            (Buffer::Resident(at), _) if at == self.product && self.resident[tile] > 0 => self.base,
            (Buffer::Result(at), _) if at + 1 == self.product => self.base + self.resident[tile],
            (Buffer::Weights(at), _) if at == self.product => self.base + self.resident[tile] + self.result[tile],
            (Buffer::Left(at), Some(before)) if at == self.product => self.base + before,
            (Buffer::Resident(_), _) => APART,
            (Buffer::Result(_), _) => 2 * APART,
            (Buffer::Weights(_), _) => 3 * APART,
            (Buffer::Left(_), _) => 4 * APART,
            (Buffer::Partial(_), _) => 5 * APART,
            (Buffer::Scratch(_), _) => 6 * APART,
        };
        start + place.offset
    }
}
