//! Whole-program tests: each starts the real binary in a folder of its own.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod bad_input;
#[path = "../../analyzer/tests/browser/mod.rs"]
mod browser;
mod calibrate;
mod command;
mod explain;
mod faults;
mod frozen;
mod import;
mod inventory;
mod ipu21;
mod kernel;
mod kill;
mod kohaku;
mod large;
mod main_job;
mod page;
mod said;
mod slurm;
mod support;
mod told;
