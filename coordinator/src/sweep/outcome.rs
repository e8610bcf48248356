//! What the end of a round means.

use std::time::Duration;

use cohort::RunOutcome;
use planner::{Plan, Workload, counted};
use target_api::{Configured, Measurement, Of, RoundCaptured, Verdict};

use crate::guard::Ended;
use crate::steps::how_it_ended;

/// What a round is judged by.
pub(super) struct Seen<'a> {
    pub(super) workload: &'a Workload,
    pub(super) plan: &'a Plan,
    pub(super) captured: &'a RoundCaptured,
    pub(super) ended: &'a Ended,
    /// Limit of the run.
    pub(super) limit: Duration,
}

/// Judges what one command of a round left behind. A failure never becomes a number; whether there are as many calls as
/// were asked for is for [`complaint`] to say.
pub(super) fn judge(target: &dyn Configured, seen: &Seen<'_>) -> RunOutcome {
    let Seen { captured, ended, .. } = seen;
    let run = &captured.run;
    let how = || how_it_ended(run, ended);
    // A refusal is a result, whatever the program ended with; what was dropped of its output may be the refusal.
    let failed = |outcome: RunOutcome| match target.refusal(run) {
        Some(reason) if !matches!(outcome, RunOutcome::TimedOut { .. }) => RunOutcome::Rejected { reason },
        _ => outcome,
    };
    let run_failed = |reason: String| failed(RunOutcome::RunFailed { reason });
    if ended.stdout_dropped > 0 {
        return run_failed(format!("it printed more than is read: {}", how()));
    }
    let parsed = target.parse_round(seen.workload, seen.plan, captured);
    // A wrong result is one even if the program also says so by its exit code, or never came to its end.
    let wrong = match (&parsed, target.verdict(seen.workload, seen.plan, captured)) {
        (Ok(measurement), _) => Some(measurement.verdict.clone()),
        (Err(_), verdict) => verdict.ok(),
    };
    if let Some(Verdict::Incorrect { reason }) = wrong {
        return RunOutcome::Incorrect {
            reason,
            measurement: parsed.ok().filter(writable),
        };
    }
    if let Some(reason) = &ended.hook_error {
        return RunOutcome::RunFailed { reason: reason.clone() };
    }
    if let Some(outcome) = bad_end(seen) {
        return failed(outcome);
    }
    match parsed {
        Err(error) => run_failed(error.to_string()),
        Ok(measurement) => RunOutcome::Correct { measurement },
    }
}

/// How a run ended badly, if it did.
fn bad_end(seen: &Seen<'_>) -> Option<RunOutcome> {
    if seen.ended.timed_out {
        let reason = format!("it ran longer than {} ms", seen.limit.as_millis());
        return Some(RunOutcome::TimedOut { reason });
    }
    let reason = how_it_ended(&seen.captured.run, seen.ended);
    (seen.captured.run.exit_code != Some(0)).then_some(RunOutcome::RunFailed { reason })
}

/// A right round whose measurement can be used; `paired` where a control was measured beside the case.
pub(super) fn settle(outcome: RunOutcome, paired: bool, pairs: u32) -> RunOutcome {
    match outcome {
        RunOutcome::Correct { measurement } => match complaint(paired, pairs, &measurement) {
            Some(reason) => RunOutcome::RunFailed { reason },
            None => RunOutcome::Correct { measurement },
        },
        other => other,
    }
}

/// Why a measurement can't be used, if so.
fn complaint(paired: bool, pairs: u32, measurement: &Measurement) -> Option<String> {
    let bad = measurement
        .samples
        .iter()
        .position(|sample| !(sample.value.is_finite() && sample.value > 0.0));
    if let Some(index) = bad {
        return Some(format!("sample {index} is no positive finite number"));
    }
    let (case, control) = (
        measurement.values(Of::Case).len(),
        measurement.values(Of::Control).len(),
    );
    let wanted = pairs as usize;
    match paired {
        false if case == 0 => Some("it measured nothing".to_owned()),
        true if (case, control) != (wanted, wanted) => Some(format!(
            "{} wanted, but it measured the case {case} and the control {control} times",
            counted(wanted, "pair")
        )),
        _ if !writable(measurement) => Some("it printed numbers that are not finite".to_owned()),
        _ => None,
    }
}

/// Whether a measurement reads back from a record as it is; numbers that are not finite don't.
fn writable(measurement: &Measurement) -> bool {
    serde_json::to_string(measurement)
        .and_then(|text| serde_json::from_str::<Measurement>(&text))
        .is_ok_and(|back| back == *measurement)
}
