//! `layout-sweep calibrate`: fits a cost table to kernel samples, and judges it on plans that the fit never saw.

mod holdout;
pub(crate) mod inputs;
mod outcome;

use std::path::PathBuf;

use analyzer::calibration::{OfCohort, of_cohort};
use calibrate::{Calibration, Database, FitOptions, Verdict, fit, headline, overlap, verdict};
use clap::Args;
use coordinator::ExitCode;
use planner::counted;

use crate::costs::{Costs, CostsFile};
use crate::failure::Failure;
use crate::output::{Format, narrate, print, print_json};
use inputs::Inputs;
pub(crate) use inputs::ReadCohort;

/// Arguments of `calibrate`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// What to fit on: folders of cohorts, or files with databases of kernel samples.
    #[arg(long, value_name = "PATH", num_args = 1.., required_unless_present = "schema")]
    fit: Vec<PathBuf>,
    /// What to judge on: cohorts and databases that have nothing in common with those of `--fit`.
    #[arg(long, value_name = "PATH", num_args = 1..)]
    holdout: Vec<PathBuf>,
    #[command(flatten)]
    costs: CostsFile,
    /// Where the new table is written (default: beside the old one); never over a file that is there.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The report's folder (default: the new table's name without `.toml`, and `-report`).
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Writes all samples of `--fit` as one database, too.
    #[arg(long, value_name = "FILE")]
    database: Option<PathBuf>,
    /// The estimate of the headline (default: the first in the objective's unit).
    #[arg(long, value_name = "NAME")]
    estimate: Option<String>,
    /// Takes keys that were measured on both sides out of the fit. Without it they are refused.
    #[arg(long)]
    without_shared: bool,
    /// Prints the command that puts the new table in the old one's place.
    #[arg(long)]
    apply: bool,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Print the JSON schema of databases of kernel samples, and do nothing else.
    #[arg(long)]
    schema: bool,
}

/// Fits, judges and writes.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.schema {
        print_json(&Database::schema())?;
        return Ok(ExitCode::Done);
    }
    let given = arguments.costs.read()?;
    let mut fitted = Inputs::read(&arguments.fit, given.as_ref())?;
    let old = fitted.old.clone();
    let held_out = if arguments.holdout.is_empty() {
        None
    } else {
        Some(Inputs::read(&arguments.holdout, Some(&old))?)
    };
    let mut notes = Vec::new();
    if let Some(held_out) = &held_out {
        notes.extend(apart(&mut fitted, held_out, arguments.without_shared)?);
    }
    if let Some(path) = &arguments.database {
        let text = fitted.database.text().map_err(refused)?;
        cohort::write_atomic(path, text.as_bytes())
            .map_err(|error| Failure::because(ExitCode::Usage, "the database can't be written", error))?;
    }
    let options = FitOptions::default();
    let mut found = fit(&fitted.database, &old.table, options).map_err(refused)?;
    let output = outcome::place(arguments.output.as_deref(), given.as_ref(), &fitted.database.target)?;
    found.table.name = outcome::stem(&output);
    let new = Costs {
        file: output.display().to_string(),
        table: found.table.clone(),
    };
    let judged = match &held_out {
        Some(held_out) => holdout::judge_all(held_out, &old, &new, options)?,
        None => holdout::Judged::default(),
    };
    let estimate = holdout::headline_estimate(&judged, arguments.estimate.as_deref())?;
    let headline = estimate.and_then(|estimate| headline(&estimate, &judged.judgements));
    notes.extend(judged.notes());
    let mut calibration = Calibration {
        target: fitted.database.target.clone(),
        unit: judged
            .unit
            .clone()
            .unwrap_or_else(|| fitted.database.clock.unit.clone()),
        old: outcome::name(&old),
        new: outcome::name(&new),
        fit: fitted.database.sources.clone(),
        holdout: held_out
            .as_ref()
            .map_or_else(Vec::new, |held_out| held_out.database.sources.clone()),
        excluded: fitted.database.excluded.clone(),
        families: found.families,
        unpriced: found.unpriced,
        verdict: verdict(headline.as_ref(), &judged.families),
        held_out: judged.families,
        judgements: judged.judgements,
        unjudged: judged.unjudged,
        headline,
        notes,
    };
    let new = outcome::with_provenance(&fitted.database, &calibration, new);
    calibration.new = outcome::name(&new);
    cohort::create_once(&output, new.table.text().as_bytes())
        .map_err(|error| Failure::because(ExitCode::Usage, "the new table can't be written", error))?;
    let report = arguments.report.clone().unwrap_or_else(|| outcome::report_of(&output));
    analyzer::calibration::write(&calibration, &report)
        .map_err(|error| Failure::because(ExitCode::Failure, "the report can't be written", error))?;
    let sides = [("fit", Some(&fitted)), ("held out", held_out.as_ref())];
    for (side, inputs) in sides {
        for cohort in inputs.iter().flat_map(|inputs| &inputs.cohorts) {
            tell(cohort, side, &calibration, &report)?;
        }
    }
    show(arguments, &calibration, &report)?;
    if arguments.apply {
        print(&outcome::apply(&output, given.as_ref()));
    }
    Ok(ExitCode::Done)
}

/// Makes sure that nothing is fitted and judged on the same samples.
fn apart(fitted: &mut Inputs, held_out: &Inputs, without_shared: bool) -> Result<Option<String>, Failure> {
    let both = overlap(&fitted.database, &held_out.database);
    if both.is_empty() {
        return Ok(None);
    }
    let failure = refused(calibrate::CalibrateError::Overlap { what: both.words() });
    if !both.sources.is_empty() {
        return Err(failure.help("nothing is judged on what it was fitted to: give each cohort on one side only"));
    }
    if !without_shared {
        return Err(failure.help("`--without-shared` takes the shared keys out of the fit"));
    }
    let samples = fitted.database.without(&both.keys);
    let keys = both.keys.len();
    Ok(Some(format!(
        "measured on both sides: {} ({}); the fit did not see them",
        counted(keys, "key"),
        counted(samples, "sample")
    )))
}

/// A calibration that can't be made.
pub(crate) fn refused(error: calibrate::CalibrateError) -> Failure {
    Failure::because(ExitCode::Usage, "this can't be calibrated", error)
}

/// Leaves a digest in the report of a cohort, which the next analysis shows.
fn tell(cohort: &ReadCohort, side: &str, calibration: &Calibration, report: &std::path::Path) -> Result<(), Failure> {
    let own = crate::place::report_of(&cohort.path);
    let failed = |error: analyzer::AnalyzeError| {
        let what = format!("the report of `{}` can't be told", cohort.path.display());
        Failure::because(ExitCode::Failure, what, error)
    };
    fs_err::create_dir_all(&own)
        .map_err(|error| Failure::because(ExitCode::Failure, "a report's folder can't be made", error))?;
    let digest = OfCohort::new(calibration, side, report, &own).map_err(failed)?;
    of_cohort::put(&own, digest).map_err(failed)?;
    narrate(&format!(
        "`layout-sweep analyze {}` shows this in the cohort's own report",
        cohort.path.display()
    ));
    Ok(())
}

fn show(arguments: &Arguments, calibration: &Calibration, report: &std::path::Path) -> Result<(), Failure> {
    if arguments.format == Format::Json {
        return print_json(calibration);
    }
    print(&outcome::table(calibration));
    print(&format!("report: {}", report.join("calibration.md").display()));
    print(&format!("new table: {}", calibration.new.file));
    if matches!(calibration.verdict, Verdict::Worse | Verdict::WorseThoughKernelsFit) {
        narrate(&format!("warning: {}", calibration.verdict.words()));
    }
    Ok(())
}
