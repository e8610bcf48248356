//! Sweep definitions: what a person writes, as types, with the place in the file where each thing stands.

mod cases;
mod changed;
pub mod command;
mod document;
mod drawn;
mod error;
mod executor;
mod explore;
mod free;
mod judged;
mod located;
mod measure;
mod parse;
mod places;
mod values;

pub use cases::CaseEntry;
pub use changed::{changed_line, same_meaning};
pub use document::{Document, schema};
pub use drawn::Drawn;
pub use error::{DefinitionError, Source};
pub use executor::{Executor, ExecutorKind};
pub use explore::{Adaptive, Exhaustive, Explore, Joint, Random, Stratum, Vary};
pub use free::{TARGET as COMMAND_TARGET, WORKLOAD as COMMAND_WORKLOAD};
pub use judged::{Judged, judged};
pub use located::{Located, Named};
pub use measure::{Measure, TimeLimit};
pub use parse::{Definition, WorkloadChoice};
pub(crate) use places::{Places, about_expression};
pub use values::Choices;
