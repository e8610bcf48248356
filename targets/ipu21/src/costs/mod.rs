//! What things cost in cycles: tables as data, and the one place that prices a kernel for screening, estimates and the
//! unit model alike.

mod builtin;
mod price;
mod table;

pub use builtin::{builtin, builtin_names};
pub use price::{Cycles, Kernel, Unpriced};
pub use table::CostTable;
