//! The loop: ask the state what is left, do it, ask again.

use std::path::Path;
use std::time::{Duration, Instant};

use cohort::{CohortDir, Difference, Frozen, Record, RecordKind, Snapshot, State, gone_artifacts};
use fs_err as fs;

use super::case_files::remove_scratch;
use super::check::check;
use super::consent;
use super::context::Context;
use super::error::RunError;
use super::filter::{Filter, named, passes, retries};
use super::grow::{Crosses, grow, next_growth};
use super::log::Log;
use super::options::{RunOptions, RunSummary};
use super::recover::recover;
use super::rounds::run_rounds;
use super::todo::Todo;
use super::twins::{Twin, twins};
use crate::build::{Artifacts, build_cases, remove_leftovers};
use crate::events::{Event, OnEvent, Reporter};
use crate::interrupt::{Interrupt, Urgency};
use crate::lock::{DeviceLock, Holder, Mode, holder};
use crate::process::Launcher;

/// Runs the cohort in `folder`, or goes on with it, until nothing is left of what was asked for.
///
/// Verifies first; then all builds, then rounds over all cases, then crosses and finalists. Everything measured is on
/// disk when this returns, however it ends. One coordinator works on a cohort at a time.
pub fn run(
    folder: &Path,
    options: &RunOptions<'_>,
    crosses: Option<Crosses<'_>>,
    on_event: &mut OnEvent<'_>,
) -> Result<RunSummary, RunError> {
    // Commands run in other folders, so every path must be whole. A folder that is missing is found by opening it.
    let dir = CohortDir::new(fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()));
    let frozen = Frozen::open(&dir)?;
    frozen.continuable()?;
    let path = dir.coordinator_lock();
    let me = Holder::this_process(&dir.path().display().to_string(), "");
    let mut reporter = Reporter::new(on_event);
    let _lock = lock_cohort(&path, &me, options.lock_timeout, &mut reporter)?;
    drop(frozen);
    // Read under the lock: another coordinator may have worked on it until now.
    let Snapshot { frozen, records } = Snapshot::read(&dir)?;
    let accepted = check(&frozen, options, &consent::given(&records.records))?;
    told_verified(&frozen, &records.records, options, &accepted, &mut reporter)?;
    remove_leftovers(&dir)?;
    let mut log = Log::new(&dir, records.records, options.clock);
    let begun = log.records().len();
    consent::to_differences(&mut log, &accepted)?;
    let local = tokio::task::LocalSet::new();
    crate::runtime::block_on(local.run_until(async {
        let mut sweep = Sweep {
            launcher: Launcher::new(dir.binary()),
            interrupt: Interrupt::listen(true)?,
            // A limit that no clock can show is none.
            deadline: options.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
            artifacts: Artifacts::new(&frozen, log.records()),
            options,
            // What other tools make is not what the names of builds in the cache promise.
            cached: !accepted.iter().any(|difference| difference.name.starts_with("tool.")),
            frozen,
            log,
        };
        sweep.recover(&mut reporter).await?;
        remove_scratch(&dir)?;
        sweep.retry(&mut reporter)?;
        sweep.work(crosses, &mut reporter).await?;
        let mut summary = sweep.summary(begun)?;
        summary.dropped = records.dropped;
        Ok(summary)
    }))?
}

/// How often somebody who waits for another coordinator looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// One coordinator works on a cohort at a time: what the other one leaves is decided only when it is done. So nobody
/// waits who was not asked to.
fn lock_cohort(
    path: &Path,
    me: &Holder,
    patience: Option<Duration>,
    reporter: &mut Reporter<'_>,
) -> Result<DeviceLock, RunError> {
    let begun = Instant::now();
    let mut told = false;
    loop {
        if let Some(lock) = DeviceLock::try_acquire(path, Mode::Exclusive, me)? {
            return Ok(lock);
        }
        let other = holder(path);
        if patience.is_none_or(|patience| begun.elapsed() >= patience) {
            return Err(RunError::Busy(other.map(Box::new)));
        }
        if !std::mem::replace(&mut told, true) {
            reporter.tell(&Event::CohortBusy { holder: other.as_ref() });
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Says what was consented to and for which cases, and which artifacts of finished cases are gone. That does not stop a
/// run: a case is done by its records. Where the artifact is needed again (a control's, say) it is built again from the
/// frozen sources and compared with its digest on record.
fn told_verified(
    frozen: &Frozen,
    records: &[Record],
    options: &RunOptions<'_>,
    accepted: &[Difference],
    reporter: &mut Reporter<'_>,
) -> Result<(), RunError> {
    let state = frozen
        .state(records)
        .map_err(|error| RunError::State(Box::new(error)))?;
    let asked = |name: &str| passes(&options.only, &options.exclude, name);
    let left = state
        .cases()
        .iter()
        .filter(|case| case.outcome().is_none() && asked(&case.case.name));
    let cases: Vec<&str> = left.map(|case| case.case.name.as_str()).collect();
    let gone = gone_artifacts(frozen, records, &state);
    reporter.tell(&Event::Verified {
        accepted,
        cases: &cases,
        gone: &gone,
    });
    Ok(())
}

struct Sweep<'a> {
    options: &'a RunOptions<'a>,
    /// Whether builds may come from the cache and go into it.
    cached: bool,
    launcher: Launcher,
    interrupt: Interrupt,
    deadline: Option<Instant>,
    frozen: Frozen,
    log: Log,
    artifacts: Artifacts,
}

impl Sweep<'_> {
    fn state(&self) -> Result<State<'_>, RunError> {
        self.frozen
            .state(self.log.records())
            .map_err(|error| RunError::State(Box::new(error)))
    }

    /// Writes what a killed coordinator could not write any more.
    async fn recover(&mut self, reporter: &mut Reporter<'_>) -> Result<(), RunError> {
        let context = Context::new(
            &self.frozen,
            self.options,
            &self.launcher,
            &self.interrupt,
            self.deadline,
        )?;
        recover(&context, &mut self.log, &self.artifacts, reporter).await?;
        Ok(())
    }

    /// Begins the next attempt of what was asked for, and accepts what is to be accepted.
    fn retry(&mut self, reporter: &mut Reporter<'_>) -> Result<(), RunError> {
        for (case, attempt, because) in retries(&self.options.retry, &self.state()?)? {
            self.log.append(&case, attempt, RecordKind::Retry { because })?;
        }
        for (case, attempt) in consent::to_wrong_results(&self.state()?, &self.options.accept_incorrect) {
            self.log.append(&case, attempt, RecordKind::AcceptIncorrect {})?;
            reporter.tell(&Event::WrongAccepted { case: &case });
        }
        Ok(())
    }

    async fn work(&mut self, mut crosses: Option<Crosses<'_>>, reporter: &mut Reporter<'_>) -> Result<(), RunError> {
        let options = self.options;
        let accepted = |name: &str| options.accept_incorrect.iter().any(|accepted| accepted == name);
        {
            let state = self.state()?;
            named("--accept-incorrect", &options.accept_incorrect, &state)?;
            Filter::new(&options.only, &options.exclude, &state)?;
        }
        loop {
            let mut context = Context::new(&self.frozen, options, &self.launcher, &self.interrupt, self.deadline)?;
            if !self.cached {
                context.cache = None;
            }
            let state = self
                .frozen
                .state(self.log.records())
                .map_err(|error| RunError::State(Box::new(error)))?;
            if state.stopped_by().into_iter().any(|case| !accepted(case)) {
                return Ok(());
            }
            if context.should_stop() {
                if self.interrupt.urgency() > Urgency::None {
                    reporter.finishing();
                } else {
                    reporter.tell(&Event::TimeOver);
                }
                return Ok(());
            }
            let filter = Filter::new(&options.only, &options.exclude, &state)?;
            let todo = Todo::of(&context, &state, filter)?;
            if let Todo { growing: true, .. } = todo {
                let next = next_growth(&self.frozen, &state, options.target.pairing(), &mut crosses)?;
                let at = self.log.now();
                let Some((growth, reason)) = next else { return Ok(()) };
                grow(&mut self.frozen, at, growth, &reason, reporter)?;
                continue;
            }
            if todo.is_empty() {
                return Ok(());
            }
            let twins = if todo.builds.is_empty() {
                twins(&context, &state, &|name| filter.takes(name))?
            } else {
                Vec::new()
            };
            if !twins.is_empty() {
                for Twin { case, attempt, kind } in twins {
                    self.log.append(&case, attempt, kind.clone())?;
                    if let RecordKind::Run { outcome, round, .. } = &kind {
                        let (case, round) = (case.as_str(), *round);
                        reporter.tell(&Event::RoundDone { case, round, outcome });
                    }
                }
                continue;
            }
            build_cases(
                &context,
                &mut self.log,
                &mut self.artifacts,
                reporter,
                &todo.builds,
                &todo.needed,
            )
            .await?;
            // With builds undecided, rounds could miss cases; after them the state is asked again.
            if todo.builds.is_empty() {
                run_rounds(
                    &context,
                    &mut self.log,
                    &self.artifacts,
                    reporter,
                    (&todo.visits, &todo.unreferenced),
                    &accepted,
                )
                .await?;
            }
        }
    }

    fn summary(&self, begun: usize) -> Result<RunSummary, RunError> {
        let state = self.state()?;
        let accepted = |name: &str| self.options.accept_incorrect.iter().any(|accepted| accepted == name);
        let new = self.log.records().get(begun..).unwrap_or_default();
        let rounds = |wanted: bool| {
            let own = new.iter();
            own.filter(|r| matches!(r.kind, RecordKind::Run { recovered, .. } if recovered == wanted))
                .count() as u64
        };
        let left = !state.left().is_empty();
        Ok(RunSummary {
            counts: state.counts(),
            rounds_done: rounds(false),
            rounds_recovered: rounds(true),
            interrupted: self.interrupt.urgency() > Urgency::None,
            time_over: left && self.deadline.is_some_and(|deadline| Instant::now() >= deadline),
            stopped_by: state
                .stopped_by()
                .into_iter()
                .filter(|case| !accepted(case))
                .map(str::to_owned)
                .collect(),
            dropped: Vec::new(),
        })
    }
}
