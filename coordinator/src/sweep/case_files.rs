//! What is kept of a round beside its record: the command that repeats it, and its output.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cohort::{Case, CohortDir, ShardId};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use target_api::CommandSpec;

use super::context::Context;
use super::earlier::Turn;
use super::side::Side;
use crate::steps::shell_line;

/// `command.json`, written before each command of a round.
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
    /// Unique to this command; stands in the guard's note of its end.
    pub(super) token: String,
    /// Which command of its round it is, where case and control take turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) turn: Option<Turn>,
    /// Digest of what the commands before it gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) earlier: Option<String>,
    pub(super) run: CommandSpec,
    /// The same for a shell.
    pub(super) line: String,
}

impl CommandFile {
    /// Of a command of `side`; `turn` where it is one of several, with the digest of what came before.
    pub(super) fn new(
        side: &Side<'_>,
        artifacts: BTreeMap<String, String>,
        token: String,
        turn: Option<(Turn, &str)>,
        command: &CommandSpec,
    ) -> Self {
        let Side { visit, case, .. } = side;
        Self {
            case: visit.case.name.clone(),
            attempt: visit.attempt,
            round: visit.round,
            pairs: visit.pairs,
            plan: case.plan.text.clone(),
            units: case.units.clone(),
            artifacts,
            token,
            turn: turn.map(|(turn, _)| turn),
            earlier: turn.map(|(_, digest)| digest.to_owned()),
            run: command.clone(),
            line: shell_line(command),
        }
    }
}

/// Where the output of rounds goes.
pub(super) struct CaseFiles {
    /// Standard error of a round, the note of its end, what its earlier commands gave, and everything else where logs are
    /// not kept.
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
    /// Where the guard notes the good end of its last command.
    pub(super) note: PathBuf,
    /// What its earlier commands gave.
    pub(super) earlier: PathBuf,
}

/// End of the name of a note, behind the number of its worker.
const NOTE: &str = ".ended.json";

/// Scratch folder and number of all workers whose rounds may have ended well without anybody hearing of it, those of shards
/// that were handed out before included.
pub(super) fn noted_workers(dir: &CohortDir) -> std::io::Result<Vec<(PathBuf, usize)>> {
    let mut found = Vec::new();
    for scratch in dir.all_running()? {
        // Another worker may be done with its own meanwhile.
        for entry in std::fs::read_dir(&scratch).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(Ok(worker)) = name.strip_suffix(NOTE).map(str::parse) {
                found.push((scratch.clone(), worker));
            }
        }
    }
    found.sort();
    Ok(found)
}

impl Place {
    /// Where rounds of `case` work that the worker of this number does. Nothing is made.
    pub(super) fn of(context: &Context<'_>, case: &Case, scratch: &Path, worker: usize) -> Self {
        let dir = context.dir();
        let own = |name: &str| scratch.join(format!("{worker}.{name}"));
        let (stderr, earlier) = (own("stderr"), own("earlier.jsonl"));
        let note = scratch.join(format!("{worker}{NOTE}"));
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
            earlier,
        }
    }

    /// Where the control works beside it. Nothing is made.
    pub(super) fn beside(&self) -> Self {
        let folder = self.folder.join("control");
        Self {
            stdout: folder.join("run.log"),
            command: folder.join("command.json"),
            stderr: self.stderr.with_extension("control"),
            folder,
            ..self.clone()
        }
    }

    /// The files that the result of a command is read from: what it printed, and what of its folder is to be `inspected`.
    pub(super) fn results(&self, inspected: &[String]) -> BTreeMap<String, PathBuf> {
        let printed = [("stdout", &self.stdout), ("stderr", &self.stderr)];
        let printed = printed.map(|(name, path)| (name.to_owned(), path.clone()));
        let inspected = inspected
            .iter()
            .map(|name| (format!("file {name}"), self.folder.join(name)));
        printed.into_iter().chain(inspected).collect()
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
        let place = Place::of(context, case, &self.scratch, worker);
        if !self.keep && place.folder.exists() {
            fs::remove_dir_all(&place.folder)?;
        }
        fs::create_dir_all(&place.folder)?;
        for old in [&place.note, &place.earlier] {
            if old.exists() {
                fs::remove_file(old)?;
            }
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
