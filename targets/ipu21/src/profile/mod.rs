//! What happened where and when in a run of the unit model: phases, lanes, kernel calls, memory of every tile.

mod kernels;
mod lanes;
mod make;
mod summary;
mod types;

pub use kernels::{clock, kernels};
pub use lanes::timeline;
pub(crate) use make::names;
pub use make::profile;
pub use summary::{BarrierSummary, KernelSummary, OperationSummary, Spread, Summary, spread, summary};
pub use types::{CallProfile, LaneProfile, MemoryProfile, Profile, SegmentProfile, StepProfile};
