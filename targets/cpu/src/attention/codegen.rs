//! The source of one attention: geometry and extents become readable C.

mod finish;
mod kernel;
mod loops;
mod pack;
mod softmax;
mod source;

pub use softmax::exponential_source;
pub use source::attention_source;
