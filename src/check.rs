//! `layout-sweep check`: whether an estimate still chooses good plans; a gate for CI.

use std::path::PathBuf;

use clap::Args;
use coordinator::ExitCode;
use serde::Serialize;

use crate::calibrate::ReadCohort;
use crate::costs::CostsFile;
use crate::failure::Failure;
use crate::output::{Format, narrate, print, print_json, table};

/// Arguments of `check`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The cohort's folder.
    cohort: PathBuf,
    /// The largest regret that passes, such as 1.05: the measured value of the plan that the estimate would choose, over
    /// that of the best plan. More ends the command with 7.
    #[arg(long, value_name = "RATIO", value_parser = crate::compare::at_least_one)]
    max_regret: f64,
    /// The estimates to check (default: every one in the objective's unit).
    #[arg(long, value_name = "NAME")]
    estimate: Vec<String>,
    #[command(flatten)]
    costs: CostsFile,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// One estimate of one workload.
#[derive(Serialize)]
struct Checked {
    estimate: String,
    workload: String,
    cases: usize,
    regret: f64,
    chosen: String,
    best: String,
    passes: bool,
}

/// Checks regrets.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let cohort = ReadCohort::read_unedited(&arguments.cohort)?;
    let (predictions, unjudged) = cohort.predictions(arguments.costs.read()?)?;
    for line in calibrate::Unjudged::lines(&unjudged) {
        narrate(&format!("note: {line}"));
    }
    let unit = &cohort.dataset.setup.objective.unit;
    let mut known: Vec<&str> = predictions.iter().map(|one| one.estimate.as_str()).collect();
    known.dedup();
    if let Some(unknown) = arguments.estimate.iter().find(|name| !known.contains(&name.as_str())) {
        let known = known.join("`, `");
        return Err(Failure::usage(format!(
            "no estimate is called `{unknown}`: expected one of `{known}`"
        )));
    }
    let wanted = |name: &String, own: &String| {
        if arguments.estimate.is_empty() {
            own == unit
        } else {
            arguments.estimate.contains(name)
        }
    };
    let mut checked = Vec::new();
    for one in predictions.iter().filter(|one| wanted(&one.estimate, &one.unit)) {
        let found = stats::regret::regret(&one.predicted, &one.measured)
            .map_err(|error| Failure::because(ExitCode::Failure, "the regret can't be computed", error))?;
        let Some(found) = found else { continue };
        checked.push(Checked {
            estimate: one.estimate.clone(),
            workload: one.workload.clone(),
            cases: one.measured.len(),
            regret: found.ratio,
            chosen: one.names[found.selected].clone(),
            best: one.names[found.best].clone(),
            passes: found.ratio <= arguments.max_regret,
        });
    }
    if checked.is_empty() {
        return Err(Failure::usage(format!(
            "`{}` has no measured case with an estimate in {unit}: there is nothing to check",
            arguments.cohort.display()
        ))
        .help("`--estimate NAME` checks one in another unit"));
    }
    show(&checked, arguments)?;
    let failing = checked.iter().filter(|one| !one.passes).count();
    if failing == 0 {
        return Ok(ExitCode::Done);
    }
    let (all, most) = (checked.len(), arguments.max_regret);
    narrate(&format!("error: {failing} of {all} regrets are above {most}"));
    Ok(ExitCode::Gate)
}

fn show(checked: &[Checked], arguments: &Arguments) -> Result<(), Failure> {
    if arguments.format == Format::Json {
        return print_json(&checked);
    }
    let row = |one: &Checked| {
        vec![
            one.estimate.clone(),
            one.workload.clone(),
            one.cases.to_string(),
            format!("{:.4}", one.regret),
            one.chosen.clone(),
            one.best.clone(),
            if one.passes { "passes" } else { "fails" }.to_owned(),
        ]
    };
    let head = ["estimate", "workload", "cases", "regret", "chooses", "best", "gate"];
    print(&table(&head, checked.iter().map(row).collect()));
    Ok(())
}
