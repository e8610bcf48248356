//! The one place that says what is done, what is left and what was lost.
//!
//! [`state`] is a pure function of manifest, cases, additions and records. Coordinator, status, shards and analyzer use
//! only its result.

mod apart;
mod error;
mod fold;
mod left;
mod model;

pub use apart::Unlike;
pub use error::{Problem, StateError};
pub(crate) use fold::fold;
pub use fold::state;
pub use left::{Counts, Left, LeftBuild, LeftRound};
pub use model::{Attempt, CaseState, DoneBuild, DoneRound, Duplicate, Outcome, RoundState, State, Status};
