//! What is made of cases whose worker was lost, so that nothing is begun again and again.

use cohort::{BuildOutcome, RecordKind, RunOutcome, State, Status};

use crate::slurm::JobState;

/// Starts of one attempt that may be lost with their node, and with their time.
const LOST_STARTS: u64 = 3;
const TIMED_OUT_STARTS: u64 = 2;

/// Records for cases of a shard that are `left` and will get no further: `(case, attempt, record)`.
///
/// Lost with its memory: the round that ran failed, where it was the only one. Lost with its time: the second time it is
/// timed out (the first time others may have taken the time). Lost with its node, its place or its process: the third
/// time it is failed. A case that stood `alone` and could not even be built is failed as well.
pub(super) fn outcomes(
    state: &State<'_>,
    left: &[&str],
    writer: Option<&str>,
    how: JobState,
    why: &str,
    alone: bool,
) -> Vec<(String, u32, RecordKind)> {
    let mut in_flight = Vec::new();
    for case in left.iter().filter_map(|name| state.get(name)) {
        let starts = case.latest().map_or(0, |latest| latest.lost_starts);
        let own = case.lost().filter(|(_, began)| Some(began.writer.as_str()) == writer);
        in_flight.extend(own.map(|(round, began)| (case, starts, round, began)));
    }
    let only = in_flight.len() == 1;
    let mut outcomes = Vec::new();
    for (case, starts, round, began) in in_flight {
        let reason = format!("{why}; it ran then, and had begun {starts} times without an end");
        let outcome = match how {
            JobState::OutOfMemory if only => RunOutcome::RunFailed { reason },
            JobState::TimedOut if starts >= TIMED_OUT_STARTS => RunOutcome::TimedOut { reason },
            _ if starts >= LOST_STARTS => RunOutcome::RunFailed { reason },
            _ => continue,
        };
        let RecordKind::Began { device, .. } = &began.kind else {
            continue;
        };
        let kind = RecordKind::Run {
            round,
            device: device.clone(),
            outcome,
            run_ms: 0,
            waited_ms: 0,
            recovered: false,
            profile_sha256: None,
        };
        outcomes.push((case.case.name.clone(), case.attempt(), kind));
    }
    if let (true, [name]) = (alone && only_builds(how), left)
        && let Some(case) = state.get(name).filter(|case| case.status() == Status::Waiting)
    {
        let reason = format!("{why}; it was to be built then, for the second time");
        let outcome = match how {
            JobState::TimedOut => BuildOutcome::TimedOut { reason },
            _ => BuildOutcome::BuildFailed { reason },
        };
        let estimates = Vec::new();
        let kind = RecordKind::Build { outcome, estimates };
        outcomes.push((case.case.name.clone(), case.attempt(), kind));
    }
    outcomes
}

/// Whether a build may be to blame: nodes vanish, and places are taken, by themselves.
fn only_builds(how: JobState) -> bool {
    matches!(how, JobState::OutOfMemory | JobState::TimedOut | JobState::Ended)
}
