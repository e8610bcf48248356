//! `layout-sweep run`.

use std::path::PathBuf;

use clap::Args;
use cohort::{CohortDir, Counts, ShardId};
use coordinator::ExitCode;
use coordinator::sweep::open_for;
use planner::{counted, grouped};
use serde::Serialize;

use crate::failure::Failure;
use crate::freeze::unreadable;
use crate::output::{Format, print, print_json};
use crate::running::{self, Options};

/// Arguments of `run`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The cohort's folder.
    cohort: PathBuf,
    /// Work on this shard of those that were handed out (`1/0`), beside whoever works on others. Records go to a file of
    /// this worker's own; locks of devices and kept builds are those of this machine.
    #[arg(long, value_name = "BATCH/SHARD", value_parser = shard,
          conflicts_with_all = ["only", "exclude", "retry", "accept_incorrect"])]
    shard: Option<ShardId>,
    /// Build what the shard needs, and run nothing.
    #[arg(long, requires = "shard")]
    builds_only: bool,
    #[command(flatten)]
    options: Options,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// What a run did.
#[derive(Serialize)]
struct Ran<'a> {
    counts: &'a Counts,
    rounds_done: u64,
    rounds_recovered: u64,
    interrupted: bool,
    time_over: bool,
    /// Cases whose wrong results ended it.
    stopped_by: &'a [String],
}

fn shard(text: &str) -> Result<ShardId, String> {
    text.parse()
}

/// Runs what is left of a cohort.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let frozen = open_for(&CohortDir::new(&arguments.cohort), arguments.shard)
        .map_err(|error| unreadable(format!("`{}` can't be opened", arguments.cohort.display()), error))?;
    running::hand_over(&frozen)?;
    let shard = arguments.shard.map(|shard| (shard, arguments.builds_only));
    let summary = running::run(&frozen, &arguments.options, shard)?;
    let counts = summary.counts;
    if arguments.format == Format::Json {
        print_json(&Ran {
            counts: &counts,
            rounds_done: summary.rounds_done,
            rounds_recovered: summary.rounds_recovered,
            interrupted: summary.interrupted,
            time_over: summary.time_over,
            stopped_by: &summary.stopped_by,
        })?;
        return Ok(summary.exit_code());
    }
    print(&format!(
        "{} of {} correct, {} rejected, {} failed; {} measured now",
        grouped(counts.correct),
        counted(counts.total(), "case"),
        grouped(counts.rejected),
        grouped(counts.failed()),
        counted(summary.rounds_done, "round")
    ));
    Ok(summary.exit_code())
}
