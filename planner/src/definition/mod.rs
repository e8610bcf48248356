//! Sweep definitions: what a person writes, as types, with the place in the file where each thing stands.

mod cases;
mod changed;
mod document;
mod error;
mod explore;
mod located;
mod measure;
mod parse;
mod values;

pub use cases::CaseEntry;
pub use changed::changed_line;
pub use document::{Document, schema};
pub use error::{DefinitionError, Source};
pub use explore::{Adaptive, Exhaustive, Explore, Joint, Random, Stratum, Vary};
pub use located::{Located, Named};
pub use measure::{Measure, TimeLimit};
pub use parse::{Definition, WorkloadChoice};
pub use values::Choices;
