//! Programs: buffers, and stages that read and write them. One stage is one dispatch.

mod buffer;
mod build;
mod expr;
mod lane;
mod stage;

pub use buffer::{Buffer, BufferId, Role};
pub use build::Program;
pub use expr::{Expr, Fold, Op, Reading, View};
pub use lane::{Instruction, Lane, Source};
pub use stage::{Conv, Epilogue, Gemm, Operand, Stage, Statement, Taps, Term, Vector, Work};
