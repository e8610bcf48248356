//! Partials from the tiles that compute them to the tiles that own their sum.

use std::ops::Range;
use std::sync::Arc;

use super::transfer::{Buffer, Place, Transfer};
use crate::device::{ELEMENT_BYTES, PANEL};
use crate::program::Program;
use crate::shards::{Cell, overlap};

/// What one owner sums of one cell of the compute grid (all its inner partitions).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intersection {
    /// Execution tile of the owner.
    pub owner: usize,
    /// Row partition of the compute grid.
    pub row: usize,
    /// Column partition of the compute grid.
    pub column: usize,
    /// Rows of the result, padding included.
    pub rows: Range<usize>,
    /// Columns of the result, padding included.
    pub columns: Range<usize>,
    /// First row of the owner's shard.
    pub owned_row: usize,
    /// Rows of the owner's shard.
    pub owned_rows: usize,
    /// First column of the owner's shard.
    pub owned_column: usize,
    /// Bytes before it in the owner's scratch.
    pub scratch: usize,
    /// Inner partition whose partial the sum starts with.
    pub seed: usize,
    /// Whether the owner computed the seed itself.
    pub seed_is_local: bool,
    /// Inner partitions of the other partials, in the order of the sum, by stage.
    pub stages: Vec<Vec<usize>>,
}

impl Intersection {
    /// Elements of one partial.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.rows.len() * self.columns.len()
    }

    /// Columns in whole panels.
    #[must_use]
    pub fn panels(&self) -> usize {
        self.columns.len() / PANEL
    }

    /// Bytes of one partial.
    #[must_use]
    pub fn slot_bytes(&self) -> usize {
        self.elements() * ELEMENT_BYTES
    }

    /// Offset in bytes of the panel that begins at `column` in the scratch slot `slot` (0 is the seed's).
    #[must_use]
    pub fn slot_offset(&self, slot: usize, column: usize) -> usize {
        let panel = (column - self.columns.start) * self.rows.len() * ELEMENT_BYTES;
        self.scratch + slot * self.slot_bytes() + panel
    }
}

/// All intersections of a product, in the order of owners, then of rows and columns.
#[must_use]
pub fn intersections(program: &Program, at: usize) -> Vec<Intersection> {
    let product = &program.products[at];
    let s = &product.shards;
    let mut all = Vec::new();
    for a in 0..s.result_rows.parts() {
        let owned_rows = s.result_rows.range(a);
        for b in 0..s.result_columns.parts() {
            let owned_columns = s.result_columns.range(b);
            let owner = s.owner_tile(a, b);
            let mut scratch = 0;
            for row in s.rows.touching(owned_rows.clone()) {
                for column in s.columns.touching(owned_columns.clone()) {
                    let parts = (
                        overlap(&s.rows.range(row), &owned_rows),
                        overlap(&s.columns.range(column), &owned_columns),
                    );
                    let (Some(rows), Some(columns)) = parts else { continue };
                    let own = (0..s.inner.parts()).find(|&inner| s.compute_tile(Cell { row, column, inner }) == owner);
                    let seed = own.unwrap_or(0);
                    let others: Vec<usize> = (0..s.inner.parts()).filter(|&inner| inner != seed).collect();
                    let mut rest = others.as_slice();
                    let stages = product.geometry.staging.stages(others.len()).into_iter().map(|count| {
                        let (stage, after) = rest.split_at(count);
                        rest = after;
                        stage.to_vec()
                    });
                    let intersection = Intersection {
                        owner: program.mapping[owner],
                        row,
                        column,
                        owned_row: owned_rows.start,
                        owned_rows: owned_rows.len(),
                        owned_column: owned_columns.start,
                        rows,
                        columns,
                        scratch,
                        seed,
                        seed_is_local: own.is_some(),
                        stages: stages.collect(),
                    };
                    let slots = 1 + intersection.stages.iter().map(Vec::len).max().unwrap_or(0);
                    scratch += slots * intersection.slot_bytes();
                    all.push(intersection);
                }
            }
        }
    }
    all
}

/// The transfers of one stage. A seed from elsewhere arrives with the first one.
pub(super) fn transfers(program: &Program, at: usize, all: &[Intersection], stage: usize) -> Vec<Transfer> {
    let s = &program.products[at].shards;
    let mut transfers = Vec::new();
    for x in all {
        let destinations: Arc<[usize]> = [x.owner].into();
        let compute_rows = s.rows.range(x.row);
        let first_column = s.columns.range(x.column).start;
        let seed = (stage == 0 && !x.seed_is_local).then_some((0, x.seed));
        let others = x.stages[stage]
            .iter()
            .enumerate()
            .map(|(slot, &inner)| (slot + 1, inner));
        for (slot, inner) in seed.into_iter().chain(others) {
            let source = program.mapping[s.compute_tile(Cell {
                row: x.row,
                column: x.column,
                inner,
            })];
            for column in x.columns.clone().step_by(PANEL) {
                let from = (column - first_column) * compute_rows.len() + (x.rows.start - compute_rows.start) * PANEL;
                transfers.extend(Transfer::split(
                    source,
                    &destinations,
                    x.rows.len() * PANEL,
                    Place {
                        buffer: Buffer::Partial(at),
                        offset: from * ELEMENT_BYTES,
                    },
                    Place {
                        buffer: Buffer::Scratch(at),
                        offset: x.slot_offset(slot, column),
                    },
                ));
            }
        }
    }
    transfers
}
