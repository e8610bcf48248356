//! Spaces: parameters with domains, constraints that each look at few of them, and how to count, walk and draw from
//! them without building what the constraints cut off.

mod types;

pub use types::{Assignment, Check, Constraint, Domain, Parameter, Space};
