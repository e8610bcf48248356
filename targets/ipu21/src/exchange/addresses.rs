//! Where buffers lie while they are exchanged.

use crate::device::{ELEMENT_BYTES, INTERLEAVED_BASE, INTERLEAVED_ELEMENT, TILES};
use crate::geometry::Memory;
use crate::program::Program;
use crate::traffic::{Buffer, Place};

/// Steps in which the interleaved data of a gather may be moved.
const SHIFT_STEP: usize = 4096;
/// Addresses of buffers that share no memory element with anything of a phase begin here, this far apart.
const APART: usize = 1 << 24;

/// Addresses of the buffers of one phase.
#[derive(Debug, Clone)]
pub struct Addresses {
    product: usize,
    base: usize,
    resident: Vec<usize>,
    result: Vec<usize>,
}

impl Addresses {
    /// Of the phases of product `at`.
    ///
    /// In a gather three buffers lie in the interleaved region, directly behind each other: the resident weights (if
    /// they are interleaved), the result of the product before, the arriving weights. They are moved by the fewest
    /// steps that keep an owner's resident weights and its arriving ones in different memory elements.
    #[must_use]
    pub fn new(program: &Program, at: usize) -> Self {
        let product = &program.products[at];
        let mut resident = vec![0; TILES];
        if product.geometry.memory == Memory::Interleaved {
            let s = &product.shards;
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
        let element = |address: usize| (address - INTERLEAVED_BASE) / INTERLEAVED_ELEMENT;
        let clear = |base: usize| {
            resident
                .iter()
                .zip(&result)
                .filter(|(resident, _)| **resident > 0)
                .all(|(resident, result)| element(base + resident - 1) < element(base + resident + result))
        };
        let steps = (0..INTERLEAVED_ELEMENT / SHIFT_STEP).map(|step| INTERLEAVED_BASE + step * SHIFT_STEP);
        let base = steps.into_iter().find(|&base| clear(base)).unwrap_or(INTERLEAVED_BASE);
        Self {
            product: at,
            base,
            resident,
            result,
        }
    }

    /// Address of a place on a tile.
    #[must_use]
    pub fn of(&self, tile: usize, place: Place) -> usize {
        let start = match place.buffer {
            Buffer::Resident(at) if at == self.product && self.resident[tile] > 0 => self.base,
            Buffer::Result(at) if at + 1 == self.product => self.base + self.resident[tile],
            Buffer::Weights(at) if at == self.product => self.base + self.resident[tile] + self.result[tile],
            Buffer::Resident(_) => APART,
            Buffer::Result(_) => 2 * APART,
            Buffer::Weights(_) => 3 * APART,
            Buffer::Left(_) => 4 * APART,
            Buffer::Partial(_) => 5 * APART,
            Buffer::Scratch(_) => 6 * APART,
        };
        start + place.offset
    }
}
