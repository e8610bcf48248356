//! `layout-sweep export`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use cohort::{Case, CohortDir, Snapshot};
use coordinator::ExitCode;
use planner::select::plan_to_toml;
use planner::{Assignment, Space};

use crate::explain::unreadable;
use crate::failure::Failure;
use crate::output::{narrate, print};
use crate::planning::Planning;

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Results in the FAIR format T4 (JSON): every configuration with every sample.
    T4,
    /// A table, one line per sample.
    Csv,
    /// One plan, as `try --plan` reads it.
    Toml,
    /// A table for people.
    Markdown,
}

/// Arguments of `export`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The cohort's folder.
    cohort: PathBuf,
    /// What is written.
    #[arg(long, value_enum)]
    format: Form,
    /// Of plans: `best`, as the report says, or the name of a case.
    #[arg(long, value_name = "NAME", default_value = "best")]
    case: String,
    /// The workload, where the cohort has several.
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// The file; standard output by default.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Writes what a cohort measured, or one of its plans. Executes nothing of it.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let snapshot = Snapshot::read(&CohortDir::new(&arguments.cohort)).map_err(|error| {
        let message = format!("`{}` can't be read", arguments.cohort.display());
        Failure::because(ExitCode::Mismatch, message, error)
    })?;
    if arguments.format != Form::Toml && arguments.case != "best" {
        return Err(Failure::usage(
            "`--case` goes with `--format toml`: the other formats hold all cases",
        ));
    }
    let text = match arguments.format {
        Form::Toml => plan(&snapshot, arguments)?,
        form => table(&snapshot, form, arguments)?,
    };
    match &arguments.output {
        None => print(&text),
        Some(path) => {
            write(path, &text)?;
            narrate(&format!("written: `{}`", path.display()));
        }
    }
    Ok(ExitCode::Done)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    cohort::write_atomic(path, text.as_bytes())
        .map_err(|error| Failure::because(ExitCode::Usage, format!("`{}` can't be written", path.display()), error))
}

fn table(snapshot: &Snapshot, form: Form, arguments: &Arguments) -> Result<String, Failure> {
    let failed = |error: formats::ExportError| {
        let several = matches!(error, formats::ExportError::Workloads(_));
        let failure = Failure::because(ExitCode::Usage, "the cohort can't be exported", error);
        if several {
            failure.help("`--workload NAME` chooses one")
        } else {
            failure
        }
    };
    let (table, notes) = formats::table_of(snapshot, arguments.workload.as_deref()).map_err(failed)?;
    for note in notes {
        narrate(&format!("note: {note}"));
    }
    let manifest = snapshot.frozen.manifest();
    match form {
        Form::T4 => formats::to_t4(&table).map_err(failed),
        Form::Csv => formats::to_csv(&table).map_err(failed),
        Form::Toml | Form::Markdown => {
            let origin = match &manifest.imported {
                Some(imported) => format!("measured by whom: {}", imported.file),
                None => format!("measured on {}", manifest.target),
            };
            Ok(formats::to_markdown(&table, &origin))
        }
    }
}

fn plan(snapshot: &Snapshot, arguments: &Arguments) -> Result<String, Failure> {
    let name = if arguments.case == "best" {
        best(snapshot, arguments)?
    } else {
        arguments.case.clone()
    };
    let case = snapshot.frozen.cases().find(|case| case.name == name);
    let case = case.ok_or_else(|| Failure::usage(format!("the cohort has no case `{name}`")))?;
    let attributes = case.plan.attributes.clone();
    let assignment = match space(snapshot, case)? {
        // What the target derives is no choice, and `try` would not know it.
        Some(space) => attributes
            .iter()
            .filter(|(name, _)| space.parameter(name).is_some())
            .map(|(name, value)| (name.to_owned(), value.clone()))
            .collect::<Assignment>(),
        None => attributes,
    };
    let one_line = |text: &str| {
        text.chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect::<String>()
    };
    Ok(format!(
        "# Case {} of workload {}.\n{}",
        one_line(&case.name),
        one_line(&case.workload),
        plan_to_toml(&assignment)
    ))
}

/// The plan to take, as the report says.
fn best(snapshot: &Snapshot, arguments: &Arguments) -> Result<String, Failure> {
    let dataset = analyzer::dataset(snapshot).map_err(unreadable)?;
    let analysis = analyzer::rows::evaluate(&dataset).map_err(unreadable)?;
    let wanted = arguments.workload.as_deref();
    let names: Vec<&str> = analysis
        .workloads
        .iter()
        .map(|workload| workload.name.as_str())
        .collect();
    let mut own = analysis
        .workloads
        .iter()
        .filter(|workload| wanted.is_none_or(|name| workload.name == name));
    let (Some(workload), None) = (own.next(), own.next()) else {
        return Err(Failure::usage(format!(
            "`--workload`: expected one of {}",
            names.join(", ")
        )));
    };
    let winner = workload.winner.as_ref();
    let winner = winner.ok_or_else(|| Failure::new(ExitCode::SomeFailed, "no case has a correct result"))?;
    Ok(winner.case.clone())
}

/// What can be chosen for the case's workload; `None` for what was imported: there everything was.
fn space(snapshot: &Snapshot, case: &Case) -> Result<Option<Space>, Failure> {
    let manifest = snapshot.frozen.manifest();
    if manifest.imported.is_some() {
        return Ok(None);
    }
    let origin = &manifest.origin.definition_path;
    let planning = Planning::of_frozen(origin, &manifest.definition, &manifest.machine)?;
    let workload = crate::freezing::workload(&planning, &case.workload)?;
    let space = planning.configured.space(workload);
    space
        .map(Some)
        .map_err(|refusal| Failure::usage(format!("workload `{}` has no plans: {refusal}", case.workload)))
}
