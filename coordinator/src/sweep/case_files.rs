//! What is kept of a round beside its record: the command that repeats it, and its output.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cohort::{Case, CohortDir, ShardId};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use target_api::CommandSpec;

use super::context::Context;
use super::rounds::Visit;
use crate::steps::shell_line;

/// `command.json`, written before each round.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct CommandFile {
    pub(super) case: String,
    pub(super) attempt: u32,
    pub(super) round: u32,
    pub(super) pairs: u32,
    pub(super) plan: String,
    pub(super) units: BTreeMap<String, String>,
    /// SHA-256 of all artifacts that the round needs.
    pub(super) artifacts: BTreeMap<String, String>,
    /// Unique to this round; stands in the guard's note of its end.
    pub(super) token: String,
    pub(super) run: CommandSpec,
    /// The same for a shell.
    pub(super) line: String,
}

impl CommandFile {
    pub(super) fn new(
        visit: &Visit<'_>,
        artifacts: BTreeMap<String, String>,
        token: String,
        command: &CommandSpec,
    ) -> Self {
        Self {
            case: visit.case.name.clone(),
            attempt: visit.attempt,
            round: visit.round,
            pairs: visit.pairs,
            plan: visit.case.plan.text.clone(),
            units: visit.case.units.clone(),
            artifacts,
            token,
            run: command.clone(),
            line: shell_line(command),
        }
    }
}

/// Where the output of rounds goes.
pub(super) struct CaseFiles {
    /// Standard error of a round, the note of its end, and everything else where logs are not kept.
    scratch: PathBuf,
    keep: bool,
}

/// Removes what killed runs left: of this shard, or of all, which is only for the holder of the cohort's lock and of all
/// shards.
pub(super) fn remove_scratch(dir: &CohortDir, shard: Option<ShardId>) -> std::io::Result<()> {
    let left = match shard {
        Some(_) => vec![dir.running(shard)],
        None => dir.all_running()?,
    };
    let mut left = left.into_iter().filter(|scratch| scratch.exists());
    left.try_for_each(fs::remove_dir_all)
}

/// Where one round works.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// Folder that the command runs in and may write to.
    pub(super) folder: PathBuf,
    pub(super) stdout: PathBuf,
    pub(super) stderr: PathBuf,
    /// Its `command.json`.
    pub(super) command: PathBuf,
    /// Where the guard notes its good end.
    pub(super) note: PathBuf,
}

impl Place {
    /// Where rounds of `case` work that the worker of this number does. Nothing is made.
    pub(super) fn of(context: &Context<'_>, case: &Case, worker: usize) -> Self {
        let dir = context.dir();
        let scratch = dir.running(context.shard);
        let own = |name: &str| scratch.join(format!("{worker}.{name}"));
        let (stderr, note) = (own("stderr"), own("ended.json"));
        let (folder, stdout, command) = if context.keeps_all() {
            let name = &case.name;
            (dir.case_dir(name), dir.case_run_log(name), dir.case_command(name))
        } else {
            (own("case"), own("stdout"), own("command.json"))
        };
        Self {
            folder,
            stdout,
            stderr,
            command,
            note,
        }
    }

    /// Writes down what is going to run.
    pub(super) fn announce(&self, command: &CommandFile) -> std::io::Result<()> {
        let mut text = serde_json::to_vec_pretty(command)?;
        text.push(b'\n');
        fs::write(&self.command, text)
    }
}

impl CaseFiles {
    pub(super) fn new(context: &Context<'_>) -> std::io::Result<Self> {
        let scratch = context.dir().running(context.shard);
        if scratch.exists() {
            fs::remove_dir_all(&scratch)?;
        }
        fs::create_dir(&scratch)?;
        let keep = context.keeps_all();
        Ok(Self { scratch, keep })
    }

    /// Removes what is needed no longer. Not after an error: if a record could not be written, the next run finds here
    /// what it should have said.
    pub(super) fn remove(self) -> std::io::Result<()> {
        fs::remove_dir_all(self.scratch)
    }

    /// Makes the place of the next round.
    pub(super) fn place(&self, context: &Context<'_>, case: &Case, worker: usize) -> std::io::Result<Place> {
        let place = Place::of(context, case, worker);
        if !self.keep && place.folder.exists() {
            fs::remove_dir_all(&place.folder)?;
        }
        fs::create_dir_all(&place.folder)?;
        if place.note.exists() {
            fs::remove_file(&place.note)?;
        }
        Ok(place)
    }

    /// Completes what is kept of a round that failed.
    pub(super) fn after_failure(
        &self,
        context: &Context<'_>,
        case: &Case,
        place: &Place,
        stderr: &str,
        reason: &str,
    ) -> std::io::Result<()> {
        let log = context.dir().case_run_log(&case.name);
        if !self.keep {
            fs::create_dir_all(context.dir().case_dir(&case.name))?;
            copy_if_there(&place.command, &context.dir().case_command(&case.name))?;
            copy_if_there(&place.stdout, &log)?;
        }
        let mut text = fs::read(&log).unwrap_or_default();
        text.extend_from_slice(
            format!("\n[layout-sweep: standard error]\n{stderr}\n[layout-sweep: {reason}]\n").as_bytes(),
        );
        fs::write(&log, text)
    }
}

fn copy_if_there(from: &Path, to: &Path) -> std::io::Result<()> {
    if from.exists() {
        fs::copy(from, to).map(|_| ())
    } else {
        Ok(())
    }
}
