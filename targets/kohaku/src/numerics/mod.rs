//! The arithmetic of the device.

mod exp2;
mod fold;
mod mxfp7;
mod round;

pub use exp2::exp2;
pub use fold::fold;
pub use mxfp7::{Block, quantise};
pub use round::{accumulated, half, lane};
