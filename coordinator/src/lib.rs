//! Freeze, build, lock, run, resume. The only crate that starts processes.
//!
//! Every public function blocks until it is done. Nothing is printed: progress goes to callbacks.

mod build;
pub mod cache;
mod errors;
pub mod events;
pub mod exit;
pub mod freeze;
pub mod guard;
pub mod handover;
pub mod host;
mod interrupt;
pub mod libc;
pub mod lock;
pub mod machine;
mod orphans;
pub mod process;
mod runtime;
pub mod scratch;
pub mod slurm;
pub mod status;
mod steps;
pub mod sweep;
pub mod tools;

pub use cache::{BuildCache, CacheEntry, CacheError, Pruned};
pub use events::{Event, OnEvent, Progress};
pub use exit::ExitCode;
pub use freeze::{FreezeError, FreezeRequest, freeze, git_revision};
pub use handover::{HandOverError, hand_over};
pub use machine::{Measuring, measure_machine};
pub use process::Launcher;
pub use status::{CohortStatus, DeviceUse, Running, status};
pub use sweep::{RunError, RunOptions, RunSummary, run};
