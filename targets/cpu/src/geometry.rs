//! The typed words of a CPU plan: what one GEMM looks like, and what the whole plan adds to it.
//!
//! A *tile* is a block of the iteration space. `rows`, `columns` and `inner` count blocks; their boundaries fall on
//! whole panels of `height` rows, `width` columns and grains of the inner extent (see [`crate::blocks`]).

use std::fmt;

/// Which product is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Orientation {
    /// `C = A B`: tokens are rows, weights lie in vectors.
    Normal,
    /// `C^T = B^T A^T`: output features are rows (broadcast), tokens lie in vectors.
    Swapped,
}

/// Byte order of the weights while the product runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Weights {
    /// `[inner][columns]` as given.
    RowMajor,
    /// Packed into panels of one micro-kernel operand when the model is loaded, outside the timed span.
    Panels,
}

/// How the activations reach the micro-kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activations {
    /// Read where they lie.
    InPlace,
    /// Packed into panels, inside the timed span.
    Packed,
}

/// Byte order in which an operation leaves its result for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Output {
    /// `[tokens][features]`.
    RowMajor,
    /// Panels of the next product's operand: it reads them in place, without packing.
    Panels,
    /// Tiles of `height x width` as the micro-kernel leaves them; the next product unrolls by `width`.
    Tiles,
}

/// When the partial sums of the inner blocks are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Staging {
    /// Added in order into the result, no scratch.
    Streamed,
    /// All partials side by side, then one reduction.
    Complete,
    /// So many partials at a time, a reduction after each batch.
    Batch(u32),
}

/// Which axis decides the worker: the slowest axis of the list from which tiles are dealt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Split {
    /// Tiles are listed row block by row block.
    Rows,
    /// Tiles are listed column block by column block.
    Columns,
}

/// How the list of tiles is dealt to the workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Deal {
    /// Equal contiguous runs.
    Contiguous,
    /// Tile `t` goes to worker `t mod workers`.
    RoundRobin,
}

/// Order of the outer loops over blocks in one worker, slowest first: rows, inner (`k`), columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each name is its own meaning")]
pub enum Order {
    Rkc,
    Rck,
    Krc,
    Kcr,
    Crk,
    Ckr,
}

/// Order of the two loops over panels inside a block, slowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Inside {
    /// Column panels outer, row panels inner: the vector panel stays, broadcast panels stream.
    Cr,
    /// Row panels outer, column panels inner: the broadcast panel stays, vector panels stream.
    Rc,
}

/// How an element-wise step that follows the product is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Activation {
    /// On the stored tile, with the last inner step (or in the last reduction).
    Fused,
    /// As a pass of its own over the finished result.
    Pass,
}

/// The geometry of one GEMM on a CPU.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GemmGeometry {
    /// Which product is computed; `rows` and `columns` below are those of the computed product.
    pub orientation: Orientation,
    /// Row blocks.
    pub rows: u32,
    /// Column blocks.
    pub columns: u32,
    /// Inner blocks.
    pub inner: u32,
    /// Rows of the micro-kernel (MR).
    pub height: u32,
    /// Columns of the micro-kernel (NR).
    pub width: u32,
    /// Inner steps per iteration of the micro-kernel's loop.
    pub unroll: u32,
    /// Order of the loops over blocks.
    pub order: Order,
    /// Order of the loops over panels inside a block.
    pub inside: Inside,
    /// Byte order of the weights.
    pub weights: Weights,
    /// How activations reach the micro-kernel.
    pub activations: Activations,
    /// Byte order of the result.
    pub output: Output,
    /// When partial sums are added.
    pub staging: Staging,
    /// Result factor over rows: the reduction's grid has `rows * result_rows` row shards.
    pub result_rows: u32,
    /// Result factor over columns.
    pub result_columns: u32,
    /// Which axis decides the worker.
    pub split: Split,
    /// How tiles are dealt.
    pub deal: Deal,
    /// Tile mapping `t -> (t mod W) * (T div W) + t div W` before dealing; 1 is the identity.
    pub transpose: u32,
    /// Whether the C tile is prefetched when the micro-kernel starts.
    pub prefetch_c: bool,
    /// Whether the next vector panel is prefetched to L2.
    pub prefetch_b: bool,
    /// The element-wise step after the product, where the workload has one.
    pub activation: Option<Activation>,
}

/// A plan for a whole workload.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuPlan {
    /// Worker threads, each pinned to one core.
    pub threads: u32,
    /// A worker takes its row blocks through all products before the next ones, without barriers between them.
    pub carry: bool,
    /// One geometry for each GEMM, in the workload's order, with the operation's name.
    pub gemms: Vec<(String, GemmGeometry)>,
}

macro_rules! words {
    ($type:ty { $($variant:path => $word:literal),+ $(,)? }) => {
        impl $type {
            /// Every word of this type, in the order of its variants.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word as it stands in definitions and attributes.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $($variant => $word),+ }
            }

            /// The value that `word` names.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                match word { $($word => Some($variant),)+ _ => None }
            }
        }
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}

pub(crate) use words;

words!(Orientation { Orientation::Normal => "normal", Orientation::Swapped => "swapped" });
words!(Weights { Weights::RowMajor => "row-major", Weights::Panels => "panels" });
words!(Activations { Activations::InPlace => "in-place", Activations::Packed => "packed" });
words!(Output { Output::RowMajor => "row-major", Output::Panels => "panels", Output::Tiles => "tiles" });
words!(Split { Split::Rows => "rows", Split::Columns => "columns" });
words!(Deal { Deal::Contiguous => "contiguous", Deal::RoundRobin => "round-robin" });
words!(Order {
    Order::Rkc => "rkc", Order::Rck => "rck", Order::Krc => "krc",
    Order::Kcr => "kcr", Order::Crk => "crk", Order::Ckr => "ckr",
});
words!(Inside { Inside::Cr => "cr", Inside::Rc => "rc" });
words!(Activation { Activation::Fused => "fused", Activation::Pass => "pass" });

impl fmt::Display for Staging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Streamed => f.write_str("streamed"),
            Self::Complete => f.write_str("complete"),
            Self::Batch(n) => write!(f, "batch-{n}"),
        }
    }
}

impl Staging {
    /// The staging that `word` names: `streamed`, `complete`, or `batch-N` with N at least 1.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "streamed" => Some(Self::Streamed),
            "complete" => Some(Self::Complete),
            _ => word
                .strip_prefix("batch-")?
                .parse()
                .ok()
                .filter(|n| *n >= 1)
                .map(Self::Batch),
        }
    }
}
