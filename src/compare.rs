//! `layout-sweep compare`.

use std::path::PathBuf;

use analyzer::compare::{CompareError, Comparison, compare};
use analyzer::compared;
use clap::Args;
use coordinator::ExitCode;
use planner::{counted, grouped};

use crate::explain::{Form, print_csv, unreadable};
use crate::failure::Failure;
use crate::freeze::{read, read_unedited};
use crate::output::{narrate, print, print_json};

/// Arguments of `compare`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The folder of the cohort that came first: what is expected.
    #[arg(value_name = "COHORT1")]
    first: PathBuf,
    /// The folder of the other cohort: what is there now.
    #[arg(value_name = "COHORT2")]
    second: PathBuf,
    /// The largest ratio of second over first that passes, such as 1.03. A case that is slower than that beyond noise,
    /// or that no longer gives a right result, ends the command with 7; so does a comparison in which no case can be
    /// judged.
    #[arg(long, value_name = "RATIO", value_parser = at_least_one)]
    max_regression: Option<f64>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Form::Table)]
    format: Form,
}

pub(crate) fn at_least_one(word: &str) -> Result<f64, String> {
    let ratio: f64 = word.parse().map_err(|_| "expected a number, such as 1.03".to_owned())?;
    if ratio.is_finite() && ratio >= 1.0 {
        Ok(ratio)
    } else {
        Err("expected a ratio of at least 1, such as 1.03".to_owned())
    }
}

/// Compares the cases that two cohorts have in common.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let read = if arguments.max_regression.is_some() {
        read_unedited
    } else {
        read
    };
    let dataset = |cohort: &PathBuf| analyzer::dataset(&read(cohort)?).map_err(unreadable);
    let (first, second) = (dataset(&arguments.first)?, dataset(&arguments.second)?);
    let found = compare(&first, &second, arguments.max_regression).map_err(|error| match error {
        CompareError::Analyze(error) => unreadable(error),
        error => Failure::usage(error.to_string()),
    })?;
    show(&found, arguments.format)?;
    if found.judges_nothing() {
        narrate(&format!(
            "error: none of {} can be judged: the gate is not met",
            counted(found.cases.len(), "case")
        ));
        return Ok(ExitCode::Gate);
    }
    let exceeding = found.exceeding().count();
    if exceeding == 0 {
        return Ok(ExitCode::Done);
    }
    narrate(&format!(
        "error: {} of {} do not pass the gate",
        grouped(exceeding),
        counted(found.cases.len(), "case")
    ));
    Ok(ExitCode::Gate)
}

fn show(found: &Comparison, form: Form) -> Result<(), Failure> {
    match form {
        Form::Table => print(&compared::render(found)),
        Form::Json => print_json(found)?,
        Form::Csv => print_csv(&compared::csv(found).map_err(unreadable)?),
    }
    Ok(())
}
