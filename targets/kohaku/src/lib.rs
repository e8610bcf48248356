//! Kohaku as a target: matrix clusters and vector cores whose byte orders do not agree.

pub mod attention;
pub mod compile;
pub mod composed;
pub mod configured;
pub mod data;
pub mod estimate;
mod express;
pub mod kernels;
pub mod layout;
pub mod legal;
pub mod machine;
pub mod numerics;
pub mod options;
pub mod plan;
pub mod process;
pub mod program;
pub mod relayout;
pub mod space;
pub mod target;
pub mod tiers;
pub mod timing;
pub mod traffic;
pub mod unit;
pub mod work;

pub use target::Kohaku;
