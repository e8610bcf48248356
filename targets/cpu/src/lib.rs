//! The CPU as a target: plans become C.

pub mod geometry;
pub mod inputs;
pub mod reference;
