//! What the end of a round means.

use std::time::Duration;

use cohort::RunOutcome;
use planner::Workload;
use target_api::{Captured, Configured, Measurement, Of, Pairing, Verdict};

use crate::guard::Ended;
use crate::steps::how_it_ended;

/// Judges a round by how it ended and by what it printed. A failure never becomes a number.
pub(super) fn judge(
    target: &dyn Configured,
    workload: &Workload,
    pairs: u32,
    limit: Duration,
    captured: &Captured,
    ended: &Ended,
) -> RunOutcome {
    if ended.timed_out {
        let reason = format!("it ran longer than {} ms", limit.as_millis());
        return RunOutcome::TimedOut { reason };
    }
    let failed = |reason: String| RunOutcome::RunFailed { reason };
    let how = || how_it_ended(captured, ended);
    if ended.stdout_dropped > 0 {
        return failed(format!("it printed more than is read: {}", how()));
    }
    let parsed = target.parse_run(workload, captured);
    // A wrong result is one even if the program also says so by its exit code.
    if let Ok(measurement) = &parsed
        && let Verdict::Incorrect { reason } = &measurement.verdict
    {
        return RunOutcome::Incorrect {
            reason: reason.clone(),
            measurement: Some(measurement.clone()).filter(writable),
        };
    }
    if captured.exit_code != Some(0) {
        return failed(how());
    }
    match parsed {
        Err(error) => failed(error.to_string()),
        Ok(measurement) => match complaint(target.pairing(), pairs, &measurement) {
            Some(reason) => failed(reason),
            None => RunOutcome::Correct { measurement },
        },
    }
}

/// Why a measurement can't be used, if so.
fn complaint(pairing: Pairing, pairs: u32, measurement: &Measurement) -> Option<String> {
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
    match pairing {
        Pairing::None if case == 0 => Some("it measured nothing".to_owned()),
        Pairing::InProcess | Pairing::AlternatingCommands if (case, control) != (wanted, wanted) => Some(format!(
            "{wanted} pairs were asked for, but it measured the case {case} and the control {control} times"
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
