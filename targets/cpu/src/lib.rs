//! The CPU as a target: plans become C.

pub mod geometry;
