//! From the dataset to everything that an analysis says. Pure: the same dataset gives the same analysis.

use std::collections::BTreeMap;

use stats::order::{median, quantile};

use crate::across::across;
use crate::analysis::{
    Analysis, CaseRow, Ceiling, Coverage, Drift, FailureRow, Noise, RefusedRow, ScreenedRow, Unestimated, WorkloadRow,
};
use crate::analyze::Known;
use crate::ceiling::ceiling;
use crate::dataset::{CaseData, Dataset, Objective, Outcome, Pair, Setup, WorkloadData};
use crate::drift::drift;
use crate::error::AnalyzeError;
use crate::evaluate::{
    LEVEL, estimates, figure, no_judge, normalised_median, ratio_to_control, ratios_by_round, resampling,
};
use crate::places::places;
use crate::roofline;
use crate::winner::{RESAMPLES, winner};

/// Evaluates a dataset, of whose target nothing is known beside it.
///
/// Errors: only a bug, since the dataset was checked when it was collected.
pub fn evaluate(dataset: &Dataset) -> Result<Analysis, AnalyzeError> {
    evaluate_with(dataset, &Known::default())
}

/// The same with what is known of its target.
///
/// Errors: those of [`evaluate`].
pub fn evaluate_with(dataset: &Dataset, known: &Known<'_>) -> Result<Analysis, AnalyzeError> {
    let mut workloads = dataset
        .workloads
        .iter()
        .map(|workload| workload_row(workload, &dataset.setup))
        .collect::<Result<Vec<WorkloadRow>, AnalyzeError>>()?;
    for (row, data) in workloads.iter_mut().zip(&dataset.workloads) {
        roofline::add(row, data, &dataset.setup, known);
    }
    let weights: Vec<f64> = dataset.workloads.iter().map(|workload| workload.weight).collect();
    Ok(Analysis {
        format: Analysis::FORMAT,
        level: LEVEL.get(),
        resamples: RESAMPLES.get(),
        setup: dataset.setup.clone(),
        consents: dataset.consents.clone(),
        across: across(&workloads, &weights, &dataset.setup.objective),
        workloads,
        calibrations: Vec::new(),
        files: Vec::new(),
    })
}

fn workload_row(workload: &WorkloadData, setup: &Setup) -> Result<WorkloadRow, AnalyzeError> {
    let (objective, seed) = (&setup.objective, setup.seed);
    let median_peak = workload.median_peak();
    let all_pairs: Vec<Pair> = workload
        .cases
        .iter()
        .flat_map(|case| case.pairs.iter().copied())
        .collect();
    let control_value = normalised_median(&all_pairs, median_peak, |pair| pair.control);
    let places = places(workload).map_err(|source| AnalyzeError::Statistic {
        workload: workload.name.clone(),
        statistic: "the order of its cases".to_owned(),
        source: source.into(),
    })?;
    let mut cases = workload
        .cases
        .iter()
        .map(|case| case_row(case, workload, objective, median_peak))
        .collect::<Result<Vec<CaseRow>, AnalyzeError>>()?;
    for (case, place) in cases.iter_mut().zip(places) {
        case.rank = place;
    }
    let drift = drift(workload, objective);
    mark_disturbed(&mut cases, drift.as_ref());
    Ok(WorkloadRow {
        name: workload.name.clone(),
        extents: workload.extents.clone(),
        flops: workload.flops.to_string(),
        control: workload.control.clone(),
        has_control: workload.has_control,
        paired: workload.paired,
        varies: workload.varies,
        control_value: control_value.map(|value| objective.shown(value)),
        median_peak_gflops: median_peak,
        noise: noise(workload)?,
        ceiling: workload.varies.then(|| overall_ceiling(workload, seed)),
        drift,
        winner: winner(workload, &cases, seed)?,
        roofline: None,
        estimates: estimates(workload, setup, control_value)?,
        unestimated: unestimated(&workload.cases),
        failures: failures(&workload.cases),
        coverage: coverage(workload),
        cases,
    })
}

/// The ceiling of any estimate over all cases that could judge one.
fn overall_ceiling(workload: &WorkloadData, seed: u64) -> Ceiling {
    let judges = workload.cases.iter().filter(|case| no_judge(case).is_none());
    let rounds: Vec<Vec<f64>> = judges.map(|case| ratios_by_round(workload, case)).collect();
    ceiling(workload.repeated, rounds.iter().map(Vec::as_slice), resampling(seed))
}

/// Which estimates have no value for some of the cases.
fn unestimated(cases: &[CaseData]) -> Vec<Unestimated> {
    let mut found: BTreeMap<&str, Unestimated> = BTreeMap::new();
    for (case, (estimate, why)) in cases
        .iter()
        .flat_map(|case| case.unestimated.iter().map(move |it| (case, it)))
    {
        let first = || Unestimated {
            estimate: estimate.clone(),
            cases: 0,
            first: case.name.clone(),
            why: why.clone(),
        };
        found.entry(estimate).or_insert_with(first).cases += 1;
    }
    found.into_values().collect()
}

fn mark_disturbed(cases: &mut [CaseRow], drift: Option<&Drift>) {
    let mut rounds: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for round in drift.iter().flat_map(|drift| &drift.disturbed) {
        rounds.entry(&round.case).or_default().push(round.round);
    }
    for case in cases {
        if let Some(rounds) = rounds.get(case.name.as_str()) {
            case.disturbed_rounds.clone_from(rounds);
            case.disturbed_rounds.sort_unstable();
        }
    }
}

fn case_row(
    case: &CaseData,
    workload: &WorkloadData,
    objective: &Objective,
    median_peak: Option<f64>,
) -> Result<CaseRow, AnalyzeError> {
    let ratio = ratio_to_control(workload, case).map_err(|source| AnalyzeError::Statistic {
        workload: workload.name.clone(),
        statistic: format!("the interval of case `{}`", case.name),
        source: source.into(),
    })?;
    let number = |pair: &Pair| objective.shown(pair.case);
    let value = median(&case.pairs.iter().map(number).collect::<Vec<f64>>());
    let flops = workload.rated_flops(&objective.unit);
    let least = workload.least_flops(&objective.unit);
    let shares: Option<Vec<f64>> =
        least.and_then(|flops| case.undisturbed().map(|pair| pair.share_of_peak(flops)).collect());
    Ok(CaseRow {
        name: case.name.clone(),
        family: case.family.clone(),
        chosen: case.chosen,
        because: case.because.clone(),
        plan: case.plan.clone(),
        attributes: case.attributes.clone(),
        repeat_of: case.repeat_of.clone(),
        outcome: case.outcome,
        reason: case.reason.clone(),
        attempts: case.attempts.clone(),
        rounds: case.rounds(),
        rank: None,
        pairs: case.pairs.len(),
        left_out: case.left_out.clone(),
        disturbed_rounds: Vec::new(),
        disturbed_probes: case.pairs.len() - case.undisturbed().count(),
        ratio,
        value,
        normalised_value: match median_peak {
            Some(_) => {
                normalised_median(&case.pairs, median_peak, |pair| pair.case).map(|value| objective.shown(value))
            }
            None => value,
        },
        // Operations per nanosecond are 10^9 per second.
        gflops: flops.zip(value).map(|(flops, value)| flops / value),
        share_of_peak: shares.and_then(|shares| median(&shares)),
        share_of_limit: None,
        error: case.error,
        phases: case.phases.clone(),
        other: case.other.clone(),
        estimates: case
            .estimates
            .iter()
            .map(|(name, prediction)| (name.clone(), objective.predicted(&prediction.unit, prediction.value)))
            .collect(),
    })
}

/// The control beside itself, as it was measured: everywhere else its ratio is 1.
fn noise(workload: &WorkloadData) -> Result<Option<Noise>, AnalyzeError> {
    let control = workload.cases.iter().find(|case| case.name == workload.control);
    let Some(control) = control.filter(|_| workload.paired) else {
        return Ok(None);
    };
    let ratios = control.ratios();
    let ratio = figure(&ratios).map_err(|source| AnalyzeError::Statistic {
        workload: workload.name.clone(),
        statistic: "the noise".to_owned(),
        source: source.into(),
    })?;
    let end = |p: f64| quantile(&ratios, p).filter(|_| ratios.len() > 1);
    Ok(ratio.map(|ratio| Noise {
        ratio,
        q05: end(0.05),
        q95: end(0.95),
    }))
}

fn failures(cases: &[CaseData]) -> Vec<FailureRow> {
    let mut found: BTreeMap<(Outcome, &str), Vec<String>> = BTreeMap::new();
    for case in cases.iter().filter(|case| case.outcome.is_failure()) {
        let reason = case.reason.as_deref().unwrap_or_default();
        found.entry((case.outcome, reason)).or_default().push(case.name.clone());
    }
    let rows = found.into_iter().map(|((outcome, reason), cases)| FailureRow {
        outcome,
        reason: reason.to_owned(),
        cases,
    });
    rows.collect()
}

fn coverage(workload: &WorkloadData) -> Coverage {
    let mut by_operation: BTreeMap<&str, u128> = BTreeMap::new();
    let mut overflow = false;
    for (operation, _, count) in &workload.screened {
        let sum = by_operation.entry(operation).or_default();
        match sum.checked_add(*count) {
            Some(more) => *sum = more,
            None => overflow = true,
        }
    }
    let product = by_operation
        .values()
        .try_fold(1_u128, |product, count| product.checked_mul(*count));
    let count = |which: &dyn Fn(&CaseData) -> bool| workload.cases.iter().filter(|case| which(case)).count();
    Coverage {
        screened: workload
            .screened
            .iter()
            .map(|(operation, orientation, count)| ScreenedRow {
                operation: operation.clone(),
                orientation: orientation.clone(),
                count: count.to_string(),
            })
            .collect(),
        combinations: product
            .filter(|_| !overflow && !by_operation.is_empty())
            .map(|product| product.to_string()),
        legal_plans: workload.legal_plans.clone(),
        refused: workload
            .refused
            .iter()
            .map(|(name, reason)| RefusedRow {
                name: name.clone(),
                reason: reason.clone(),
            })
            .collect(),
        initial: count(&|case| !case.chosen.is_adaptive()),
        added: count(&|case| case.chosen.is_adaptive()),
        measured: count(&|case| case.outcome.is_measured()),
        failed: count(&|case| case.outcome.is_failure()),
        waiting: count(&|case| case.outcome == Outcome::Waiting),
    }
}
