//! From the harness's profile of a call to a timeline.

use target_api::{Lane, Malformed, Meeting, Span, Timeline};

use crate::harness::{ABI, CallProfile, WorkerSpans};

/// Reads a profile of the harness: one lane per worker; waiting is what no span covers.
pub fn timeline(text: &str) -> Result<Timeline, Malformed> {
    let profile: CallProfile = serde_json::from_str(text).map_err(|error| Malformed(error.to_string()))?;
    if profile.kind != "profile" || profile.abi != ABI {
        let message = format!(
            "expected a `profile` of version {ABI}, found `{}` of {}",
            profile.kind, profile.abi
        );
        return Err(Malformed(message));
    }
    let dropped: u64 = profile.workers.iter().map(|worker| worker.dropped).sum();
    let cut = match dropped {
        0 => String::new(),
        spans => format!("; {spans} spans at its end were too many to be kept"),
    };
    let lanes = (0..)
        .zip(&profile.workers)
        .map(|(index, worker)| lane(index, worker, &profile));
    Ok(Timeline {
        about: format!(
            "call {} of {} in its last round, the middle one by time; lanes are workers{cut}",
            profile.pair + 1,
            profile.pairs
        ),
        origin: "measured".to_owned(),
        unit: "ns".to_owned(),
        end: profile.wall_ns,
        lanes: lanes.collect::<Result<_, _>>()?,
        meetings: meetings(&profile),
    })
}

/// When the first and the last worker came to each barrier and to the end. None with one worker, who meets nobody, and
/// none where spans were dropped: nobody could say which barrier is which.
fn meetings(profile: &CallProfile) -> Vec<Meeting> {
    let workers = &profile.workers;
    let is_wait = |phase: usize| profile.phases.get(phase).is_some_and(|phase| phase.kind == "wait");
    // A worker arrives where it begins to wait, and at the end of its last span.
    let arrivals = |worker: &WorkerSpans| -> Vec<u64> {
        let waits = worker.spans.iter().filter(|(phase, ..)| is_wait(*phase));
        let end = worker.spans.iter().rev().find(|(phase, ..)| !is_wait(*phase));
        waits
            .map(|&(_, start, _)| start)
            .chain(end.map(|&(_, _, end)| end))
            .collect()
    };
    let all: Vec<Vec<u64>> = workers.iter().map(arrivals).collect();
    let count = all.first().map_or(0, Vec::len);
    if workers.len() < 2 || workers.iter().any(|w| w.dropped > 0) || all.iter().any(|own| own.len() != count) {
        return Vec::new();
    }
    (0..count)
        .map(|at| {
            let times = all.iter().map(|own| own[at]);
            Meeting {
                first: times.clone().min().unwrap_or(0) as f64,
                last: times.max().unwrap_or(0) as f64,
            }
        })
        .collect()
}

fn lane(index: usize, worker: &WorkerSpans, profile: &CallProfile) -> Result<Lane, Malformed> {
    let mut spans = Vec::new();
    for &(phase, start, end) in &worker.spans {
        let phase = profile.phases.get(phase);
        let phase = phase.ok_or_else(|| Malformed(format!("worker {index} was in a phase that has no name")))?;
        if end < start {
            return Err(Malformed(format!(
                "worker {index} ended `{}` before it began",
                phase.name
            )));
        }
        if phase.kind != "wait" {
            spans.push(Span {
                phase: phase.name.clone(),
                start: start as f64,
                end: end as f64,
            });
        }
    }
    Ok(Lane {
        name: format!("worker {index} (core {})", worker.core),
        spans,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(second: &str) -> String {
        format!(
            r#"{{"kind": "profile", "abi": {ABI}, "pair": 0, "pairs": 1, "wall_ns": 100,
            "phases": [{{"name": "up", "kind": "gemm"}}, {{"name": "wait", "kind": "wait"}}],
            "workers": [{{"core": 0, "dropped": 0, "spans": [[0, 0, 40], [1, 40, 52], [0, 52, 90]]}}, {second}]}}"#
        )
    }

    #[test]
    fn workers_meet_where_they_wait_and_at_the_end() {
        let late = r#"{"core": 1, "dropped": 0, "spans": [[0, 5, 50], [1, 50, 51], [0, 51, 97]]}"#;
        let found = timeline(&profile(late)).unwrap();
        let spreads: Vec<f64> = found.meetings.iter().map(Meeting::spread).collect();
        assert_eq!(spreads, [10.0, 7.0]);
        assert_eq!(
            found.meetings[0],
            Meeting {
                first: 40.0,
                last: 50.0
            }
        );
    }

    #[test]
    fn nobody_guesses_which_barrier_is_which() {
        for other in [
            r#"{"core": 1, "dropped": 3, "spans": [[0, 5, 50], [1, 50, 51], [0, 51, 97]]}"#,
            r#"{"core": 1, "dropped": 0, "spans": [[0, 5, 97]]}"#,
        ] {
            assert_eq!(timeline(&profile(other)).unwrap().meetings, []);
        }
    }
}
