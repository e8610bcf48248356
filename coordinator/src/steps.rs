//! Running the steps of a build, one after another, and saying how commands ended.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use cohort::mark_script;
use fs_err as fs;
use target_api::{BuildUnit, Captured, CommandSpec};

use crate::errors::chain;
use crate::guard::{Ended, GuardEvent, Hooks, LockRequest};
use crate::interrupt::Interrupt;
use crate::process::{Job, Launcher, ProcessError};

/// Name of a signal that often ends programs, else its number.
fn signal_name(signal: i32) -> String {
    let name = match signal {
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        15 => "SIGTERM",
        _ => return format!("signal {signal}"),
    };
    format!("{name} ({signal})")
}

/// `exit code 3: last line of its errors`.
pub(crate) fn how_it_ended(captured: &Captured, ended: &Ended) -> String {
    let mut text = match (captured.exit_code, captured.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by {}", signal_name(signal)),
        (None, None) => "it ended in an unknown way".to_owned(),
    };
    if let Some(line) = captured
        .stderr
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())
    {
        text.push_str(": ");
        text.extend(line.chars().take(300));
    }
    if ended.stdout_dropped > 0 {
        let _ = write!(text, " ({} bytes of its output were not kept)", ended.stdout_dropped);
    }
    text
}

/// The line that a compiler's complaint begins with: the first that contains `error`, else the first that says anything.
fn first_error(captured: &Captured) -> Option<&str> {
    let lines = || {
        captured
            .stderr
            .lines()
            .chain(captured.stdout.lines())
            .map(str::trim)
            .filter(|line| !line.is_empty())
    };
    lines().find(|line| line.contains("error")).or_else(|| lines().next())
}

/// How a build's steps ended.
#[derive(Debug)]
pub(crate) enum StepsEnd {
    /// All succeeded. Output of all steps, joined, and the files that the target reads.
    Done(Captured),
    /// One ended with an exit code other than 0, and what all printed.
    Failed(String, Box<Captured>),
    /// One was ended by a signal, or left files missing.
    Broken(String),
    /// One took too long.
    TimedOut(String),
}

/// What the steps of a unit need.
pub(crate) struct Steps<'a> {
    /// What starts them.
    pub(crate) launcher: &'a Launcher,
    /// The lock that each holds.
    pub(crate) lock: Option<LockRequest>,
    /// Limit of each.
    pub(crate) timeout: Duration,
    /// Until when each may wait for the lock.
    pub(crate) deadline: Option<Instant>,
    /// Ends them early.
    pub(crate) interrupt: &'a Interrupt,
}

/// Why steps could not be run at all.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StepsError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("cannot write the build's files")]
    Io(#[from] std::io::Error),
}

impl Steps<'_> {
    /// Writes the sources of `unit` into `folder` (empty, or not yet there), runs its steps there and keeps what they
    /// print in `log`.
    pub(crate) async fn run(
        &self,
        unit: &BuildUnit,
        folder: &Path,
        log: &Path,
        on_event: &mut dyn FnMut(&GuardEvent),
    ) -> Result<StepsEnd, StepsError> {
        for source in &unit.sources {
            let path = folder.join(&source.path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&path, &source.text)?;
            mark_script(&path, source.text.as_bytes())?;
        }
        let scratch = tempfile::tempdir_in(log.parent().unwrap_or(folder))?;
        let (stdout, stderr) = (scratch.path().join("out"), scratch.path().join("err"));
        let mut all = Captured {
            exit_code: Some(0),
            ..Captured::default()
        };
        let mut text = String::new();
        let mut end = None;
        for step in &unit.steps {
            let job = Job {
                command: step,
                directory: folder,
                hooks: Hooks::default(),
                lock: self.lock.clone().map(|lock| lock.until(self.deadline)),
                timeout: Some(self.timeout),
                stdout: &stdout,
                stderr: &stderr,
            };
            let finished = self.launcher.run(&job, self.interrupt, on_event).await?;
            let (captured, ended) = (finished.captured, finished.ended);
            let _ = write!(text, "$ {}\n{}{}", shell_line(step), captured.stdout, captured.stderr);
            all.stdout.push_str(&captured.stdout);
            all.stderr.push_str(&captured.stderr);
            if ended.timed_out {
                let limit = self.timeout.as_secs_f64();
                end = Some(StepsEnd::TimedOut(format!(
                    "`{}` ran longer than {limit} s",
                    step.program
                )));
            } else if captured.exit_code != Some(0) {
                let how = how_it_ended(
                    &Captured {
                        stderr: String::new(),
                        ..captured.clone()
                    },
                    &ended,
                );
                let first = first_error(&captured)
                    .unwrap_or("it printed nothing")
                    .chars()
                    .take(300)
                    .collect::<String>();
                let reason = format!("`{}`: {how}: {first}", step.program);
                end = Some(match captured.exit_code {
                    Some(_) => StepsEnd::Failed(reason, Box::new(captured)),
                    None => StepsEnd::Broken(reason),
                });
            }
            if let Some(StepsEnd::Failed(reason, _) | StepsEnd::Broken(reason) | StepsEnd::TimedOut(reason)) = &end {
                let _ = writeln!(text, "[layout-sweep: {reason}]");
                break;
            }
        }
        fs::write(log, text)?;
        if let Some(end) = end {
            return Ok(end);
        }
        if !folder.join(&unit.artifact).is_file() {
            return Ok(StepsEnd::Broken(format!(
                "its steps succeeded but left no `{}`",
                unit.artifact
            )));
        }
        for name in &unit.inspect {
            match fs::read(folder.join(name)) {
                Ok(bytes) => all
                    .files
                    .insert(name.clone(), String::from_utf8_lossy(&bytes).into_owned()),
                Err(error) => {
                    return Ok(StepsEnd::Broken(format!(
                        "its steps left no readable `{name}`: {}",
                        chain(&error)
                    )));
                }
            };
        }
        Ok(StepsEnd::Done(all))
    }
}

/// The command as a line that a person can paste into a shell.
pub(crate) fn shell_line(command: &CommandSpec) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+,:@%".contains(c);
    let quote = |word: &str| {
        if !word.is_empty() && word.chars().all(plain) {
            word.to_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    let variables = command
        .environment
        .iter()
        .map(|(name, value)| format!("{name}={}", quote(value)));
    let words = std::iter::once(&command.program)
        .chain(&command.arguments)
        .map(|word| quote(word));
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_can_be_pasted() {
        let command = CommandSpec {
            program: "/usr/bin/cc".to_owned(),
            arguments: ["-o", "a b", "it's", "-DX=1", ""].map(str::to_owned).to_vec(),
            environment: [("LC_ALL".to_owned(), "C".to_owned())].into(),
        };
        assert_eq!(
            shell_line(&command),
            r"LC_ALL=C /usr/bin/cc -o 'a b' 'it'\''s' -DX=1 ''"
        );
    }

    #[test]
    fn endings_are_named() {
        let crashed = Captured {
            signal: Some(11),
            stderr: "first\nlast words\n\n".to_owned(),
            ..Captured::default()
        };
        assert_eq!(
            how_it_ended(&crashed, &Ended::default()),
            "ended by SIGSEGV (11): last words"
        );
    }

    #[test]
    fn the_first_error_of_a_compiler() {
        let captured = Captured {
            stderr: "a.c: In function `f`:\na.c:3:1: error: no\na.c:4:1: error: more\n".to_owned(),
            ..Captured::default()
        };
        assert_eq!(first_error(&captured), Some("a.c:3:1: error: no"));
    }
}
