//! Linear models with few coefficients: least squares, non-negative, robust, and what the data can't decide.

mod design;
mod identify;
mod nnls;
mod robust;
mod svd;

pub use design::{Design, DesignError};
pub use identify::{Identifiability, identify};
pub use nnls::{Sign, solve};
pub use robust::{RobustFit, robust};
