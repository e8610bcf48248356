//! The CPU as a target: plans become C.

pub mod attributes;
pub mod geometry;
pub mod inputs;
pub mod reference;
pub mod text;
