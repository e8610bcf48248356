//! Running a cohort on a cluster: what is left becomes arrays of shards, one after another. The truth about a case is its
//! record; Slurm is only asked who still works.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use cohort::{
    Batch, CohortDir, Frozen, Record, RecordKind, RecordTail, State, Submission, batch_numbers, read_batch, verify,
};
use fs_err as fs;
use planner::counted;

use super::case_files::remove_scratch;
use super::check::can_be_accepted;
use super::consent;
use super::error::RunError;
use super::filter::{Filter, FilterError, named, passes, retries};
use super::grow::{Crosses, grow, next_growth};
use super::hand_out::hand_out_left;
use super::log::{Log, writer_name};
use super::options::{RunOptions, RunSummary};
use super::run::lock_cohort;
use crate::events::{Event, OnEvent, Reporter};
use crate::interrupt::{Interrupt, Urgency};
use crate::libc;
use crate::slurm::{self, End, Ending, JobState, Jobs, Settings, SlurmError, Work};

/// Time between two looks at an array, at first and later.
pub(super) const LOOK: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(5));

/// So long one looks more often.
const AT_FIRST: Duration = Duration::from_secs(60);

/// How long a second Ctrl-C is waited for.
const ASKED: Duration = Duration::from_secs(10);

/// Arrays in turn that may measure nothing.
const FRUITLESS: usize = 2;

/// Runs the cohort in `folder`, or goes on with it, by arrays of Slurm, until nothing is left of it.
///
/// Of `options` the machine, the cache, the device's lock and the number of jobs mean nothing here: each worker finds them
/// on its node. The cohort's files are verified here, and everything by each worker.
pub fn run_on_slurm(
    folder: &Path,
    options: &RunOptions<'_>,
    settings: &Settings,
    mut crosses: Option<Crosses<'_>>,
    on_event: &mut OnEvent<'_>,
) -> Result<RunSummary, RunError> {
    let dir = CohortDir::new(fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned()));
    Frozen::open(&dir)?.continuable()?;
    if let Some(name) = options.accept.iter().find(|name| !can_be_accepted(name)) {
        return Err(FilterError::Accept(name.clone()).into());
    }
    let mut reporter = Reporter::new(on_event);
    let _lock = lock_cohort(&dir, options.lock_timeout, &mut reporter)?;
    let frozen = Frozen::open(&dir)?;
    let mut differences = verify(&frozen)?;
    if !differences.is_empty() {
        let (difference, others) = (differences.remove(0), differences.len());
        return Err(RunError::Mismatch { difference, others });
    }
    let mut session = Session {
        log: Log::new(&dir, writer_name((options.clock)()), Vec::new(), options.clock),
        interrupt: Interrupt::listen(true)?,
        deadline: options.time_limit.and_then(|limit| Instant::now().checked_add(limit)),
        tail: RecordTail::new(),
        records: Vec::new(),
        bad_nodes: Vec::new(),
        suspects: BTreeSet::new(),
        fruitless: Vec::new(),
        left_running: false,
        largest: slurm::largest_array()?,
        dir,
        frozen,
        options,
        settings,
    };
    if let Some(needs) = libc::needs(&session.dir.binary()) {
        note(
            &mut reporter,
            &format!("nodes start the frozen program, which needs {needs}"),
        );
    }
    session.records = session.tail.next(&session.dir)?;
    let begun = session.records.len();
    session.judge_latest(&mut reporter)?;
    session.decide(&mut reporter)?;
    while session.step(&mut crosses, &mut reporter)? {}
    if session.state()?.all_terminal() && !session.is_stopped()? && !session.should_end() {
        // Of workers that were killed: what they could not record was recovered or measured again.
        remove_scratch(&session.dir, None)?;
    }
    session.summary(begun)
}

/// A cohort while arrays work on it.
pub(super) struct Session<'a> {
    pub(super) dir: CohortDir,
    frozen: Frozen,
    pub(super) options: &'a RunOptions<'a>,
    settings: &'a Settings,
    pub(super) log: Log,
    interrupt: Interrupt,
    deadline: Option<Instant>,
    tail: RecordTail,
    /// All records, those of workers as they come.
    records: Vec<Record>,
    /// Nodes on which nothing can be measured.
    pub(super) bad_nodes: Vec<String>,
    /// Nodes on which a worker was killed before it began, once.
    pub(super) suspects: BTreeSet<String>,
    /// The latest arrays, as long as they measured nothing.
    pub(super) fruitless: Vec<String>,
    /// Whether an array goes on although this ends.
    left_running: bool,
    largest: usize,
}

impl Session<'_> {
    pub(super) fn state(&self) -> Result<State<'_>, RunError> {
        self.frozen
            .state(&self.records)
            .map_err(|error| RunError::State(Box::new(error)))
    }

    /// Whether this run is to work on a case.
    fn takes(&self, name: &str) -> bool {
        passes(&self.options.only, &self.options.exclude, name)
    }

    /// Begins attempts that were asked for, and accepts what is to be accepted.
    fn decide(&mut self, reporter: &mut Reporter<'_>) -> Result<(), RunError> {
        {
            let state = self.state()?;
            named("--accept-incorrect", &self.options.accept_incorrect, &state)?;
            Filter::new(&self.options.only, &self.options.exclude, None, &state)?;
        }
        for (case, attempt, because) in retries(&self.options.retry, &self.state()?)? {
            self.log.append(&case, attempt, RecordKind::Retry { because })?;
        }
        self.records.extend(self.tail.next(&self.dir)?);
        for (case, attempt) in consent::to_wrong_results(&self.state()?, &self.options.accept_incorrect) {
            self.log.append(&case, attempt, RecordKind::AcceptIncorrect {})?;
            reporter.tell(&Event::WrongAccepted { case: &case });
        }
        self.records.extend(self.tail.next(&self.dir)?);
        Ok(())
    }

    /// One array, or one growth; whether more may follow.
    fn step(&mut self, crosses: &mut Option<Crosses<'_>>, reporter: &mut Reporter<'_>) -> Result<bool, RunError> {
        if self.is_stopped()? || self.should_end() {
            return Ok(false);
        }
        let now = (self.options.clock)();
        if let Some(batch) = batch_numbers(&self.dir)?.last().copied()
            && let Some(submission) = slurm::find(&self.dir, batch, now)?
            && is_alive(&slurm::jobs(&submission.job))
        {
            note(
                reporter,
                &format!("array {} still works on batch {batch}", submission.job),
            );
            return self.see_through(&read_batch(&self.dir, batch)?, &submission, reporter);
        }
        let state = self
            .frozen
            .state(&self.records)
            .map_err(|error| RunError::State(Box::new(error)))?;
        // As with a run here: what a filter leaves out may still decide what is crossed.
        let open = self.options.only.is_empty() && self.options.exclude.is_empty();
        if open && state.all_terminal() {
            let next = next_growth(&self.frozen, &state, self.options.target.pairing(), crosses)?;
            let Some((growth, reason)) = next else { return Ok(false) };
            grow(&mut self.frozen, now, growth, &reason, reporter)?;
            return Ok(true);
        }
        let size = self.shard_size(&state);
        let takes = |name: &str| self.takes(name);
        let handed = hand_out_left(&self.dir, &self.frozen, &state, size, self.options.take_over, &takes)?;
        let Some(batch) = handed else { return Ok(false) };
        let submission = self.submit(&batch)?;
        let cases: usize = batch.shards.iter().map(Vec::len).sum();
        note(
            reporter,
            &format!(
                "array {} of {} with {} (batch {})",
                submission.job,
                counted(batch.shards.len(), "shard"),
                counted(cases, "case"),
                batch.number
            ),
        );
        self.see_through(&batch, &submission, reporter)
    }

    /// As the settings say, but no more shards than an array may have; one case each after an array that measured
    /// nothing, so that what is to blame stands alone.
    fn shard_size(&self, state: &State<'_>) -> Option<usize> {
        let open = state.cases().iter().filter(|case| case.outcome().is_none());
        let open = open.filter(|case| self.takes(&case.case.name)).count();
        let least = open.div_ceil(self.largest);
        if self.fruitless.is_empty() {
            let size = self.settings.shard_size.map(|size| size.max(least));
            // The usual size is not known here; it is small beside what an array may have.
            size.or((least > 1).then_some(least))
        } else {
            Some(least.max(1))
        }
    }

    fn submit(&self, batch: &Batch) -> Result<Submission, RunError> {
        let round = Duration::from_millis(self.frozen.manifest().measure.run_timeout_ms);
        let name = slurm::name(&self.dir, batch.number);
        let mut arguments = self.settings.sbatch(&name, batch.shards.len(), &self.bad_nodes);
        if let Some(job) = self.submit_builds(batch, round)? {
            // However that ended: a shard builds what is missing.
            arguments.push(format!("--dependency=afterany:{job}"));
        }
        let script = self
            .settings
            .script(&self.dir, batch.number, round, &self.options.accept, Work::Everything);
        slurm::submit(&self.dir, batch.number, &arguments, &script, (self.options.clock)())
    }

    /// Submits an array that builds what the shards of `batch` need, where one is asked for and something is to be built.
    fn submit_builds(&self, batch: &Batch, round: Duration) -> Result<Option<String>, RunError> {
        let Some(settings) = self.settings.for_builds() else {
            return Ok(None);
        };
        let state = self.state()?;
        let unbuilt = |name: &String| {
            let case = state.get(name).and_then(cohort::CaseState::latest);
            case.is_none_or(|latest| latest.build.is_none())
        };
        if !batch.shards.iter().flatten().any(unbuilt) {
            return Ok(None);
        }
        fs::create_dir_all(self.dir.batch_logs(batch.number))?;
        let name = slurm::builds_name(&self.dir, batch.number);
        let arguments = settings.sbatch(&name, batch.shards.len(), &self.bad_nodes);
        let script = settings.script(&self.dir, batch.number, round, &self.options.accept, Work::Builds);
        Ok(Some(slurm::submit_builds(&arguments, &script)?))
    }

    /// Follows an array to its end and judges what it left; whether more may follow.
    fn see_through(
        &mut self,
        batch: &Batch,
        submission: &Submission,
        reporter: &mut Reporter<'_>,
    ) -> Result<bool, RunError> {
        let before = self.records.len();
        {
            let state = self.state()?;
            let own: Vec<_> = batch
                .shards
                .iter()
                .flatten()
                .filter_map(|name| state.get(name))
                .collect();
            let builds = own
                .iter()
                .filter(|case| case.latest().is_none_or(|latest| latest.build.is_none()));
            let rounds = own.iter().map(|case| case.rounds_left().len()).sum();
            reporter.begin(builds.count(), rounds);
        }
        let Some(jobs) = self.follow(submission, reporter)? else {
            return Ok(false);
        };
        self.wait_for_records(batch, reporter)?;
        let endings = self.judge(batch, submission, &jobs, reporter)?;
        self.mind_nodes(&endings, reporter);
        let fruitful = self.records.len() > before;
        if self.is_stopped()? || self.should_end() {
            return Ok(false);
        }
        if endings.contains(&Ending::Cancelled) {
            return Err(SlurmError::Cancelled(submission.job.clone()).into());
        }
        if fruitful {
            self.fruitless.clear();
        } else if let Some(ending) = endings.first() {
            self.fruitless.push(submission.job.clone());
            if self.fruitless.len() >= FRUITLESS {
                let jobs = std::mem::take(&mut self.fruitless);
                let why = ending.why().to_owned();
                return Err(SlurmError::Fruitless { jobs, why }.into());
            }
        }
        Ok(true)
    }

    /// Looks at an array until it is over; `None` when it is left to itself.
    fn follow(&mut self, submission: &Submission, reporter: &mut Reporter<'_>) -> Result<Option<Jobs>, RunError> {
        let begun = Instant::now();
        let (mut asked, mut ended, mut told): (Option<Instant>, Option<End>, String) = (None, None, String::new());
        loop {
            // Before the records: what an element wrote before its end is there then.
            let jobs = slurm::jobs(&submission.job);
            self.take_records(reporter)?;
            if !is_alive(&jobs) {
                return Ok(Some(jobs));
            }
            let news = match &jobs {
                Jobs::Known(jobs) => waits(jobs),
                Jobs::Silent(why) => format!("Slurm can't be asked, the array goes on: {why}"),
                Jobs::Forgotten => String::new(),
            };
            if news != told && !news.is_empty() {
                note(reporter, &news);
            }
            told = news;
            if self.is_stopped()? && ended.is_none() {
                note(
                    reporter,
                    "a wrong result: shards that wait are cancelled, those that run finish their rounds",
                );
                slurm::cancel_builds(&self.dir, submission.batch)?;
                slurm::cancel(&submission.job, End::Orderly)?;
                ended = Some(End::Orderly);
            }
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) && ended.is_none() {
                reporter.tell(&Event::TimeOver);
                slurm::cancel_builds(&self.dir, submission.batch)?;
                slurm::cancel(&submission.job, End::Orderly)?;
                ended = Some(End::Orderly);
            }
            match self.interrupt.urgency() {
                // Everything that could be done was done.
                _ if ended == Some(End::Now) => {}
                Urgency::None => {}
                Urgency::Finish => {
                    let at = *asked.get_or_insert_with(|| {
                        let text = format!(
                            "interrupted: Ctrl-C again within {} s cancels array {}; else it goes on, and the same \
                             command follows it again",
                            ASKED.as_secs(),
                            submission.job
                        );
                        note(reporter, &text);
                        Instant::now()
                    });
                    if at.elapsed() >= ASKED && ended.is_none() {
                        self.left_running = true;
                        note(reporter, &format!("array {} goes on by itself", submission.job));
                        return Ok(None);
                    }
                }
                Urgency::Kill => {
                    note(reporter, &format!("array {} is cancelled", submission.job));
                    slurm::cancel_builds(&self.dir, submission.batch)?;
                    slurm::cancel(&submission.job, End::Now)?;
                    ended = Some(End::Now);
                }
            }
            std::thread::sleep(if begun.elapsed() < AT_FIRST { LOOK.0 } else { LOOK.1 });
        }
    }

    /// Tells what workers wrote since the last look.
    pub(super) fn take_records(&mut self, reporter: &mut Reporter<'_>) -> Result<(), RunError> {
        let new = self.tail.next(&self.dir)?;
        for record in &new {
            let case = record.case.as_str();
            match &record.kind {
                RecordKind::Build { outcome, .. } => {
                    reporter.done(1, 0);
                    reporter.tell(&Event::Built { case, outcome });
                }
                RecordKind::Began { round, .. } => reporter.tell(&Event::RoundBegan { case, round: *round }),
                RecordKind::Run { round, outcome, .. } => {
                    let failed = !matches!(
                        outcome,
                        cohort::RunOutcome::Correct { .. } | cohort::RunOutcome::Rejected { .. }
                    );
                    reporter.progress.failed += u64::from(failed);
                    reporter.done(0, 1);
                    let round = *round;
                    reporter.tell(&Event::RoundDone { case, round, outcome });
                }
                _ => {}
            }
        }
        self.records.extend(new);
        Ok(())
    }

    /// Whether a wrong result stops everything.
    fn is_stopped(&self) -> Result<bool, RunError> {
        Ok(self.options.stopped_by(&self.state()?).next().is_some())
    }

    fn should_end(&self) -> bool {
        self.interrupt.urgency() > Urgency::None || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn summary(&self, begun: usize) -> Result<RunSummary, RunError> {
        let state = self.state()?;
        let new = self.records.get(begun..).unwrap_or_default();
        let left = |case: &str| self.takes(case);
        Ok(RunSummary {
            interrupted: self.left_running || self.interrupt.urgency() > Urgency::None,
            ..RunSummary::of(self.options, &state, new, state.counts(), (left, self.deadline))
        })
    }
}

/// Whether an array may still work. One that can't be asked about may.
pub(super) fn is_alive(jobs: &Jobs) -> bool {
    match jobs {
        Jobs::Known(jobs) => jobs.iter().any(|job| !job.state.is_over()),
        Jobs::Forgotten => false,
        Jobs::Silent(_) => true,
    }
}

/// Why elements wait, where that is no mere lack of room.
fn waits(jobs: &[slurm::Job]) -> String {
    const USUAL: [&str; 9] = [
        "",
        "Resources",
        "Priority",
        "JobArrayTaskLimit",
        // The array that builds for it.
        "Dependency",
        "None",
        "BeginTime",
        "Prolog",
        "Cleaning",
    ];
    let waiting = jobs.iter().filter(|job| job.state == JobState::Pending);
    let mut reasons = waiting
        .map(|job| job.reason.as_str())
        .filter(|reason| !USUAL.contains(reason));
    reasons
        .next()
        .map_or_else(String::new, |reason| format!("Slurm lets shards wait: {reason}"))
}

pub(super) fn note(reporter: &mut Reporter<'_>, text: &str) {
    reporter.tell(&Event::Note { text });
}
