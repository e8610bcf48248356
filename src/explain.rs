//! `layout-sweep explain`.

use std::path::PathBuf;

use analyzer::Dataset;
use analyzer::explain::{ExplainError, Explanation, explain};
use analyzer::explained;
use clap::{Args, ValueEnum};
use cohort::Snapshot;
use coordinator::ExitCode;
use serde::Serialize;

use crate::amounts;
use crate::failure::Failure;
use crate::freeze::read;
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
    let snapshot = read(&arguments.cohort)?;
    let dataset = analyzer::dataset(&snapshot).map_err(unreadable)?;
    let found = explain(&dataset, &arguments.a, arguments.b.as_deref()).map_err(|error| match error {
        ExplainError::NoCase { ref near, .. } if !near.is_empty() => {
            let near = format!("there are: {}", near.join(", "));
            Failure::usage(error.to_string()).help(near)
        }
        ExplainError::Same { .. } => Failure::usage(error.to_string())
            .help("name another case of its workload: `layout-sweep explain COHORT A B`"),
        ExplainError::NoCase { .. } | ExplainError::TwoWorkloads { .. } => Failure::usage(error.to_string()),
        ExplainError::Analyze(error) => unreadable(error),
    })?;
    let of = |name: &str| work(&snapshot, &dataset, name);
    let (work_a, work_b) = (of(&found.a.case), of(&found.b.case));
    match arguments.format {
        Form::Table => {
            print(&explained::render(&found));
            if !(work_a.is_empty() && work_b.is_empty()) {
                print(&amounts::show(&[(&found.b.case, &work_b), (&found.a.case, &work_a)]));
            }
        }
        Form::Json => print_json(&Worked {
            explanation: &found,
            work_a: &work_a,
            work_b: &work_b,
        })?,
        Form::Csv => print_csv(&explained::csv(&found).map_err(unreadable)?),
    }
    Ok(ExitCode::Done)
}

#[derive(Serialize)]
struct Worked<'a> {
    #[serde(flatten)]
    explanation: &'a Explanation,
    work_a: &'a [amounts::Row],
    work_b: &'a [amounts::Row],
}

/// What the phases of a case did in their median time; empty for targets that do not tell, and without a measurement.
fn work(snapshot: &Snapshot, dataset: &Dataset, name: &str) -> Vec<amounts::Row> {
    let case = snapshot.frozen.cases().find(|case| case.name == name);
    let mut measured = dataset.workloads.iter().flat_map(|workload| &workload.cases);
    let measured = measured.find(|case| case.name == name);
    let (Some(case), Some(measured)) = (case, measured) else {
        return Vec::new();
    };
    let Some(own) = amounts::amounts(snapshot, case).filter(|_| !measured.phases.is_empty()) else {
        return Vec::new();
    };
    let phases = measured.phases.iter().filter(|phase| phase.kind != "wait");
    let times: Vec<(String, f64)> = phases.map(|phase| (phase.name.clone(), phase.median)).collect();
    amounts::rows(&own, &times, amounts::peak(dataset, &case.workload))
}

/// Figures that can't be computed.
pub(crate) fn unreadable(error: analyzer::AnalyzeError) -> Failure {
    Failure::because(ExitCode::Failure, "the cohort can't be analysed", error)
}

/// Prints CSV, which is UTF-8.
pub(crate) fn print_csv(bytes: &[u8]) {
    print(&String::from_utf8_lossy(bytes));
}
