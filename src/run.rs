//! `layout-sweep run`.

use std::path::PathBuf;

use clap::Args;
use coordinator::ExitCode;

use crate::failure::Failure;
use crate::freeze::open;
use crate::output::print;
use crate::running::{self, Options};

/// Arguments of `run`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The cohort's folder.
    cohort: PathBuf,
    #[command(flatten)]
    options: Options,
}

/// Runs what is left of a cohort.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let frozen = open(&arguments.cohort)?;
    running::hand_over(&frozen)?;
    let summary = running::run(&frozen, &arguments.options)?;
    let counts = summary.counts;
    print(&format!(
        "{} of {} cases correct, {} rejected, {} failed; {} rounds measured now",
        counts.correct,
        counts.total(),
        counts.rejected,
        counts.failed(),
        summary.rounds_done
    ));
    Ok(summary.exit_code())
}
