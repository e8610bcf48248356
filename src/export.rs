//! `layout-sweep export`.

use std::path::{Path, PathBuf};

use analyzer::analysis::Analysis;
use clap::{Args, ValueEnum};
use cohort::{Case, Snapshot};
use coordinator::ExitCode;
use planner::select::plan_to_toml;
use planner::{Assignment, Space};

use crate::explain::unreadable;
use crate::failure::Failure;
use crate::freeze::read;
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
    #[arg(long, value_enum, required_unless_present = "kernel", conflicts_with = "kernel")]
    format: Option<Form>,
    /// A plan as C: writes `NAME.c` and `NAME.h`, to be built into any program.
    #[arg(long, value_name = "NAME.c", conflicts_with = "output")]
    kernel: Option<PathBuf>,
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
    let snapshot = read(&arguments.cohort)?;
    if let Some(path) = &arguments.kernel {
        return kernel(&snapshot, arguments, path);
    }
    let text = match arguments.format {
        Some(Form::Toml) => plan(&snapshot, arguments)?,
        _ if arguments.case != "best" => {
            return Err(Failure::usage(
                "`--case` goes with `--format toml` and `--kernel`: the other formats hold all cases",
            ));
        }
        Some(form) => table(&snapshot, form, arguments)?,
        None => return Err(Failure::usage("expected `--format` or `--kernel`")),
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

/// Writes a plan as C, and its header beside it.
fn kernel(snapshot: &Snapshot, arguments: &Arguments, path: &Path) -> Result<ExitCode, Failure> {
    let analysis = analysis(snapshot)?;
    let name = match arguments.case.as_str() {
        "best" => best(&analysis, arguments)?,
        name => name.to_owned(),
    };
    let case = named(snapshot, &name)?;
    let workload = analysis
        .workloads
        .iter()
        .find(|workload| workload.name == case.workload);
    let workload = workload.ok_or_else(|| Failure::new(ExitCode::Failure, "the case's workload was lost"))?;
    for file in crate::export_kernel::kernel(snapshot, case, workload, path)? {
        let path = path.with_file_name(&file.path);
        write(&path, &file.text)?;
        narrate(&format!("written: `{}`", path.display()));
    }
    Ok(ExitCode::Done)
}

fn named<'a>(snapshot: &'a Snapshot, name: &str) -> Result<&'a Case, Failure> {
    let case = snapshot.frozen.cases().find(|case| case.name == name);
    case.ok_or_else(|| Failure::usage(format!("the cohort has no case `{name}`")))
}

fn analysis(snapshot: &Snapshot) -> Result<Analysis, Failure> {
    let dataset = analyzer::dataset(snapshot).map_err(unreadable)?;
    analyzer::rows::evaluate(&dataset).map_err(unreadable)
}

fn plan(snapshot: &Snapshot, arguments: &Arguments) -> Result<String, Failure> {
    let name = match arguments.case.as_str() {
        "best" => best(&analysis(snapshot)?, arguments)?,
        name => name.to_owned(),
    };
    let case = named(snapshot, &name)?;
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
fn best(analysis: &Analysis, arguments: &Arguments) -> Result<String, Failure> {
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
    let planning = Planning::of_frozen(manifest)?;
    let workload = crate::freezing::workload(&planning, &case.workload)?;
    let space = planning.configured.space(workload);
    space
        .map(Some)
        .map_err(|refusal| Failure::usage(format!("workload `{}` has no plans: {refusal}", case.workload)))
}
