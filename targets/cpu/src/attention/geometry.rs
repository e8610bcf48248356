//! The typed words of an attention plan.
//!
//! Blocks are counted in parts, as those of products are: boundaries of `query_blocks` fall on whole vector panels of
//! queries, those of `key_splits` and `key_blocks` on whole rows of kernels, so only the last block of an axis has a tail.

use std::fmt;

use crate::geometry::{Deal, words};

/// Order of the two loops inside a block, slowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Inside {
    /// A panel of queries stays, keys (or columns of values) stream.
    Qk,
    /// A tile of keys (or of columns of values) stays, panels of queries stream.
    Kq,
}

/// Byte order in which the kernels find keys or values of one head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layout {
    /// `[key][element]`, as given.
    RowMajor,
    /// Panels of one kernel's rows, packed: those of keys `[element][rows]`, those of values `[key][rows]`.
    Panels,
    /// `[element][key]`, turned.
    Transposed,
}

/// When keys and values that are not read as given are brought into their order, always inside the timed span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Packing {
    /// All heads before the first product, shared between the workers, with a barrier behind.
    Ahead,
    /// Head by head, each worker for itself when it comes to a head.
    Own,
}

/// What is kept of the scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scores {
    /// Scores of all keys of a split, then one softmax.
    Whole,
    /// Scores of one key block; sums and results are rescaled when the maximum grows (Milakov and Gimelshein 2018).
    Online,
}

/// Where the largest score is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Maximum {
    /// On the tile, while it lies in registers.
    Tile,
    /// In a pass of its own over the scores.
    Pass,
}

/// The polynomial of `2^x` on [-1/2, 1/2]. Its largest relative error in real numbers: 2.6e-6, 7.5e-8, 1.9e-9 (minimax).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each name is its own meaning")]
pub enum Exponential {
    Degree4,
    Degree5,
    Degree6,
}

/// When the results of key splits are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Merge {
    /// One worker computes the splits of its queries one after another and merges each as it comes.
    Streamed,
    /// Splits are tasks of their own; all partial results lie side by side, then one merge.
    Complete,
}

/// What stands slowest in the list of tasks, hence what a worker owns in contiguous runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Split {
    /// Tasks are listed head by head.
    Heads,
    /// Tasks are listed query block by query block.
    Queries,
}

/// The geometry of one attention on a CPU.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttentionGeometry {
    /// Blocks of the queries of a head.
    pub query_blocks: u32,
    /// Ranges of keys with a softmax of their own.
    pub key_splits: u32,
    /// Blocks of the keys of one split.
    pub key_blocks: u32,
    /// Queries of one vector panel: columns of both kernels.
    pub query_panel: u32,
    /// Rows (keys) of the kernel of scores.
    pub key_height: u32,
    /// Rows (columns of values) of the kernel of results.
    pub value_height: u32,
    /// Inner steps per iteration of both kernels' loops.
    pub unroll: u32,
    /// Loops inside a block.
    pub inside: Inside,
    /// Layout of the keys.
    pub keys: Layout,
    /// Layout of the values.
    pub values: Layout,
    /// When they are packed.
    pub packing: Packing,
    /// What is kept of the scores.
    pub scores: Scores,
    /// Where the maximum is found.
    pub maximum: Maximum,
    /// How exact `2^x` is.
    pub exponential: Exponential,
    /// When key splits are merged.
    pub merge: Merge,
    /// Order of the tasks.
    pub split: Split,
    /// How tasks are dealt to workers.
    pub deal: Deal,
}

words!(Inside { Inside::Qk => "qk", Inside::Kq => "kq" });
words!(Layout { Layout::RowMajor => "row-major", Layout::Panels => "panels", Layout::Transposed => "transposed" });
words!(Packing { Packing::Ahead => "ahead", Packing::Own => "own" });
words!(Scores { Scores::Whole => "whole", Scores::Online => "online" });
words!(Maximum { Maximum::Tile => "tile", Maximum::Pass => "pass" });
words!(Exponential {
    Exponential::Degree4 => "degree-4", Exponential::Degree5 => "degree-5", Exponential::Degree6 => "degree-6",
});
words!(Merge { Merge::Streamed => "streamed", Merge::Complete => "complete" });
words!(Split { Split::Heads => "heads", Split::Queries => "queries" });

impl AttentionGeometry {
    /// Whether keys or values are brought into another order.
    #[must_use]
    pub fn packs(&self) -> bool {
        self.keys != Layout::RowMajor || self.values != Layout::RowMajor
    }
}

/// A geometry and its workers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttentionPlan {
    /// Worker threads.
    pub threads: u32,
    /// The geometry.
    pub geometry: AttentionGeometry,
}
