//! `layout-sweep try`: one plan now, without a cohort that stays.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use cohort::{BuildOutcome, RunOutcome, Snapshot};
use coordinator::{ExitCode, RunOptions};
use planner::select::{Chosen, SelectedWorkload, Selection, assignment_from_toml};
use serde::Serialize;
use stats::order::median;
use target_api::{Measurement, NumericalError, Of};

use crate::failure::Failure;
use crate::freezing;
use crate::output::{Format, print, print_json, table};
use crate::planning::{self, Planning};
use crate::progress::{Display, shell_word};
use crate::trial_constraints::Constrained;

/// Arguments of `try`.
#[derive(Args)]
#[command(group = ArgGroup::new("what").required(true).args(["case", "plan", "constraints"]))]
pub(crate) struct Arguments {
    /// The sweep definition.
    definition: PathBuf,
    /// A case of the definition.
    #[arg(long, value_name = "NAME")]
    case: Option<String>,
    /// A plan as a TOML file of attributes; those that it leaves out are as in the control.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    #[command(flatten)]
    constrained: Constrained,
    /// The workload, where the definition has several and the plan is none of its cases.
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// Pairs of calls.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pairs: u32,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Serialize)]
struct PhaseValue {
    name: String,
    kind: String,
    value: f64,
}

#[derive(Serialize, Default)]
struct Trial {
    outcome: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio_to_control: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gflops: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    share_of_peak: Option<f64>,
    pairs: usize,
    phases: Vec<PhaseValue>,
    estimates: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<NumericalError>,
    plan: String,
}

/// Builds, checks and measures one plan.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut planning = Planning::of_path(&arguments.definition)?;
    arguments.constrained.reprice(&mut planning)?;
    let selection = planning.select()?;
    let (selected, case) = match (&arguments.case, &arguments.plan) {
        (Some(name), _) => named(&selection, name, arguments)?,
        (None, Some(path)) => planned(&planning, &selection, path, arguments)?,
        (None, None) => {
            let workload = arguments.workload.as_deref();
            let (selected, case) = arguments.constrained.plan(&planning, &selection, workload)?;
            (selected, Some(case))
        }
    };
    let Some(case) = case else {
        return Ok(ExitCode::Done);
    };
    planning.definition.measure.rounds = 1;
    planning.definition.measure.pairs = arguments.pairs;
    planning.definition.measure.finalists = 0;
    planning.definition.explore.value.adaptive = None;
    let folder = tempfile::Builder::new()
        .prefix("layout-sweep-try-")
        .tempdir()
        .map_err(|error| Failure::because(ExitCode::Failure, "no temporary folder can be made", error))?;
    let trial = measure(
        &planning,
        &only(&selection, selected, &case),
        &case,
        &folder.path().join("cohort"),
    )?;
    let code = match trial.outcome.as_str() {
        "correct" | "rejected" => ExitCode::Done,
        "incorrect" => ExitCode::Incorrect,
        "interrupted" => ExitCode::Interrupted,
        _ => ExitCode::SomeFailed,
    };
    if arguments.format == Format::Json {
        print_json(&trial)?;
    } else {
        show(&trial);
    }
    Ok(code)
}

/// The case called `name`; a refused one is printed here and gives no case.
fn named<'a>(
    selection: &'a Selection,
    name: &str,
    arguments: &Arguments,
) -> Result<(&'a SelectedWorkload, Option<Chosen>), Failure> {
    for selected in &selection.workloads {
        if let Some(case) = selected.cases.iter().find(|case| case.name == name) {
            return Ok((selected, Some(case.clone())));
        }
    }
    if let Some(refused) = selection.refused.iter().find(|refused| refused.name == name) {
        print_refusal(&refused.reason.to_string(), arguments.format)?;
        let Some(first) = selection.workloads.first() else {
            return Err(Failure::usage("the definition has no workload"));
        };
        return Ok((first, None));
    }
    let names: Vec<&str> = selection
        .workloads
        .iter()
        .flat_map(|w| &w.cases)
        .map(|case| case.name.as_str())
        .collect();
    Err(Failure::usage(format!("the definition makes no case called `{name}`"))
        .help(format!("it makes {}", names.join(", "))))
}

/// The plan in the file at `path`; a refused one is printed here and gives no case.
fn planned<'a>(
    planning: &Planning,
    selection: &'a Selection,
    path: &Path,
    arguments: &Arguments,
) -> Result<(&'a SelectedWorkload, Option<Chosen>), Failure> {
    let mut workloads = selection.workloads.iter();
    let selected = match &arguments.workload {
        Some(name) => workloads.find(|w| w.name == *name),
        None => workloads.next().filter(|_| selection.workloads.len() == 1),
    };
    let Some(selected) = selected else {
        let names: Vec<&str> = selection.workloads.iter().map(|w| w.name.as_str()).collect();
        return Err(Failure::usage(format!(
            "`--workload`: expected one of {}",
            names.join(", ")
        )));
    };
    let text = fs_err::read_to_string(path)
        .map_err(|error| Failure::because(ExitCode::Usage, "the plan can't be read", error))?;
    let control = selected
        .cases
        .iter()
        .find(|case| Some(&case.name) == selected.control.as_ref());
    let base = control.map_or(&selected.base, |case| &case.assignment);
    let assignment = assignment_from_toml(&path.display().to_string(), &text, &selected.space, base)
        .map_err(|error| Failure::usage(error.to_string()))?;
    if let Err(refusal) = selected.space.judge(&assignment) {
        print_refusal(&refusal.to_string(), arguments.format)?;
        return Ok((selected, None));
    }
    let workload = freezing::workload(planning, &selected.name)?;
    let case = Chosen {
        name: "try".to_owned(),
        workload: selected.name.clone(),
        family: "explicit".to_owned(),
        reason: format!("plan in `{}`", path.display()),
        text: planning.configured.text(workload, &assignment),
        assignment,
        repeat_of: None,
    };
    Ok((selected, Some(case)))
}

fn print_refusal(reason: &str, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return print_json(&Trial {
            outcome: "rejected".to_owned(),
            reason: Some(reason.to_owned()),
            ..Trial::default()
        });
    }
    print(&format!("rejected: {reason}"));
    Ok(())
}

/// The control and this case, and nothing else.
fn only(selection: &Selection, selected: &SelectedWorkload, case: &Chosen) -> Selection {
    let mut workload = selected.clone();
    workload
        .cases
        .retain(|other| Some(&other.name) == selected.control.as_ref());
    if workload.cases.iter().all(|other| other.name != case.name) {
        let mut case = case.clone();
        // The control's own plan under another name is a wanted repetition here.
        case.repeat_of = workload
            .cases
            .iter()
            .find(|other| other.text == case.text)
            .map(|other| other.name.clone());
        workload.cases.push(case);
    }
    Selection {
        workloads: vec![workload],
        refused: selection.refused.clone(),
    }
}

fn measure(planning: &Planning, selection: &Selection, case: &Chosen, path: &Path) -> Result<Trial, Failure> {
    let frozen = freezing::freeze(planning, selection, path)?;
    let now = planning::machine_now(planning)?;
    let mut options = RunOptions::new(&*planning.configured, &now);
    options.only = vec![case.name.clone()];
    options.cache = crate::cache::usual();
    let mut display = Display::new(format!(
        "layout-sweep try {} --case",
        shell_word(&planning.definition.source.path)
    ));
    let result = coordinator::run(path, &options, None, &mut |event, progress| {
        display.show(event, progress);
    });
    display.finish();
    result.map_err(|error| Failure::because(error.exit_code(), "the plan can't be measured", error))?;
    let snapshot = Snapshot::read(frozen.dir())
        .map_err(|error| Failure::because(ExitCode::Failure, "the result can't be read", error))?;
    let mut trial = read(&snapshot, planning, case)?;
    trial.unit = Some(planning.configured.objective().unit.to_owned());
    Ok(trial)
}

fn read(snapshot: &Snapshot, planning: &Planning, case: &Chosen) -> Result<Trial, Failure> {
    let state = snapshot
        .state()
        .map_err(|error| Failure::because(ExitCode::Failure, "the result can't be read", error))?;
    let Some(state) = state.get(&case.name) else {
        return Err(Failure::new(ExitCode::Failure, "the result was lost"));
    };
    let mut trial = Trial {
        outcome: state
            .outcome()
            .map_or("interrupted", cohort::Outcome::as_str)
            .to_owned(),
        estimates: state.case.estimates.iter().map(|e| (e.name.clone(), e.value)).collect(),
        plan: state.case.plan.text.clone(),
        ..Trial::default()
    };
    let Some(attempt) = state.latest() else {
        return Ok(trial);
    };
    if let Some(build) = attempt.build
        && let BuildOutcome::Rejected { reason }
        | BuildOutcome::BuildFailed { reason }
        | BuildOutcome::TimedOut { reason } = build.outcome
    {
        trial.reason = Some(reason.clone());
    }
    for round in attempt.rounds.values().filter_map(cohort::RoundState::done) {
        match round.outcome {
            RunOutcome::Correct { measurement } => {
                let workload = freezing::workload(planning, &case.workload)?;
                fill(&mut trial, measurement, workload.flops() as f64);
            }
            RunOutcome::Incorrect { reason, measurement } => {
                trial.reason = Some(reason.clone());
                trial.error = measurement.as_ref().and_then(|m| m.error.clone());
            }
            RunOutcome::RunFailed { reason } | RunOutcome::TimedOut { reason } => trial.reason = Some(reason.clone()),
        }
    }
    Ok(trial)
}

fn fill(trial: &mut Trial, measurement: &Measurement, flops: f64) {
    trial.value = median(&measurement.values(Of::Case));
    let ratios: Vec<f64> = measurement
        .pairs()
        .iter()
        .map(|(case, control)| case / control)
        .collect();
    trial.ratio_to_control = median(&ratios);
    trial.pairs = ratios.len();
    trial.gflops = trial.value.map(|ns| flops / ns);
    let shares: Vec<f64> = measurement
        .values(Of::Case)
        .iter()
        .zip(&measurement.probes)
        .map(|(ns, probe)| flops / ns / probe.peak_gflops)
        .collect();
    trial.share_of_peak = median(&shares);
    trial.error.clone_from(&measurement.error);
    let counted: Vec<_> = measurement
        .samples
        .iter()
        .filter(|s| s.of == Of::Case && !s.warm_up)
        .collect();
    let Some(first) = counted.first() else { return };
    trial.phases = first
        .phases
        .iter()
        .map(|phase| {
            let values: Vec<f64> = counted
                .iter()
                .filter_map(|sample| sample.phases.iter().find(|p| p.name == phase.name).map(|p| p.value))
                .collect();
            PhaseValue {
                name: phase.name.clone(),
                kind: phase.kind.clone(),
                value: median(&values).unwrap_or(phase.value),
            }
        })
        .collect();
}

fn show(trial: &Trial) {
    print(&format!("{}: {}", trial.outcome, trial.plan));
    if let Some(reason) = &trial.reason {
        print(&format!("reason: {reason}"));
    }
    let (Some(value), Some(unit)) = (trial.value, &trial.unit) else {
        return;
    };
    let number = |value: Option<f64>, digits: usize| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.digits$}"));
    print(&format!(
        "measured: median of {} pairs {value:.0} {unit}, {} of the control, {} GFLOP/s, {} of the FMA peak",
        trial.pairs,
        number(trial.ratio_to_control, 3),
        number(trial.gflops, 1),
        number(trial.share_of_peak, 3)
    ));
    let phases = trial
        .phases
        .iter()
        .map(|p| vec![p.name.clone(), p.kind.clone(), format!("{:.0}", p.value)])
        .collect();
    print(&table(&["phase", "kind", &format!("median {unit}")], phases));
    for (name, value) in &trial.estimates {
        print(&format!("modelled: {name} {value:.0}"));
    }
    if let Some(error) = &trial.error {
        print(&format!(
            "checked: {} elements of {} calls, largest error {} of tolerance {:.3e}",
            error.elements,
            error.calls,
            error
                .max_absolute
                .map_or_else(|| "not finite".to_owned(), |e| format!("{e:.3e}")),
            error.tolerance
        ));
    }
}
