//! Slurm: what is asked of it, and what it says about jobs.

mod ends;
mod error;
mod jobs;
mod settings;
mod submit;

pub use error::SlurmError;
pub use jobs::{Job, JobState, Jobs, jobs};
pub use settings::Settings;

pub(crate) use ends::{Ending, ending};
pub(crate) use submit::{End, cancel, find, largest_array, name, submit};
