//! The coordinator's side of a guard: start it, follow it, and clean up should it be killed.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use target_api::{Captured, CommandSpec};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};

use crate::errors::chain;
use crate::guard::{Ended, GuardEvent, GuardRequest, Hooks, LockRequest, MARK, NoteRequest, SUBCOMMAND};
use crate::interrupt::{Interrupt, Urgency};
use crate::lock::Holder;
use crate::orphans;

/// Bytes of each output stream that are kept: a program that prints a million lines costs neither memory nor disk.
pub const OUTPUT_CAP: u64 = 16 << 20;

/// Time between TERM and KILL.
pub const GRACE: Duration = Duration::from_secs(2);

/// What starts guards.
#[derive(Debug, Clone)]
pub struct Launcher {
    /// A binary that knows the hidden subcommands ([`crate::guard::hidden_subcommand`]): for a cohort the frozen one.
    pub binary: PathBuf,
    /// Time between TERM and KILL.
    pub grace: Duration,
    /// Bytes of each output stream that are kept.
    pub output_cap: u64,
}

impl Launcher {
    /// Guards by `binary`, with [`GRACE`] and [`OUTPUT_CAP`].
    #[must_use]
    pub fn new(binary: impl Into<PathBuf>) -> Self {
        Self {
            binary: binary.into(),
            grace: GRACE,
            output_cap: OUTPUT_CAP,
        }
    }
}

/// A command to run.
#[derive(Debug, Clone)]
pub struct Job<'a> {
    /// What to run.
    pub command: &'a CommandSpec,
    /// Where.
    pub directory: &'a Path,
    /// The lock to hold meanwhile.
    pub lock: Option<LockRequest>,
    /// What runs before and after it.
    pub hooks: Hooks,
    /// How long it may run.
    pub timeout: Option<Duration>,
    /// File that standard output goes to.
    pub stdout: &'a Path,
    /// File that standard error goes to.
    pub stderr: &'a Path,
}

/// A command that ended, on its own or because its time was over.
#[derive(Debug)]
pub struct Finished {
    /// What it printed; `files` is empty.
    pub captured: Captured,
    /// How it ended.
    pub ended: Ended,
}

/// Why there is no result of a command.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The guard could not be started.
    #[error("cannot start the guard `{binary}`")]
    Start {
        /// The binary.
        binary: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The pipes to the guard failed.
    #[error("cannot talk to the guard")]
    Talk(#[source] std::io::Error),
    /// The guard said something else than an event.
    #[error("the guard said `{line}`, which is no event")]
    Speech {
        /// What it said.
        line: String,
        /// Why it is none.
        source: serde_json::Error,
    },
    /// The guard could not do its work.
    #[error("the guard failed: {0}")]
    Guard(String),
    /// The guard was killed. Its tree has been ended.
    #[error("the guard ended before its command did ({0}); what it ran was ended")]
    GuardDied(ExitStatus),
    /// The lock was not to be had in time.
    #[error("the lock was not free within {waited_ms} ms; it is held by {}", name(.holder.as_deref()))]
    LockTimedOut {
        /// How long it waited.
        waited_ms: u64,
        /// Who has it.
        holder: Option<Box<Holder>>,
    },
    /// The guard got a signal from somebody else, and ended what it ran.
    #[error("somebody ended the guard by a signal; what it ran was ended")]
    GuardStopped,
    /// The coordinator asked for its end.
    #[error("interrupted")]
    Cancelled,
    /// Output could not be written down or read back.
    #[error("cannot keep the output in `{path}`: {reason}")]
    Output {
        /// Where.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// Processes are stuck in the kernel; the device can't be trusted.
    #[error("processes {0:?} could not be ended")]
    Stuck(Vec<i32>),
}

fn name(holder: Option<&Holder>) -> String {
    holder.map_or_else(
        || "somebody who can't be named from here".to_owned(),
        ToString::to_string,
    )
}

impl Launcher {
    /// Runs one job to its end, outside any sweep; Ctrl-C ends it. `on_event` hears every event of the guard.
    pub fn run_once(&self, job: &Job<'_>, on_event: &mut dyn FnMut(&GuardEvent)) -> Result<Finished, ProcessError> {
        let interrupt = Interrupt::listen(false).map_err(ProcessError::Talk)?;
        crate::runtime::block_on(self.run(job, &interrupt, on_event)).map_err(ProcessError::Talk)?
    }

    /// Runs a job to its end. `on_event` hears every event of the guard.
    ///
    /// When the future is dropped, the guard's pipe closes and the guard ends the tree on its own.
    pub(crate) async fn run(
        &self,
        job: &Job<'_>,
        interrupt: &Interrupt,
        on_event: &mut dyn FnMut(&GuardEvent),
    ) -> Result<Finished, ProcessError> {
        self.run_noted(job, None, interrupt, on_event).await
    }

    /// The same; the guard notes a good end in a file.
    pub(crate) async fn run_noted(
        &self,
        job: &Job<'_>,
        note: Option<NoteRequest>,
        interrupt: &Interrupt,
        on_event: &mut dyn FnMut(&GuardEvent),
    ) -> Result<Finished, ProcessError> {
        let token = note.as_ref().map_or_else(token, |note| note.token.clone());
        let request = self.request(job, note, &token);
        let mut guard = self.start()?;
        let result = follow(&mut guard, &request, interrupt.clone(), on_event).await;
        let died = match result {
            Ok(Some(GuardEvent::Ended(ended))) => {
                // Collected so that no zombie is left; the guard is done when it has said this.
                let _ = guard.wait().await;
                return finished(job, ended).map_err(|error| blame(error, interrupt));
            }
            Ok(Some(GuardEvent::LockTimedOut { waited_ms, holder })) => Err(ProcessError::LockTimedOut {
                waited_ms,
                holder: holder.map(Box::new),
            }),
            Ok(Some(GuardEvent::Cancelled { .. })) => Err(blame(ProcessError::Cancelled, interrupt)),
            Ok(Some(GuardEvent::Failed { message })) => Err(ProcessError::Guard(message)),
            Ok(_) => Ok(()),
            Err(error) => {
                orphans::end(&token).await;
                Err(error)
            }
        };
        let status = guard.wait().await.map_err(ProcessError::Talk)?;
        died?;
        orphans::end(&token).await;
        Err(ProcessError::GuardDied(status))
    }

    fn start(&self) -> Result<Child, ProcessError> {
        Command::new(&self.binary)
            .arg(SUBCOMMAND)
            // A group of its own: Ctrl-C on a terminal is for the coordinator alone, which decides what it means.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| ProcessError::Start {
                binary: self.binary.clone(),
                source,
            })
    }

    fn request(&self, job: &Job<'_>, note: Option<NoteRequest>, token: &str) -> GuardRequest {
        let mut environment = job.command.environment.clone();
        environment.insert(MARK.to_owned(), token.to_owned());
        GuardRequest {
            lock: job.lock.clone(),
            hooks: job.hooks.clone(),
            run_timeout_ms: job
                .timeout
                .map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
            grace_ms: u64::try_from(self.grace.as_millis()).unwrap_or(u64::MAX),
            stdout: job.stdout.to_owned(),
            stderr: job.stderr.to_owned(),
            note,
            output_cap: self.output_cap,
            directory: job.directory.to_owned(),
            program: PathBuf::from(&job.command.program),
            arguments: job.command.arguments.clone(),
            environment,
        }
    }
}

/// Sends the request and hears events until the last one, which is returned; `None` when the guard fell silent.
async fn follow(
    guard: &mut Child,
    request: &GuardRequest,
    mut interrupt: Interrupt,
    on_event: &mut dyn FnMut(&GuardEvent),
) -> Result<Option<GuardEvent>, ProcessError> {
    let (Some(mut stdin), Some(stdout)) = (guard.stdin.take(), guard.stdout.take()) else {
        return Err(ProcessError::Talk(std::io::Error::other("a pipe is missing")));
    };
    let mut line = serde_json::to_vec(request).map_err(|error| ProcessError::Talk(error.into()))?;
    line.push(b'\n');
    // A guard that died at once is found by its silence.
    let _ = stdin.write_all(&line).await;
    let mut stdin = Some(stdin);
    // What only waits for its lock has nothing to finish.
    let mut enough = match request.lock {
        Some(_) => Urgency::Finish,
        None => Urgency::Kill,
    };
    let mut lines = BufReader::new(stdout).lines();
    loop {
        let next = tokio::select! {
            next = lines.next_line() => next.map_err(ProcessError::Talk)?,
            () = interrupt.at_least(enough), if stdin.is_some() => {
                stdin = None;
                continue;
            }
        };
        let Some(line) = next else { return Ok(None) };
        let event: GuardEvent = serde_json::from_str(&line).map_err(|source| ProcessError::Speech {
            line: line.clone(),
            source,
        })?;
        on_event(&event);
        match event {
            GuardEvent::Locked { .. } => enough = Urgency::Kill,
            GuardEvent::Waiting { .. } | GuardEvent::Started { .. } | GuardEvent::Note { .. } => {}
            last => return Ok(Some(last)),
        }
    }
}

fn finished(job: &Job<'_>, ended: Ended) -> Result<Finished, ProcessError> {
    if !ended.left_behind.is_empty() {
        return Err(ProcessError::Stuck(ended.left_behind));
    }
    if ended.cancelled {
        return Err(ProcessError::Cancelled);
    }
    if let Some(reason) = &ended.capture_error {
        return Err(ProcessError::Output {
            path: job.stdout.to_owned(),
            reason: reason.clone(),
        });
    }
    // Where its first hook failed, the command never ran, and files may be of an earlier one.
    let never_ran = ended.hook_error.is_some() && ended.exit_code.is_none() && ended.signal.is_none();
    let read = |path: &Path| if never_ran { Ok(String::new()) } else { read(path) };
    let captured = Captured {
        stdout: read(job.stdout)?,
        stderr: read(job.stderr)?,
        exit_code: ended.exit_code,
        signal: ended.signal,
        ..Captured::default()
    };
    Ok(Finished { captured, ended })
}

/// Who stopped a guard that was stopped.
fn blame(error: ProcessError, interrupt: &Interrupt) -> ProcessError {
    match error {
        ProcessError::Cancelled if interrupt.urgency() == Urgency::None => ProcessError::GuardStopped,
        error => error,
    }
}

/// The text of a file; bytes that are no UTF-8 become replacement characters.
fn read(path: &Path) -> Result<String, ProcessError> {
    let bytes = fs_err::read(path).map_err(|error| ProcessError::Output {
        path: path.to_owned(),
        reason: chain(&error),
    })?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// Unique to one guard: this process, when it was, and a count.
pub(crate) fn token() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = jiff::Timestamp::now().as_nanosecond();
    format!("{}-{now}-{count}", std::process::id())
}
