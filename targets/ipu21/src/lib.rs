//! The IPU21 tile array as a target: 1,472 tiles with their own memory and a static exchange.

pub mod attributes;
pub mod beyond;
pub mod buildable;
pub mod configured;
pub mod constraints;
pub mod costs;
pub mod defaults;
pub mod device;
pub mod estimate;
pub mod exchange;
pub mod geometry;
pub mod half;
pub mod kernels;
pub mod legal;
pub mod mapping;
pub mod options;
pub mod parameters;
pub mod process;
pub mod profile;
pub mod program;
pub mod screen;
pub mod search;
pub mod shards;
pub mod space;
pub mod target;
pub mod text;
pub mod traffic;
pub mod unit;
pub mod why;
pub mod work;

pub use target::Ipu21;
