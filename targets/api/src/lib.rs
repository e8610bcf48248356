//! What a target is.
//!
//! A target is pure: it describes sources and commands and parses what they print; it does no I/O, reads no clock and
//! starts no process. [`Target`] is what the registry holds; once options and machine are known it becomes
//! [`Configured`], which can enumerate, estimate, describe builds and runs, and read their output.

pub mod amounts;
pub mod command;
pub mod constraints;
pub mod estimate;
pub mod kernels;
pub mod limits;
pub mod machine;
pub mod measurement;
pub mod network;
pub mod network_default;
pub mod pattern;
pub mod round;
pub mod target;
pub mod timeline;
pub mod unit_model;

pub use amounts::{Amounts, PlanAmounts, Traffic};
pub use command::{BuildFailure, BuildInfo, BuildUnit, Captured, CommandSpec, SourceFile};
pub use constraints::{Answer, Constraints, Finalist, Mapping, SearchReport, SearchStep, SearchWidth, Survival, Why};
pub use estimate::{Estimate, Estimator, Moment, NoEstimate};
pub use kernels::{Clock, KernelProfile, KernelSample};
pub use limits::{Limit, Quantity};
pub use machine::{Host, Machine, Tool, ToolSpec};
pub use measurement::{Malformed, Measurement, NumericalError, Of, PeakProbe, Phase, Sample, Verdict};
pub use network::{Facility, Level, OperandOrder, Price, Runs, Status, Support};
pub use pattern::SourcePattern;
pub use round::{Limited, LockHolder, Places, ReportSpec, Round, RoundCaptured};
pub use target::{
    Built, Configured, Exclusive, Input, InputSet, Objective, OptionError, Options, Pairing, Probe, Program,
    RunRequest, Target, Topic,
};
pub use timeline::{Lane, Meeting, Span, Timeline};
