//! Builds of distinct units, side by side.

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cohort::{UnitBuilt, UnitRef, sha256_file};
use fs_err as fs;
use target_api::{BuildFailure, BuildUnit, Captured, SourceFile};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::artifacts::{put_first, put_in_place, work_name};
use crate::cache::{BuildCache, CacheError, Cached, Locked};
use crate::errors::chain;
use crate::events::{Event, Reporter};
use crate::guard::GuardEvent;
use crate::interrupt::Urgency;
use crate::lock::Holder;
use crate::process::ProcessError;
use crate::steps::{Steps, StepsEnd, StepsError};
use crate::sweep::{Context, Piece, RunError};

/// How the build of a unit ended.
#[derive(Debug, Clone)]
pub(super) enum UnitEnd {
    /// The artifact is in its place.
    Built(UnitBuilt),
    /// The target says no.
    Rejected(Trouble),
    /// A step failed, or the artifact is no good.
    Failed(Trouble),
    /// A step took too long.
    TimedOut(Trouble),
}

/// Why there is no artifact.
#[derive(Debug, Clone)]
pub(super) struct Trouble {
    pub(super) reason: String,
    /// What the build printed.
    pub(super) log: String,
    /// Whether a step said by its exit code that it failed, so that its errors are the reason.
    pub(super) by_compiler: bool,
}

/// A unit to build.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job<'f> {
    pub(super) unit: &'f UnitRef,
    /// What it is called in the case that asked first.
    pub(super) label: &'f str,
    /// Where it belongs.
    pub(super) piece: Piece<'f>,
}

/// Builds `queue` in order, `jobs` at a time, and tells each end. Stops starting when the run should stop; what was
/// interrupted is not told.
pub(super) async fn build_units<'f>(
    context: &Context<'f>,
    queue: Vec<Job<'f>>,
    reporter: &mut Reporter<'_>,
    on_end: &mut dyn FnMut(Piece<'f>, UnitEnd, &mut Reporter<'_>) -> Result<(), RunError>,
) -> Result<(), RunError> {
    let jobs = queue;
    let mut queue: VecDeque<usize> = (0..jobs.len()).collect();
    let mut running = JoinSet::new();
    // Builds of one unit go on in one folder, so that paths in artifacts are the same: one after another.
    let mut folders: HashSet<&str> = HashSet::new();
    let (send, mut notes) = mpsc::unbounded_channel::<Note>();
    let mut interrupt = context.interrupt.clone();
    let mut finishing = false;
    loop {
        while running.len() < context.jobs
            && !context.should_stop()
            && let Some(at) = next(&jobs, &mut queue, &folders)
            && let Some(Job { unit, label, piece }) = jobs.get(at).copied()
        {
            folders.insert(&unit.digest);
            let (work, unit) = (start(context, unit, label, piece)?, unit_of(context, unit, label)?);
            let send = send.clone();
            running.spawn_local(async move { (at, build(work, unit, send).await) });
        }
        tokio::select! {
            Some(note) = notes.recv() => note.tell(reporter),
            () = interrupt.at_least(Urgency::Finish), if !finishing && !running.is_empty() => {
                finishing = true;
                reporter.finishing();
            }
            next = running.join_next() => match next {
                None => {
                    while let Ok(note) = notes.try_recv() {
                        note.tell(reporter);
                    }
                    return Ok(());
                }
                Some(finished) => {
                    let (at, finished) = finished.map_err(|error| RunError::Io(std::io::Error::other(error)))?;
                    let end = settle(context, finished)?;
                    if let Some(job) = jobs.get(at) {
                        folders.remove(job.unit.digest.as_str());
                        if let Some(end) = end {
                            on_end(job.piece, end, reporter)?;
                        }
                    }
                }
            },
        }
    }
}

/// Takes the first of the queue whose unit isn't being built.
fn next(jobs: &[Job<'_>], queue: &mut VecDeque<usize>, folders: &HashSet<&str>) -> Option<usize> {
    let free = |at: &usize| {
        jobs.get(*at)
            .is_some_and(|job| !folders.contains(job.unit.digest.as_str()))
    };
    let place = queue.iter().position(free)?;
    queue.remove(place)
}

/// What a build tells while it goes on: the digest of its unit, and more.
enum Note {
    Waits(String, Option<Holder>),
    Elsewhere(String, Option<Holder>),
    Damaged(String, String),
    CacheUnused(String, String),
}

impl Note {
    fn tell(&self, reporter: &mut Reporter<'_>) {
        reporter.tell(&match self {
            Self::Waits(unit, holder) => return reporter.waiting(unit, holder.as_ref()),
            Self::Elsewhere(unit, holder) => Event::BuiltElsewhere {
                unit,
                holder: holder.as_ref(),
            },
            Self::Damaged(unit, why) => Event::Rebuilding { unit, why },
            Self::CacheUnused(unit, why) => Event::CacheUnused { unit, why },
        });
    }
}

/// A build on its own, with everything it needs.
struct Work {
    digest: String,
    /// Name of its folder among the artifacts.
    key: String,
    cache: Option<BuildCache>,
    cohort: String,
    /// Removed at the end; its name is the same each time, so that paths in artifacts are.
    root: Folder,
    launcher: crate::process::Launcher,
    lock: Option<crate::guard::LockRequest>,
    timeout: Duration,
    deadline: Option<Instant>,
    interrupt: crate::interrupt::Interrupt,
}

/// A folder that goes when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn sources(&self) -> PathBuf {
        self.0.join("work")
    }

    /// What becomes the unit's folder in `artifacts/`.
    fn out(&self) -> PathBuf {
        self.0.join("out")
    }

    fn log(&self) -> PathBuf {
        self.out().join("build.log")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What can't be removed now is removed by the next run.
        let _ = fs::remove_dir_all(&self.0);
    }
}

struct Finished {
    work: Work,
    unit: BuildUnit,
    end: Result<StepsEnd, StepsError>,
    /// `None` when it was there already.
    took: Option<Duration>,
}

fn start(context: &Context<'_>, unit: &UnitRef, label: &str, piece: Piece<'_>) -> Result<Work, RunError> {
    let root = context.dir().artifacts().join(work_name(&unit.digest, context.shard));
    if root.exists() {
        fs::remove_dir_all(&root)?;
    }
    let root = Folder(root);
    fs::create_dir_all(root.sources())?;
    fs::create_dir_all(root.out())?;
    Ok(Work {
        digest: unit.digest.clone(),
        key: piece.key(),
        // From scratch means without it.
        cache: context.cache.filter(|_| piece.fresh_for.is_none()).cloned(),
        cohort: context.dir().path().display().to_string(),
        root,
        launcher: context.launcher.clone(),
        lock: context.build_lock(&format!("build of {label}")),
        timeout: Duration::from_millis(context.manifest().measure.build_timeout_ms),
        deadline: context.deadline,
        interrupt: context.interrupt.clone(),
    })
}

/// The unit as the target described it, from its frozen sources.
fn unit_of(context: &Context<'_>, unit: &UnitRef, label: &str) -> Result<BuildUnit, RunError> {
    let folder = context.dir().unit_sources(&unit.digest);
    let read = |path: &String| -> Result<SourceFile, RunError> {
        Ok(SourceFile {
            path: path.clone(),
            text: fs::read_to_string(folder.join(path))?,
        })
    };
    Ok(BuildUnit {
        label: label.to_owned(),
        sources: unit
            .files
            .iter()
            .map(|file| read(&file.path))
            .collect::<Result<_, _>>()?,
        steps: unit.steps.clone(),
        artifact: unit.artifact.clone(),
        inspect: unit.inspect.clone(),
    })
}

async fn build(work: Work, unit: BuildUnit, notes: mpsc::UnboundedSender<Note>) -> Finished {
    let locked = match lock_entry(&work, &unit.label, &notes).await {
        Ok(locked) => locked,
        Err(error) => {
            let (end, took) = (Err(error), None);
            return Finished { work, unit, end, took };
        }
    };
    let (artifact, log) = (work.root.sources().join(&unit.artifact), work.root.log());
    // Nobody listens once the run has failed.
    let unused = |error: CacheError| _ = notes.send(Note::CacheUnused(work.digest.clone(), chain(&error)));
    if let Some(locked) = &locked {
        match locked.copy_to(&artifact, &log) {
            Ok(Cached::Copied(captured)) => {
                let (end, took) = (Ok(StepsEnd::Done(captured)), None);
                return Finished { work, unit, end, took };
            }
            Ok(Cached::Nothing) => {}
            Ok(Cached::Damaged(why)) => _ = notes.send(Note::Damaged(work.digest.clone(), why)),
            Err(error) => unused(error),
        }
    }
    let begin = Instant::now();
    let steps = Steps {
        launcher: &work.launcher,
        lock: work.lock.clone(),
        timeout: work.timeout,
        deadline: work.deadline,
        interrupt: &work.interrupt,
    };
    let mut on_event = |event: &GuardEvent| {
        if let GuardEvent::Waiting { holder } = event {
            let _ = notes.send(Note::Waits(work.digest.clone(), holder.clone()));
        }
    };
    let end = steps.run(&unit, &work.root.sources(), &log, &mut on_event).await;
    let took = begin.elapsed();
    if let (Some(locked), Ok(StepsEnd::Done(captured))) = (&locked, &end)
        && let Err(error) = locked.put(&artifact, &log, captured, took)
    {
        unused(error);
    }
    drop(locked);
    let took = Some(took);
    Finished { work, unit, end, took }
}

/// Time between looks at the lock of an entry: builds take much longer.
const LOOK: Duration = Duration::from_millis(25);

/// Waits for the entry of a unit, while another coordinator builds it. `None` where there is no cache to use.
async fn lock_entry(
    work: &Work,
    label: &str,
    notes: &mpsc::UnboundedSender<Note>,
) -> Result<Option<Locked>, StepsError> {
    let Some(cache) = &work.cache else { return Ok(None) };
    let me = Holder::this_process(&work.cohort, &format!("build of {label}"));
    let mut told = false;
    loop {
        match cache.try_lock(&work.digest, &me) {
            Ok(Some(locked)) => return Ok(Some(locked)),
            Ok(None) => {}
            Err(error) => {
                let _ = notes.send(Note::CacheUnused(work.digest.clone(), chain(&error)));
                return Ok(None);
            }
        }
        if !std::mem::replace(&mut told, true) {
            let _ = notes.send(Note::Elsewhere(work.digest.clone(), cache.holder(&work.digest)));
        }
        let over = work.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if over || work.interrupt.urgency() > Urgency::None {
            return Err(ProcessError::Cancelled.into());
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Asks the target what it thinks and puts the artifact into its place. `None` when the build was interrupted, or waited
/// for the lock until the time limit was over.
fn settle(context: &Context<'_>, finished: Finished) -> Result<Option<UnitEnd>, RunError> {
    let Finished { work, unit, end, took } = finished;
    let trouble = |reason: String| -> Result<Trouble, RunError> {
        let log = fs::read_to_string(work.root.log())?;
        Ok(Trouble {
            reason,
            log,
            by_compiler: false,
        })
    };
    let captured = match end {
        Err(StepsError::Process(ProcessError::Cancelled)) => return Ok(None),
        Err(StepsError::Process(ProcessError::LockTimedOut { .. })) if context.time_over() => return Ok(None),
        Err(StepsError::Process(error @ (ProcessError::GuardDied(_) | ProcessError::GuardStopped))) => {
            let log = String::new();
            return Ok(Some(UnitEnd::Failed(Trouble {
                reason: error.to_string(),
                log,
                by_compiler: false,
            })));
        }
        Err(StepsError::Process(source)) => {
            let what = format!("build of {}", unit.label);
            return Err(RunError::Process { what, source });
        }
        Err(StepsError::Io(error)) => return Err(error.into()),
        Ok(StepsEnd::Failed(reason, captured)) => {
            let end = match context.target.refusal(&captured) {
                Some(words) => UnitEnd::Rejected(trouble(words)?),
                None => UnitEnd::Failed(Trouble {
                    by_compiler: true,
                    ..trouble(reason)?
                }),
            };
            return Ok(Some(end));
        }
        Ok(StepsEnd::Broken(reason)) => return Ok(Some(UnitEnd::Failed(trouble(reason)?))),
        Ok(StepsEnd::TimedOut(reason)) => return Ok(Some(UnitEnd::TimedOut(trouble(reason)?))),
        Ok(StepsEnd::Done(captured)) => captured,
    };
    let facts = match parse(context, &unit, &captured) {
        Ok(facts) => facts,
        Err(BuildFailure::Rejected { reason }) => return Ok(Some(UnitEnd::Rejected(trouble(reason)?))),
        Err(BuildFailure::Failed { reason }) => return Ok(Some(UnitEnd::Failed(trouble(reason)?))),
    };
    let artifact_sha256 = put(context, &work, &unit.artifact)?;
    Ok(Some(UnitEnd::Built(UnitBuilt {
        unit: work.digest.clone(),
        artifact_sha256,
        build_ms: took.map(|took| u64::try_from(took.as_millis()).unwrap_or(u64::MAX)),
        reproduces: None,
        facts,
    })))
}

fn parse(
    context: &Context<'_>,
    unit: &BuildUnit,
    captured: &Captured,
) -> Result<std::collections::BTreeMap<String, String>, BuildFailure> {
    context.target.parse_build(unit, captured).map(|info| info.facts)
}

/// Moves the artifact beside its log and renames both into place at once.
fn put(context: &Context<'_>, work: &Work, artifact: &str) -> Result<String, RunError> {
    let (out, dir) = (work.root.out(), context.dir());
    let moved = out.join(artifact);
    if let Some(folder) = moved.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::rename(work.root.sources().join(artifact), &moved)?;
    let (sha256, _) = sha256_file(&moved)?;
    if context.shard.is_some() {
        return Ok(put_first(dir, &work.key, &out, artifact)?.unwrap_or(sha256));
    }
    put_in_place(dir, &work.key, &out, &moved)?;
    Ok(sha256)
}
