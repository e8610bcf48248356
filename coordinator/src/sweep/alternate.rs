//! Case and control in turn, one command each.

use cohort::RunOutcome;
use fs_err as fs;
use target_api::{Measurement, Of};

use super::case_files::Place;
use super::error::RunError;
use super::side::{Part, Ran, Side};
use crate::guard::GuardEvent;

/// Where the control works beside a case.
pub(super) fn beside(place: &Place) -> std::io::Result<Place> {
    let folder = place.folder.join("control");
    fs::create_dir_all(&folder)?;
    Ok(Place {
        stdout: folder.join("run.log"),
        stderr: place.stderr.with_extension("control"),
        folder,
        ..place.clone()
    })
}

/// Runs as many pairs of commands as the visit wants. Who begins a pair changes from pair to pair, and goes on changing
/// over the rounds of a case, so that neither side is always the one that finds the machine warm. Ends with the first
/// command that does not give a right result. `None` when it was interrupted: after the first command only what ends a
/// running command does that.
pub(super) async fn alternate(
    case: &Side<'_>,
    control: &Side<'_>,
    on_event: &mut dyn FnMut(&GuardEvent),
) -> Result<Option<Ran>, RunError> {
    let mut runs = Vec::new();
    let mut sum = (0, 0);
    for pair in 0..case.visit.pairs {
        let case_first = (u64::from(case.visit.round) + u64::from(pair)).is_multiple_of(2);
        let order = if case_first {
            [(Of::Case, case), (Of::Control, control)]
        } else {
            [(Of::Control, control), (Of::Case, case)]
        };
        for (of, side) in order {
            let part = if runs.is_empty() { Part::First } else { Part::Later };
            let Some(ran) = side.run(part, &side.describe(None, 1)?, None, on_event).await? else {
                return Ok(None);
            };
            sum = (sum.0 + ran.run_ms, sum.1 + ran.waited_ms);
            match ran.outcome {
                RunOutcome::Correct { measurement } => runs.push((of, measurement)),
                outcome => {
                    let outcome = match of {
                        Of::Case => outcome,
                        Of::Control => of_control(outcome),
                    };
                    return Ok(Some(Ran {
                        outcome,
                        run_ms: sum.0,
                        waited_ms: sum.1,
                        stderr: ran.stderr,
                    }));
                }
            }
        }
    }
    Ok(Some(Ran {
        outcome: RunOutcome::Correct {
            measurement: Measurement::alternated(runs),
        },
        run_ms: sum.0,
        waited_ms: sum.1,
        stderr: String::new(),
    }))
}

/// Trouble with the control is told as such: the case itself may be fine, but nothing can be compared.
fn of_control(outcome: RunOutcome) -> RunOutcome {
    let named = |reason: String| format!("control: {reason}");
    match outcome {
        RunOutcome::Incorrect { reason, .. } => RunOutcome::Incorrect {
            reason: named(reason),
            measurement: None,
        },
        RunOutcome::TimedOut { reason } => RunOutcome::TimedOut { reason: named(reason) },
        RunOutcome::RunFailed { reason } => RunOutcome::RunFailed { reason: named(reason) },
        RunOutcome::Rejected { reason } => RunOutcome::RunFailed {
            reason: named(format!("rejected: {reason}")),
        },
        right @ RunOutcome::Correct { .. } => right,
    }
}
