//! Published cycle formulas of kernels that are priced by no table: later versions, and kernels beside the MLP.
//!
//! All are full calls with the dispatch of the six workers.

mod attention;
mod gelu;
mod norm;
mod packed;

pub use attention::{MergePart, add, merge, softmax};
pub use gelu::{GeluVersion, gelu};
pub use norm::{NormVersion, norm};
pub use packed::{fused_reduction_gelu, gemm_packed};

/// Worker contexts of a tile.
const WORKERS: usize = 6;
