//! Any machine that has a command line, as a target.
//!
//! A definition says how one case is built, run, checked and read; its parameters are free. Nothing here starts a
//! process or reads a file: commands are argument lists with every placeholder filled in, and output is text that the
//! coordinator hands over.

mod command_line;
mod configured;
mod constraint_text;
mod costs;
mod derived;
mod estimate;
mod guide;
mod intern;
mod mapping;
mod measure;
mod number;
mod place;
mod plan_space;
mod pointer;
mod programs;
mod reading;
mod rules;
mod settings;
mod target;
mod template;

pub use configured::Configuration;
pub use mapping::{MappingError, permutation};
pub use target::Command;
