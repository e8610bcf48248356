//! Results of one product to the tiles that compute the next.

use std::sync::Arc;

use super::transfer::{Buffer, Place, Transfer};
use crate::device::{ELEMENT_BYTES, PANEL};
use crate::program::Program;
use crate::shards::{Cell, overlap};

/// One panel of one result shard, as far as it goes to one row partition of the next product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Execution tile that owns it.
    pub source: usize,
    /// Execution tiles that receive it, ascending.
    pub destinations: Arc<[usize]>,
    /// Whether the owner needs it too; it copies it.
    pub local: bool,
    /// Row partition of the next product.
    pub row: usize,
    /// Inner partition of the next product.
    pub inner: usize,
    /// Rows, without padding.
    pub rows: usize,
    /// Where it lies in the result.
    pub from: Place,
    /// Where it goes in the left operand.
    pub to: Place,
}

/// All pieces between product `at` and the next one.
#[must_use]
pub fn pieces(program: &Program, at: usize) -> Vec<Piece> {
    let (s, next) = (&program.products[at].shards, &program.products[at + 1].shards);
    let mut pieces = Vec::new();
    for a in 0..s.result_rows.parts() {
        let physical = s.result_rows.range(a);
        for row in next.rows.touching(physical.clone()) {
            let target = next.rows.range(row);
            let Some(rows) = overlap(&s.result_rows.logical(a), &target) else {
                continue;
            };
            for b in 0..s.result_columns.parts() {
                let columns = s.result_columns.range(b);
                let source = program.mapping[s.owner_tile(a, b)];
                for column in columns.clone().step_by(PANEL) {
                    let Some(inner) = next.inner.touching(column..column + PANEL).next() else {
                        continue;
                    };
                    let first = next.inner.range(inner).start;
                    let mut destinations: Vec<usize> = (0..next.columns.parts())
                        .map(|column| program.mapping[next.compute_tile(Cell { row, column, inner })])
                        .collect();
                    destinations.sort_unstable();
                    let local = destinations
                        .binary_search(&source)
                        .map(|at| destinations.remove(at))
                        .is_ok();
                    let from = (column - columns.start) * physical.len() + (rows.start - physical.start) * PANEL;
                    let to = (column - first) * target.len() + (rows.start - target.start) * PANEL;
                    let place = |buffer, elements: usize| Place {
                        buffer,
                        offset: elements * ELEMENT_BYTES,
                    };
                    pieces.push(Piece {
                        source,
                        destinations: destinations.into(),
                        local,
                        row,
                        inner,
                        rows: rows.len(),
                        from: place(Buffer::Result(at), from),
                        to: place(Buffer::Left(at + 1), to),
                    });
                }
            }
        }
    }
    pieces
}

/// The transfers of these pieces.
pub(super) fn transfers(pieces: &[Piece]) -> Vec<Transfer> {
    pieces
        .iter()
        .filter(|piece| !piece.destinations.is_empty())
        .flat_map(|p| Transfer::split(p.source, &p.destinations, p.rows * PANEL, p.from, p.to))
        .collect()
}
