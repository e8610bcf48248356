//! Running a frozen cohort, for `run` and `sweep` alike.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use cohort::{Difference, Frozen, ShardId};
use coordinator::slurm::{Builds, Settings};
use coordinator::sweep::Retry;
use coordinator::{ExitCode, RunOptions, RunSummary};
use planner::counted;
use planner::definition::{Definition, ExecutorKind, TimeLimit};
use planner::select::Selection;
use target_api::{Exclusive, Machine};

use crate::crossing;
use crate::failure::Failure;
use crate::output::{narrate, some_of};
use crate::planning::{self, Planning};
use crate::progress::{Display, shell_word};
use crate::values::{at_least, time};

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
    #[arg(long, value_name = "N", value_parser = at_least::<u16>(1))]
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
    /// Take over shards whose workers may still live: it is certain that they don't.
    #[arg(long)]
    take_over: bool,
    /// Where the cases are measured, where that is not what the definition says: here, or by job arrays of Slurm.
    #[arg(long, value_enum)]
    executor: Option<Executor>,
    /// A further argument of `sbatch`, after those of the definition; may be given several times.
    #[arg(long = "slurm", value_name = "ARGUMENT", allow_hyphen_values = true)]
    slurm_arguments: Vec<String>,
    /// Cases of one shard of an array, where that is not what the definition says.
    #[arg(long, value_name = "N", value_parser = at_least::<u32>(1))]
    shard_size: Option<u32>,
}

/// What works on a cohort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Executor {
    /// This machine.
    Local,
    /// Job arrays of Slurm, which the command follows until they are over.
    Slurm,
}

impl Options {
    /// Whether arrays of Slurm do the work; an error where something else was asked for that they can't do.
    fn is_on_slurm(&self, definition: &Definition) -> Result<bool, Failure> {
        let on_slurm = match self.executor {
            Some(executor) => executor == Executor::Slurm,
            None => definition.executor.kind == ExecutorKind::Slurm,
        };
        if !on_slurm {
            if !self.slurm_arguments.is_empty() || self.shard_size.is_some() {
                return Err(
                    Failure::usage("`--slurm` and `--shard-size` say how arrays of Slurm are made")
                        .help("`--executor slurm` makes them"),
                );
            }
            return Ok(false);
        }
        let refused = [
            ("--device-lock", self.device_lock.is_some()),
            ("--jobs", self.jobs.is_some()),
            ("--no-cache", self.no_cache),
        ];
        match refused.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Failure::usage(format!(
                "`{option}` is nothing that arrays of Slurm know: each shard is worked on with what its node has"
            ))
            .help("leave it out, or run here with `--executor local`")),
            None => Ok(true),
        }
    }

    /// What is asked of Slurm.
    fn settings(&self, executor: &planner::definition::Executor) -> Settings {
        let apart = executor.build_partition.is_some() || !executor.build_arguments.is_empty();
        let builds = apart.then(|| Builds {
            partition: executor.build_partition.clone(),
            arguments: executor.build_arguments.clone(),
        });
        let mut arguments = executor.arguments.clone();
        arguments.extend(self.slurm_arguments.iter().cloned());
        Settings {
            partition: executor.partition.clone(),
            account: executor.account.clone(),
            constraint: executor.constraint.clone(),
            gres: executor.gres.clone(),
            time: executor.time.map(TimeLimit::duration),
            array_limit: executor.array_limit,
            shard_size: self.shard_size.or(executor.shard_size).map(|size| size as usize),
            scratch: executor.scratch.clone(),
            setup: executor.setup.clone(),
            launcher: executor.launcher.clone(),
            arguments,
            builds,
        }
    }

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

/// Runs what is left of `frozen`, or of a shard of it (or only builds that), with a bar.
pub(crate) fn run(frozen: &Frozen, options: &Options, shard: Option<(ShardId, bool)>) -> Result<RunSummary, Failure> {
    let (shard, builds_only) = shard.map_or((None, false), |(shard, only)| (Some(shard), only));
    let manifest = frozen.manifest();
    let path = frozen.dir().path();
    let mut planning = Planning::of_frozen(manifest)?;
    planning.accept_frozen(frozen)?;
    let on_slurm = shard.is_none() && options.is_on_slurm(&planning.definition)?;
    // Whoever hands out measures nothing: workers look at their own machines.
    let now = if on_slurm {
        manifest.machine.clone()
    } else {
        planning::machine_now(&planning)?
    };
    // A job may use the cores that it was given, which need not be those of whoever froze the cohort.
    if shard.is_some() && std::env::var_os("SLURM_JOB_ID").is_some() {
        let cores = coordinator::host::read_host()
            .map_err(|error| Failure::because(ExitCode::Failure, "this node can't be read", error))?
            .cores;
        planning.configured.accept_cores(&cores).map_err(|why| {
            Failure::new(
                ExitCode::Mismatch,
                format!("`{}` can't run here: {why}", path.display()),
            )
        })?;
    }
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
    run.programs = planning.programs()?;
    let unlike = planning.definition.executor.unlike.iter();
    run.unlike = unlike.map(|name| name.value.clone()).collect();
    run.accept_incorrect.clone_from(&options.accept_incorrect);
    run.device_lock.clone_from(&options.device_lock);
    run.lock_timeout = options.lock_timeout;
    run.shard = shard;
    run.builds_only = builds_only;
    run.node_cache = shard.map(|_| coordinator::machine::cache_folder());
    run.take_over = options.take_over;
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
    let mut show = |event: &coordinator::Event<'_>, progress: &coordinator::Progress| display.show(event, progress);
    let result = if on_slurm {
        let settings = options.settings(&planning.definition.executor);
        coordinator::sweep::run_on_slurm(path, &run, &settings, Some(crosses), &mut show)
    } else {
        coordinator::run(path, &run, Some(crosses), &mut show)
    };
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
