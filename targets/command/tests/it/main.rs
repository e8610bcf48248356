//! The command target from outside: definitions, errors with their places, commands, and what is read from output.

#![allow(
    clippy::disallowed_methods,
    reason = "a test may read files, clocks and run programs"
)]
#![expect(clippy::unwrap_used, reason = "helpers of tests may end them")]

mod definitions;
mod driver;
mod errors;
mod made;
mod matmul;
mod reading;
mod rounds;
