//! What kernels cost on a CPU, as data: one table prices the phases of a plan, and calibration fits the same terms to
//! what phases were measured to take.

pub mod kernel;
pub mod samples;
pub mod table;

pub use kernel::Kernel;
pub use table::{CostTable, is_shipped, shipped};
