//! What things cost in cycles: tables as data, and the one place that prices a kernel for screening, estimates and the
//! unit model alike.

mod price;
mod table;

pub use table::{Block, CostError, CostTable, Gemm, Linear, PhasePrice, Reduction, Unit, builtin, builtin_names};
