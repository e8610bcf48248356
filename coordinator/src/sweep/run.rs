//! The loop: ask the state what is left, do it, ask again.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use cohort::{
    Claim, CohortDir, CohortError, Difference, Frozen, Record, RecordKind, ShardId, Snapshot, State, WriterName,
    batch_numbers, gone_artifacts,
};
use fs_err as fs;

use super::case_files::remove_scratch;
use super::check::{Checked, check};
use super::claims::{Claimant, Claims, this_worker};
use super::consent;
use super::context::Context;
use super::error::RunError;
use super::filter::{Filter, named, passes, retries};
use super::grow::{Crosses, grow, next_growth};
use super::log::{Log, writer_name};
use super::options::{RunOptions, RunSummary};
use super::recover::recover;
use super::rounds::run_rounds;
use super::todo::Todo;
use super::twins::{Twin, twins};
use crate::build::{Artifacts, build_cases, remove_leftovers};
use crate::errors::chain;
use crate::events::{Event, OnEvent, Reporter};
use crate::interrupt::{Interrupt, Urgency};
use crate::lock::{DeviceLock, Holder, Mode, holder};
use crate::process::Launcher;
use crate::tools::find_program;

/// Runs the cohort in `folder`, or goes on with it, until nothing is left of what was asked for.
///
/// Verifies first; then all builds, then rounds over all cases, then crosses and finalists. Everything measured is on
/// disk when this returns, however it ends. One coordinator works on a cohort at a time; workers of shards work beside one
/// another, each on cases of its own, and the cohort grows by none of them.
pub fn run(
    folder: &Path,
    options: &RunOptions<'_>,
    crosses: Option<Crosses<'_>>,
    on_event: &mut OnEvent<'_>,
) -> Result<RunSummary, RunError> {
    // Commands run in other folders, so every path must be whole. A folder that is missing is found by opening it.
    let dir = CohortDir::new(fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()));
    open_for(&dir, options.shard)?.continuable()?;
    let name = writer_name((options.clock)());
    let mut reporter = Reporter::new(on_event);
    let _lock = match options.shard {
        Some(_) => None,
        None => Some(lock_cohort(&dir, options.lock_timeout, &mut reporter)?),
    };
    let claimant = Claimant {
        dir: &dir,
        me: this_worker(&name, options.shard.is_none(), Some(options.machine)),
        take_over: options.take_over,
        clock: options.clock,
    };
    let (claims, own) = match options.shard {
        Some(shard) => {
            let (claims, cases) = claimant.shard(shard)?;
            (claims, Some(cases))
        }
        None => (claim_open(&claimant, options)?, None),
    };
    let part = Part {
        own: own.as_ref(),
        claim: claims.first().filter(|_| own.is_some()),
    };
    let ran = run_part(&dir, name, options, part, crosses, &mut reporter);
    match &ran {
        Ok(summary) => claims.release(summary.exit_code(), summary.why_partial().as_deref())?,
        // What went wrong is told; a claim that can't be released is taken over once this process is gone.
        Err(error) => _ = claims.release(error.exit_code(), Some(&chain(error))),
    }
    ran
}

/// Names of options that say how something is built contain this.
const BUILD: &str = ".build";

/// An error where a program that an option of such a key names is not on this machine: that is no case's fault.
fn have(options: &RunOptions<'_>, concerns: impl Fn(&str) -> bool) -> Result<(), RunError> {
    let own = options.programs.iter().filter(|program| concerns(&program.key));
    // Relative paths lead to sources, which are verified.
    let mut own = own.filter(|program| !program.program.contains('/') || program.program.starts_with('/'));
    match own.find(|program| find_program(&program.program).is_none()) {
        None => Ok(()),
        Some(missing) => Err(RunError::Program {
            key: missing.key.clone(),
            program: missing.program.clone(),
        }),
    }
}

/// From so many cases on a worker of a shard reads its own cases and records alone. Then it does not know whether another
/// shard has measured the same program already.
const LARGE: u64 = 20_000;

fn is_large(dir: &CohortDir) -> Result<bool, CohortError> {
    Ok(Frozen::cases_in(dir)? >= LARGE)
}

/// Opens a cohort for whoever is to work on all of it, or on a shard: a large one then without the cases that the manifest
/// alone does not tell of.
pub fn open_for(dir: &CohortDir, shard: Option<ShardId>) -> Result<Frozen, CohortError> {
    if shard.is_some() && is_large(dir)? {
        return Frozen::open_part(dir, &HashSet::new());
    }
    Frozen::open(dir)
}

/// Claims all shards with cases left, of a cohort that has shards.
fn claim_open(claimant: &Claimant<'_>, options: &RunOptions<'_>) -> Result<Claims, RunError> {
    if batch_numbers(claimant.dir)?.is_empty() {
        return Ok(claimant.nothing());
    }
    // Read under the lock: another coordinator may have worked on it until now.
    let Snapshot { frozen, records } = Snapshot::read(claimant.dir)?;
    let state = frozen
        .state(&records.records)
        .map_err(|error| RunError::State(Box::new(error)))?;
    let again = retries(&options.retry, &state)?;
    claimant.everything(&state, &again.iter().map(|(case, ..)| case.as_str()).collect())
}

/// What a worker works on: everything, where there is no shard.
#[derive(Clone, Copy)]
struct Part<'a> {
    own: Option<&'a HashSet<String>>,
    claim: Option<&'a Claim>,
}

impl Part<'_> {
    fn owns(&self, case: &str) -> bool {
        self.own.is_none_or(|own| own.contains(case))
    }
}

/// Does the work, once it is certain that nobody else does it.
fn run_part(
    dir: &CohortDir,
    name: WriterName,
    options: &RunOptions<'_>,
    part: Part<'_>,
    crosses: Option<Crosses<'_>>,
    reporter: &mut Reporter<'_>,
) -> Result<RunSummary, RunError> {
    let (Snapshot { frozen, records }, others) = match part.own {
        Some(own) if is_large(dir)? => Snapshot::read_part(dir, own)?,
        _ => (Snapshot::read(dir)?, Vec::new()),
    };
    let Checked { accepted, unlike } = check(&frozen, options, &consent::given(&records.records))?;
    told_verified(&frozen, &records.records, options, part, &accepted, reporter)?;
    remove_leftovers(dir, options.shard)?;
    let mut log = Log::new(dir, name, records.records, options.clock);
    let begun = log.records().len();
    if !unlike.is_empty() {
        reporter.tell(&Event::Unlike { differences: &unlike });
        log.begin_with(RecordKind::Machine {
            differences: unlike.clone(),
            instance: options.machine.instance.clone(),
        });
    }
    consent::to_differences(&mut log, &accepted)?;
    let local = tokio::task::LocalSet::new();
    crate::runtime::block_on(local.run_until(async {
        let mut sweep = Sweep {
            launcher: Launcher::new(dir.binary()),
            interrupt: Interrupt::listen(true)?,
            // A limit that no clock can show is none.
            deadline: options.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
            artifacts: Artifacts::new(&frozen, others.iter().chain(log.records())),
            options,
            part,
            // What other tools make is not what the names of builds in the cache promise.
            cached: !accepted.iter().any(|difference| difference.name.starts_with("tool.")),
            unlike,
            frozen,
            log,
        };
        sweep.recover(reporter).await?;
        // Whoever ends the check of a run that is to be taken leaves it to the next run.
        if sweep.interrupt.urgency() < Urgency::Kill {
            remove_scratch(dir, options.shard)?;
        }
        sweep.retry(reporter)?;
        sweep.work(crosses, reporter).await?;
        let mut summary = sweep.summary(begun)?;
        summary.dropped = records.dropped;
        Ok(summary)
    }))?
}

/// How often somebody who waits for another coordinator looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// One coordinator works on a cohort at a time: what the other one leaves is decided only when it is done. So nobody
/// waits who was not asked to.
pub(super) fn lock_cohort(
    dir: &CohortDir,
    patience: Option<Duration>,
    reporter: &mut Reporter<'_>,
) -> Result<DeviceLock, RunError> {
    let path = &dir.coordinator_lock();
    let me = &Holder::this_process(&dir.path().display().to_string(), "");
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
    part: Part<'_>,
    accepted: &[Difference],
    reporter: &mut Reporter<'_>,
) -> Result<(), RunError> {
    let state = frozen
        .state(records)
        .map_err(|error| RunError::State(Box::new(error)))?;
    let asked = |name: &str| part.owns(name) && passes(&options.only, &options.exclude, name);
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
    part: Part<'a>,
    /// Whether builds may come from the cache and go into it.
    cached: bool,
    /// In what this machine is another one than the frozen.
    unlike: Vec<Difference>,
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
            self.part.claim,
        )?;
        let part = self.part;
        let own = |case: &str| part.owns(case);
        recover(&context, &mut self.log, &self.artifacts, reporter, &own, &self.unlike).await?;
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
        let (options, part) = (self.options, self.part);
        let accepted = |name: &str| options.accepts(name);
        {
            let state = self.state()?;
            named("--accept-incorrect", &options.accept_incorrect, &state)?;
            Filter::new(&options.only, &options.exclude, part.own, &state)?;
        }
        loop {
            let mut context = Context::new(
                &self.frozen,
                options,
                &self.launcher,
                &self.interrupt,
                self.deadline,
                part.claim,
            )?;
            context.still_ours()?;
            if !self.cached {
                context.cache = None;
            }
            let state = self
                .frozen
                .state(self.log.records())
                .map_err(|error| RunError::State(Box::new(error)))?;
            if options.stopped_by(&state).next().is_some() {
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
            let filter = Filter::new(&options.only, &options.exclude, part.own, &state)?;
            let todo = Todo::of(&context, &state, filter)?;
            if let Todo { growing: true, .. } = todo {
                let next = next_growth(&self.frozen, &state, options.target.pairing(), &mut crosses)?;
                let at = self.log.now();
                let Some((growth, reason)) = next else { return Ok(()) };
                grow(&mut self.frozen, at, growth, &reason, reporter)?;
                continue;
            }
            if todo.is_empty() || (options.builds_only && todo.builds.is_empty()) {
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
            if !todo.builds.is_empty() {
                have(options, |key| key.contains(BUILD))?;
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
                have(options, |key| !key.contains(BUILD))?;
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
        let new = self.log.records().get(begun..).unwrap_or_default();
        let owns = |case: &str| self.part.owns(case);
        Ok(RunSummary {
            interrupted: self.interrupt.urgency() > Urgency::None,
            only_built: self.options.builds_only,
            ..RunSummary::of(self.options, &state, new, state.counts_of(owns), (owns, self.deadline))
        })
    }
}
