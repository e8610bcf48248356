//! Ctrl-C: the first one finishes what runs, the second one ends it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use crate::exit::ExitCode;

/// How urgently the coordinator should come to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Urgency {
    /// Not at all.
    None,
    /// Start nothing new.
    Finish,
    /// End what runs.
    Kill,
}

/// Signals that came since the first [`Interrupt`] of those that exist.
static PRESSES: OnceLock<watch::Sender<u32>> = OnceLock::new();

/// How many sessions want to hear of them.
static SESSIONS: AtomicUsize = AtomicUsize::new(0);

/// Sees what was asked for; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Interrupt {
    presses: watch::Receiver<u32>,
    manner: Manner,
    _session: Arc<Session>,
}

/// What signals mean to whoever listens.
#[derive(Debug, Clone, Copy)]
enum Manner {
    /// The first one ends what runs.
    Impatient,
    /// The first one asks for an orderly end.
    Patient,
    /// The first one means nothing: what has begun comes to its end.
    Begun,
}

#[derive(Debug)]
struct Session;

impl Drop for Session {
    fn drop(&mut self) {
        if SESSIONS.fetch_sub(1, Ordering::SeqCst) == 1
            && let Some(presses) = PRESSES.get()
        {
            presses.send_replace(0);
        }
    }
}

impl Interrupt {
    /// Listens for INT and TERM until it and its clones are dropped. Where it is `patient`, the first one only asks for
    /// an orderly end.
    pub(crate) fn listen(patient: bool) -> std::io::Result<Self> {
        let presses = match PRESSES.get() {
            Some(presses) => presses.subscribe(),
            None => start()?,
        };
        SESSIONS.fetch_add(1, Ordering::SeqCst);
        let manner = if patient { Manner::Patient } else { Manner::Impatient };
        Ok(Self {
            presses,
            manner,
            _session: Arc::new(Session),
        })
    }

    /// The same for the rest of something that has begun: it hears only what ends it.
    pub(crate) fn of_what_began(&self) -> Self {
        let manner = match self.manner {
            Manner::Impatient => Manner::Impatient,
            Manner::Patient | Manner::Begun => Manner::Begun,
        };
        Self { manner, ..self.clone() }
    }

    /// What was asked for up to now.
    pub(crate) fn urgency(&self) -> Urgency {
        rate(*self.presses.borrow(), self.manner)
    }

    /// Waits until at least `urgency` was asked for; never returns when that can't happen any more.
    pub(crate) async fn at_least(&mut self, urgency: Urgency) {
        let manner = self.manner;
        if self
            .presses
            .wait_for(|count| rate(*count, manner) >= urgency)
            .await
            .is_err()
        {
            std::future::pending::<()>().await;
        }
    }
}

fn rate(presses: u32, manner: Manner) -> Urgency {
    match (presses, manner) {
        (0, _) | (1, Manner::Begun) => Urgency::None,
        (1, Manner::Patient) => Urgency::Finish,
        _ => Urgency::Kill,
    }
}

/// Listens in a thread of its own for the rest of the process: a signal handler, once set, stays, and without anybody to
/// hear it Ctrl-C would do nothing. So when no session runs, the thread does what the signal would have done.
fn start() -> std::io::Result<watch::Receiver<u32>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut int, mut term) = {
        let _context = runtime.enter();
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
    };
    let presses = PRESSES.get_or_init(|| watch::channel(0).0);
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async move {
            loop {
                tokio::select! {
                    _ = int.recv() => (),
                    _ = term.recv() => (),
                }
                if SESSIONS.load(Ordering::SeqCst) == 0 {
                    std::process::exit(i32::from(ExitCode::Interrupted.code()));
                }
                presses.send_modify(|count| *count = count.saturating_add(1));
            }
        });
    })?;
    Ok(presses.subscribe())
}
