//! One side of a round: the run of a case, or of the control beside it, with the commands around it.
//!
//! `target_api::round` says what happens in which order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cohort::{Case, RunOutcome, mark_script};
use fs_err as fs;
use target_api::{Captured, CommandSpec, Limited, Places, Round, RoundCaptured, RunRequest, Verdict};

use super::case_files::{CommandFile, Place};
use super::context::Context;
use super::device::Device;
use super::earlier::Turn;
use super::error::RunError;
use super::outcome::{Seen, judge};
use super::rounds::Visit;
use crate::guard::{GuardEvent, Hook, Hooks, LockRequest, NoteRequest, digests, not_started};
use crate::process::{Finished, Job, ProcessError, token};

/// One side of a round.
pub(super) struct Side<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) device: &'a Device,
    pub(super) visit: &'a Visit<'a>,
    /// What is run: the visit's case, or its control.
    pub(super) case: &'a Case,
    pub(super) place: Place,
    /// What the latest build record of `case` says of its units.
    pub(super) facts: BTreeMap<String, BTreeMap<String, String>>,
}

/// What became of it.
pub(super) struct Ran {
    pub(super) outcome: RunOutcome,
    pub(super) run_ms: u64,
    pub(super) waited_ms: u64,
    pub(super) stderr: String,
}

/// Where a command stands in its round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The round begins with it: until it has its lock nothing is lost by giving it up.
    First,
    /// Others of the round have run, whose measurements are worth nothing without it: neither the first Ctrl-C nor the
    /// time limit keeps it from starting.
    Later,
}

impl<'a> Side<'a> {
    /// What it does. `control` is what one process calls in turn with the case; `pairs` how often.
    pub(super) fn describe(&self, control: Option<&'a Case>, pairs: u32) -> Result<Round, RunError> {
        let (context, visit) = (self.context, self.visit);
        let workload = &context.workload(self.case)?.workload;
        let (harness, sources) = (context.harness()?, context.sources());
        let request = RunRequest {
            workload,
            case: context.built(self.case)?,
            control: control.map(|control| context.built(control)).transpose()?,
            harness: harness.as_deref(),
            inputs: &context.dir().workload_inputs(&workload.name),
            round: visit.round,
            pairs,
            case_dir: &self.place.folder,
        };
        let places = Places {
            cohort: context.dir().path(),
            sources: sources.as_deref(),
            run_log: &self.place.stdout,
            device: &self.device.shown,
            device_lock: self.device.lock.as_deref(),
        };
        Ok(context.target.round(&request, &places))
    }

    /// Writes down what is going to run, and says how its good end is to be noted. `artifacts` are those of the round;
    /// `turn` is as for [`CommandFile::new`].
    pub(super) fn announce(
        &self,
        round: &Round,
        artifacts: BTreeMap<String, String>,
        turn: Option<(Turn, &str)>,
    ) -> std::io::Result<NoteRequest> {
        let token = token();
        let command = CommandFile::new(self, artifacts, token.clone(), turn, &round.run);
        self.place.announce(&command)?;
        Ok(NoteRequest {
            path: self.place.note.clone(),
            token,
            files: self.results(round),
        })
    }

    /// The files that a result is read from, and the profile that the run leaves beside its case; one that a report makes after
    /// the run is made again with the result.
    pub(super) fn results(&self, round: &Round) -> BTreeMap<String, PathBuf> {
        let mut files = self.place.results(&round.inspect);
        let profile = self.context.dir().case_profile(&self.case.name);
        let reported = round
            .reports
            .iter()
            .any(|report| profile.file_stem() == Some(report.name.as_ref()));
        if self.context.keeps_all() && profile.starts_with(&self.place.folder) && !reported {
            files.insert("profile".to_owned(), profile);
        }
        files
    }

    /// All files that a command leaves in its place, by names.
    pub(super) fn leaves(&self, round: &Round) -> BTreeMap<String, PathBuf> {
        let mut files = self.results(round);
        files.insert("command".to_owned(), self.place.command.clone());
        files
    }

    /// Digests of what a command left in its place, by names.
    pub(super) fn left(&self, round: &Round) -> std::io::Result<BTreeMap<String, String>> {
        digests(&self.leaves(round))
    }

    /// Does it; the guard notes a good end where `note` says. `None` when it was interrupted.
    pub(super) async fn run(
        &self,
        part: Part,
        round: &Round,
        note: Option<NoteRequest>,
        on_event: &mut dyn FnMut(&GuardEvent),
    ) -> Result<Option<Ran>, RunError> {
        let context = self.context;
        self.write_files(round)?;
        let limit = Duration::from_millis(context.manifest().measure.run_timeout_ms);
        let (interrupt, deadline) = match part {
            Part::First => (context.interrupt.clone(), context.deadline),
            Part::Later => (context.interrupt.of_what_began(), None),
        };
        let job = Job {
            command: &round.run,
            directory: self.directory(round),
            lock: context
                .round_lock(self.device, &self.visit.case.name)
                .map(|lock| lock.until(deadline)),
            hooks: Hooks {
                before: round.before.as_ref().map(hook),
                after: round.after.as_ref().map(hook),
            },
            timeout: Some(limit),
            stdout: &self.place.stdout,
            stderr: &self.place.stderr,
        };
        let finished = match self.finished(context.launcher.run_noted(&job, note, &interrupt, on_event).await)? {
            End::Finished(finished) => *finished,
            End::Interrupted => return Ok(None),
            End::Failed(reason) => {
                // A guard that was killed undid nothing.
                if let Some(after) = &round.after {
                    let stdout = self.place.stderr.with_extension("after");
                    self.quietly(round, after, &stdout).await?;
                }
                return Ok(Some(Ran {
                    outcome: RunOutcome::RunFailed { reason },
                    run_ms: 0,
                    waited_ms: 0,
                    stderr: String::new(),
                }));
            }
        };
        let Finished { captured, ended } = finished;
        let stderr = captured.stderr.clone();
        let Some(outcome) = self.judged(round, captured, &ended, limit).await? else {
            return Ok(None);
        };
        Ok(Some(Ran {
            outcome,
            run_ms: ended.ran_ms,
            waited_ms: ended.waited_ms,
            stderr,
        }))
    }

    /// Check, reports and measurement of a run that has ended.
    pub(super) async fn judged(
        &self,
        round: &Round,
        mut run: Captured,
        ended: &crate::guard::Ended,
        limit: Duration,
    ) -> Result<Option<RunOutcome>, RunError> {
        let (target, plan) = (self.context.target, &self.case.plan);
        let workload = &self.context.workload(self.case)?.workload;
        for name in &round.inspect {
            if let Ok(bytes) = std::fs::read(self.place.folder.join(name)) {
                run.files
                    .insert(name.clone(), String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        let mut captured = RoundCaptured {
            run,
            build: self.facts.clone(),
            ..RoundCaptured::default()
        };
        let good = captured.run.exit_code == Some(0) && ended.hook_error.is_none();
        if let (true, Some(check)) = (good, &round.check) {
            let stdout = self.place.stderr.with_extension("check");
            match self.quietly(round, check, &stdout).await? {
                End::Interrupted => return Ok(None),
                // Whoever did not come to an end said nothing.
                End::Failed(reason) => return Ok(Some(self.unchecked(&captured, reason)?)),
                End::Finished(finished) if finished.ended.timed_out => {
                    let reason = format!("the check ran longer than {} ms", millis(check, limit));
                    return Ok(Some(match self.unchecked(&captured, reason)? {
                        RunOutcome::RunFailed { reason } => RunOutcome::TimedOut { reason },
                        wrong => wrong,
                    }));
                }
                End::Finished(finished) => {
                    let made = finished.captured;
                    if let Some(reason) = not_started(made.exit_code, &made.stderr) {
                        return Ok(Some(
                            self.unchecked(&captured, format!("the check never ran: {reason}"))?,
                        ));
                    }
                    captured.check = Some(made);
                }
            }
        }
        if good && target.verdict(workload, plan, &captured) == Ok(Verdict::Correct) {
            for report in &round.reports {
                let stdout = self.place.folder.join(format!("{}.json", report.name));
                let made = match self.quietly(round, &report.command, &stdout).await? {
                    End::Interrupted => return Ok(None),
                    End::Failed(reason) => Captured {
                        stderr: reason,
                        ..Captured::default()
                    },
                    End::Finished(finished) => finished.captured,
                };
                if made.exit_code != Some(0) && stdout.exists() {
                    fs::remove_file(&stdout)?;
                }
                captured.reports.insert(report.name.clone(), made);
            }
        }
        let seen = Seen {
            workload,
            plan,
            captured: &captured,
            ended,
            limit,
        };
        Ok(Some(judge(target, &seen)))
    }

    /// The outcome of a run that passed without anybody having checked it.
    fn unchecked(&self, captured: &RoundCaptured, reason: String) -> Result<RunOutcome, RunError> {
        let workload = &self.context.workload(self.case)?.workload;
        Ok(match self.context.target.verdict(workload, &self.case.plan, captured) {
            Ok(Verdict::Incorrect { reason }) => RunOutcome::Incorrect {
                reason,
                measurement: None,
            },
            _ => RunOutcome::RunFailed { reason },
        })
    }

    /// Runs a check or a report: after the device was let go.
    async fn quietly(&self, round: &Round, what: &Limited, stdout: &Path) -> Result<End, RunError> {
        let limit = self.context.manifest().measure.run_timeout_ms;
        let job = Job {
            command: &what.command,
            directory: self.directory(round),
            lock: None::<LockRequest>,
            hooks: Hooks::default(),
            timeout: Some(Duration::from_millis(what.timeout_ms.unwrap_or(limit))),
            stdout,
            stderr: &self.place.stderr.with_extension("other"),
        };
        let context = self.context;
        self.finished(context.launcher.run(&job, context.interrupt, &mut |_| ()).await)
    }

    fn directory<'r>(&'r self, round: &'r Round) -> &'r Path {
        round.directory.as_deref().unwrap_or(&self.place.folder)
    }

    fn write_files(&self, round: &Round) -> std::io::Result<()> {
        // What an earlier round left is no result of this one.
        let old = round.inspect.iter().map(|name| self.place.folder.join(name));
        old.filter(|path| path.is_file()).try_for_each(fs::remove_file)?;
        for file in &round.files {
            let path = self.place.folder.join(&file.path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&path, &file.text)?;
            mark_script(&path, file.text.as_bytes())?;
        }
        Ok(())
    }

    fn finished(&self, result: Result<Finished, ProcessError>) -> Result<End, RunError> {
        match result {
            Ok(finished) => Ok(End::Finished(Box::new(finished))),
            Err(ProcessError::Cancelled) => Ok(End::Interrupted),
            Err(ProcessError::LockTimedOut { .. }) if self.context.time_over() => Ok(End::Interrupted),
            Err(error @ (ProcessError::GuardDied(_) | ProcessError::GuardStopped)) => {
                Ok(End::Failed(error.to_string()))
            }
            Err(source) => Err(RunError::Process {
                what: self.visit.case.name.clone(),
                source,
            }),
        }
    }
}

/// How a command of a round ended.
enum End {
    Finished(Box<Finished>),
    /// By Ctrl-C, or the time limit was over before it had the lock.
    Interrupted,
    /// Its guard was ended.
    Failed(String),
}

fn millis(limited: &Limited, usual: Duration) -> u128 {
    limited.timeout_ms.map_or(usual.as_millis(), u128::from)
}

fn hook(limited: &Limited) -> Hook {
    let CommandSpec {
        program,
        arguments,
        environment,
    } = &limited.command;
    Hook {
        program: program.into(),
        arguments: arguments.clone(),
        environment: environment.clone(),
        timeout_ms: limited.timeout_ms,
    }
}
