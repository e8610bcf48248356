//! Cases that turned out to be the same program: only one of them is measured, unless a repetition was asked for.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use cohort::{BuildOutcome, CaseState, HARNESS, Outcome, RecordKind, RunOutcome, State, Status};
use target_api::{Built, Pairing, Places, Round, RunRequest};

use super::context::Context;
use super::error::RunError;

/// A record that takes a case out of the rounds.
pub(super) struct Twin {
    pub(super) case: String,
    pub(super) attempt: u32,
    pub(super) kind: RecordKind,
}

/// What decides how a case behaves: its workload, the digests of its artifacts, and what a round would do with them.
#[derive(PartialEq)]
struct Program<'s> {
    workload: &'s str,
    artifacts: BTreeMap<&'s str, &'s str>,
    round: Round,
}

/// Finds cases of which nothing is measured yet and whose program is that of another case. Wanted repetitions,
/// confirmations, controls and later attempts are measured whatever they are. What is not measured now (`takes` says
/// which cases are) stands in nobody's way.
pub(super) fn twins(
    context: &Context<'_>,
    state: &State<'_>,
    takes: &dyn Fn(&str) -> bool,
) -> Result<Vec<Twin>, RunError> {
    // Looked up by the artifacts alone: what a round would do is asked for only where these agree.
    let mut groups: HashMap<(&str, BTreeMap<&str, &str>), Vec<&CaseState<'_>>> = HashMap::new();
    for case in state.cases() {
        let stands = matches!(case.status(), Status::Partial | Status::Done(Outcome::Correct))
            || (case.status() == Status::Built && takes(&case.case.name));
        if let (true, Some(artifacts)) = (stands, artifacts(case)) {
            let key = (case.case.workload.as_str(), artifacts);
            groups.entry(key).or_default().push(case);
        }
    }
    let mut found = Vec::new();
    for case in state.cases() {
        if !expendable(context, case) || !takes(&case.case.name) {
            continue;
        }
        let Some(artifacts) = artifacts(case) else { continue };
        let Some(others) = groups.get(&(case.case.workload.as_str(), artifacts)) else {
            continue;
        };
        if others.len() < 2 {
            continue;
        }
        let own = program(context, case)?;
        let mut first: Option<&CaseState<'_>> = None;
        for other in others {
            let better = first.is_none_or(|first| rank(context, other) < rank(context, first));
            if better && (other.case.name == case.case.name || program(context, other)? == own) {
                first = Some(other);
            }
        }
        if let Some(first) = first.filter(|first| first.case.name != case.case.name) {
            found.push(rejected(case, &first.case.name));
        }
    }
    Ok(found)
}

/// Who of several is measured: the smallest. What was measured already comes before what was not, then the control;
/// among equals the first in the cohort stays.
fn rank(context: &Context<'_>, case: &CaseState<'_>) -> (bool, bool) {
    (
        matches!(case.status(), Status::Built),
        !case.control || expendable(context, case),
    )
}

fn expendable(context: &Context<'_>, case: &CaseState<'_>) -> bool {
    matches!(case.status(), Status::Built)
        && case.attempt() == 1
        && !case.control
        && case.case.repeat_of.is_none()
        && !context.is_confirmation(&case.case.name)
}

/// Label -> digest of what the case itself is built to; `None` where it has no build or nothing is built for it.
fn artifacts<'s>(case: &CaseState<'s>) -> Option<BTreeMap<&'s str, &'s str>> {
    let BuildOutcome::Built { units } = case.latest()?.build?.outcome else {
        return None;
    };
    let own = units.iter().filter(|(label, _)| label.as_str() != HARNESS);
    let own: BTreeMap<_, _> = own
        .map(|(label, built)| (label.as_str(), built.artifact_sha256.as_str()))
        .collect();
    (!own.is_empty()).then_some(own)
}

fn program<'s>(context: &Context<'_>, case: &CaseState<'s>) -> Result<Program<'s>, RunError> {
    let artifacts = artifacts(case).unwrap_or_default();
    let workload = &context.workload(case.case)?.workload;
    let (harness, sources) = (context.harness()?, context.sources());
    let control = match context.target.pairing() {
        Pairing::InProcess => context.control(case.case)?,
        Pairing::None | Pairing::AlternatingCommands => None,
    };
    let named = artifacts
        .iter()
        .map(|(label, digest)| ((*label).to_owned(), PathBuf::from(digest)));
    // The same places for all, so that only what belongs to the case can differ.
    let request = RunRequest {
        workload,
        case: Built {
            plan: &case.case.plan,
            artifacts: named.collect(),
        },
        control: control.map(|control| context.built(control)).transpose()?,
        harness: harness.as_deref(),
        inputs: &context.dir().workload_inputs(&workload.name),
        round: 0,
        pairs: 1,
        case_dir: Path::new("case"),
    };
    let places = Places {
        cohort: context.dir().path(),
        sources: sources.as_deref(),
        run_log: Path::new("log"),
        device: "device",
        device_lock: None,
    };
    Ok(Program {
        workload: &case.case.workload,
        round: context.target.round(&request, &places),
        artifacts,
    })
}

fn rejected(case: &CaseState<'_>, other: &str) -> Twin {
    let reason = format!(
        "it was built to the very program of `{other}`, which is measured; `repeat_of = \"{other}\"` or `--retry` asks \
         for a repetition"
    );
    Twin {
        case: case.case.name.clone(),
        attempt: case.attempt(),
        kind: RecordKind::Run {
            round: 0,
            device: "none".to_owned(),
            outcome: RunOutcome::Rejected { reason },
            run_ms: 0,
            waited_ms: 0,
            recovered: false,
        },
    }
}
