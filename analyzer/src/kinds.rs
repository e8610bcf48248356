//! Each estimate against the measured time of each kind of phase that both know.

use std::collections::{BTreeMap, BTreeSet};

use crate::dataset::{CaseData, WorkloadData};
use crate::evaluate::{figure, no_judge, normalised};
use crate::judge::{Sample, Terms, judge};
use crate::judgement::PhaseJudgement;

type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Judges the estimate called `name` by every kind of phase that some case was measured with and predicted for.
pub(crate) fn phases(
    workload: &WorkloadData,
    name: &str,
    median_peak: Option<f64>,
    whole: &Terms<'_>,
) -> Result<Vec<PhaseJudgement>, Fault> {
    // A phase's kind may differ from case to case in theory; then a part of its name says nothing.
    let mut kind_of: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    let mut kinds: BTreeSet<&str> = BTreeSet::new();
    for phase in workload.cases.iter().flat_map(|case| &case.phases) {
        kinds.insert(&phase.kind);
        let known = kind_of.entry(&phase.name).or_insert(Some(&phase.kind));
        if *known != Some(phase.kind.as_str()) {
            *known = None;
        }
    }
    let mut found = Vec::new();
    for kind in kinds {
        let is_part = |part: &str| part == kind || kind_of.get(part).copied().flatten() == Some(kind);
        let known = workload.cases.iter().filter_map(|case| case.estimates.get(name));
        if !known
            .flat_map(|prediction| &prediction.parts)
            .any(|(part, _)| is_part(part))
        {
            continue;
        }
        let (samples, left_out) = samples(workload, name, kind, is_part, median_peak)?;
        let terms = Terms {
            one: Some(1.0),
            ..*whole
        };
        found.push(PhaseJudgement {
            kind: kind.to_owned(),
            judgement: judge(&samples, left_out, &terms)?,
        });
    }
    Ok(found)
}

fn samples<'a>(
    workload: &'a WorkloadData,
    name: &str,
    kind: &str,
    is_part: impl Fn(&str) -> bool,
    median_peak: Option<f64>,
) -> Result<(Vec<Sample<'a>>, BTreeMap<String, usize>), Fault> {
    let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
    let mut samples = Vec::new();
    for case in &workload.cases {
        let parts = case.estimates.get(name).map_or(&[][..], |prediction| &prediction.parts);
        let mut parts = parts.iter().filter(|(part, _)| is_part(part)).peekable();
        let reason = match (no_judge(case), measured(case, kind, median_peak), parts.peek()) {
            (Some(reason), _, _) => reason,
            (None, None, None) => "no such phase",
            (None, None, Some(_)) => "phase not measured",
            (None, Some(_), None) => "not predicted",
            (None, Some(measured), Some(_)) => match figure(&measured.draws)? {
                Some(ranked) if ranked.median > 0.0 => {
                    samples.push(Sample {
                        name: &case.name,
                        predicted: parts.map(|(_, value)| value).sum(),
                        ranked,
                        draws: measured.draws,
                        rounds: measured.rounds,
                        normalised: Some(ranked.median),
                    });
                    continue;
                }
                _ => "no time in this phase",
            },
        };
        *left_out.entry(reason.to_owned()).or_default() += 1;
    }
    Ok((samples, left_out))
}

struct Measured {
    /// Normalised times of all phases of one kind, call by call.
    draws: Vec<f64>,
    /// Their medians, round by round.
    rounds: Vec<f64>,
}

/// `None` when the case has no such phase, or every probe was disturbed.
fn measured(case: &CaseData, kind: &str, median_peak: Option<f64>) -> Option<Measured> {
    let times = case.kinds.get(kind).filter(|times| times.len() == case.pairs.len())?;
    let each: Vec<(u32, f64)> = case
        .pairs
        .iter()
        .zip(times)
        .filter(|(pair, _)| !pair.disturbed)
        .map(|(pair, time)| (pair.round, normalised(*time, pair, median_peak)))
        .collect();
    let values = |calls: &[(u32, f64)]| calls.iter().map(|call| call.1).collect::<Vec<f64>>();
    let rounds = each.chunk_by(|a, b| a.0 == b.0);
    Some(Measured {
        rounds: rounds
            .filter_map(|round| stats::order::median(&values(round)))
            .collect(),
        draws: values(&each),
    })
    .filter(|measured| !measured.draws.is_empty())
}
