//! Attention on the CPU: geometry, rules, space, C, inputs, estimates and the exported kernel.
//!
//! Queries lie in vectors, keys and values are broadcast: scores stand as `[key][query]`, so the softmax runs along
//! vectors without a horizontal step, its result is the vector operand of the second product as it stands, and keys and
//! values can be read where they lie.

pub(crate) mod amounts;
pub mod attributes;
pub mod codegen;
pub mod data;
pub mod estimate;
pub mod facts;
pub mod geometry;
pub mod planning;
pub mod problem;
pub mod rules;
pub mod run;
pub mod space;
pub mod text;
pub mod works;
