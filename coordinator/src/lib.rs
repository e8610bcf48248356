//! Freeze, build, lock, run, resume. The only crate that starts processes.
//!
//! Every public function blocks until it is done. Nothing is printed: progress goes to callbacks.

mod digest;
mod errors;
pub mod exit;
pub mod guard;
pub mod host;
mod interrupt;
pub mod lock;
pub mod machine;
mod orphans;
pub mod process;
mod runtime;
mod steps;
pub mod tools;

pub use exit::ExitCode;
pub use machine::{Measuring, measure_machine};
pub use process::Launcher;
