//! `target = "command"`: tables that say how to build, run and read one case of anything.
//!
//! These types are plain, without places in the file: a target gets them as options, and names what it does not like by
//! its path (`command.build[3]`), which [`super::Definition::option_error`] turns back into a place.

mod arguments;
mod keys;
mod ordered;
mod result;
mod tables;

pub use arguments::Argument;
pub use keys::keys;
pub use ordered::Ordered;
pub use result::{Direction, Number, Pattern, Reduce, ResultTable, When};
pub use tables::{Command, CommandTables, CommandTimeouts, Derived, EstimateTable, LockBy, Report};
