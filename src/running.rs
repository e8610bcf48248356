//! Running a frozen cohort, for `run` and `sweep` alike.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use cohort::{Difference, Frozen};
use coordinator::sweep::Retry;
use coordinator::{ExitCode, RunOptions, RunSummary};
use planner::definition::TimeLimit;
use planner::select::Selection;
use target_api::{Exclusive, Machine};

use crate::crossing;
use crate::failure::Failure;
use crate::output::{counted, narrate, some_of};
use crate::planning::{self, Planning};
use crate::progress::{Display, shell_word};

/// How a cohort is run.
#[derive(Args)]
pub(crate) struct Options {
    /// Work on these cases only: names or patterns with `*`, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    only: Vec<String>,
    /// Leave these cases alone.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    exclude: Vec<String>,
    /// Begin cases again: `failed`, `timed-out`, `incorrect`, or names.
    #[arg(long, value_delimiter = ',', value_name = "WHICH")]
    retry: Vec<String>,
    /// Builds side by side (default: the number of cores).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Build everything here, without the builds that are kept for all cohorts of this machine.
    #[arg(long)]
    no_cache: bool,
    /// Begin no round after this time (`90s`, `10m`); what was measured stays.
    #[arg(long, value_name = "TIME", value_parser = time)]
    time_limit: Option<Duration>,
    /// Go on although this differs from what was frozen: `machine.NAME` or `tool.NAME`, as the message says.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    accept: Vec<String>,
    /// Go on although these cases gave wrong results.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    accept_incorrect: Vec<String>,
    /// The device's lock file, where it is not the usual one.
    #[arg(long, value_name = "FILE")]
    pub(crate) device_lock: Option<PathBuf>,
    /// Give up after waiting so long for the device, or for another coordinator of the cohort (which is not waited for
    /// without this).
    #[arg(long, value_name = "TIME", value_parser = time)]
    lock_timeout: Option<Duration>,
}

impl Options {
    /// Checks what can be checked before anything is written: each pattern must mean one of `selection`, and one lock
    /// can't serve several devices.
    pub(crate) fn check(&self, planning: &Planning, selection: &Selection) -> Result<(), Failure> {
        if let (Some(_), Exclusive::Devices(names)) = (&self.device_lock, planning.configured.exclusive())
            && names.len() > 1
        {
            let message = format!(
                "`--device-lock` names one lock, but the definition has {} devices",
                names.len()
            );
            return Err(Failure::usage(message).help("leave it out: each device has a lock of its own"));
        }
        for (option, patterns) in [("--only", &self.only), ("--exclude", &self.exclude)] {
            for pattern in patterns {
                let mut cases = selection.workloads.iter().flat_map(|workload| &workload.cases);
                if !cases.any(|case| coordinator::sweep::matches(pattern, &case.name)) {
                    return Err(
                        Failure::usage(format!("`{option} {pattern}`: the definition makes no such case"))
                            .help("`layout-sweep plan DEFINITION` lists them"),
                    );
                }
            }
        }
        let mut cases = selection.workloads.iter().flat_map(|workload| &workload.cases);
        let left = |name: &str| coordinator::sweep::passes(&self.only, &self.exclude, name);
        if !cases.any(|case| left(&case.name)) {
            return Err(Failure::usage("`--only` and `--exclude` together leave no case"));
        }
        Ok(())
    }
}

/// A time as a person writes it.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    TimeLimit::parse(text).map(TimeLimit::duration)
}

/// Runs what is left of `frozen`, with a bar.
pub(crate) fn run(frozen: &Frozen, options: &Options) -> Result<RunSummary, Failure> {
    let manifest = frozen.manifest();
    let path = frozen.dir().path();
    let mut planning = Planning::of_frozen(manifest)?;
    planning.accept_frozen(frozen)?;
    let now = planning::machine_now(&planning)?;
    let mut run = RunOptions::new(&*planning.configured, &now);
    run.only.clone_from(&options.only);
    run.exclude.clone_from(&options.exclude);
    run.retry = options
        .retry
        .iter()
        .map(|word| word.parse::<Retry>())
        .collect::<Result<_, _>>()
        .unwrap_or_else(|impossible| match impossible {});
    if let Some(jobs) = options.jobs {
        run.jobs = usize::from(jobs);
    }
    run.time_limit = options.time_limit;
    run.accept.clone_from(&options.accept);
    run.accept_incorrect.clone_from(&options.accept_incorrect);
    run.device_lock.clone_from(&options.device_lock);
    run.lock_timeout = options.lock_timeout;
    run.cache = if options.no_cache { None } else { crate::cache::usual() };
    let lock = options.device_lock.as_ref().map_or_else(String::new, |lock| {
        format!(" --device-lock {}", shell_word(&lock.display().to_string()))
    });
    let again = format!(
        "layout-sweep run {}{lock} --retry",
        shell_word(&path.display().to_string())
    );
    let (before, after) = (manifest.machine.clone(), now.clone());
    let mut display = Display::new(move |case| format!("{again} {}", shell_word(case)))
        .accepting(move |difference, cases| accepted(difference, &before, &after, cases));
    let crosses = crossing::crosses(&planning, manifest);
    let result = coordinator::run(path, &run, Some(crosses), &mut |event, progress| {
        display.show(event, progress);
    });
    display.finish();
    let summary = result.map_err(|error| {
        let help = error.help();
        let failure = Failure::because(error.exit_code(), format!("`{}` stopped", path.display()), error);
        match help {
            Some(help) => failure.help(help),
            None => failure,
        }
    })?;
    for dropped in &summary.dropped {
        narrate(&format!(
            "`{}`: a torn last line was left out; what it said is done again where it is needed",
            dropped.file.display()
        ));
    }
    if !summary.stopped_by.is_empty() {
        narrate(&format!(
            "stopped: wrong results of {}; see them with `layout-sweep status`, then `--retry NAME` or `--accept-incorrect NAME`",
            summary.stopped_by.join(", ")
        ));
    }
    if summary.time_over {
        narrate("partial: the time limit was over; the same command goes on");
    }
    Ok(summary)
}

/// What was accepted, by name, and which cases are measured in spite of it.
fn accepted(difference: &Difference, frozen: &Machine, now: &Machine, cases: &[&str]) -> String {
    let tool = difference.name.strip_prefix("tool.");
    let named = |machine: &Machine| {
        let tool = machine.tool(tool?)?;
        Some(format!("`{}` ({})", tool.path, tool.version))
    };
    let versions = match (named(frozen), named(now)) {
        (Some(old), Some(new)) => format!(", which was {old} and is {new}"),
        _ => String::new(),
    };
    let cases = match cases {
        [] => "no case is left that it could touch".to_owned(),
        [one] => format!("`{one}` is measured in spite of it"),
        some => format!(
            "{} are measured in spite of it: {}",
            counted(some.len() as u64, "case"),
            some_of(some)
        ),
    };
    format!("{difference}{versions}; {cases}")
}

/// When this program is not the one that froze the cohort, becomes that one, with the same arguments. Comes back only
/// when there is nothing to hand over.
pub(crate) fn hand_over(frozen: &Frozen) -> Result<(), Failure> {
    crate::freeze::refuse_imported(frozen)?;
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    coordinator::hand_over(frozen, &arguments).map_err(|error| {
        let help = error.help();
        Failure::because(
            ExitCode::Mismatch,
            "the program that froze the cohort can't take over",
            error,
        )
        .help(help)
    })
}
