//! The unit model: plans are compiled, scheduled, run in software, and their cycles counted.

mod compile;
mod data;
mod kernels;
mod machine;
mod memory;
mod replay;
mod run;
mod timing;

pub use compile::{Compiled, compile};
pub use data::{Data, reference};
pub use memory::{Peak, check, peaks, table_bytes};
pub use replay::{Delivery, replay};
pub use run::run;
pub use timing::{Counters, PhaseTiming, Timing, time, timing};
