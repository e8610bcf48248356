//! Where the resident weights lie.

use crate::device::{ELEMENT_BYTES, TILES};
use crate::shards::Shards;

/// First owner tile of the weights of each product, in order.
///
/// Shard `(inner, column)` of a product lies on planned tile `offset + column + columns * inner` modulo the number of
/// tiles. The offset is the smallest that keeps the most loaded tile's parameter bytes smallest.
#[must_use]
pub fn offsets(products: &[Shards]) -> Vec<usize> {
    let mut load = vec![0usize; TILES];
    products
        .iter()
        .map(|shards| {
            let sizes: Vec<usize> = (0..shards.inner.parts())
                .flat_map(|inner| (0..shards.columns.parts()).map(move |column| (inner, column)))
                .map(|(inner, column)| {
                    ELEMENT_BYTES * shards.inner.range(inner).len() * shards.columns.range(column).len()
                })
                .collect();
            let worst = |offset: usize| {
                let mut most = 0;
                for (tile, &bytes) in load.iter().enumerate() {
                    let shard = (tile + TILES - offset) % TILES;
                    most = most.max(bytes + sizes.get(shard).copied().unwrap_or(0));
                }
                most
            };
            // No offset does better than the most loaded tile or the largest shard by itself: the first that is as
            // good needs no other to be looked at.
            let bound = load.iter().chain(&sizes).copied().max().unwrap_or(0);
            let offset = (0..TILES)
                .find(|&offset| worst(offset) == bound)
                .or_else(|| (0..TILES).min_by_key(|&offset| (worst(offset), offset)))
                .unwrap_or(0);
            for (shard, bytes) in sizes.iter().enumerate() {
                load[(offset + shard) % TILES] += bytes;
            }
            offset
        })
        .collect()
}
