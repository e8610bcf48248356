//! The unit model: programs computed in the arithmetic of the device, in the byte orders of the device.

mod clusters;
mod data;
mod grade;
mod memory;
mod operand;
mod run;
mod steps;
mod vector;

pub use data::Random;
pub use grade::{Grade, grade};
pub use memory::Memory;
pub use run::{Ran, run};
