//! Conversions between byte orders: how they are planned, what they cost, and the vector programs that they are.

mod core;
mod image;
mod lower;
mod plan;
mod price;
mod program;
mod walk;

pub use core::{Counted, execute};
pub use image::{Word, word_map};
pub use lower::lower;
pub use plan::{Kind, Mode, Relayout, plan};
pub use price::{Price, dealt, price};
pub use program::{CoreProgram, Instruction};
pub use walk::{Dimension, walk};
