//! Weight shards from their owners to the tiles that compute with them.

use std::sync::Arc;

use super::transfer::{Buffer, Place, Transfer};
use crate::geometry::Memory;
use crate::program::Program;
use crate::shards::Cell;

/// How one weight shard reaches the tiles that need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its inner partition.
    pub inner: usize,
    /// Its column partition.
    pub column: usize,
    /// Execution tile of the resident copy.
    pub owner: usize,
    /// Execution tiles that receive it, ascending; the owner among them when it listens to itself.
    pub destinations: Arc<[usize]>,
    /// Whether the owner computes with it and copies it to where it computes.
    pub local_copy: bool,
}

/// All deliveries of a product.
///
/// An owner that computes with its shard reads it in place when it lies in the interleaved region. Otherwise it listens
/// to its own transfer when at least two others do, and copies when not.
#[must_use]
pub fn deliveries(program: &Program, at: usize) -> Vec<Delivery> {
    let product = &program.products[at];
    let s = &product.shards;
    let shards = (0..s.inner.parts()).flat_map(|inner| (0..s.columns.parts()).map(move |column| (inner, column)));
    shards
        .map(|(inner, column)| {
            let owner = program.weight_owner(product, inner, column);
            let tiles = (0..s.rows.parts())
                .map(|row| program.mapping[s.compute_tile(Cell { row, column, inner })])
                .collect::<Vec<_>>();
            let local = tiles.contains(&owner);
            let remote = tiles.len() - usize::from(local);
            let move_local = local && product.geometry.memory == Memory::Standard;
            let loopback = move_local && remote >= 2;
            let mut destinations: Vec<usize> = tiles.into_iter().filter(|&tile| tile != owner || loopback).collect();
            destinations.sort_unstable();
            Delivery {
                inner,
                column,
                owner,
                destinations: destinations.into(),
                local_copy: move_local && !loopback,
            }
        })
        .collect()
}

/// The transfers of a product's weights.
pub(super) fn transfers(program: &Program, at: usize) -> Vec<Transfer> {
    let s = &program.products[at].shards;
    deliveries(program, at)
        .into_iter()
        .filter(|delivery| !delivery.destinations.is_empty())
        .flat_map(|d| {
            let elements = s.inner.range(d.inner).len() * s.columns.range(d.column).len();
            let (from, to) = (Buffer::Resident(at), Buffer::Weights(at));
            let place = |buffer| Place { buffer, offset: 0 };
            Transfer::split(d.owner, &d.destinations, elements, place(from), place(to))
        })
        .collect()
}
