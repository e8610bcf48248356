//! The memories of all tiles.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::device::{ELEMENT_BYTES, TILES};
use crate::traffic::{Buffer, Place};

/// Buffers of all tiles. What was never written is not a number, so that whoever reads it gives a wrong answer. Tiles
/// that get the same block from the host share it until one of them writes.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    tiles: Vec<BTreeMap<Buffer, Arc<Vec<f32>>>>,
}

impl Machine {
    /// Empty memories.
    pub(super) fn new() -> Self {
        Self {
            tiles: vec![BTreeMap::new(); TILES],
        }
    }

    /// The content of a buffer; empty when there is none.
    pub(super) fn read(&self, tile: usize, buffer: Buffer) -> &[f32] {
        self.tiles[tile].get(&buffer).map_or(&[], |block| block.as_slice())
    }

    /// `elements` from a place on; what lies outside its buffer is not a number.
    pub(super) fn run(&self, tile: usize, place: Place, elements: usize) -> Vec<f32> {
        let start = place.offset / ELEMENT_BYTES;
        let buffer = self.read(tile, place.buffer);
        (start..start + elements)
            .map(|at| buffer.get(at).copied().unwrap_or(f32::NAN))
            .collect()
    }

    /// Writes from a place on; the buffer grows as needed.
    pub(super) fn write(&mut self, tile: usize, place: Place, values: &[f32]) {
        let start = place.offset / ELEMENT_BYTES;
        let buffer = Arc::make_mut(self.tiles[tile].entry(place.buffer).or_default());
        if buffer.len() < start + values.len() {
            buffer.resize(start + values.len(), f32::NAN);
        }
        buffer[start..start + values.len()].copy_from_slice(values);
    }

    /// Puts a whole buffer in place.
    pub(super) fn put(&mut self, tile: usize, buffer: Buffer, values: Vec<f32>) {
        self.share(tile, buffer, &Arc::new(values));
    }

    /// Puts a whole buffer in place that other tiles hold too.
    pub(super) fn share(&mut self, tile: usize, buffer: Buffer, values: &Arc<Vec<f32>>) {
        self.tiles[tile].insert(buffer, Arc::clone(values));
    }

    /// Makes room for `elements` that are about to be written.
    pub(super) fn reserve(&mut self, tile: usize, buffer: Buffer, elements: usize) {
        self.put(tile, buffer, vec![f32::NAN; elements]);
    }

    /// Takes a buffer away from one tile: nothing reads it any more.
    pub(super) fn forget(&mut self, tile: usize, buffer: Buffer) {
        self.tiles[tile].remove(&buffer);
    }

    /// Takes a buffer away from all tiles: nothing reads it any more.
    pub(super) fn discard(&mut self, buffer: Buffer) {
        for tile in &mut self.tiles {
            tile.remove(&buffer);
        }
    }

    /// Takes a buffer away.
    pub(super) fn take(&mut self, tile: usize, buffer: Buffer) -> Vec<f32> {
        let block = self.tiles[tile].remove(&buffer).unwrap_or_default();
        Arc::try_unwrap(block).unwrap_or_else(|shared| shared.to_vec())
    }
}
