//! The exchange: which word travels when.
//!
//! Every transfer gets an offset by the published rules of the compiler; the end of the last one is the phase's
//! horizon.

mod addresses;
mod align;
mod greedy;
mod job;
mod route;
mod schedule;
mod tile;
mod timeline;
mod waves;

pub use addresses::{Addresses, Overflow};
pub use greedy::{Release, greedy};
pub use job::{Arrival, Job, Span, Timing};
pub use route::{Site, direction, lead, sites};
pub use schedule::{Knowledge, Policy, Schedule, jobs, schedule};
pub use tile::{Control, ControlKind, Tile};
pub use timeline::{Timeline, timings};
