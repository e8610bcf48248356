//! `layout-sweep try`: one plan now, without a cohort that stays.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use cohort::{RunOutcome, Snapshot};
use coordinator::scratch::scratch;
use coordinator::{ExitCode, RunOptions};
use planner::counted;
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
use crate::values::up_to;

/// Arguments of `try`.
#[derive(Args)]
#[command(group = ArgGroup::new("what").required(true).args(["case", "plan", "constraints"]))]
pub(crate) struct Arguments {
    /// The sweep definition.
    definition: PathBuf,
    /// A case of the definition.
    #[arg(long, value_name = "NAME")]
    case: Option<String>,
    /// A plan as a TOML file of attributes; those that it leaves out are as in the control. (Target `command`
    /// without a control: it must have all.)
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    #[command(flatten)]
    constrained: Constrained,
    /// The workload, where the definition has several and the plan is none of its cases.
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// Pairs of calls.
    #[arg(long, default_value_t = 5, value_parser = up_to::<u32>(10_000))]
    pairs: u32,
    /// The device's lock file, where it is not the usual one.
    #[arg(long, value_name = "FILE")]
    device_lock: Option<PathBuf>,
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
    /// `measured` on hardware, or `simulated` by a unit model.
    #[serde(skip_serializing_if = "str::is_empty")]
    origin: &'static str,
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
    calls: usize,
    phases: Vec<PhaseValue>,
    estimates: BTreeMap<String, f64>,
    /// Estimates without a value -> why.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    unestimated: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<NumericalError>,
    plan: String,
}

/// Builds, checks and measures one plan.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    crate::programs::check(&arguments.definition)?;
    let mut planning = Planning::of_path(&arguments.definition, arguments.constrained.table()?)?;
    arguments.constrained.reprice(&mut planning)?;
    let selection = planning.select()?;
    if let Some(name) = &arguments.workload
        && selection.workloads.iter().all(|workload| workload.name != *name)
    {
        return Err(no_workload(&selection));
    }
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
    // Inputs and reference of large extents take minutes: a plan that can't be built needs none.
    let its = freezing::workload(&planning, &selected.name)?;
    if let Err(refusal) = planning.configured.legal(its, &case.assignment) {
        print_refusal(&refusal.to_string(), &case.text, arguments.format)?;
        return Ok(ExitCode::Done);
    }
    planning.definition.measure.rounds = 1;
    planning.definition.measure.pairs = arguments.pairs;
    planning.definition.measure.finalists = 0;
    planning.definition.explore.value.adaptive = None;
    let folder = scratch("try")
        .map_err(|error| Failure::because(ExitCode::Failure, "no temporary folder can be made", error))?;
    let trial = measure(
        &planning,
        &only(&selection, selected, &case),
        &case,
        &folder.path().join("cohort"),
        arguments.device_lock.as_deref(),
    )?;
    let code = match trial.outcome.as_str() {
        "correct" | "rejected" => ExitCode::Done,
        "incorrect" => ExitCode::Incorrect,
        "interrupted" => ExitCode::Interrupted,
        _ => ExitCode::SomeFailed,
    };
    tell(&trial, arguments.format)?;
    Ok(code)
}

/// The case called `name`; a refused one is printed here and gives no case.
fn named<'a>(
    selection: &'a Selection,
    name: &str,
    arguments: &Arguments,
) -> Result<(&'a SelectedWorkload, Option<Chosen>), Failure> {
    let wanted = |workload: &&SelectedWorkload| arguments.workload.as_ref().is_none_or(|name| workload.name == *name);
    for selected in selection.workloads.iter().filter(wanted) {
        if let Some(case) = selected.cases.iter().find(|case| case.name == name) {
            return Ok((selected, Some(case.clone())));
        }
    }
    if let Some(refused) = selection.refused.iter().find(|refused| refused.name == name) {
        print_refusal(&refused.reason.to_string(), &refused.name, arguments.format)?;
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
        return Err(no_workload(selection));
    };
    let text = fs_err::read_to_string(path)
        .map_err(|error| Failure::because(ExitCode::Usage, "the plan can't be read", error))?;
    let control = selected
        .cases
        .iter()
        .find(|case| Some(&case.name) == selected.control.as_ref());
    let base = control.map_or(&selected.base, |case| &case.assignment);
    // Without a control, what a plan leaves out is nowhere said.
    let whole = control.is_none() && !planning.configured.has_defaults();
    let assignment = assignment_from_toml(&path.display().to_string(), &text, &selected.space, base, whole)
        .map_err(|error| Failure::usage(error.to_string()))?;
    if let Err(refusal) = selected.space.judge(&assignment) {
        let text = planning
            .configured
            .text(freezing::workload(planning, &selected.name)?, &assignment);
        print_refusal(&refusal.to_string(), &text, arguments.format)?;
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

fn no_workload(selection: &Selection) -> Failure {
    let names: Vec<&str> = selection.workloads.iter().map(|w| w.name.as_str()).collect();
    Failure::usage(format!("`--workload`: expected one of {}", names.join(", ")))
}

fn print_refusal(reason: &str, plan: &str, format: Format) -> Result<(), Failure> {
    let trial = Trial {
        outcome: "rejected".to_owned(),
        reason: Some(reason.to_owned()),
        plan: plan.to_owned(),
        ..Trial::default()
    };
    tell(&trial, format)
}

fn tell(trial: &Trial, format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        return print_json(trial);
    }
    show(trial);
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

fn measure(
    planning: &Planning,
    selection: &Selection,
    case: &Chosen,
    path: &Path,
    device_lock: Option<&Path>,
) -> Result<Trial, Failure> {
    let frozen = freezing::freeze(planning, selection, path)?;
    let now = planning::machine_now(planning)?;
    let mut options = RunOptions::new(&*planning.configured, &now);
    options.only = vec![case.name.clone()];
    options.cache = crate::cache::usual();
    options.device_lock = device_lock.map(Path::to_path_buf);
    let words = std::env::args().skip(1).map(|word| shell_word(&word));
    let again = format!("layout-sweep {}", words.collect::<Vec<_>>().join(" "));
    let mut display = Display::new(move |_| again.clone());
    let result = coordinator::run(path, &options, None, &mut |event, progress| {
        display.show(event, progress);
    });
    display.finish();
    result.map_err(|error| Failure::because(error.exit_code(), "the plan can't be measured", error))?;
    let snapshot = Snapshot::read(frozen.dir()).map_err(unreadable)?;
    let mut trial = read(&snapshot, case)?;
    trial.origin = if planning.machine.class.contains_key("unit-model") {
        "simulated"
    } else {
        "measured"
    };
    Ok(trial)
}

/// What the analyzer makes of the cohort: the same figures by the same rules as in a report.
fn read(snapshot: &Snapshot, case: &Chosen) -> Result<Trial, Failure> {
    let state = snapshot.state().map_err(unreadable)?;
    let frozen = &snapshot.frozen;
    let dataset = analyzer::collect::collect(frozen.manifest(), frozen.additions(), &state).map_err(unreadable)?;
    let analysis = analyzer::rows::evaluate(&dataset).map_err(unreadable)?;
    let objective = &analysis.setup.objective;
    let row = analysis.workloads.iter().find_map(|workload| workload.case(&case.name));
    let (Some(row), Some(of_case)) = (row, state.get(&case.name)) else {
        return Err(Failure::new(ExitCode::Failure, "the result was lost"));
    };
    let measurement = of_case.latest().and_then(|attempt| {
        attempt
            .rounds
            .values()
            .find_map(|round| measured(round.done()?.outcome))
    });
    let phases = row.phases.iter().map(|phase| PhaseValue {
        name: phase.name.clone(),
        kind: phase.kind.clone(),
        value: phase.median,
    });
    Ok(Trial {
        outcome: of_case
            .outcome()
            .map_or("interrupted", cohort::Outcome::as_str)
            .to_owned(),
        origin: "",
        reason: row.reason.clone(),
        // The control is not run where values don't vary: then there is nothing beside the case's own.
        value: row
            .value
            .or_else(|| Some(objective.shown(median(&measurement?.values(Of::Case))?))),
        unit: Some(objective.unit.clone()),
        ratio_to_control: row.ratio.map(|ratio| ratio.median),
        gflops: row.gflops,
        share_of_peak: row.share_of_peak,
        pairs: row.pairs,
        calls: measurement.map_or(0, |measurement| measurement.values(Of::Case).len()),
        phases: phases.collect(),
        estimates: row.estimates.clone(),
        unestimated: of_case.case.unestimated.clone(),
        error: measurement.and_then(|measurement| measurement.error.clone()),
        plan: row.plan.clone(),
    })
}

fn unreadable(error: impl std::error::Error + 'static) -> Failure {
    Failure::because(ExitCode::Failure, "the result can't be read", error)
}

fn measured(outcome: &RunOutcome) -> Option<&Measurement> {
    match outcome {
        RunOutcome::Correct { measurement } => Some(measurement),
        RunOutcome::Incorrect { measurement, .. } => measurement.as_ref(),
        RunOutcome::Rejected { .. } | RunOutcome::RunFailed { .. } | RunOutcome::TimedOut { .. } => None,
    }
}

/// Nanoseconds and cycles are whole; rates are not.
fn quantity(value: f64) -> String {
    if value.abs() >= 1000.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.4}")
    }
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
    let value = quantity(value);
    let measured = if trial.pairs > 0 {
        let ratio = number(trial.ratio_to_control, 3);
        format!(
            "{}: median of {} {value} {unit}, ratio to the control {ratio} (below 1 is better)",
            trial.origin,
            counted(trial.pairs, "pair")
        )
    } else {
        format!(
            "{}: median of {} {value} {unit}",
            trial.origin,
            counted(trial.calls, "call")
        )
    };
    let rate = if trial.gflops.is_some() {
        let (rate, share) = (number(trial.gflops, 1), number(trial.share_of_peak, 3));
        format!(", {rate} GFLOP/s, {share} of the FMA peak")
    } else {
        String::new()
    };
    print(&format!("{measured}{rate}"));
    let phases = trial
        .phases
        .iter()
        .map(|p| vec![p.name.clone(), p.kind.clone(), quantity(p.value)])
        .collect();
    print(&table(&["phase", "kind", &format!("median {unit}")], phases));
    for (name, value) in &trial.estimates {
        print(&format!("modelled: {name} {}", quantity(*value)));
    }
    for (name, why) in &trial.unestimated {
        print(&format!("modelled: {name} has no value: {why}"));
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
