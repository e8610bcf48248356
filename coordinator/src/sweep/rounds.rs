//! Rounds: one process for each case and round, in a seeded order, alone on the device.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

use cohort::{Case, RecordKind, RunOutcome};
use stats::random::SplitMix64;
use target_api::RunRequest;

use super::case_files::{CaseFiles, CommandFile};
use super::context::Context;
use super::error::RunError;
use super::log::Log;
use super::outcome::judge;
use super::recover::digests;
use crate::build::Artifacts;
use crate::events::{Event, Reporter};
use crate::guard::{GuardEvent, NoteRequest};
use crate::interrupt::Urgency;
use crate::process::{Job, ProcessError, token};

/// One round of one case.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visit<'f> {
    pub(super) case: &'f Case,
    pub(super) attempt: u32,
    pub(super) round: u32,
    pub(super) pairs: u32,
}

/// Sorts visits round by round, each round in a fresh permutation of all cases of the cohort: what is left of a round
/// after a kill, or passes a filter, keeps its place.
pub(super) fn in_seeded_order(visits: &mut [Visit<'_>], cases: &[&str], seed: u64) {
    let rounds: HashSet<u32> = visits.iter().map(|visit| visit.round).collect();
    let mut places: HashMap<u32, HashMap<&str, usize>> = HashMap::new();
    for round in rounds {
        let mut order = cases.to_vec();
        let mut seeds = SplitMix64::new(seed);
        let seed = (0..=round).map(|_| seeds.next_u64()).last().unwrap_or(seed);
        SplitMix64::new(seed).shuffle(&mut order);
        places.insert(round, order.into_iter().zip(0..).collect());
    }
    visits.sort_by_key(|visit| {
        let place = places
            .get(&visit.round)
            .and_then(|places| places.get(visit.case.name.as_str()));
        (visit.round, place.copied())
    });
}

/// Runs the visits in their order, until something wrong is found or the run should stop. Later rounds of a case that
/// failed are left out.
pub(super) async fn run_rounds(
    context: &Context<'_>,
    log: &mut Log,
    artifacts: &Artifacts,
    reporter: &mut Reporter<'_>,
    visits: &[Visit<'_>],
    accepted: &dyn Fn(&str) -> bool,
) -> Result<(), RunError> {
    let files = CaseFiles::new(context)?;
    visit_all(context, log, artifacts, reporter, &files, visits, accepted).await?;
    Ok(files.remove()?)
}

async fn visit_all(
    context: &Context<'_>,
    log: &mut Log,
    artifacts: &Artifacts,
    reporter: &mut Reporter<'_>,
    files: &CaseFiles,
    visits: &[Visit<'_>],
    accepted: &dyn Fn(&str) -> bool,
) -> Result<(), RunError> {
    let mut failed: HashSet<&str> = HashSet::new();
    reporter.begin(0, visits.len());
    for visit in visits {
        if context.should_stop() {
            return Ok(());
        }
        let name = visit.case.name.as_str();
        if failed.contains(name) {
            reporter.done(0, 1);
            continue;
        }
        let Some(outcome) = run_round(context, log, artifacts, reporter, files, visit).await? else {
            return Ok(());
        };
        if !matches!(outcome, RunOutcome::Correct { .. }) {
            failed.insert(name);
            reporter.progress.failed += 1;
        }
        reporter.done(0, 1);
        reporter.tell(&Event::RoundDone {
            case: name,
            round: visit.round,
            outcome: &outcome,
        });
        if matches!(outcome, RunOutcome::Incorrect { .. }) {
            if !accepted(name) {
                return Ok(());
            }
            log.append(name, visit.attempt, RecordKind::AcceptIncorrect {})?;
        }
    }
    Ok(())
}

/// One round with its two records. `None` when it was interrupted (then it counts as lost), or when the time limit was
/// over before it had the lock (then it never began).
async fn run_round(
    context: &Context<'_>,
    log: &mut Log,
    artifacts: &Artifacts,
    reporter: &mut Reporter<'_>,
    files: &CaseFiles,
    visit: &Visit<'_>,
) -> Result<Option<RunOutcome>, RunError> {
    let (case, name) = (visit.case, visit.case.name.as_str());
    let workload = &context.workload(case)?.workload;
    let (place, harness) = (files.place(context, case)?, context.harness()?);
    let control = context
        .control(case)?
        .map(|control| context.built(control))
        .transpose()?;
    let command = context.target.run(&RunRequest {
        workload,
        case: context.built(case)?,
        control,
        harness: harness.as_deref(),
        inputs: &context.dir().workload_inputs(&workload.name),
        round: visit.round,
        pairs: visit.pairs,
        case_dir: &place.folder,
    });
    let token = token();
    let digests = digests(context, artifacts, case)?;
    place.announce(&CommandFile::new(visit, digests, token.clone(), &command))?;
    let (round, device) = (visit.round, context.device.clone());
    let limit = Duration::from_millis(context.manifest().measure.run_timeout_ms);
    let job = Job {
        command: &command,
        directory: &place.folder,
        lock: context.round_lock(name).map(|lock| lock.until(context.deadline)),
        timeout: Some(limit),
        stdout: &place.stdout,
        stderr: &place.stderr,
    };
    let reporter = RefCell::new(reporter);
    let mut began = Ok(());
    let mut on_event = |event: &GuardEvent| match event {
        GuardEvent::Waiting { holder } => reporter.borrow_mut().waiting(name, holder.as_ref()),
        GuardEvent::Locked { waited_ms } => reporter.borrow_mut().locked(*waited_ms),
        GuardEvent::Started { .. } => {
            // Not before: a round that only waited for its lock is not lost when the wait is given up.
            let device = device.clone();
            began = log.append(name, visit.attempt, RecordKind::Began { round, device });
            reporter.borrow_mut().tell(&Event::RoundBegan { case: name, round });
        }
        _ => {}
    };
    let note = NoteRequest {
        path: place.note.clone(),
        token,
    };
    let finished = {
        let mut interrupt = context.interrupt.clone();
        let run = context
            .launcher
            .run_noted(&job, Some(note), context.interrupt, &mut on_event);
        tokio::pin!(run);
        tokio::select! {
            biased;
            finished = &mut run => finished,
            () = interrupt.at_least(Urgency::Finish) => {
                reporter.borrow_mut().finishing();
                run.await
            }
        }
    };
    began?;
    let (outcome, run_ms, waited_ms, stderr) = match finished {
        Ok(finished) => {
            let (captured, ended) = (finished.captured, finished.ended);
            let outcome = judge(context.target, workload, visit.pairs, limit, &captured, &ended);
            (outcome, ended.ran_ms, ended.waited_ms, captured.stderr)
        }
        Err(ProcessError::Cancelled) => return Ok(None),
        Err(ProcessError::LockTimedOut { .. }) if context.time_over() => return Ok(None),
        Err(error @ (ProcessError::GuardDied(_) | ProcessError::GuardStopped)) => {
            let reason = error.to_string();
            (RunOutcome::RunFailed { reason }, 0, 0, String::new())
        }
        Err(source) => {
            let what = name.to_owned();
            return Err(RunError::Process { what, source });
        }
    };
    if let RunOutcome::Incorrect { reason, .. } | RunOutcome::RunFailed { reason } | RunOutcome::TimedOut { reason } =
        &outcome
    {
        files.after_failure(context, case, &place, &stderr, reason)?;
    }
    let kind = RecordKind::Run {
        round,
        device,
        outcome: outcome.clone(),
        run_ms,
        waited_ms,
        recovered: false,
    };
    log.append(name, visit.attempt, kind)?;
    Ok(Some(outcome))
}
