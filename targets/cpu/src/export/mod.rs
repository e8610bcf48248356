//! A plan as one C file with a header, to be compiled into any program: the very sources that were measured, under names
//! of their own, and the loop over products and workers that the harness has, without its clocks.

mod attention;
mod names;
mod source;

pub use attention::exported_attention;
pub use source::{Exported, exported};
