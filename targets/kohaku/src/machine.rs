//! The machine: how many units there are and what bounds them.

use serde::{Deserialize, Serialize};

/// Elements of one word: 32 bytes of float16.
pub const WORD: usize = 16;
/// Elements of one granule, the least that the transpose of a conversion moves: 8 bytes.
pub const GRANULE: usize = 4;
/// Words of one walk (one fill or drain of a vector core): 8 KiB.
pub const WALK_WORDS: usize = 256;
/// Words of a vector core's memory; footprints between [`SAFE_WORDS`] and this are silently corrupted.
pub const CORE_WORDS: usize = 512;
/// Most words of a vector core's memory that are safe to use, other than all of it.
pub const SAFE_WORDS: usize = 320;
/// Dimensions of one descriptor.
pub const DIMENSIONS: usize = 4;
/// Descriptors of a vector core.
pub const DESCRIPTORS: usize = 8;
/// Strides are signed 18-bit numbers of bytes.
pub const STRIDE_LIMIT: i64 = 1 << 17;
/// Bytes of one word.
pub const WORD_BYTES: usize = 32;
/// Most elements of a vector register, and of the row of a reduction.
pub const VECTOR: usize = 128;
/// Lanes of a vector core: elements per cycle.
pub const LANES: usize = 16;
/// Elements that a batch element's buffer is rounded up to.
pub const BATCH_STRIDE: usize = 1024;
/// Elements per vector instance, unless a kernel says otherwise.
pub const PART: usize = 8192;
/// Rows of a lane group and of an entry.
pub const GROUP: usize = 4;
/// Elements of a block along the axis that is summed over; one MXFP7 block.
pub const BLOCK: usize = 32;
/// Entries of one bank of a cluster's memory; a fill has at most one less.
pub const BANK_ENTRIES: usize = 256;
/// Multiplications per cycle of one cluster.
pub const CLUSTER_MACS: usize = 512;
/// Bits of a float in the MXFP7 format: 32 of 7 bits and 8 bits of scale for a block.
pub const MXFP7_BITS: f64 = 7.25;
/// Bytes of the staging memory of one mesh.
pub const STAGING_BYTES: u64 = 2 << 20;
/// Bytes of the staging memory at each unit.
pub const ADAPTER_BYTES: u64 = 256 << 10;
/// Units of the mesh that have one.
pub const ADAPTERS: u64 = 10;
/// Bytes of the memory of one mesh.
pub const DRAM_BYTES: u64 = 4 << 30;

/// How a cluster's result leaves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drain {
    /// In sub-tiles of 4 x 4, as the machine does.
    #[default]
    Tiles,
    /// In rows: a what-if.
    Rows,
}

/// Which cores run a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Converting {
    /// One, as the machine does.
    #[default]
    OneCore,
    /// Runs are dealt over all cores: a what-if.
    AllCores,
}

/// Two sets of prices for the same programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prices {
    /// As published: a pass that folds rows runs as one instance, and is priced as if that were one part.
    Published,
    /// Every pass is priced at the elements that it really covers.
    #[default]
    RealSpan,
}

impl Prices {
    /// As a definition and an estimate name them.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::RealSpan => "real-span",
        }
    }
}

/// A mesh of matrix clusters and vector cores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Matrix clusters.
    pub clusters: usize,
    /// Vector cores.
    pub cores: usize,
    /// Sub-tiles that a cluster's accumulator holds.
    pub tiles: usize,
    /// How results leave a cluster.
    pub drain: Drain,
    /// Which cores convert.
    pub converting: Converting,
    /// Whether an epilogue may read a second operand of the tile's own shape.
    pub full_shape_epilogue: bool,
    /// Whether the staging memory of the mesh has addresses.
    pub staging: bool,
}

impl Default for Machine {
    /// The mesh of all published cycles: 6 clusters, 4 vector cores, an accumulator of 512 sub-tiles.
    fn default() -> Self {
        Self {
            clusters: 6,
            cores: 4,
            tiles: 512,
            drain: Drain::Tiles,
            converting: Converting::OneCore,
            full_shape_epilogue: false,
            staging: false,
        }
    }
}
