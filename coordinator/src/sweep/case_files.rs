//! What is kept of a round beside its record: the command that repeats it, and its output.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use cohort::{Case, CohortDir};
use fs_err as fs;
use serde::Serialize;
use target_api::CommandSpec;

use super::context::Context;
use crate::steps::shell_line;

/// `command.json`.
#[derive(Serialize)]
struct CommandFile<'a> {
    case: &'a str,
    attempt: u32,
    pairs: u32,
    plan: &'a str,
    units: &'a std::collections::BTreeMap<String, String>,
    run: &'a CommandSpec,
    /// The same for a shell.
    line: String,
}

/// Folder among those of the cases for what is needed only while a round runs. Inside the cohort, so that what a kill
/// leaves there is found again.
const SCRATCH: &str = ".running";

/// Where the output of rounds goes.
pub(super) struct CaseFiles {
    /// Standard error of a round, and everything else where logs are not kept.
    scratch: PathBuf,
    keep: bool,
    /// Attempt and pairs of the command that was last written for each case: rounds alike are told once.
    written: RefCell<HashMap<String, (u32, u32)>>,
}

impl Drop for CaseFiles {
    fn drop(&mut self) {
        // What can't be removed now is removed by the next run.
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

/// Removes what a killed run left. Only for the holder of the cohort's lock.
pub(super) fn remove_scratch(dir: &CohortDir) -> std::io::Result<()> {
    let scratch = dir.case_dirs().join(SCRATCH);
    if scratch.exists() {
        fs::remove_dir_all(scratch)
    } else {
        Ok(())
    }
}

/// Where one round works.
pub(super) struct Place {
    /// Folder that the command runs in and may write to.
    pub(super) folder: PathBuf,
    pub(super) stdout: PathBuf,
    pub(super) stderr: PathBuf,
}

impl CaseFiles {
    pub(super) fn new(context: &Context<'_>) -> std::io::Result<Self> {
        remove_scratch(context.dir())?;
        let scratch = context.dir().case_dirs().join(SCRATCH);
        fs::create_dir(&scratch)?;
        let keep = context.keeps_all();
        let written = RefCell::default();
        Ok(Self { scratch, keep, written })
    }

    pub(super) fn place(&self, context: &Context<'_>, case: &Case) -> std::io::Result<Place> {
        let stderr = self.scratch.join("stderr");
        if self.keep {
            let folder = context.dir().case_dir(&case.name);
            fs::create_dir_all(&folder)?;
            let stdout = context.dir().case_run_log(&case.name);
            return Ok(Place { folder, stdout, stderr });
        }
        let folder = self.scratch.join("case");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir(&folder)?;
        let stdout = self.scratch.join("stdout");
        Ok(Place { folder, stdout, stderr })
    }

    /// Writes down what is going to run, where that is kept for every case.
    pub(super) fn before(
        &self,
        context: &Context<'_>,
        visit: &super::rounds::Visit<'_>,
        command: &CommandSpec,
    ) -> std::io::Result<()> {
        let this = (visit.attempt, visit.pairs);
        if !self.keep || self.written.borrow().get(&visit.case.name) == Some(&this) {
            return Ok(());
        }
        write_command(context, visit, command)?;
        self.written.borrow_mut().insert(visit.case.name.clone(), this);
        Ok(())
    }

    /// Completes what is kept of a round that failed.
    pub(super) fn after_failure(
        &self,
        context: &Context<'_>,
        visit: &super::rounds::Visit<'_>,
        command: &CommandSpec,
        place: &Place,
        stderr: &str,
        reason: &str,
    ) -> std::io::Result<()> {
        let log = context.dir().case_run_log(&visit.case.name);
        if !self.keep {
            fs::create_dir_all(context.dir().case_dir(&visit.case.name))?;
            write_command(context, visit, command)?;
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

fn write_command(
    context: &Context<'_>,
    visit: &super::rounds::Visit<'_>,
    command: &CommandSpec,
) -> std::io::Result<()> {
    let file = CommandFile {
        case: &visit.case.name,
        attempt: visit.attempt,
        pairs: visit.pairs,
        plan: &visit.case.plan.text,
        units: &visit.case.units,
        run: command,
        line: shell_line(command),
    };
    let mut text = serde_json::to_vec_pretty(&file)?;
    text.push(b'\n');
    fs::write(context.dir().case_command(&visit.case.name), text)
}
