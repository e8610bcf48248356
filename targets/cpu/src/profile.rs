//! From the harness's profile of a call to a timeline.

use target_api::{Lane, Malformed, Span, Timeline};

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
    })
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
