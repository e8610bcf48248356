//! From a program to byte orders, conversions and vector programs.

mod compiled;
mod conversions;
mod cover;
mod fuse;
mod pins;

pub use compiled::{Compiled, compile};
pub use conversions::Conversion;
pub use fuse::{Budget, Fused, epilogue_budget, fuse};
pub use pins::{Pin, grid, pins};
