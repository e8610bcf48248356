//! The two hidden subcommands, looked at before any other argument: a guard should start quickly.

use std::ffi::OsString;

/// Name of the hidden subcommand that guards a command.
pub const SUBCOMMAND: &str = "guard";

/// Name of the hidden subcommand that becomes the command.
pub const CHILD_SUBCOMMAND: &str = "guard-child";

/// Runs the hidden subcommand that `arguments` (without the program's name) ask for, if they do, and gives the exit code.
/// A program whose binary is handed to [`crate::process::Launcher`] calls this first in its `main`.
#[must_use]
pub fn hidden_subcommand(arguments: &[OsString]) -> Option<i32> {
    let (first, rest) = arguments.split_first()?;
    match first.to_str() {
        Some(SUBCOMMAND) => Some(super::guard_main()),
        Some(CHILD_SUBCOMMAND) => Some(super::guard_child_main(rest)),
        _ => None,
    }
}
