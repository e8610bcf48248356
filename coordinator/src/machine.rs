//! The machine as a target sees it: the host, the tools, and what a probe measured.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cohort::sha256_hex;
use fs_err as fs;
use serde::{Deserialize, Serialize};
use target_api::{Captured, Host, Machine, OptionError, Options, Probe, Target, Tool};

use crate::errors::chain;
use crate::guard::{GuardEvent, Hooks, LockRequest};
use crate::host::{HostError, read_host};
use crate::interrupt::Interrupt;
use crate::lock::{HOST_DEVICE, Mode, device_lock_path};
use crate::process::{Job, Launcher, ProcessError};
use crate::scratch::scratch;
use crate::steps::{Steps, StepsEnd, StepsError, how_it_ended};
use crate::tools::{ToolError, find_all};

/// Limit of one step of the probe's build, and of the probe.
const PROBE_TIMEOUT: Duration = Duration::from_secs(300);

/// How a machine is measured.
#[derive(Debug, Clone)]
pub struct Measuring {
    /// What starts the probe.
    pub launcher: Launcher,
    /// Measure again even if there is a result of an earlier time.
    pub refresh: bool,
    /// Folder of earlier results; [`cache_folder`] is the usual one.
    pub cache: PathBuf,
    /// The host's lock, where it is not the usual one.
    pub device_lock: Option<PathBuf>,
}

/// Why a machine can't be measured.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// The operating system does not say enough.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A tool is missing.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// An option of the target is wrong.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The probe can't be built.
    #[error("the program that measures this machine can't be built: {reason}; its log is `{}`", log.display())]
    Build {
        /// Why.
        reason: String,
        /// The log.
        log: PathBuf,
    },
    /// The probe ran and gave nothing.
    #[error("the program that measures this machine failed: {0}")]
    Probe(String),
    /// Nothing could be started.
    #[error("cannot measure this machine")]
    Process(#[from] ProcessError),
    /// Files could not be written or read.
    #[error("cannot measure this machine")]
    Io(#[from] std::io::Error),
}

impl MachineError {
    /// Whether it was only the lock that could not be had in time.
    #[must_use]
    pub fn is_lock_timeout(&self) -> bool {
        matches!(self, Self::Process(ProcessError::LockTimedOut { .. }))
    }

    /// Whether Ctrl-C ended it, while a tool was asked for its version or while the probe was built or ran.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        match self {
            Self::Process(error) => matches!(error, ProcessError::Cancelled),
            Self::Tool(error) => error.is_interrupted(),
            _ => false,
        }
    }
}

/// The usual folder of earlier results: `$XDG_CACHE_HOME/layout-sweep`, else `~/.cache/layout-sweep`, else a folder of
/// this user beside other temporary files.
#[must_use]
pub fn cache_folder() -> PathBuf {
    let absolute = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    absolute("XDG_CACHE_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".cache")))
        .unwrap_or_else(|| std::env::temp_dir().join(format!("layout-sweep-{}", rustix::process::getuid().as_raw())))
        .join("layout-sweep")
}

/// Measures this machine for `target`: reads the host, finds the tools, and builds and runs the target's probe, alone on
/// the host. The probe's output is kept under a digest of everything it depends on, so that plans stay the same between
/// commands. `on_event` hears when it waits for the host, and as [`GuardEvent::Note`] why the output can't be kept.
pub fn measure_machine(
    target: &dyn Target,
    options: &Options,
    how: &Measuring,
    on_event: &mut dyn FnMut(&GuardEvent),
) -> Result<Machine, MachineError> {
    crate::runtime::block_on(async {
        let interrupt = Interrupt::listen(false)?;
        let host = read_host()?;
        let tools = find_all(&target.tools(options)?, &how.launcher, &interrupt).await?;
        let environment = target.environment(options)?;
        let recorded = |machine: Machine| with_environment(machine, &environment);
        let Some(probe) = target.probe(options, &host, &tools)? else {
            return target
                .machine(&host, tools, None)
                .map(recorded)
                .map_err(|error| MachineError::Probe(error.to_string()));
        };
        let kept = how
            .cache
            .join(format!("probe-{}.json", key(target.id(), &host, &tools, &probe)?));
        if !how.refresh
            && let Some(captured) = recall(&kept)
            && let Ok(machine) = target.machine(&host, tools.clone(), Some(&captured))
        {
            return Ok(recorded(machine));
        }
        let captured = run(&probe, how, &interrupt, on_event).await?;
        let machine = target
            .machine(&host, tools, Some(&captured))
            .map_err(|error| MachineError::Probe(error.to_string()))?;
        if let Err(error) = keep(&kept, &captured) {
            // Only a convenience: the next command measures again.
            let message = format!("what was measured can't be kept for the next time: {}", chain(&error));
            on_event(&GuardEvent::Note { message });
        }
        Ok(recorded(machine))
    })?
}

/// Adds the values of inherited variables to the machine's class, so that no cohort mixes two; those that are not set
/// are left out.
fn with_environment(mut machine: Machine, names: &[String]) -> Machine {
    for name in names {
        if let Some(value) = std::env::var_os(name) {
            let value = value.to_string_lossy().into_owned();
            machine.class.insert(format!("env.{name}"), value);
        }
    }
    machine
}

/// Digest of what the probe's output depends on: what the host is (not its name, kernel or boot), tools and sources.
fn key(target: &str, host: &Host, tools: &[Tool], probe: &Probe) -> Result<String, std::io::Error> {
    let class = Host {
        hostname: String::new(),
        kernel: String::new(),
        boot_id: String::new(),
        ..host.clone()
    };
    let unit = (&probe.unit.sources, &probe.unit.steps, &probe.command);
    Ok(sha256_hex(&serde_json::to_vec(&(target, class, tools, unit))?))
}

/// A probe's output on disk.
#[derive(Serialize, Deserialize)]
struct Kept {
    stdout: String,
    stderr: String,
}

/// An earlier result; whatever can't be read is measured again.
fn recall(path: &Path) -> Option<Captured> {
    let kept: Kept = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    Some(Captured {
        stdout: kept.stdout,
        stderr: kept.stderr,
        exit_code: Some(0),
        ..Captured::default()
    })
}

fn keep(path: &Path, captured: &Captured) -> Result<(), std::io::Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    let kept = Kept {
        stdout: captured.stdout.clone(),
        stderr: captured.stderr.clone(),
    };
    serde_json::to_writer(&mut file, &kept)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

async fn run(
    probe: &Probe,
    how: &Measuring,
    interrupt: &Interrupt,
    on_event: &mut dyn FnMut(&GuardEvent),
) -> Result<Captured, MachineError> {
    let scratch = scratch("probe")?;
    let folder = scratch.path().join("probe");
    fs::create_dir(&folder)?;
    let log = scratch.path().join("build.log");
    let lock = LockRequest {
        path: how.device_lock.clone().unwrap_or_else(|| device_lock_path(HOST_DEVICE)),
        mode: Mode::Exclusive,
        cohort: "machine probe".to_owned(),
        case: String::new(),
        timeout_ms: None,
    };
    let steps = Steps {
        launcher: &how.launcher,
        lock: Some(lock.clone()),
        timeout: PROBE_TIMEOUT,
        deadline: None,
        interrupt,
    };
    let end = steps
        .run(&probe.unit, &folder, &log, on_event)
        .await
        .map_err(|error| match error {
            StepsError::Process(error) => MachineError::Process(error),
            StepsError::Io(error) => MachineError::Io(error),
        })?;
    if let StepsEnd::Failed(reason, _) | StepsEnd::Broken(reason) | StepsEnd::TimedOut(reason) = end {
        // The log is what helps, so the folder stays until the next probe.
        let log = scratch.keep().join("build.log");
        return Err(MachineError::Build { reason, log });
    }
    let job = Job {
        command: &probe.command,
        directory: &folder,
        hooks: Hooks::default(),
        lock: Some(lock),
        timeout: Some(PROBE_TIMEOUT),
        stdout: &scratch.path().join("out"),
        stderr: &scratch.path().join("err"),
    };
    let finished = how.launcher.run(&job, interrupt, on_event).await?;
    if finished.ended.timed_out {
        return Err(MachineError::Probe(format!(
            "it ran longer than {} s",
            PROBE_TIMEOUT.as_secs()
        )));
    }
    if finished.captured.exit_code != Some(0) {
        return Err(MachineError::Probe(how_it_ended(&finished.captured, &finished.ended)));
    }
    Ok(finished.captured)
}
