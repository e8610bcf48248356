//! `layout-sweep verify`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use cohort::{CohortDir, Difference, Snapshot};
use coordinator::ExitCode;
use planner::counted;
use serde::Serialize;

use crate::failure::Failure;
use crate::freeze::open;
use crate::output::{Format, narrate, print, print_json, table};
use crate::planning::{self, Planning};
use crate::progress::{lacking, shell_word};

/// Arguments of `verify`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The cohort's folder.
    cohort: PathBuf,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// What was found.
#[derive(Serialize)]
struct Verified<'a> {
    differences: &'a [Difference],
    /// Artifacts of finished cases that are not there any more: no difference.
    gone: &'a [PathBuf],
    /// Records of earlier versions, which gave them no digest: nothing says whether they were edited.
    undigested: u64,
    /// Profiles of which no record holds a digest: nothing says whether they were edited.
    unknown_profiles: u64,
}

/// The next step after a difference.
fn help(difference: &Difference, cohort: &Path) -> String {
    if difference.name.starts_with("artifacts/") {
        return "an artifact was changed after it was measured: `layout-sweep run COHORT --retry NAME` builds and measures a case \
                again"
            .to_owned();
    }
    if difference.name.starts_with("cases/") {
        return "a profile was changed after its round: restore the file from a copy; `layout-sweep run COHORT --retry NAME` \
                measures a case again and writes it anew"
            .to_owned();
    }
    coordinator::sweep::help_with(difference).replace("COHORT", &shell_word(&cohort.display().to_string()))
}

/// Compares a cohort with its digests and with this machine.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    open(&arguments.cohort)?;
    let failed = |error| Failure::because(ExitCode::Mismatch, "the cohort can't be verified", error);
    let snapshot = Snapshot::read(&CohortDir::new(&arguments.cohort)).map_err(failed)?;
    let audit = cohort::audit(&snapshot).map_err(failed)?;
    let mut differences = audit.differences;
    let gone = audit.gone;
    let manifest = snapshot.frozen.manifest();
    // What was imported was measured elsewhere: there is no machine to compare with.
    if manifest.imported.is_none() {
        let planning = Planning::of_frozen(manifest)?;
        differences.extend(cohort::machine_differences(
            &manifest.machine,
            &planning::machine_now(&planning)?,
        ));
    }
    if arguments.format == Format::Json {
        print_json(&Verified {
            differences: &differences,
            gone: &gone,
            undigested: audit.undigested,
            unknown_profiles: audit.unknown_profiles,
        })?;
    } else if let (Some(imported), true) = (&manifest.imported, differences.is_empty()) {
        print(&format!(
            "manifest, cases and records are as they were imported from `{}` (SHA-256 {}); {}; nothing was built or \
             measured here",
            imported.file,
            imported.sha256,
            counted(audit.records, "record")
        ));
    } else if differences.is_empty() {
        print(&format!(
            "everything is as it was frozen: {}, {}, {}, {}",
            counted(audit.additions, "addition"),
            counted(audit.estimates, "estimate"),
            counted(audit.artifacts, "artifact"),
            counted(audit.records, "record")
        ));
    } else {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let rows = differences
            .iter()
            .map(|d| vec![d.name.clone(), text(&d.expected), text(&d.found)])
            .collect();
        print(&table(&["what", "frozen", "now"], rows));
    }
    if audit.undigested > 0 {
        narrate(&format!(
            "{} of an earlier version without a digest: nothing says whether they were edited",
            counted(audit.undigested, "record")
        ));
    }
    if audit.unknown_profiles > 0 {
        narrate(&format!(
            "{} can't be checked: no record holds the digest (an earlier version wrote it, or the round never ended)",
            counted(audit.unknown_profiles, "profile")
        ));
    }
    if let Some(first) = gone.first() {
        narrate(&lacking(first, gone.len()));
    }
    let mut told = BTreeSet::new();
    for difference in &differences {
        let help = help(difference, &arguments.cohort);
        if told.insert(help.clone()) {
            narrate(&format!("help: {help}"));
        }
    }
    Ok(if differences.is_empty() {
        ExitCode::Done
    } else {
        ExitCode::Mismatch
    })
}
