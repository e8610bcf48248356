//! Slurm: what is asked of it, and what it says about jobs.

mod ends;
mod error;
mod jobs;
mod settings;
mod submit;

pub use error::SlurmError;
pub use jobs::{Job, JobState, Jobs, jobs};
pub(crate) use settings::Work;
pub use settings::{Builds, Settings};

pub(crate) use ends::{Ending, begun, ending};
pub(crate) use submit::{End, builds_name, cancel, cancel_builds, find, largest_array, name, submit, submit_builds};
