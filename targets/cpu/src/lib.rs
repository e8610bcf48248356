//! The CPU as a target: plans become C.

pub mod assembly;
pub mod attributes;
pub mod blocks;
pub mod codegen;
pub mod compile;
pub mod facts;
pub mod geometry;
pub mod harness;
pub mod inputs;
pub mod isa;
pub mod problem;
pub mod reference;
pub mod rules;
pub mod schedule;
pub mod text;
