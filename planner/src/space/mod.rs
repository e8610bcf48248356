//! Spaces: parameters with domains, constraints that each look at few of them, and how to count, walk and draw from
//! them without building what the constraints cut off.

mod check;
mod count;
mod error;
mod group;
mod nearest;
mod order;
mod sample;
mod table;
mod types;
mod walk;

pub use error::SpaceError;
pub use sample::{Sample, SplitMix64};
pub use types::{Assignment, Check, Constraint, Domain, Parameter, Space};
pub use walk::Walk;
