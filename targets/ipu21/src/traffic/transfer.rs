//! One transfer.

use std::sync::Arc;

use crate::device::{ELEMENT_BYTES, TRANSFER_WORDS, WORD_BYTES};

/// A buffer of a tile; the number is the product's place in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Buffer {
    /// The weight shard that the tile owns.
    Resident(usize),
    /// The weight shard that it computes with, unless that is the resident one.
    Weights(usize),
    /// Activations, the left operand: `[panel][row][16]` over the tile's inner axis.
    Left(usize),
    /// The F16 partial that it computes: `[panel][row][16]`.
    Partial(usize),
    /// Arriving partials: for each intersection and each contributor in order, `[panel][row][16]`.
    Scratch(usize),
    /// The part of the result that it owns: `[panel][row][16]`.
    Result(usize),
}

/// A place in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The buffer.
    pub buffer: Buffer,
    /// Bytes from its start.
    pub offset: usize,
}

/// Consecutive words from one tile to one or many others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    /// Execution tile that sends.
    pub source: usize,
    /// Execution tiles that receive, ascending.
    pub destinations: Arc<[usize]>,
    /// Words, at least one.
    pub words: usize,
    /// Where they come from.
    pub from: Place,
    /// Where they go to, on every destination.
    pub to: Place,
}

impl Transfer {
    /// A run of F16 elements, split where it is longer than one transfer may be.
    pub(super) fn split(
        source: usize,
        destinations: &Arc<[usize]>,
        elements: usize,
        from: Place,
        to: Place,
    ) -> impl Iterator<Item = Self> + use<> {
        // All runs are whole panels of 16 elements.
        let words = elements * ELEMENT_BYTES / WORD_BYTES;
        let destinations = destinations.clone();
        (0..words).step_by(TRANSFER_WORDS).map(move |start| {
            let at = |place: Place| Place {
                buffer: place.buffer,
                offset: place.offset + start * WORD_BYTES,
            };
            Self {
                source,
                destinations: destinations.clone(),
                words: TRANSFER_WORDS.min(words - start),
                from: at(from),
                to: at(to),
            }
        })
    }
}
