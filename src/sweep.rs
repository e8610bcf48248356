//! `layout-sweep sweep`: the main job.

use std::path::{Path, PathBuf};

use clap::Args;
use coordinator::ExitCode;

use crate::analyze;
use crate::failure::Failure;
use crate::freeze::{Place, find, open_or_freeze};
use crate::output::{Format, narrate, print};
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

/// Plans, freezes or resumes, runs and analyzes each definition. The worst exit code of all is the program's.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.definitions.len() > 1 && (arguments.place.cohort.is_some() || arguments.report.is_some()) {
        return Err(Failure::usage("`--cohort` and `--report` go with one definition"));
    }
    let mut worst = ExitCode::Done;
    for definition in &arguments.definitions {
        let code = if arguments.dry_run {
            dry_run(definition)?
        } else {
            sweep(definition, arguments)?
        };
        if code != ExitCode::Done {
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
    let (frozen, fresh) = open_or_freeze(definition, &arguments.place)?;
    let path = frozen.dir().path();
    if !fresh {
        narrate(&format!("going on with `{}`", path.display()));
    }
    let summary = running::run(&frozen, &arguments.options)?;
    let report = arguments.report.clone().unwrap_or_else(|| report_of(path));
    let analysed = analyze::analyze(path, &report, arguments.format)?;
    if summary.partial() && arguments.format == Format::Table {
        print("partial: cases are left; the same command goes on");
    }
    Ok(if summary.exit_code() == ExitCode::Done {
        analysed
    } else {
        summary.exit_code()
    })
}

/// Seconds that one build of a geometry takes on one core, and one round of a case costs beside its calls; only for the
/// estimate that `--dry-run` gives. Measured on a 3 GHz x86-64 core with gcc 12; the order of magnitude is what matters.
const BUILD_SECONDS: f64 = 0.7;
const ROUND_SECONDS: f64 = 0.15;

fn dry_run(definition: &Path) -> Result<ExitCode, Failure> {
    let planning = Planning::of_path(definition)?;
    let selection = planning.select()?;
    crate::plan::list(&planning, &selection, Format::Table)?;
    let draft = crate::freezing::cases(&planning, &selection)?;
    let units: std::collections::BTreeSet<&String> = draft.iter().flat_map(|(case, _)| case.units.values()).collect();
    let measure = &planning.definition.measure;
    // The slowest estimate in nanoseconds stands for a call of case or control.
    let calls: f64 = draft
        .iter()
        .filter_map(|(case, _)| case.estimates.iter().find(|e| e.unit == "ns").map(|e| e.value * 1e-9))
        .map(|call| f64::from(measure.rounds) * (ROUND_SECONDS + call * (2.0 * f64::from(measure.pairs) + 1.0)))
        .sum();
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let builds = BUILD_SECONDS * units.len() as f64 / jobs as f64;
    print(&format!(
        "{} cases, {} objects to build; about {:.0} s to build and {:.0} s for {} rounds of each case (modelled), \
         crosses and finalists not counted",
        draft.len(),
        units.len(),
        builds,
        calls,
        measure.rounds
    ));
    Ok(ExitCode::Done)
}
