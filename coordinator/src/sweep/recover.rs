//! Rounds that ended well just before their coordinator died: it could not write the record any more, but their guard
//! noted the end.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use cohort::{Case, Difference, RecordKind, RunOutcome, sha256_file};
use serde::de::DeserializeOwned;
use target_api::Captured;

use super::case_files::{CommandFile, Place};
use super::context::Context;
use super::error::RunError;
use super::log::Log;
use super::outcome::settle;
use super::rounds::Visit;
use super::side::Side;
use crate::build::Artifacts;
use crate::events::{Event, Reporter};
use crate::guard::{EndNote, Ended};

/// Writes the records that a killed coordinator could not write. A round is taken from its log only if `command.json`
/// says that it was this round of this plan with these artifacts, the guard noted that the very command ended on its own
/// with exit code 0, the log is the one of that end, and the target reads a right result from it. Every other round that
/// began and never ended is measured again. Only for cases that are this worker's `own`, and for what was measured on a
/// machine that is as `unlike` the frozen one as this. Gives the number of rounds.
pub(super) async fn recover(
    context: &Context<'_>,
    log: &mut Log,
    artifacts: &Artifacts,
    reporter: &mut Reporter<'_>,
    own: &dyn Fn(&str) -> bool,
    unlike: &[Difference],
) -> Result<u64, RunError> {
    let mut lost = Vec::new();
    let state = context
        .frozen
        .state(log.records())
        .map_err(|error| RunError::State(Box::new(error)))?;
    for case in state.cases().iter().filter(|case| own(&case.case.name)) {
        for (round, began) in case.lost() {
            let RecordKind::Began { device, .. } = &began.kind else {
                continue;
            };
            // What this process writes counts as measured here.
            if state.machine_of(&began.writer) != unlike {
                continue;
            }
            let Some(&pairs) = case.wanted.get(round as usize) else {
                continue;
            };
            let (case, attempt) = (context.case(&case.case.name)?, case.attempt());
            let visit = Visit {
                case,
                attempt,
                round,
                pairs,
            };
            lost.push((visit, device.clone()));
        }
    }
    let mut recovered = 0;
    for (visit, device) in lost {
        let Some((outcome, ended)) = finished(context, log, artifacts, &visit, &device).await? else {
            continue;
        };
        let (case, round) = (visit.case.name.as_str(), visit.round);
        let kind = RecordKind::Run {
            round,
            device,
            outcome,
            run_ms: ended.ran_ms,
            waited_ms: ended.waited_ms,
            recovered: true,
        };
        log.append(case, visit.attempt, kind)?;
        reporter.tell(&Event::Recovered { case, round });
        recovered += 1;
    }
    Ok(recovered)
}

/// The result of a round, if everything about it is known for certain. What comes after a run (its check, its reports)
/// is made good.
async fn finished(
    context: &Context<'_>,
    log: &Log,
    artifacts: &Artifacts,
    visit: &Visit<'_>,
    device: &str,
) -> Result<Option<(RunOutcome, Ended)>, RunError> {
    let workers = (0..).zip(&context.devices);
    for (worker, device) in workers.filter(|(_, own)| own.name == device) {
        let place = Place::of(context, visit.case, worker);
        let Some((run, ended)) = noted(context, artifacts, visit, &place)? else {
            continue;
        };
        let side = Side {
            context,
            device,
            visit,
            case: visit.case,
            place,
            facts: log.facts(&visit.case.name),
        };
        let control = context.control(visit.case)?;
        let round = side.describe(control, visit.pairs)?;
        let limit = Duration::from_millis(context.manifest().measure.run_timeout_ms);
        let Some(outcome) = side.judged(&round, run, &ended, limit).await? else {
            return Ok(None);
        };
        let outcome = settle(outcome, control.is_some(), visit.pairs);
        return Ok(matches!(outcome, RunOutcome::Correct { .. }).then_some((outcome, ended)));
    }
    Ok(None)
}

/// Output and end of a run that its guard noted as good.
fn noted(
    context: &Context<'_>,
    artifacts: &Artifacts,
    visit: &Visit<'_>,
    place: &Place,
) -> Result<Option<(Captured, Ended)>, RunError> {
    let (Some(note), Some(command)) = (read::<EndNote>(&place.note), read::<CommandFile>(&place.command)) else {
        return Ok(None);
    };
    let digests = digests(context, artifacts, visit.case)?;
    let expected = CommandFile::new(visit, digests, note.token.clone(), &command.run);
    if command != expected {
        return Ok(None);
    }
    let Ok((sha256, _)) = sha256_file(&place.stdout) else {
        return Ok(None);
    };
    if sha256 != note.stdout_sha256 || note.ended.exit_code != Some(0) {
        return Ok(None);
    }
    let text = |path: &Path| fs_err::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let captured = Captured {
        stdout: text(&place.stdout)?,
        stderr: text(&place.stderr)?,
        exit_code: note.ended.exit_code,
        ..Captured::default()
    };
    Ok(Some((captured, note.ended)))
}

/// A file that may be missing or half written.
fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

/// Label -> SHA-256 of all artifacts that a round of `case` needs; those of the control are called `control.<label>`.
pub(super) fn digests(
    context: &Context<'_>,
    artifacts: &Artifacts,
    case: &Case,
) -> Result<BTreeMap<String, String>, RunError> {
    let mut all = BTreeMap::new();
    let control = context.control(case)?;
    for (prefix, case) in [("", Some(context.case(&case.name)?)), ("control.", control)] {
        for (label, piece) in case.into_iter().flat_map(|case| context.needs(case)) {
            if let Some(sha256) = artifacts.sha256(&piece.key()) {
                all.insert(format!("{prefix}{label}"), sha256.to_owned());
            }
        }
    }
    Ok(all)
}
