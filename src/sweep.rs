//! `layout-sweep sweep`: the main job.

use std::path::{Path, PathBuf};

use clap::Args;
use coordinator::ExitCode;
use planner::counted;
use planner::select::{Refused, Selection};
use serde::Serialize;

use crate::analyze;
use crate::failure::Failure;
use crate::freeze::{Place, find, open_or_freeze};
use crate::output::{Format, narrate, print, print_json};
use crate::place::report_of;
use crate::planning::Planning;
use crate::running::{self, Options};

/// Arguments of `sweep`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Sweep definitions, one after another.
    #[arg(required = true)]
    definitions: Vec<PathBuf>,
    #[command(flatten)]
    place: Place,
    /// The report's folder.
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Show cases, refusals and a time estimate; write and run nothing.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    options: Options,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Plans, freezes or resumes, runs and analyzes each definition. The highest exit code of all is the
/// program's.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.definitions.len() > 1 && (arguments.place.cohort.is_some() || arguments.report.is_some()) {
        return Err(Failure::usage("`--cohort` and `--report` go with one definition"));
    }
    let mut worst = ExitCode::Done;
    for definition in &arguments.definitions {
        let done = if arguments.dry_run {
            dry_run(definition, arguments)
        } else {
            sweep(definition, arguments)
        };
        // One bad definition does not keep the others from being swept.
        let code = match done {
            Err(failure) if arguments.definitions.len() > 1 => {
                narrate(&failure.to_string());
                failure.code
            }
            other => other?,
        };
        if code.code() > worst.code() {
            worst = code;
        }
        if matches!(code, ExitCode::Incorrect | ExitCode::Interrupted) {
            break;
        }
    }
    Ok(worst)
}

fn sweep(definition: &Path, arguments: &Arguments) -> Result<ExitCode, Failure> {
    // A cohort that exists is handed to its own program before anything else is decided by this one.
    if let Some(frozen) = find(definition, &arguments.place)? {
        running::hand_over(&frozen)?;
    }
    let check = |planning: &Planning, selection: &Selection| arguments.options.check(planning, selection);
    let (frozen, fresh) = open_or_freeze(definition, &arguments.place, check)?;
    let path = frozen.dir().path();
    if !fresh {
        narrate(&format!("going on with `{}`", path.display()));
    }
    let summary = running::run(&frozen, &arguments.options, None)?;
    let report = arguments.report.clone().unwrap_or_else(|| report_of(path));
    let analysed = analyze::analyze(path, &report, arguments.format)?;
    // What was stopped by a wrong result does not go on by itself; that was said above.
    if summary.partial() && summary.stopped_by.is_empty() && arguments.format == Format::Table {
        print("partial: cases are left; the same command goes on");
    }
    Ok(match summary.exit_code() {
        // That nothing was measured yet is no failure of a run that was told to end early.
        ExitCode::Done if summary.partial() => ExitCode::Done,
        ExitCode::Done => analysed,
        other => other,
    })
}

/// Seconds that one build of a geometry takes on one core, and one round of a case costs beside its calls; only for the
/// estimate that `--dry-run` gives. Measured on a 3 GHz x86-64 core with gcc 12; the order of magnitude is what matters.
const BUILD_SECONDS: f64 = 0.7;
const ROUND_SECONDS: f64 = 0.15;

fn dry_run(definition: &Path, arguments: &Arguments) -> Result<ExitCode, Failure> {
    crate::programs::check(definition)?;
    let planning = Planning::of_path(definition, arguments.place.costs.read()?)?;
    let selection = planning.select()?;
    arguments.options.check(&planning, &selection)?;
    let draft = crate::freezing::cases(&planning, &selection)?;
    let units: std::collections::BTreeSet<&String> = draft.iter().flat_map(|(case, _)| case.units.values()).collect();
    let measure = &planning.definition.measure;
    // The slowest estimate in nanoseconds stands for a call of case or control.
    let calls: f64 = draft
        .iter()
        .filter_map(|(case, _)| case.estimates.iter().find(|e| e.unit == "ns").map(|e| e.value * 1e-9))
        .map(|call| f64::from(measure.rounds) * (ROUND_SECONDS + call * (2.0 * f64::from(measure.pairs) + 1.0)))
        .sum();
    let told = draft
        .iter()
        .all(|(case, _)| case.estimates.iter().any(|estimate| estimate.unit == "ns"));
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let builds = BUILD_SECONDS * units.len() as f64 / jobs as f64;
    let dry = DryRun {
        cases: draft.len(),
        objects: units.len(),
        build_seconds: builds.round(),
        run_seconds: told.then(|| calls.round()),
        rounds: measure.rounds,
        refused: &selection.refused,
    };
    if arguments.format == Format::Json {
        print_json(&dry)?;
        return Ok(ExitCode::Done);
    }
    crate::plan::list(&planning, &selection, Format::Table)?;
    print(&format!(
        "{}, {} to build; about {} s to build and {} for {} of each case (modelled), crosses and finalists not counted",
        counted(dry.cases as u64, "case"),
        counted(dry.objects as u64, "object"),
        dry.build_seconds,
        dry.run_seconds.map_or_else(
            || "a time that no estimate tells".to_owned(),
            |seconds| format!("{seconds} s")
        ),
        counted(u64::from(dry.rounds), "round")
    ));
    Ok(ExitCode::Done)
}

/// What a dry run says; times are modelled.
#[derive(Serialize)]
struct DryRun<'a> {
    cases: usize,
    objects: usize,
    build_seconds: f64,
    /// `None` where no estimate says how long a call takes.
    run_seconds: Option<f64>,
    rounds: u32,
    refused: &'a [Refused],
}
