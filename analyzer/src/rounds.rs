//! What the rounds of one attempt gave: pairs, phases, numerical error.

use std::borrow::Cow;
use std::collections::BTreeMap;

use cohort::{BuildOutcome, Record, RunOutcome};
use target_api::{Estimate, Measurement, Moment, NumericalError, Of};

use crate::ceiling::Repeated;
use crate::dataset::{Attempt, CaseData, ErrorFigures, Outcome, Pair, PhaseFigure, RoundTime, SCORE, WorkloadData};
use crate::error::AnalyzeError;
use crate::usable::usable;

/// What the right rounds of one attempt gave.
#[derive(Default)]
pub(crate) struct Measured {
    pub(crate) pairs: Vec<Pair>,
    pub(crate) phases: Vec<PhaseFigure>,
    pub(crate) control_phases: Vec<PhaseFigure>,
    pub(crate) kinds: BTreeMap<String, Vec<f64>>,
    pub(crate) times: Vec<RoundTime>,
    /// Medians of other numbers, by name.
    pub(crate) other: BTreeMap<String, f64>,
    pub(crate) error: Option<ErrorFigures>,
    /// Pairs of calls that count in nothing: why, how many.
    pub(crate) left_out: BTreeMap<String, usize>,
}

/// Reads the right rounds of an attempt, in order.
pub(crate) fn measured(case: &str, attempt: &cohort::Attempt) -> Result<Measured, AnalyzeError> {
    let mut left_out = BTreeMap::new();
    let rounds: Vec<(u32, Cow<Measurement>)> = attempt
        .correct()
        .filter_map(|(number, round)| match round.outcome {
            RunOutcome::Correct { measurement } => Some((number, usable(measurement, &mut left_out))),
            _ => None,
        })
        .collect();
    let mut pairs = Vec::new();
    for (round, measurement) in &rounds {
        pairs.extend(pairs_of(case, *round, measurement)?);
    }
    Ok(Measured {
        left_out,
        pairs,
        phases: phases(rounds.iter().map(|(_, measurement)| measurement.as_ref()), Of::Case),
        control_phases: phases(rounds.iter().map(|(_, measurement)| measurement.as_ref()), Of::Control),
        kinds: kinds(rounds.iter().map(|(_, measurement)| measurement.as_ref())),
        times: attempt
            .correct()
            .map(|(round, done)| time(round, done.record))
            .collect(),
        other: other(rounds.iter().map(|(_, measurement)| measurement.as_ref())),
        error: error(rounds.iter().filter_map(|(_, measurement)| measurement.error.as_ref())),
    })
}

/// An attempt as its records tell it: a wrong result before everything else, then the first failure, as in
/// [`cohort::CaseState::status`], which has the last word on the attempt that counts.
pub(crate) fn attempt(number: u32, attempt: &cohort::Attempt) -> Attempt {
    let right = attempt.correct().count();
    let failure = build_failure(attempt).or_else(|| {
        let failures: Vec<(Outcome, &String)> = attempt
            .rounds
            .values()
            .filter_map(|round| match round.done()?.outcome {
                RunOutcome::Correct { .. } => None,
                RunOutcome::Incorrect { reason, .. } => Some((Outcome::Incorrect, reason)),
                RunOutcome::Rejected { reason } => Some((Outcome::Rejected, reason)),
                RunOutcome::RunFailed { reason } => Some((Outcome::RunFailed, reason)),
                RunOutcome::TimedOut { reason } => Some((Outcome::TimedOut, reason)),
            })
            .collect();
        let wrong = failures.iter().find(|(outcome, _)| *outcome == Outcome::Incorrect);
        wrong.or(failures.first()).copied()
    });
    let outcome = match failure {
        Some((outcome, _)) => outcome,
        None if right > 0 => Outcome::Unfinished,
        None if attempt.lost_starts > 0 => Outcome::Lost,
        None => Outcome::Waiting,
    };
    Attempt {
        number,
        outcome,
        reason: failure.map(|(_, reason)| reason.clone()),
        rounds: right,
        accepted: attempt.accepted.is_some(),
    }
}

fn build_failure<'a>(attempt: &cohort::Attempt<'a>) -> Option<(Outcome, &'a String)> {
    match attempt.build?.outcome {
        BuildOutcome::Built { .. } => None,
        BuildOutcome::Rejected { reason } => Some((Outcome::Rejected, reason)),
        BuildOutcome::BuildFailed { reason } => Some((Outcome::BuildFailed, reason)),
        BuildOutcome::TimedOut { reason } => Some((Outcome::TimedOut, reason)),
    }
}

fn pairs_of(case: &str, round: u32, measurement: &Measurement) -> Result<Vec<Pair>, AnalyzeError> {
    let cases = measurement.values(Of::Case);
    let controls = measurement.values(Of::Control);
    // Without any control the values of the control's own rounds take its place, once all cases are known.
    if !controls.is_empty() && controls.len() != cases.len() {
        return Err(AnalyzeError::Unpaired {
            case: case.to_owned(),
            round,
            cases: cases.len(),
            controls: controls.len(),
        });
    }
    let all = measurement
        .samples
        .iter()
        .filter(|sample| sample.of == Of::Case)
        .count();
    let probes: Vec<Option<f64>> = match measurement.probes.len() {
        0 => vec![None; cases.len()],
        // One before each pair; where those before warm-up calls are there too, they come first.
        n if n == cases.len() || n == all => {
            let counted = measurement.probes.iter().skip(n - cases.len());
            counted.map(|probe| Some(probe.peak_gflops)).collect()
        }
        n => {
            return Err(AnalyzeError::Probes {
                case: case.to_owned(),
                round,
                probes: n,
                pairs: all,
                counted: cases.len(),
            });
        }
    };
    let mut pairs = Vec::with_capacity(cases.len());
    for (index, (value, peak_gflops)) in cases.iter().zip(probes).enumerate() {
        let control = controls.get(index).copied();
        pairs.push(Pair {
            round,
            case: *value,
            control: control.unwrap_or(UNPAIRED),
            peak_gflops,
            disturbed: false,
        });
    }
    Ok(pairs)
}

/// Marks a pair without a call of the control until [`settle_pairing`] has seen all cases of the workload; no measured
/// value can be it.
const UNPAIRED: f64 = 0.0;

/// Decides whether a workload was measured in pairs. If no case has a call of the control beside its own, values do not
/// vary, and the median of the control's own takes its place. A mixture is an error.
///
/// Values that were measured once each may vary for all that is known: only what a program counts (`simulated`) is the
/// same each time without anybody having looked. Values that were the same at every call that anybody made do not vary, side
/// by side or not: then any difference between cases is one.
pub(crate) fn settle_pairing(workload: &mut WorkloadData, simulated: bool) -> Result<(), AnalyzeError> {
    let is_single = |pair: &Pair| pair.control <= UNPAIRED;
    let control = workload.cases.iter().find(|case| case.name == workload.control);
    let control = control.ok_or_else(|| AnalyzeError::NoControl {
        workload: workload.name.clone(),
        control: workload.control.clone(),
    })?;
    let own: Vec<f64> = control.pairs.iter().map(|pair| pair.case).collect();
    let mut pairs = workload.cases.iter().flat_map(|case| &case.pairs).peekable();
    workload.paired = pairs.peek().is_none() || pairs.any(|pair| !is_single(pair));
    let differ = |case: &CaseData| {
        case.pairs
            .windows(2)
            .any(|two| two[0].case.total_cmp(&two[1].case).is_ne())
    };
    let looked = workload.cases.iter().any(|case| case.pairs.len() > 1);
    // Beside the cases the control has one value, too, or something varies.
    let mut controls = workload
        .cases
        .iter()
        .flat_map(|case| &case.pairs)
        .map(|pair| pair.control);
    let first = controls.next();
    let control_varies = controls.any(|value| first.is_some_and(|first| first.total_cmp(&value).is_ne()));
    workload.varies = control_varies || workload.cases.iter().any(differ) || !(looked || simulated);
    let in_one_round = workload.cases.iter().all(|case| case.rounds() <= 1);
    if !workload.paired && looked && in_one_round {
        workload.repeated = Repeated::Repeats;
    }
    let replacement = if workload.paired {
        None
    } else {
        stats::order::median(&own)
    };
    for case in &mut workload.cases {
        match replacement {
            Some(control) => case.pairs.iter_mut().for_each(|pair| pair.control = control),
            // A control that failed leaves nothing to compare with.
            None if !workload.paired => case.pairs.clear(),
            None => {
                if let Some(round) = case.pairs.iter().find(|pair| is_single(pair)).map(|pair| pair.round) {
                    return Err(unpaired(case, round));
                }
            }
        }
    }
    Ok(())
}

fn unpaired(case: &CaseData, round: u32) -> AnalyzeError {
    AnalyzeError::Unpaired {
        case: case.name.clone(),
        round,
        cases: case.pairs.iter().filter(|pair| pair.round == round).count(),
        controls: 0,
    }
}

fn time(round: u32, record: &Record) -> RoundTime {
    RoundTime {
        at_ms: record.at.as_millisecond(),
        sequence: record.sequence,
        round,
    }
}

/// Time of each kind of phase, counted call by counted call; 0 for calls without such a phase.
fn kinds<'m>(rounds: impl Iterator<Item = &'m Measurement>) -> BTreeMap<String, Vec<f64>> {
    let mut kinds: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let samples = rounds.flat_map(|measurement| &measurement.samples);
    let counted = samples.filter(|sample| sample.of == Of::Case && !sample.warm_up);
    for (index, sample) in counted.enumerate() {
        for phase in &sample.phases {
            let times = kinds.entry(phase.kind.clone()).or_default();
            times.resize(index + 1, 0.0);
            times[index] += phase.value;
        }
        for times in kinds.values_mut() {
            times.resize(index + 1, 0.0);
        }
    }
    kinds
}

/// Medians of the phases of one side.
fn phases<'m>(rounds: impl Iterator<Item = &'m Measurement>, of: Of) -> Vec<PhaseFigure> {
    let mut found: Vec<(&str, &str, Vec<f64>)> = Vec::new();
    let samples = rounds.flat_map(|measurement| &measurement.samples);
    for phase in samples.filter(|s| s.of == of && !s.warm_up).flat_map(|s| &s.phases) {
        match found.iter_mut().find(|(name, _, _)| *name == phase.name) {
            Some((_, _, values)) => values.push(phase.value),
            None => found.push((&phase.name, &phase.kind, vec![phase.value])),
        }
    }
    let figures = found.into_iter().filter_map(|(name, kind, values)| {
        stats::order::median(&values).map(|median| PhaseFigure {
            name: name.to_owned(),
            kind: kind.to_owned(),
            median,
        })
    });
    figures.collect()
}

/// Names of numbers in a measurement that were printed before anything ran: predictions.
fn printed_names(measurement: &Measurement) -> impl Iterator<Item = &str> {
    let names = measurement.facts.get("estimates");
    names.into_iter().flat_map(|names| names.split(", "))
}

/// Medians of the numbers beside the objective, over the counted calls that have them; predictions are none.
fn other<'m>(rounds: impl Iterator<Item = &'m Measurement>) -> BTreeMap<String, f64> {
    let mut found: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for measurement in rounds {
        let samples = measurement.samples.iter().filter(|s| s.of == Of::Case && !s.warm_up);
        for (name, number) in samples.flat_map(|sample| &sample.extra) {
            if printed_names(measurement).all(|printed| printed != name) {
                found.entry(name).or_default().push(*number);
            }
        }
    }
    let medians = found.into_iter();
    medians
        .filter_map(|(name, numbers)| Some((name.to_owned(), stats::order::median(&numbers)?)))
        .collect()
}

/// Predictions that a program printed which builds inside its run: those of the first right round. Their names end in
/// their unit; in another unit than the objective's only their order means anything.
pub(crate) fn printed(attempt: &cohort::Attempt, objective: &str) -> Vec<Estimate> {
    let first = attempt.correct().find_map(|(_, round)| match round.outcome {
        RunOutcome::Correct { measurement } => Some(measurement),
        _ => None,
    });
    let Some(measurement) = first else { return Vec::new() };
    let sample = measurement.samples.iter().find(|s| s.of == Of::Case && !s.warm_up);
    let Some(sample) = sample else { return Vec::new() };
    // In whatever case: cohorts of earlier versions have units in small letters.
    let ending = format!("_{objective}");
    let each = printed_names(measurement).filter_map(|column| {
        let value = *sample.extra.get(column)?;
        let (name, unit) = match column.split_at_checked(column.len().saturating_sub(ending.len())) {
            Some((name, tail)) if tail.eq_ignore_ascii_case(&ending) => (name, objective),
            _ => (column, SCORE),
        };
        Some(Estimate {
            name: name.to_owned(),
            value,
            unit: unit.to_owned(),
            moment: Moment::Build,
            parts: Vec::new(),
        })
    });
    each.collect()
}

fn error<'m>(errors: impl Iterator<Item = &'m NumericalError>) -> Option<ErrorFigures> {
    errors
        .map(|error| ErrorFigures {
            max_absolute: error.max_absolute,
            tolerance: error.tolerance,
            reference_rms: error.reference_rms,
        })
        .reduce(|a, b| ErrorFigures {
            // One round without a finite value decides.
            max_absolute: a.max_absolute.zip(b.max_absolute).map(|(a, b)| a.max(b)),
            ..a
        })
}
