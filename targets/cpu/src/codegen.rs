//! The source of one product: geometry and extents become readable C.

mod activation;
mod group;
mod kernel;
mod loops;
mod pack;
mod reduce;
mod segments;
mod source;
mod store;
mod tables;

pub(crate) use activation::{limit, vector_preamble};
pub(crate) use group::group_macro;

pub use activation::gelu_source;
pub use source::gemm_source;
