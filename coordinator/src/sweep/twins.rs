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

/// Finds cases of which nothing is measured yet and whose program is that of another case: the same workload, the same
/// artifacts, and nothing in a round that tells them apart. Wanted repetitions, confirmations, controls and later
/// attempts are measured whatever they are. What is not measured now (`takes` says which cases are) stands in nobody's
/// way.
pub(super) fn twins(
    context: &Context<'_>,
    state: &State<'_>,
    takes: &dyn Fn(&str) -> bool,
) -> Result<Vec<Twin>, RunError> {
    // By the artifacts alone at first: what a round would do is asked for only where these agree.
    let mut built: HashMap<(&str, Artifacts<'_>), Vec<&CaseState<'_>>> = HashMap::new();
    for case in state.cases() {
        let stands = matches!(case.status(), Status::Partial | Status::Done(Outcome::Correct))
            || (case.status() == Status::Built && takes(&case.case.name));
        if let (true, Some(artifacts)) = (stands, artifacts(case)) {
            let key = (case.case.workload.as_str(), artifacts);
            built.entry(key).or_default().push(case);
        }
    }
    let mut measured: HashMap<&str, &str> = HashMap::new();
    for ((_, artifacts), cases) in &built {
        if cases.len() < 2 || !cases.iter().any(|case| expendable(context, case)) {
            continue;
        }
        let mut programs: HashMap<Round, Vec<&CaseState<'_>>> = HashMap::new();
        for case in cases {
            programs
                .entry(program(context, case, artifacts)?)
                .or_default()
                .push(case);
        }
        for same in programs.values() {
            if let Some(first) = same.iter().min_by_key(|case| rank(case)) {
                let others = same.iter().map(|case| case.case.name.as_str());
                measured.extend(others.map(|other| (other, first.case.name.as_str())));
            }
        }
    }
    let mut found = Vec::new();
    for case in state.cases().iter().filter(|case| expendable(context, case)) {
        let name = case.case.name.as_str();
        if let Some(first) = measured.get(name).filter(|first| **first != name) {
            found.push(rejected(case, first));
        }
    }
    Ok(found)
}

/// Who of several is measured: the first of the smallest. What was measured already comes before what was not, then the
/// control.
fn rank(case: &CaseState<'_>) -> (bool, bool) {
    (case.status() == Status::Built, !case.control)
}

fn expendable(context: &Context<'_>, case: &CaseState<'_>) -> bool {
    case.status() == Status::Built
        && case.attempt() == 1
        && !case.control
        && case.case.repeat_of.is_none()
        && !context.is_confirmation(&case.case.name)
}

/// Label -> digest of what a case itself is built to.
type Artifacts<'s> = BTreeMap<&'s str, &'s str>;

/// `None` where a case has no build or nothing is built for it.
fn artifacts<'s>(case: &CaseState<'s>) -> Option<Artifacts<'s>> {
    let BuildOutcome::Built { units } = case.latest()?.build?.outcome else {
        return None;
    };
    let own = units.iter().filter(|(label, _)| label.as_str() != HARNESS);
    let own: Artifacts<'_> = own
        .map(|(label, built)| (label.as_str(), built.artifact_sha256.as_str()))
        .collect();
    (!own.is_empty()).then_some(own)
}

/// What a round would do with these artifacts.
fn program(context: &Context<'_>, case: &CaseState<'_>, artifacts: &Artifacts<'_>) -> Result<Round, RunError> {
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
    Ok(context.target.round(&request, &places))
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
            profile_sha256: None,
        },
    }
}
