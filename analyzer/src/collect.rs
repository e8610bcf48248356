//! From a cohort's parts to the dataset.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use cohort::{
    Addition, AdditionKind, CaseState, Manifest, Record, RecordKind, Source, State, Status, Unlike, WorkloadEntry,
};
use planner::definition::judged;
use planner::{AttentionExtents, OperationKind, Workload};
use target_api::unit_model::UNIT_MODEL;

use crate::ceiling::Repeated;
use crate::dataset::{
    CaseData, Chosen, Consent, Dataset, DiffersIn, Imported, MachineClass, Objective, Outcome, Prediction, Setup,
    ToolUsed, WorkloadData,
};
use crate::error::AnalyzeError;
use crate::format::unit_of_time;
use crate::rounds::{Measured, attempt, measured, printed, settle_pairing};

/// Puts a cohort's parts together, case by case. `state` is that of this manifest and these additions.
///
/// A pair of calls of which one is not positive and finite counts in nothing; it is counted in [`CaseData::left_out`].
///
/// Where machines of several classes measured it: what the frozen class did ([`collect_all`] gives the others too).
///
/// Errors: names that do not fit together, a prediction that is not finite, calls that can't be paired, an estimate that
/// changes its unit.
pub fn collect(manifest: &Manifest, additions: &[Addition], state: &State) -> Result<Dataset, AnalyzeError> {
    let mut all = collect_all(manifest, additions, state)?;
    Ok(all.swap_remove(0))
}

/// One dataset for each class of machines that measured some of the cohort, the frozen class first. They have no round in
/// common.
///
/// Errors: those of [`collect`].
pub fn collect_all(manifest: &Manifest, additions: &[Addition], state: &State) -> Result<Vec<Dataset>, AnalyzeError> {
    if state.unlike().is_empty() {
        return Ok(vec![collect_one(manifest, additions, state)?]);
    }
    let frozen = std::iter::once(&[][..]);
    let classes = frozen.chain(state.unlike().iter().map(|class| class.differences));
    let mut all = classes
        .map(|differences| collect_one(manifest, additions, &state.apart(differences)))
        .collect::<Result<Vec<Dataset>, AnalyzeError>>()?;
    let told = classes_of(manifest, state, &all);
    for (number, dataset) in all.iter_mut().enumerate() {
        let setup = &mut dataset.setup;
        setup.class = number;
        setup.classes.clone_from(&told);
        if let Some(class) = number.checked_sub(1).and_then(|at| state.unlike().get(at)) {
            (setup.machine, setup.instance) = machine_of(manifest, class);
        }
    }
    Ok(all)
}

fn collect_one(manifest: &Manifest, additions: &[Addition], state: &State) -> Result<Dataset, AnalyzeError> {
    let mut workloads = manifest
        .workloads
        .iter()
        .map(|entry| empty_workload(manifest, entry, state))
        .collect::<Result<Vec<WorkloadData>, AnalyzeError>>()?;
    for case in state.cases() {
        let workload = workloads
            .iter_mut()
            .find(|workload| workload.name == case.case.workload);
        let workload = workload.ok_or_else(|| AnalyzeError::UnknownWorkload {
            case: case.case.name.clone(),
            workload: case.case.workload.clone(),
        })?;
        workload
            .cases
            .push(collect_case(case, chosen(case.source, additions), manifest)?);
    }
    for workload in &mut workloads {
        settle_pairing(workload, manifest.machine.class.contains_key(UNIT_MODEL))?;
        workload.mark_disturbed(&manifest.objective.1);
        same_units(workload)?;
    }
    let mut setup = setup(manifest);
    let medians = workloads
        .iter()
        .flat_map(|workload| &workload.cases)
        .filter_map(|case| {
            let values: Vec<f64> = case.pairs.iter().map(|pair| pair.case).collect();
            stats::order::median(&values)
        });
    setup.objective.shown_in = unit_of_time(&setup.objective.unit, medians);
    Ok(Dataset {
        setup,
        consents: state.consents().iter().filter_map(|record| consent(record)).collect(),
        workloads,
    })
}

fn chosen(source: Source, additions: &[Addition]) -> Chosen {
    let Source::Addition(number) = source else {
        return Chosen::Initial;
    };
    let addition = additions.iter().find(|addition| addition.number == number);
    match addition.map(|addition| &addition.kind) {
        Some(AdditionKind::Confirmation { .. }) => Chosen::Confirmation,
        _ => Chosen::Cross,
    }
}

/// What ratios are relative to: the control, or, where none was defined, the first case in the order of the cohort
/// that was measured: the coordinator takes that one first, so that it does not move when a run that was cut off goes on.
fn reference(entry: &WorkloadEntry, state: &State) -> String {
    if let Some(control) = &entry.control {
        return control.clone();
    }
    let own = || {
        state
            .cases()
            .iter()
            .filter(|case| case.case.workload == entry.workload.name)
    };
    let measured = own().find(|case| outcome(case).is_measured());
    measured
        .or_else(|| own().next())
        .map_or_else(String::new, |case| case.case.name.clone())
}

fn empty_workload(manifest: &Manifest, entry: &WorkloadEntry, state: &State) -> Result<WorkloadData, AnalyzeError> {
    let workload = &entry.workload;
    let mut screened = Vec::new();
    for (key, value) in &manifest.screened {
        // A workload's name may hold a slash; operation and orientation do not.
        let mut words = key.rsplitn(3, '/');
        let (orientation, operation, name) = (words.next(), words.next(), words.next());
        if let (Some(orientation), Some(operation), Some(name)) = (orientation, operation, name)
            && name == workload.name
        {
            let count = value.parse().map_err(|_| AnalyzeError::BadCount {
                key: key.clone(),
                value: value.clone(),
            })?;
            screened.push((operation.to_owned(), orientation.to_owned(), count));
        }
    }
    Ok(WorkloadData {
        name: workload.name.clone(),
        extents: extents(workload),
        flops: workload.flops(),
        least_flops: workload.least_flops(),
        weight: judged(&manifest.definition)
            .weights
            .get(&workload.name)
            .copied()
            .unwrap_or(1.0),
        control: reference(entry, state),
        has_control: entry.control.is_some(),
        paired: true,
        varies: true,
        repeated: Repeated::Rounds,
        cases: Vec::new(),
        screened,
        legal_plans: manifest.chosen_from.legal_plans.get(&workload.name).cloned(),
        refused: manifest
            .chosen_from
            .refused
            .iter()
            .filter(|refused| refused.workload == workload.name)
            .map(|refused| (refused.name.clone(), refused.refusal.to_string()))
            .collect(),
    })
}

/// `up 729 x 1152 x 4304, gelu, down 729 x 4304 x 1152` (rows x inner x columns).
fn extents(workload: &Workload) -> String {
    let words = workload.operations.iter().map(|operation| match operation.kind {
        OperationKind::Gemm(e) => format!("{} {} x {} x {}", operation.name, e.rows, e.inner, e.columns),
        OperationKind::Elementwise { .. } => operation.name.clone(),
        OperationKind::Attention(e) => attention(&operation.name, e),
    });
    words.collect::<Vec<String>>().join(", ")
}

/// `attention 10 heads, 4096 queries, 77 keys, width 64`; what differs from the default is added.
fn attention(name: &str, e: AttentionExtents) -> String {
    let mut words = format!(
        "{name} {} heads, {} queries, {} keys, width {}",
        e.heads, e.queries, e.keys, e.width
    );
    if e.value_width != e.width {
        let _ = write!(words, ", value width {}", e.value_width);
    }
    if e.kv_heads != e.heads {
        let _ = write!(words, ", {} heads of keys", e.kv_heads);
    }
    if e.causal {
        words.push_str(", causal");
    }
    words
}

fn collect_case(state: &CaseState, chosen: Chosen, manifest: &Manifest) -> Result<CaseData, AnalyzeError> {
    let case = state.case;
    let mut attempts: Vec<_> = state.attempts.iter().map(|(number, it)| attempt(*number, it)).collect();
    let outcome = outcome(state);
    let mut reason = None;
    if let Some(counts) = attempts.last_mut() {
        // The state knows which rounds are still wanted; the records alone don't.
        counts.outcome = outcome;
        reason.clone_from(&counts.reason);
    }
    let measured = match state.latest().filter(|_| outcome.is_measured()) {
        Some(latest) => measured(&case.name, latest)?,
        None => Measured::default(),
    };
    Ok(CaseData {
        name: case.name.clone(),
        family: case.family.clone(),
        chosen,
        because: case.reason.clone(),
        plan: case.plan.text.clone(),
        attributes: case.plan.attributes.clone(),
        repeat_of: case.repeat_of.clone(),
        outcome,
        reason,
        attempts,
        estimates: predictions(state, manifest)?,
        unestimated: case.unestimated.clone(),
        other: measured.other,
        pairs: measured.pairs,
        phases: measured.phases,
        control_phases: measured.control_phases,
        kinds: measured.kinds,
        times: measured.times,
        left_out: measured.left_out,
        error: measured.error,
    })
}

/// What a record of a consent says; `None` for other records.
fn consent(record: &Record) -> Option<Consent> {
    let RecordKind::AcceptDifference { difference } = &record.kind else {
        return None;
    };
    Some(Consent {
        what: difference.name.clone(),
        frozen: difference.expected.clone(),
        found: difference.found.clone(),
        at: record.at.to_string(),
    })
}

fn outcome(state: &CaseState) -> Outcome {
    match state.status() {
        Status::Done(cohort::Outcome::Correct) => Outcome::Correct,
        Status::Done(cohort::Outcome::Rejected) => Outcome::Rejected,
        Status::Done(cohort::Outcome::BuildFailed) => Outcome::BuildFailed,
        Status::Done(cohort::Outcome::RunFailed) => Outcome::RunFailed,
        Status::Done(cohort::Outcome::TimedOut) => Outcome::TimedOut,
        Status::Done(cohort::Outcome::Incorrect) => Outcome::Incorrect,
        Status::Partial => Outcome::Unfinished,
        Status::Built if state.lost().next().is_some() => Outcome::Lost,
        Status::Built | Status::Waiting => Outcome::Waiting,
    }
}

/// Predictions from the plan, those of the build that counts, and those that a program which builds inside its run
/// printed before it ran anything. All of the whole stand in the objective's unit, whichever way round they were given.
fn predictions(state: &CaseState, manifest: &Manifest) -> Result<BTreeMap<String, Prediction>, AnalyzeError> {
    let case = state.case;
    let objective = objective(manifest);
    let built = state
        .latest()
        .and_then(|latest| latest.build)
        .map_or(&[][..], |build| build.estimates);
    let mut predictions = BTreeMap::new();
    let printed = state
        .latest()
        .map(|latest| printed(latest, &objective.unit))
        .unwrap_or_default();
    for estimate in case.estimates.iter().chain(built).chain(&printed) {
        let bad = |expected| AnalyzeError::BadNumber {
            case: case.name.clone(),
            what: format!("estimate `{}`", estimate.name),
            value: estimate.value,
            expected,
        };
        if !estimate.value.is_finite() {
            return Err(bad("a finite number"));
        }
        // A model's sum stands as it is compared; what a program prints is the number itself.
        let is_compared = objective.larger_is_better && estimate.unit == manifest.objective.1;
        let value = if objective.has_bias(&estimate.unit) {
            let compared = objective.compared(estimate.value);
            compared.ok_or_else(|| bad("a number above zero, since more of it is better"))?
        } else {
            estimate.value
        };
        let prediction = Prediction {
            value,
            unit: if is_compared {
                objective.unit.clone()
            } else {
                estimate.unit.clone()
            },
            moment: estimate.moment,
            parts: estimate.parts.clone(),
        };
        if predictions.insert(estimate.name.clone(), prediction).is_some() {
            return Err(AnalyzeError::DuplicateEstimate {
                case: case.name.clone(),
                name: estimate.name.clone(),
            });
        }
    }
    Ok(predictions)
}

/// The number that people know.
fn objective(manifest: &Manifest) -> Objective {
    let (name, unit) = manifest.inverse_of.as_ref().unwrap_or(&manifest.objective).clone();
    Objective {
        name,
        unit,
        larger_is_better: manifest.inverse_of.is_some(),
        shown_in: None,
    }
}

fn same_units(workload: &WorkloadData) -> Result<(), AnalyzeError> {
    let mut units: BTreeMap<&str, &str> = BTreeMap::new();
    for case in &workload.cases {
        for (name, prediction) in &case.estimates {
            let expected = *units.entry(name).or_insert(&prediction.unit);
            if expected != prediction.unit {
                return Err(AnalyzeError::MixedUnits {
                    name: name.clone(),
                    case: case.name.clone(),
                    unit: prediction.unit.clone(),
                    expected: expected.to_owned(),
                });
            }
        }
    }
    Ok(())
}

/// All classes with what each of `datasets`, one for each, has of them.
fn classes_of(manifest: &Manifest, state: &State, datasets: &[Dataset]) -> Vec<MachineClass> {
    let frozen = BTreeSet::from([&manifest.machine.instance]);
    let unlike = state.unlike().iter().map(|class| (class.differences, &class.instances));
    let classes = std::iter::once((&[][..], &frozen)).chain(unlike);
    let named = classes.zip(datasets).enumerate();
    let each = named.map(|(number, ((differences, instances), dataset))| {
        let cases = dataset.workloads.iter().flat_map(|workload| &workload.cases);
        let measured: Vec<usize> = cases.map(CaseData::rounds).filter(|rounds| *rounds > 0).collect();
        let names = instances.iter().filter_map(|instance| instance.get("hostname"));
        MachineClass {
            number,
            differences: differences
                .iter()
                .map(|difference| DiffersIn {
                    what: difference.name.clone(),
                    frozen: difference.expected.clone(),
                    found: difference.found.clone(),
                })
                .collect(),
            machines: names.cloned().collect(),
            cases: measured.len(),
            rounds: measured.iter().sum(),
            report: if number == 0 {
                ".".to_owned()
            } else {
                format!("machine-{number}")
            },
        }
    });
    each.collect()
}

/// Class and instance of machines that are not the frozen one; of several instances all values of each entry.
fn machine_of(manifest: &Manifest, class: &Unlike) -> (BTreeMap<String, String>, BTreeMap<String, String>) {
    let mut own = manifest.machine.class.clone();
    for difference in class.differences {
        if let Some(entry) = difference.name.strip_prefix("machine.") {
            match &difference.found {
                Some(found) => _ = own.insert(entry.to_owned(), found.clone()),
                None => _ = own.remove(entry),
            }
        }
    }
    let mut values: BTreeMap<&String, BTreeSet<&str>> = BTreeMap::new();
    for (entry, value) in class.instances.iter().flat_map(|instance| instance.iter()) {
        values.entry(entry).or_default().insert(value);
    }
    let joined = |values: BTreeSet<&str>| values.into_iter().collect::<Vec<&str>>().join(", ");
    let instance = values
        .into_iter()
        .map(|(entry, values)| (entry.clone(), joined(values)));
    (own, instance.collect())
}

fn setup(manifest: &Manifest) -> Setup {
    let tools = manifest.machine.tools.iter().map(|tool| ToolUsed {
        name: tool.name.clone(),
        path: tool.path.clone(),
        version: tool.version.clone(),
        sha256: tool.sha256.clone(),
    });
    Setup {
        target: manifest.target.clone(),
        objective: objective(manifest),
        machine: manifest.machine.class.clone(),
        class: 0,
        classes: Vec::new(),
        instance: manifest.machine.instance.clone(),
        tools: tools.collect(),
        options: manifest.options.clone(),
        rounds: manifest.measure.rounds,
        pairs: manifest.measure.pairs,
        finalists: manifest.measure.finalists,
        tie: judged(&manifest.definition).tie,
        seed: manifest.measure.seed,
        cross: manifest.measure.cross,
        frozen_at: manifest.origin.frozen_at.to_string(),
        imported: manifest.imported.as_ref().map(|imported| Imported {
            file: imported.file.clone(),
            sha256: imported.sha256.clone(),
            format: imported.format.clone(),
            build_id: imported.build_id.clone(),
            shifted: imported.shifted,
        }),
        definition_path: manifest.origin.definition_path.clone(),
        git_revision: manifest.origin.git_revision.clone(),
    }
}
