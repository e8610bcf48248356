//! The guard itself.

use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitStatus, set_child_subreaper, set_parent_process_death_signal};
use tokio::signal::unix::{Signal as SignalStream, SignalKind, signal};
use tokio::sync::{mpsc, oneshot};

use super::protocol::{Ended, GuardEvent, GuardRequest, LockRequest, TELL_WAITING_AFTER};
use super::{capture, hooks, note, tree};
use crate::lock::{DeviceLock, Holder, holder};

/// Name of the environment variable by which the processes of a guard's tree can be told from all others, should the
/// guard be killed. Its value is unique to the guard.
pub(crate) const MARK: &str = "LAYOUT_SWEEP_GUARD";

/// The hidden subcommand `guard`: reads a [`GuardRequest`] (one line of JSON) from standard input, takes the lock, runs
/// the command in a process group of its own, and ends its whole tree when it ends, when its time is over, on TERM or INT,
/// or when standard input closes. Then it unlocks. It tells what happens as [`GuardEvent`]s on standard output.
///
/// Returns the exit code: 0 when the last event is `ended`, `lock-timed-out` or `cancelled`, else 1.
#[must_use]
pub fn guard_main() -> i32 {
    let last = match guarded() {
        Ok(event) => event,
        Err(error) => GuardEvent::Failed {
            message: crate::errors::chain(&error),
        },
    };
    tell(&last);
    i32::from(matches!(last, GuardEvent::Failed { .. }))
}

/// Why a guard can't do its work.
#[derive(Debug, thiserror::Error)]
pub(super) enum GuardFailure {
    #[error("cannot read the request from standard input")]
    Request(#[source] std::io::Error),
    #[error("the request is not understood")]
    Syntax(#[from] serde_json::Error),
    #[error("cannot {what}")]
    System { what: &'static str, source: std::io::Error },
    #[error("cannot take the lock")]
    Lock(#[from] crate::lock::LockError),
}

fn system<E: Into<std::io::Error>>(what: &'static str) -> impl FnOnce(E) -> GuardFailure {
    move |source| GuardFailure::System {
        what,
        source: source.into(),
    }
}

fn tell(event: &GuardEvent) {
    // Nobody may be there to hear it: the coordinator's death is no reason to stop cleaning up.
    if let Ok(mut line) = serde_json::to_vec(event) {
        line.push(b'\n');
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(&line).and_then(|()| out.flush());
    }
}

fn guarded() -> Result<GuardEvent, GuardFailure> {
    // A help only: this signal comes when the *thread* that started the guard ends. The closed pipe is the truth.
    set_parent_process_death_signal(Some(Signal::TERM)).map_err(system("ask for the parent-death signal"))?;
    set_child_subreaper(Some(rustix::process::getpid())).map_err(system("become the subreaper"))?;
    let mut line = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(GuardFailure::Request)?;
    let request: GuardRequest = serde_json::from_str(&line)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(system("start the runtime"))?;
    runtime.block_on(guard(&request))
}

/// Hears when it is time to stop early.
pub(super) struct Stop {
    pipe: mpsc::Receiver<()>,
    term: SignalStream,
    int: SignalStream,
}

impl Stop {
    fn new() -> Result<Self, GuardFailure> {
        let (closed, pipe) = mpsc::channel(1);
        let watch = move || {
            let mut rest = String::new();
            // Nothing more is ever sent: this returns when the other side is closed.
            let _ = std::io::stdin().lock().read_line(&mut rest);
            let _ = closed.blocking_send(());
        };
        std::thread::Builder::new()
            .spawn(watch)
            .map_err(system("watch the coordinator's pipe"))?;
        Ok(Self {
            pipe,
            term: signal(SignalKind::terminate()).map_err(system("listen for TERM"))?,
            int: signal(SignalKind::interrupt()).map_err(system("listen for INT"))?,
        })
    }

    async fn wanted(&mut self) {
        tokio::select! {
            _ = self.pipe.recv() => (),
            _ = self.term.recv() => (),
            _ = self.int.recv() => (),
        }
    }
}

async fn guard(request: &GuardRequest) -> Result<GuardEvent, GuardFailure> {
    let mut stop = Stop::new()?;
    let begin = Instant::now();
    let lock = match &request.lock {
        None => None,
        Some(wanted) => match wait_for_lock(wanted, &mut stop, begin).await? {
            Waited::Locked(lock) => Some(lock),
            Waited::Gave(event) => return Ok(event),
        },
    };
    let waited_ms = millis(begin);
    if lock.is_some() {
        tell(&GuardEvent::Locked { waited_ms });
    }
    let ended = hooks::surrounded(request, &mut stop, waited_ms).await?;
    // Without a note a round is only measured again, should the coordinator have died: no reason to fail it.
    let _ = note::write(request, &ended);
    drop(lock);
    Ok(GuardEvent::Ended(ended))
}

enum Waited {
    Locked(DeviceLock),
    Gave(GuardEvent),
}

/// Waits for the lock, says for whom when that takes long, and says it again when another cohort has it.
async fn wait_for_lock(wanted: &LockRequest, stop: &mut Stop, begin: Instant) -> Result<Waited, GuardFailure> {
    let me = || Holder::this_process(&wanted.cohort, &wanted.case);
    if let Some(lock) = DeviceLock::try_acquire(&wanted.path, wanted.mode, &me())? {
        return Ok(Waited::Locked(lock));
    }
    let mut owner = holder(&wanted.path);
    let mut told: Option<Option<String>> = None;
    let (send, mut locked) = oneshot::channel();
    let (path, mode, signature) = (wanted.path.clone(), wanted.mode, me());
    std::thread::Builder::new()
        .spawn(move || {
            // When nobody waits any longer, the lock comes back with the error and is dropped, which unlocks it.
            let _ = send.send(DeviceLock::acquire(&path, mode, &signature));
        })
        .map_err(system("wait for the lock"))?;
    let limit = wanted.timeout_ms.map_or(Duration::MAX, Duration::from_millis);
    loop {
        let left = limit.saturating_sub(begin.elapsed());
        tokio::select! {
            result = &mut locked => match result {
                Ok(lock) => return Ok(Waited::Locked(lock?)),
                Err(_) => return Err(system("wait for the lock")(std::io::Error::other("its thread ended"))),
            },
            () = stop.wanted() => return Ok(Waited::Gave(GuardEvent::Cancelled { waited_ms: millis(begin) })),
            () = tokio::time::sleep(left.min(TELL_WAITING_AFTER)) => {
                if begin.elapsed() >= limit {
                    return Ok(Waited::Gave(GuardEvent::LockTimedOut { waited_ms: millis(begin), holder: owner }));
                }
                let now = holder(&wanted.path);
                let cohort = now.as_ref().map(|now| now.cohort.clone());
                if begin.elapsed() >= TELL_WAITING_AFTER && told.as_ref() != Some(&cohort) {
                    tell(&GuardEvent::Waiting { holder: now.clone() });
                    told = Some(cohort);
                }
                owner = now;
            }
        }
    }
}

/// Runs the command of `request`. Without `stop` nothing but its time limit ends it early.
pub(super) async fn run(
    request: &GuardRequest,
    mut stop: Option<&mut Stop>,
    waited_ms: u64,
) -> Result<Ended, GuardFailure> {
    let mut children = signal(SignalKind::child()).map_err(system("listen for ended children"))?;
    let begin = Instant::now();
    let mut child = command(request)
        .spawn()
        .map_err(system("start the command's first stage"))?;
    let pid = Pid::from_child(&child);
    // Hooks can't be stopped, and nobody waits for them.
    if stop.is_some() {
        tell(&GuardEvent::Started {
            pid: pid.as_raw_nonzero().get(),
        });
    }
    let mut copiers = Vec::new();
    if let Some(out) = child.stdout.take() {
        copiers.push(capture::keep(out, &request.stdout, request.output_cap));
    }
    if let Some(err) = child.stderr.take() {
        copiers.push(capture::keep(err, &request.stderr, request.output_cap));
    }

    let mut ended = Ended {
        waited_ms,
        ..Ended::default()
    };
    let limit = request
        .run_timeout_ms
        .map_or(Duration::from_secs(u64::from(u32::MAX)), Duration::from_millis);
    let over = tokio::time::sleep(limit);
    tokio::pin!(over);
    let status = loop {
        let reaped = tree::reap(pid);
        if reaped.command.is_some() {
            break reaped.command;
        }
        tokio::select! {
            _ = children.recv() => {}
            () = &mut over => { ended.timed_out = true; break None; }
            () = wanted(&mut stop) => { ended.cancelled = true; break None; }
        }
    };
    let own = u32::from(status.is_none());
    ended.ran_ms = millis(begin);
    let end = tree::end_tree(pid, status, Duration::from_millis(request.grace_ms), &mut children).await;
    ended.exit_code = end.command.and_then(WaitStatus::exit_status);
    ended.signal = end.command.and_then(WaitStatus::terminating_signal);
    ended.killed_tree = end.found.saturating_sub(own);
    ended.left_behind = end.left_behind;

    let mut kept = copiers.into_iter().map(|copier| match copier {
        Ok(copier) => capture::finish(copier),
        Err(error) => capture::Kept {
            dropped: 0,
            error: Some(error.to_string()),
        },
    });
    let (out, err) = (kept.next().unwrap_or_default(), kept.next().unwrap_or_default());
    ended.stdout_dropped = out.dropped;
    ended.stderr_dropped = err.dropped;
    ended.capture_error = out.error.or(err.error);
    Ok(ended)
}

async fn wanted(stop: &mut Option<&mut Stop>) {
    match stop {
        Some(stop) => stop.wanted().await,
        None => std::future::pending().await,
    }
}

fn command(request: &GuardRequest) -> Command {
    // The same binary, even if the file was replaced meanwhile.
    let mut command = Command::new("/proc/self/exe");
    command
        .arg(super::CHILD_SUBCOMMAND)
        .arg(std::process::id().to_string())
        .arg(&request.program)
        .args(&request.arguments)
        .envs(&request.environment)
        .current_dir(&request.directory)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
