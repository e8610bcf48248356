//! `layout-sweep explain`.

use std::path::{Path, PathBuf};

use analyzer::Dataset;
use analyzer::explain::{ExplainError, explain};
use analyzer::explained;
use clap::{Args, ValueEnum};
use cohort::{CohortDir, Snapshot};
use coordinator::ExitCode;

use crate::failure::Failure;
use crate::output::{print, print_json};

/// Form of a result of which a table makes sense to a spreadsheet, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// For people.
    Table,
    /// One JSON document.
    Json,
    /// Comma-separated values, with all digits.
    Csv,
}

/// Arguments of `explain`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The cohort's folder.
    cohort: PathBuf,
    /// The case to explain.
    #[arg(value_name = "A")]
    a: String,
    /// The case to compare it with; the control of its workload by default.
    #[arg(value_name = "B")]
    b: Option<String>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Form::Table)]
    format: Form,
}

/// Says what differs between two cases, which phases carry the difference, and how each estimate saw it.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let dataset = dataset(&arguments.cohort)?;
    let found = explain(&dataset, &arguments.a, arguments.b.as_deref()).map_err(|error| match error {
        ExplainError::NoCase { ref near, .. } if !near.is_empty() => {
            let near = format!("there are: {}", near.join(", "));
            Failure::usage(error.to_string()).help(near)
        }
        ExplainError::NoCase { .. } | ExplainError::TwoWorkloads { .. } => Failure::usage(error.to_string()),
        ExplainError::Analyze(error) => unreadable(error),
    })?;
    match arguments.format {
        Form::Table => print(&explained::render(&found)),
        Form::Json => print_json(&found)?,
        Form::Csv => print_csv(&explained::csv(&found).map_err(unreadable)?),
    }
    Ok(ExitCode::Done)
}

/// What a cohort measured and predicted. Executes nothing of it.
pub(crate) fn dataset(cohort: &Path) -> Result<Dataset, Failure> {
    let snapshot = Snapshot::read(&CohortDir::new(cohort)).map_err(|error| {
        let message = format!("`{}` can't be read", cohort.display());
        Failure::because(ExitCode::Mismatch, message, error)
    })?;
    analyzer::dataset(&snapshot).map_err(unreadable)
}

/// Figures that can't be computed.
pub(crate) fn unreadable(error: analyzer::AnalyzeError) -> Failure {
    Failure::because(ExitCode::Failure, "the cohort can't be analysed", error)
}

/// Prints CSV, which is UTF-8.
pub(crate) fn print_csv(bytes: &[u8]) {
    print(&String::from_utf8_lossy(bytes));
}
