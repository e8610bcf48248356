//! Rounds that ended well just before their coordinator died: it could not write the record any more, but their guard
//! noted the end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cohort::{Case, Difference, RecordKind, RunOutcome};
use serde::de::DeserializeOwned;
use target_api::{Captured, Of, Round};

use super::case_files::{CommandFile, Place, noted_workers};
use super::context::Context;
use super::earlier::{Earlier, Turn, turns};
use super::error::RunError;
use super::log::Log;
use super::outcome::settle;
use super::rounds::Visit;
use super::side::{Ran, Side};
use crate::build::Artifacts;
use crate::events::{Event, Reporter};
use crate::guard::{self, EndNote};

/// Writes the records that a killed coordinator could not write. A round is taken from its log only if `command.json`
/// says that it was this round of this plan with these artifacts, the guard noted that the very command ended on its own
/// with exit code 0, the log is the one of that end, and the target reads a right result from it. Where case and control
/// take turns that holds for the last command; what the others gave was written down before it began, and must be what its
/// `command.json` speaks of. Every other round that began and never ended is measured again; where its end was noted, it is
/// told why. Only for cases that are this worker's `own`, and for what was measured on a machine that is as `unlike` the
/// frozen one as this. Gives the number of rounds.
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
    let workers = if lost.is_empty() {
        Vec::new()
    } else {
        noted_workers(context.dir())?
    };
    let mut recovered = 0;
    for (visit, device) in lost {
        let (case, round) = (visit.case.name.as_str(), visit.round);
        let ran = match finished(context, log, artifacts, &visit, &device, &workers).await? {
            Ok(ran) => ran,
            Err(doubt) => {
                if let Some(why) = &doubt.0 {
                    reporter.tell(&Event::Doubted { case, round, why });
                }
                continue;
            }
        };
        let kind = RecordKind::Run {
            round,
            device,
            outcome: ran.outcome,
            run_ms: ran.run_ms,
            waited_ms: ran.waited_ms,
            recovered: true,
            profile_sha256: context.profile_sha256(case)?,
        };
        log.append(case, visit.attempt, kind)?;
        reporter.tell(&Event::Recovered { case, round });
        recovered += 1;
    }
    Ok(recovered)
}

/// Why a round is not taken from its log, in words; nothing where no note speaks of its end.
struct Doubt(Option<String>);

impl Doubt {
    fn new(why: String) -> Self {
        Self(Some(why))
    }

    fn unreadable(path: &Path) -> Self {
        Self::new(format!("`{}` is gone or damaged", path.display()))
    }
}

/// The result of a round, if everything about it is known for certain. What comes after a run (its check, its reports)
/// is made good.
async fn finished(
    context: &Context<'_>,
    log: &Log,
    artifacts: &Artifacts,
    visit: &Visit<'_>,
    device: &str,
    workers: &[(PathBuf, usize)],
) -> Result<Result<Ran, Doubt>, RunError> {
    let mut doubt = Doubt(None);
    let Some(device) = context.devices.iter().find(|own| own.name == device) else {
        return Ok(Err(doubt));
    };
    let digests = digests(context, artifacts, visit.case)?;
    let control = context.control(visit.case)?;
    let side = |case, place| Side {
        context,
        device,
        visit,
        case,
        place,
        facts: log.facts(&case.name),
    };
    for (scratch, worker) in workers {
        let place = Place::of(context, visit.case, scratch, *worker);
        let own = side(visit.case, place.clone());
        let ran = if let Some(control) = control.filter(|_| context.takes_turns()) {
            alternated(&own, &side(control, place.beside()), &digests).await?
        } else {
            let round = own.describe(control, visit.pairs)?;
            noted(&own, &round, digests.clone(), None).await?
        };
        match ran {
            Ok(ran) => {
                let outcome = settle(ran.outcome, control.is_some(), visit.pairs);
                let right = matches!(outcome, RunOutcome::Correct { .. });
                let wrong = || Doubt::new(format!("`{}` tells of no right result", own.place.stdout.display()));
                return Ok(if right {
                    Ok(Ran { outcome, ..ran })
                } else {
                    Err(wrong())
                });
            }
            Err(why) => doubt.0 = doubt.0.or(why.0),
        }
    }
    Ok(Err(doubt))
}

/// A round of case and control in turn, of which all commands ended.
async fn alternated(
    case: &Side<'_>,
    control: &Side<'_>,
    artifacts: &BTreeMap<String, String>,
) -> Result<Result<Ran, Doubt>, RunError> {
    let turns = turns(case.visit);
    let Some((last, before)) = turns.split_last() else {
        return Ok(Err(Doubt(None)));
    };
    let (side, other) = match last.of {
        Of::Case => (case, control),
        Of::Control => (control, case),
    };
    if let Err(doubt) = note_of(side) {
        return Ok(Err(doubt));
    }
    let path = &case.place.earlier;
    let Some(earlier) = Earlier::read(path) else {
        return Ok(Err(Doubt::unreadable(path)));
    };
    if !earlier.gave().iter().map(|gave| &gave.turn).eq(before) {
        let why = format!("`{}` does not tell of each command before the last", path.display());
        return Ok(Err(Doubt::new(why)));
    }
    // The other place is as its own last command left it.
    let left = earlier.gave().iter().rfind(|gave| gave.turn.of != last.of);
    let files = other.leaves(&other.describe(None, 1)?);
    let before = left.map(|gave| gave.left.clone()).unwrap_or_default();
    if let Err(doubt) = unchanged(&files, &before) {
        return Ok(Err(doubt));
    }
    let round = side.describe(None, 1)?;
    let ran = noted(side, &round, artifacts.clone(), Some((*last, earlier.digest()))).await?;
    Ok(ran.map(|ran| earlier.ended_by(last.of, ran)))
}

/// The note of the end of a side's last command, and its `command.json`. A note of another worker's command tells nothing of
/// this one.
fn note_of(side: &Side<'_>) -> Result<(EndNote, CommandFile), Doubt> {
    let Place { note, command, .. } = &side.place;
    let end: EndNote = read(note).ok_or_else(|| Doubt::unreadable(note))?;
    let told: CommandFile = read(command).ok_or_else(|| Doubt::unreadable(command))?;
    if end.token == told.token {
        Ok((end, told))
    } else {
        Err(Doubt(None))
    }
}

/// Whether all of these files have the digests that they had `before`, by name.
fn unchanged(files: &BTreeMap<String, PathBuf>, before: &BTreeMap<String, String>) -> Result<(), Doubt> {
    let now = guard::digests(files).map_err(|error| Doubt::new(error.to_string()))?;
    if now == *before {
        return Ok(());
    }
    let digest = |all: &BTreeMap<String, String>, name| all.get(name).map_or("nothing".to_owned(), Clone::clone);
    let differs = files.iter().find(|(name, _)| before.get(*name) != now.get(*name));
    let why = differs.map_or_else(
        || "what was noted of its files is not what belongs to it".to_owned(),
        |(name, path)| {
            let (before, now) = (digest(before, name), digest(&now, name));
            format!(
                "`{}` was changed after its end (SHA-256 {before}, now {now})",
                path.display()
            )
        },
    );
    Err(Doubt::new(why))
}

/// What in a `command.json` is not as it must be for this round; nothing where it is that of another round's place.
fn another(side: &Side<'_>, told: &CommandFile, expected: &CommandFile) -> Doubt {
    let of = |file: &CommandFile| (file.case.clone(), file.attempt, file.round);
    // Where files of cases are not kept, the next round of a worker writes its own.
    if !side.context.keeps_all() && of(told) != of(expected) {
        return Doubt(None);
    }
    let fields = |file: &CommandFile| serde_json::to_value(file).unwrap_or_default();
    let (told, expected) = (fields(told), fields(expected));
    let mut names = expected
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str());
    let differs = names
        .find(|name| told.get(name) != expected.get(name))
        .unwrap_or("turn");
    let path = side.place.command.display();
    if differs == "earlier" {
        let earlier = side.place.earlier.display();
        return Doubt::new(format!(
            "`{earlier}` was changed: it has not the digest that `{path}` holds"
        ));
    }
    Doubt::new(format!("`{path}` is not that of this round: its `{differs}` differs"))
}

/// What a command that its guard noted as good came to; `artifacts` and `turn` are as for [`Side::announce`].
async fn noted(
    side: &Side<'_>,
    round: &Round,
    artifacts: BTreeMap<String, String>,
    turn: Option<(Turn, &str)>,
) -> Result<Result<Ran, Doubt>, RunError> {
    let place = &side.place;
    let (EndNote { token, ended, sha256 }, command) = match note_of(side) {
        Ok(told) => told,
        Err(doubt) => return Ok(Err(doubt)),
    };
    let expected = CommandFile::new(side, artifacts, token, turn, &command.run);
    if command != expected {
        return Ok(Err(another(side, &command, &expected)));
    }
    if let Err(doubt) = unchanged(&side.results(round), &sha256) {
        return Ok(Err(doubt));
    }
    if ended.exit_code != Some(0) {
        let why = format!("`{}` does not tell of a good end", place.note.display());
        return Ok(Err(Doubt::new(why)));
    }
    let text = |path: &Path| fs_err::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let captured = Captured {
        stdout: text(&place.stdout)?,
        stderr: text(&place.stderr)?,
        exit_code: ended.exit_code,
        ..Captured::default()
    };
    let limit = Duration::from_millis(side.context.manifest().measure.run_timeout_ms);
    let (run_ms, waited_ms, stderr) = (ended.ran_ms, ended.waited_ms, captured.stderr.clone());
    let outcome = side.judged(round, captured, &ended, limit).await?;
    // Without an outcome its check was interrupted.
    Ok(outcome.ok_or(Doubt(None)).map(|outcome| Ran {
        outcome,
        run_ms,
        waited_ms,
        stderr,
    }))
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
