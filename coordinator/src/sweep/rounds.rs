//! Rounds: in a seeded order, one at a time on each device.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::task::Poll;

use cohort::{Case, RecordKind, RunOutcome};
use fs_err as fs;
use stats::random::SplitMix64;
use target_api::LockHolder;
use tokio::sync::Notify;

use super::alternate::alternate;
use super::case_files::{CaseFiles, Place};
use super::context::Context;
use super::device::Device;
use super::error::RunError;
use super::log::Log;
use super::outcome::settle;
use super::queue::{Next, Queue};
use super::recover::digests;
use super::side::{Part, Side};
use crate::build::Artifacts;
use crate::events::{Event, Reporter};
use crate::guard::GuardEvent;
use crate::interrupt::Urgency;
use crate::lock::prepare;

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

/// What workers on all devices share. Its cells are borrowed between two waits only, never across one.
struct Desk<'r, 'e> {
    context: &'r Context<'r>,
    files: CaseFiles,
    log: RefCell<&'r mut Log>,
    reporter: RefCell<&'r mut Reporter<'e>>,
    queue: RefCell<Queue<'r>>,
    /// Told whenever a round has ended.
    ended: Notify,
    artifacts: &'r Artifacts,
    /// Whether a wrong result of this case is no reason to stop.
    accepted: &'r dyn Fn(&str) -> bool,
    /// Cases of which missing numbers were told.
    told: RefCell<HashSet<&'r str>>,
}

/// Runs the visits in their order, one at a time on each device, until something wrong is found or the run should stop.
/// Later rounds of a case that failed are left out. `unreferenced` workloads have no control and nothing measured yet.
pub(super) async fn run_rounds<'r>(
    context: &'r Context<'r>,
    log: &'r mut Log,
    artifacts: &'r Artifacts,
    reporter: &'r mut Reporter<'_>,
    (visits, unreferenced): (&'r [Visit<'r>], &[&str]),
    accepted: &'r dyn Fn(&str) -> bool,
) -> Result<(), RunError> {
    let files = CaseFiles::new(context)?;
    if context.target.lock() == LockHolder::Child {
        let mut locks = context.devices.iter().filter_map(|device| device.lock.as_deref());
        locks.try_for_each(prepare)?;
    }
    reporter.begin(0, visits.len());
    let desk = Desk {
        context,
        files,
        log: RefCell::new(log),
        reporter: RefCell::new(reporter),
        queue: RefCell::new(Queue::new(context.frozen, visits, unreferenced)),
        ended: Notify::new(),
        artifacts,
        accepted,
        told: RefCell::default(),
    };
    let mut workers: Vec<_> = (0..)
        .zip(&context.devices)
        .map(|(number, device)| {
            let desk = &desk;
            let worker = Worker { desk, device, number };
            Some(Box::pin(async move { worker.work().await }))
        })
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
    Ok(desk.files.remove()?)
}

/// The worker of one device.
struct Worker<'d, 'r, 'e> {
    desk: &'d Desk<'r, 'e>,
    device: &'r Device,
    /// Which worker it is, from 0: where logs are not kept, each has places of its own.
    number: usize,
}

impl<'r> Worker<'_, 'r, '_> {
    /// Takes one visit after another until none is left or the run should stop.
    async fn work(&self) -> Result<(), RunError> {
        let desk = self.desk;
        loop {
            let ended = desk.ended.notified();
            if desk.context.should_stop() {
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
                self.visit(visit).await
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
    async fn visit(&self, visit: &'r Visit<'r>) -> Result<bool, RunError> {
        let (desk, name) = (self.desk, visit.case.name.as_str());
        desk.context.still_ours()?;
        let Some(outcome) = self.round(visit).await? else {
            return Ok(false);
        };
        let mut reporter = desk.reporter.borrow_mut();
        if matches!(outcome, RunOutcome::Correct { .. }) {
            desk.queue.borrow_mut().measured(visit);
        } else {
            desk.queue.borrow_mut().failed.insert(name);
            reporter.progress.failed += u64::from(!matches!(outcome, RunOutcome::Rejected { .. }));
        }
        reporter.done(0, 1);
        reporter.tell(&Event::RoundDone {
            case: name,
            round: visit.round,
            outcome: &outcome,
        });
        if let RunOutcome::Correct { measurement } = &outcome
            && let Some(what) = measurement.missing()
            && desk.told.borrow_mut().insert(name)
        {
            reporter.tell(&Event::Missing { case: name, what });
        }
        if matches!(outcome, RunOutcome::Incorrect { .. }) {
            if !(desk.accepted)(name) {
                return Ok(false);
            }
            let mut log = desk.log.borrow_mut();
            log.append(name, visit.attempt, RecordKind::AcceptIncorrect {})?;
        }
        Ok(true)
    }

    /// One round with its two records. `None` when it was interrupted (then it counts as lost), or when it was given up
    /// before it had the lock (then it never began).
    async fn round(&self, visit: &'r Visit<'r>) -> Result<Option<RunOutcome>, RunError> {
        let (desk, context) = (self.desk, self.desk.context);
        let (case, name) = (visit.case, visit.case.name.as_str());
        let place = desk.files.place(context, case, self.number)?;
        let control = context.control(case)?;
        let side = self.side(visit, case, place.clone());
        let digests = digests(context, desk.artifacts, case)?;
        let (round, on) = (visit.round, self.device.name.clone());
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
                if let Some(control) = control.filter(|_| context.takes_turns()) {
                    let beside = self.side(visit, control, place.beside());
                    fs::create_dir_all(&beside.place.folder)?;
                    alternate(&side, &beside, &digests, &mut on_event).await
                } else {
                    let round = side.describe(control, visit.pairs)?;
                    let note = side.announce(&round, digests, None)?;
                    side.run(Part::First, &round, Some(note), &mut on_event).await
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
        if matches!(outcome, RunOutcome::RunFailed { .. }) && context.ended_with_its_job() {
            return Ok(None);
        }
        if let RunOutcome::Incorrect { reason, .. }
        | RunOutcome::RunFailed { reason }
        | RunOutcome::TimedOut { reason } = &outcome
        {
            desk.files.after_failure(context, case, &place, &ran.stderr, reason)?;
        }
        let kind = RecordKind::Run {
            round,
            device: on,
            outcome: outcome.clone(),
            run_ms: ran.run_ms,
            waited_ms: ran.waited_ms,
            recovered: false,
            profile_sha256: context.profile_sha256(name)?,
        };
        desk.log.borrow_mut().append(name, visit.attempt, kind)?;
        Ok(Some(outcome))
    }

    /// A side of a visit on this worker's device.
    fn side<'s>(&'s self, visit: &'s Visit<'r>, case: &'r Case, place: Place) -> Side<'s> {
        Side {
            context: self.desk.context,
            device: self.device,
            visit,
            case,
            place,
            facts: self.desk.log.borrow().facts(&case.name),
        }
    }
}
