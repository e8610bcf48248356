//! Rounds: in a seeded order, one at a time on each device.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet, VecDeque};
use std::task::Poll;

use cohort::{Case, RecordKind, RunOutcome};
use stats::random::SplitMix64;
use target_api::{LockHolder, Pairing};
use tokio::sync::Notify;

use super::alternate::{alternate, beside};
use super::case_files::{CaseFiles, CommandFile};
use super::context::Context;
use super::device::Device;
use super::error::RunError;
use super::log::Log;
use super::outcome::settle;
use super::recover::digests;
use super::side::Side;
use crate::build::Artifacts;
use crate::events::{Event, Reporter};
use crate::guard::{GuardEvent, NoteRequest};
use crate::interrupt::Urgency;
use crate::lock::prepare;
use crate::process::token;

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

/// What workers on all devices share. It is borrowed between two waits only, never across one.
struct Desk<'r, 'e> {
    log: RefCell<&'r mut Log>,
    reporter: RefCell<&'r mut Reporter<'e>>,
    queue: RefCell<Queue<'r>>,
    /// Told whenever a round has ended.
    ended: Notify,
    artifacts: &'r Artifacts,
}

/// Visits that are left, and who works on which case.
struct Queue<'r> {
    left: VecDeque<&'r Visit<'r>>,
    /// Cases that a worker has now: one round of a case at a time, since all use its folder.
    busy: HashSet<&'r str>,
    failed: HashSet<&'r str>,
    stop: bool,
}

/// What a worker should do.
enum Next<'r> {
    Visit(&'r Visit<'r>),
    /// Everything that is left belongs to cases that others work on.
    Wait,
    End,
}

impl<'r> Queue<'r> {
    fn next(&mut self) -> Next<'r> {
        if self.stop || self.left.is_empty() {
            return Next::End;
        }
        let free = |visit: &&Visit<'_>| !self.busy.contains(visit.case.name.as_str());
        let Some(visit) = self.left.iter().position(free).and_then(|at| self.left.remove(at)) else {
            return Next::Wait;
        };
        self.busy.insert(&visit.case.name);
        Next::Visit(visit)
    }
}

/// Runs the visits in their order, one at a time on each device, until something wrong is found or the run should stop.
/// Later rounds of a case that failed are left out.
pub(super) async fn run_rounds<'r>(
    context: &'r Context<'r>,
    log: &'r mut Log,
    artifacts: &'r Artifacts,
    reporter: &'r mut Reporter<'_>,
    visits: &'r [Visit<'r>],
    accepted: &dyn Fn(&str) -> bool,
) -> Result<(), RunError> {
    let files = CaseFiles::new(context)?;
    if context.target.lock() == LockHolder::Child {
        let mut locks = context.devices.iter().filter_map(|device| device.lock.as_deref());
        locks.try_for_each(prepare)?;
    }
    reporter.begin(0, visits.len());
    let desk = Desk {
        log: RefCell::new(log),
        reporter: RefCell::new(reporter),
        queue: RefCell::new(Queue {
            left: visits.iter().collect(),
            busy: HashSet::new(),
            failed: HashSet::new(),
            stop: false,
        }),
        ended: Notify::new(),
        artifacts,
    };
    let mut workers: Vec<_> = (0..)
        .zip(&context.devices)
        .map(|(number, device)| Some(Box::pin(work(context, &desk, &files, device, number, accepted))))
        .collect();
    // All in this one thread: a guard dies with the thread that started it.
    let mut result = Ok(());
    std::future::poll_fn(|wake| {
        for worker in &mut workers {
            if let Some(Poll::Ready(end)) = worker.as_mut().map(|worker| worker.as_mut().poll(wake)) {
                *worker = None;
                if result.is_ok() {
                    result = end;
                }
            }
        }
        if workers.iter().all(Option::is_none) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    drop(workers);
    result?;
    Ok(files.remove()?)
}

/// The worker of one device.
async fn work<'r>(
    context: &'r Context<'r>,
    desk: &Desk<'r, '_>,
    files: &CaseFiles,
    device: &'r Device,
    number: usize,
    accepted: &dyn Fn(&str) -> bool,
) -> Result<(), RunError> {
    loop {
        let ended = desk.ended.notified();
        if context.should_stop() {
            return Ok(());
        }
        let next = desk.queue.borrow_mut().next();
        let visit = match next {
            Next::End => return Ok(()),
            Next::Wait => {
                ended.await;
                continue;
            }
            Next::Visit(visit) => visit,
        };
        let name = visit.case.name.as_str();
        let skipped = desk.queue.borrow().failed.contains(name);
        let result = if skipped {
            desk.reporter.borrow_mut().done(0, 1);
            Ok(true)
        } else {
            one_visit(context, desk, files, device, number, visit, accepted).await
        };
        {
            let mut queue = desk.queue.borrow_mut();
            queue.busy.remove(name);
            queue.stop |= !matches!(result, Ok(true));
        }
        desk.ended.notify_waiters();
        result?;
    }
}

/// One round, told and recorded. Whether others may follow.
async fn one_visit<'r>(
    context: &'r Context<'r>,
    desk: &Desk<'r, '_>,
    files: &CaseFiles,
    device: &'r Device,
    number: usize,
    visit: &'r Visit<'r>,
    accepted: &dyn Fn(&str) -> bool,
) -> Result<bool, RunError> {
    let name = visit.case.name.as_str();
    let Some(outcome) = run_round(context, desk, files, device, number, visit).await? else {
        return Ok(false);
    };
    let mut reporter = desk.reporter.borrow_mut();
    if !matches!(outcome, RunOutcome::Correct { .. }) {
        desk.queue.borrow_mut().failed.insert(name);
        reporter.progress.failed += u64::from(!matches!(outcome, RunOutcome::Rejected { .. }));
    }
    reporter.done(0, 1);
    reporter.tell(&Event::RoundDone {
        case: name,
        round: visit.round,
        outcome: &outcome,
    });
    if matches!(outcome, RunOutcome::Incorrect { .. }) {
        if !accepted(name) {
            return Ok(false);
        }
        let mut log = desk.log.borrow_mut();
        log.append(name, visit.attempt, RecordKind::AcceptIncorrect {})?;
    }
    Ok(true)
}

/// One round with its two records. `None` when it was interrupted (then it counts as lost), or when it was given up
/// before it had the lock (then it never began).
async fn run_round<'r>(
    context: &'r Context<'r>,
    desk: &Desk<'r, '_>,
    files: &CaseFiles,
    device: &'r Device,
    number: usize,
    visit: &'r Visit<'r>,
) -> Result<Option<RunOutcome>, RunError> {
    let (case, name) = (visit.case, visit.case.name.as_str());
    let place = files.place(context, case, number)?;
    let control = context.control(case)?;
    let alternated = control.filter(|_| context.target.pairing() == Pairing::AlternatingCommands);
    let side = Side {
        context,
        device,
        visit,
        case,
        place: place.clone(),
        facts: desk.log.borrow().facts(name),
    };
    let command = match alternated {
        Some(_) => side.describe(None, 1)?,
        None => side.describe(control, visit.pairs)?,
    };
    let token = token();
    let digests = digests(context, desk.artifacts, case)?;
    place.announce(&CommandFile::new(visit, digests, token.clone(), &command.run))?;
    let note = NoteRequest {
        path: place.note.clone(),
        token,
    };
    let (round, on) = (visit.round, device.name.clone());
    let begun = Cell::new(false);
    let mut began = Ok(());
    let mut on_event = |event: &GuardEvent| match event {
        GuardEvent::Waiting { holder } => desk.reporter.borrow_mut().waiting(name, holder.as_ref()),
        GuardEvent::Locked { waited_ms } => desk.reporter.borrow_mut().locked(*waited_ms),
        // Not before: a round that only waited for its lock is not lost when the wait is given up.
        GuardEvent::Started { .. } if !begun.replace(true) => {
            let device = on.clone();
            let kind = RecordKind::Began { round, device };
            began = desk.log.borrow_mut().append(name, visit.attempt, kind);
            desk.reporter
                .borrow_mut()
                .tell(&Event::RoundBegan { case: name, round });
        }
        _ => {}
    };
    let ran = {
        let mut interrupt = context.interrupt.clone();
        let run = async {
            match alternated {
                Some(control) => {
                    let beside = Side {
                        context,
                        device,
                        visit,
                        case: control,
                        place: beside(&place)?,
                        facts: desk.log.borrow().facts(&control.name),
                    };
                    alternate(&side, &beside, &mut on_event).await
                }
                None => side.run(&command, Some(note), &mut on_event).await,
            }
        };
        tokio::pin!(run);
        tokio::select! {
            biased;
            ran = &mut run => ran,
            () = interrupt.at_least(Urgency::Finish) => {
                desk.reporter.borrow_mut().finishing();
                run.await
            }
        }
    };
    began?;
    let Some(ran) = ran? else { return Ok(None) };
    let outcome = settle(ran.outcome, control.is_some(), visit.pairs);
    if let RunOutcome::Incorrect { reason, .. } | RunOutcome::RunFailed { reason } | RunOutcome::TimedOut { reason } =
        &outcome
    {
        files.after_failure(context, case, &place, &ran.stderr, reason)?;
    }
    let kind = RecordKind::Run {
        round,
        device: on,
        outcome: outcome.clone(),
        run_ms: ran.run_ms,
        waited_ms: ran.waited_ms,
        recovered: false,
    };
    desk.log.borrow_mut().append(name, visit.attempt, kind)?;
    Ok(Some(outcome))
}
