//! From built units to build records of cases.

use std::collections::{BTreeMap, HashMap, HashSet};

use cohort::{BuildOutcome, Case, RecordKind};
use fs_err as fs;

use super::artifacts::{Artifacts, Found};
use super::pool::{Job, UnitEnd, build_units};
use crate::events::{Event, Reporter};
use crate::sweep::{Context, Log, Piece, RunError};

/// A case without a build in its latest attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'f> {
    pub(crate) case: &'f Case,
    pub(crate) attempt: u32,
}

/// A case that was built in an earlier run and is to be measured now.
#[derive(Debug, Clone)]
pub(crate) struct Needed<'f> {
    pub(crate) case: &'f Case,
    /// Label -> SHA-256 of the artifact on record; empty for a control that another worker builds as well.
    pub(crate) recorded: BTreeMap<String, String>,
}

/// Builds what `wanted` cases need and writes a record for each; sees that the artifacts of `needed` ones are there and
/// are the recorded ones, and builds them again otherwise. Cases that were not reached stay without a record.
pub(crate) async fn build_cases<'f>(
    context: &Context<'f>,
    log: &mut Log,
    artifacts: &mut Artifacts,
    reporter: &mut Reporter<'_>,
    wanted: &[Wanted<'f>],
    needed: &[Needed<'f>],
) -> Result<(), RunError> {
    let mut queue: Vec<Job<'f>> = Vec::new();
    let mut queued = HashSet::new();
    let cases = needed.iter().map(|n| n.case).chain(wanted.iter().map(|w| w.case));
    for (label, piece) in cases.flat_map(|case| context.needs(case)) {
        if queued.contains(&piece) {
            continue;
        }
        let unit = context.unit(piece.unit)?;
        match artifacts.look(context.dir(), unit, &piece.key())? {
            Found::Good => continue,
            Found::Nothing => {}
            Found::Damaged(why) => reporter.tell(&Event::Rebuilding {
                unit: piece.unit,
                why: &why,
            }),
        }
        queued.insert(piece);
        queue.push(Job { unit, label, piece });
    }
    reporter.begin(wanted.len(), 0);
    if !queue.is_empty() || !wanted.is_empty() {
        let (units, cases) = (queue.len(), wanted.len());
        reporter.tell(&Event::Building { units, cases });
    }

    let mut pending = Pending::new(context, wanted, &queued);
    pending.settle_ready(context, log, artifacts, reporter)?;
    build_units(context, queue, reporter, &mut |piece, end, reporter| {
        pending.ended(context, piece, end, artifacts)?;
        pending.settle_ready(context, log, artifacts, reporter)
    })
    .await?;
    for needed in needed {
        pending.check_unrecorded(context, needed)?;
        check_recorded(context, artifacts, needed)?;
    }
    Ok(())
}

fn check_recorded(context: &Context<'_>, artifacts: &Artifacts, needed: &Needed<'_>) -> Result<(), RunError> {
    for (label, piece) in context.needs(needed.case) {
        if let (Some(built), Some(expected)) = (artifacts.get(&piece.key()), needed.recorded.get(label))
            && built.artifact_sha256 != *expected
        {
            return Err(RunError::Artifact {
                case: needed.case.name.clone(),
                expected: expected.clone(),
                found: built.artifact_sha256.clone(),
            });
        }
    }
    Ok(())
}

/// Cases whose build is not decided yet.
struct Pending<'f> {
    cases: Vec<Wanted<'f>>,
    /// Units of each case that are not built yet.
    missing: Vec<usize>,
    users: HashMap<Piece<'f>, Vec<usize>>,
    ready: Vec<usize>,
    troubled: HashMap<Piece<'f>, UnitEnd>,
}

impl<'f> Pending<'f> {
    fn new(context: &Context<'f>, wanted: &[Wanted<'f>], queued: &HashSet<Piece<'f>>) -> Self {
        let mut pending = Self {
            cases: wanted.to_vec(),
            missing: vec![0; wanted.len()],
            users: HashMap::new(),
            ready: Vec::new(),
            troubled: HashMap::new(),
        };
        for (at, wanted) in wanted.iter().enumerate() {
            let pieces: HashSet<_> = context.needs(wanted.case).map(|(_, piece)| piece).collect();
            for piece in pieces.into_iter().filter(|piece| queued.contains(piece)) {
                pending.users.entry(piece).or_default().push(at);
                if let Some(missing) = pending.missing.get_mut(at) {
                    *missing += 1;
                }
            }
        }
        pending.ready = (0..wanted.len())
            .filter(|&at| pending.missing.get(at) == Some(&0))
            .collect();
        pending
    }

    /// An error when a control whose build records another worker writes could not be built here.
    fn check_unrecorded(&self, context: &Context<'f>, needed: &Needed<'f>) -> Result<(), RunError> {
        let own = context.own(needed.case);
        let mut troubled = own.filter_map(|(_, piece)| self.troubled.get(&piece));
        match troubled.next() {
            Some(UnitEnd::Rejected(trouble) | UnitEnd::Failed(trouble) | UnitEnd::TimedOut(trouble))
                if needed.recorded.is_empty() =>
            {
                Err(RunError::Control {
                    case: needed.case.name.clone(),
                    workload: needed.case.workload.clone(),
                    reason: trouble.reason.clone(),
                })
            }
            _ => Ok(()),
        }
    }

    /// A unit is decided. Nothing can be measured without the harness, so its trouble ends the run.
    fn ended(
        &mut self,
        context: &Context<'f>,
        piece: Piece<'f>,
        end: UnitEnd,
        artifacts: &mut Artifacts,
    ) -> Result<(), RunError> {
        match end {
            UnitEnd::Built(built) => artifacts.add(piece.key(), built),
            UnitEnd::Rejected(trouble) | UnitEnd::Failed(trouble) | UnitEnd::TimedOut(trouble)
                if context.manifest().harness.as_deref() == Some(piece.unit) =>
            {
                // Then no case is decided, as none can be without it.
                if context.ended_with_its_job() {
                    return Ok(());
                }
                let log = context.dir().unit_build_log(piece.unit);
                fs::create_dir_all(context.dir().unit_artifacts(piece.unit))?;
                fs::write(&log, trouble.log)?;
                return Err(RunError::Harness {
                    reason: trouble.reason,
                    log,
                    by_compiler: trouble.by_compiler,
                });
            }
            end => _ = self.troubled.insert(piece, end),
        }
        for &at in self.users.get(&piece).into_iter().flatten() {
            if let Some(missing) = self.missing.get_mut(at) {
                *missing = missing.saturating_sub(1);
                if *missing == 0 {
                    self.ready.push(at);
                }
            }
        }
        Ok(())
    }

    /// Writes the records of cases that are decided.
    fn settle_ready(
        &mut self,
        context: &Context<'f>,
        log: &mut Log,
        artifacts: &mut Artifacts,
        reporter: &mut Reporter<'_>,
    ) -> Result<(), RunError> {
        for at in std::mem::take(&mut self.ready) {
            let Some(&Wanted { case, attempt }) = self.cases.get(at) else {
                continue;
            };
            let outcome = self.outcome(context, case, artifacts)?;
            if matches!(outcome, BuildOutcome::BuildFailed { .. }) && context.ended_with_its_job() {
                continue;
            }
            let estimates = match &outcome {
                BuildOutcome::Built { units } => {
                    let facts = units.iter().map(|(label, built)| (label.clone(), built.facts.clone()));
                    context.target.build_estimates(&case.plan, &facts.collect())
                }
                _ => Vec::new(),
            };
            let kind = RecordKind::Build { outcome, estimates };
            log.append(&case.name, attempt, kind.clone())?;
            if let RecordKind::Build { outcome, .. } = &kind {
                reporter.progress.failed += u64::from(matches!(
                    outcome,
                    BuildOutcome::BuildFailed { .. } | BuildOutcome::TimedOut { .. }
                ));
                reporter.done(1, 0);
                reporter.tell(&Event::Built {
                    case: &case.name,
                    outcome,
                });
            }
        }
        Ok(())
    }

    fn outcome(
        &self,
        context: &Context<'f>,
        case: &'f Case,
        artifacts: &mut Artifacts,
    ) -> Result<BuildOutcome, RunError> {
        for (label, piece) in context.needs(case) {
            let Some(end) = self.troubled.get(&piece) else { continue };
            let (UnitEnd::Rejected(trouble) | UnitEnd::Failed(trouble) | UnitEnd::TimedOut(trouble)) = end else {
                continue;
            };
            let path = context.dir().case_build_log(&case.name);
            fs::create_dir_all(context.dir().case_dir(&case.name))?;
            fs::write(&path, &trouble.log)?;
            let shown = path
                .strip_prefix(context.dir().path())
                .unwrap_or(&path)
                .display()
                .to_string();
            let reason = format!("unit `{label}`: {}; log `{shown}`", trouble.reason);
            return Ok(match end {
                UnitEnd::Rejected(_) => BuildOutcome::Rejected { reason },
                UnitEnd::TimedOut(_) => BuildOutcome::TimedOut { reason },
                UnitEnd::Failed(_) | UnitEnd::Built(_) => BuildOutcome::BuildFailed { reason },
            });
        }
        let units = context
            .needs(case)
            .filter_map(|(label, piece)| Some((label.to_owned(), artifacts.take(piece)?)));
        Ok(BuildOutcome::Built { units: units.collect() })
    }
}
