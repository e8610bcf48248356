//! `layout-sweep verify`.

use std::path::PathBuf;

use clap::Args;
use cohort::{CohortDir, Snapshot};
use coordinator::ExitCode;

use crate::failure::Failure;
use crate::freeze::open;
use crate::output::{Format, print, print_json, table};
use crate::planning::{self, Planning};

/// Arguments of `verify`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The cohort's folder.
    cohort: PathBuf,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Compares a cohort with its digests and with this machine.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    open(&arguments.cohort)?;
    let failed = |error| Failure::because(ExitCode::Mismatch, "the cohort can't be verified", error);
    let snapshot = Snapshot::read(&CohortDir::new(&arguments.cohort)).map_err(failed)?;
    let audit = cohort::audit(&snapshot).map_err(failed)?;
    let mut differences = audit.differences;
    let manifest = snapshot.frozen.manifest();
    // What was imported was measured elsewhere: there is no machine to compare with.
    if manifest.imported.is_none() {
        let planning = Planning::of_frozen(
            &manifest.origin.definition_path,
            &manifest.definition,
            &manifest.machine,
        )?;
        differences.extend(cohort::machine_differences(
            &manifest.machine,
            &planning::machine_now(&planning)?,
        ));
    }
    if arguments.format == Format::Json {
        print_json(&differences)?;
    } else if let (Some(imported), true) = (&manifest.imported, differences.is_empty()) {
        print(&format!(
            "manifest and cases are as they were imported from `{}` (SHA-256 {}); {} records, which nothing digests; nothing \
             was built or measured here",
            imported.file, imported.sha256, audit.records
        ));
    } else if differences.is_empty() {
        print(&format!(
            "everything is as it was frozen: {} additions, {} estimates, {} artifacts, {} records",
            audit.additions, audit.estimates, audit.artifacts, audit.records
        ));
    } else {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".to_owned());
        let rows = differences
            .iter()
            .map(|d| vec![d.name.clone(), text(&d.expected), text(&d.found)])
            .collect();
        print(&table(&["what", "frozen", "now"], rows));
    }
    Ok(if differences.is_empty() {
        ExitCode::Done
    } else {
        ExitCode::Mismatch
    })
}
