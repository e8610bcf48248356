//! The command target from outside: definitions, errors with their places, commands, and what is read from output.
#![expect(clippy::unwrap_used, reason = "helpers of tests may end them")]

mod definitions;
mod driver;
mod errors;
mod made;
mod matmul;
mod reading;
mod rounds;
