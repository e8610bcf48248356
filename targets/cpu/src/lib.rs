//! The CPU as a target: plans become C.

pub mod assembly;
pub mod attention;
pub mod attributes;
pub mod blocks;
pub mod chain;
pub mod codegen;
pub mod compile;
pub mod configured;
pub mod costs;
mod describe;
pub mod estimate;
pub mod export;
pub mod facts;
pub mod footprint;
pub mod geometry;
pub mod harness;
pub mod inputs;
pub mod isa;
pub mod machine;
pub mod options;
mod planning;
pub mod problem;
pub mod profile;
pub mod reference;
pub mod report;
pub mod rules;
pub mod schedule;
pub mod space;
pub mod target;
pub mod text;

pub use target::Cpu;
