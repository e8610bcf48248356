//! The loop: ask the state what is left, do it, ask again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Instant;

use cohort::{BuildOutcome, CaseState, CohortDir, Frozen, HARNESS, Outcome, RecordKind, Snapshot, State, Status};
use fs_err as fs;

use super::case_files::remove_scratch;
use super::check::check;
use super::consent;
use super::context::Context;
use super::error::RunError;
use super::filter::{Filter, known, retries};
use super::grow::{Crosses, grow, next_growth};
use super::log::Log;
use super::options::{RunOptions, RunSummary};
use super::recover::recover;
use super::rounds::{Visit, in_seeded_order, run_rounds};
use super::twins::{Twin, twins};
use crate::build::{Artifacts, Needed, Wanted, build_cases, remove_leftovers};
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
    let Some(_lock) = DeviceLock::try_acquire(&path, Mode::Exclusive, &me)? else {
        return Err(RunError::Busy(holder(&path).map(Box::new)));
    };
    drop(frozen);
    // Read under the lock: another coordinator may have worked on it until now.
    let Snapshot { frozen, records } = Snapshot::read(&dir)?;
    let mut reporter = Reporter::new(on_event);
    let accepted = check(&frozen, options, &consent::given(&records.records))?;
    reporter.tell(&Event::Verified { accepted: &accepted });
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
        sweep.retry()?;
        sweep.work(crosses, &mut reporter).await?;
        let mut summary = sweep.summary(begun)?;
        summary.dropped = records.dropped;
        Ok(summary)
    }))?
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
    fn retry(&mut self) -> Result<(), RunError> {
        for (case, attempt, because) in retries(&self.options.retry, &self.state()?)? {
            self.log.append(&case, attempt, RecordKind::Retry { because })?;
        }
        for (case, attempt) in consent::to_wrong_results(&self.state()?, &self.options.accept_incorrect) {
            self.log.append(&case, attempt, RecordKind::AcceptIncorrect {})?;
        }
        Ok(())
    }

    async fn work(&mut self, mut crosses: Option<Crosses<'_>>, reporter: &mut Reporter<'_>) -> Result<(), RunError> {
        let options = self.options;
        let accepted = |name: &str| options.accept_incorrect.iter().any(|accepted| accepted == name);
        {
            let state = self.state()?;
            known("--accept-incorrect", &options.accept_incorrect, &state)?;
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
                    &todo.visits,
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

/// What to do next.
struct Todo<'f> {
    builds: Vec<Wanted<'f>>,
    needed: Vec<Needed<'f>>,
    visits: Vec<Visit<'f>>,
    /// Everything is measured, and nothing is filtered out: the cohort may grow.
    growing: bool,
}

impl<'f> Todo<'f> {
    fn is_empty(&self) -> bool {
        self.builds.is_empty() && self.visits.is_empty()
    }

    fn of(context: &Context<'f>, state: &State<'_>, filter: Filter<'_>) -> Result<Self, RunError> {
        let mut todo = Self {
            builds: Vec::new(),
            needed: Vec::new(),
            visits: Vec::new(),
            growing: filter.is_open() && state.all_terminal(),
        };
        let open = state
            .cases()
            .iter()
            .filter(|case| case.outcome().is_none() && filter.takes(&case.case.name));
        let open: Vec<_> = open.collect();
        let mut wanted = Vec::new();
        let mut needed = BTreeMap::new();
        for control in controls(context, state, &open)? {
            match control.status() {
                Status::Waiting => wanted.push(control),
                Status::Built | Status::Partial => _ = needed.insert(&control.case.name, control),
                Status::Done(Outcome::BuildFailed | Outcome::Rejected) => return Err(no_control(control)),
                Status::Done(_) if is_built(control) => _ = needed.insert(&control.case.name, control),
                Status::Done(_) => return Err(no_control(control)),
            }
        }
        let among: BTreeSet<_> = wanted.iter().map(|control| control.case.name.as_str()).collect();
        for case in open {
            match case.status() {
                Status::Waiting if !among.contains(case.case.name.as_str()) => wanted.push(case),
                Status::Built | Status::Partial => {
                    needed.insert(&case.case.name, case);
                    let name = &case.case.name;
                    for (round, pairs) in case.rounds_left() {
                        let (case, attempt) = (context.case(name)?, case.attempt());
                        todo.visits.push(Visit {
                            case,
                            attempt,
                            round,
                            pairs,
                        });
                    }
                }
                _ => {}
            }
        }
        for case in wanted {
            let (case, attempt) = (context.case(&case.case.name)?, case.attempt());
            todo.builds.push(Wanted { case, attempt });
        }
        for (name, case) in needed {
            let (case, recorded) = (context.case(name)?, recorded(case));
            todo.needed.push(Needed { case, recorded });
        }
        let names: Vec<_> = context.frozen.cases().map(|case| case.name.as_str()).collect();
        in_seeded_order(&mut todo.visits, &names, context.manifest().measure.seed);
        Ok(todo)
    }
}

/// Controls of the workloads of `open` cases.
fn controls<'s, 'r>(
    context: &Context<'_>,
    state: &'s State<'r>,
    open: &[&CaseState<'r>],
) -> Result<Vec<&'s CaseState<'r>>, RunError> {
    let mut names = BTreeSet::new();
    for case in open {
        if let Some(control) = context.control(case.case)? {
            names.insert(control.name.as_str());
        }
    }
    Ok(names.into_iter().filter_map(|name| state.get(name)).collect())
}

fn is_built(case: &CaseState<'_>) -> bool {
    let build = case.latest().and_then(|attempt| attempt.build);
    build.is_some_and(|build| matches!(build.outcome, BuildOutcome::Built { .. }))
}

fn no_control(control: &CaseState<'_>) -> RunError {
    let build = control.latest().and_then(|attempt| attempt.build);
    let reason = match build.map(|build| build.outcome) {
        Some(
            BuildOutcome::Rejected { reason }
            | BuildOutcome::BuildFailed { reason }
            | BuildOutcome::TimedOut { reason },
        ) => reason.clone(),
        Some(BuildOutcome::Built { .. }) | None => "it has no build".to_owned(),
    };
    RunError::Control {
        case: control.case.name.clone(),
        workload: control.case.workload.clone(),
        reason,
    }
}

/// Label -> SHA-256 of the artifacts that the latest attempt was built with.
fn recorded(case: &CaseState<'_>) -> BTreeMap<String, String> {
    let build = case.latest().and_then(|attempt| attempt.build);
    match build.map(|build| build.outcome) {
        // The harness is shared: another one than at the time of the build is no reason to lose the case.
        Some(BuildOutcome::Built { units }) => units
            .iter()
            .filter(|(label, _)| label.as_str() != HARNESS)
            .map(|(label, built)| (label.clone(), built.artifact_sha256.clone()))
            .collect(),
        _ => BTreeMap::new(),
    }
}
