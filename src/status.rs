//! `layout-sweep status`.

use std::path::PathBuf;

use clap::Args;
use cohort::CohortDir;
use coordinator::lock::{HOST_DEVICE, device_lock_path};
use coordinator::{CohortStatus, ExitCode};

use crate::failure::Failure;
use crate::output::{Format, print, print_json, table};
use crate::progress::held_by;

/// Arguments of `status`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The cohort's folder.
    cohort: PathBuf,
    /// The device's lock file, where it is not the usual one.
    #[arg(long, value_name = "FILE")]
    device_lock: Option<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Shows how far a cohort is.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let lock = arguments
        .device_lock
        .clone()
        .unwrap_or_else(|| device_lock_path(HOST_DEVICE));
    let status = coordinator::status(CohortDir::new(&arguments.cohort).path(), Some(&lock)).map_err(|error| {
        Failure::because(
            ExitCode::Mismatch,
            format!("`{}` can't be read", arguments.cohort.display()),
            error,
        )
    })?;
    if arguments.format == Format::Json {
        print_json(&status)?;
    } else {
        show(&status);
    }
    Ok(ExitCode::Done)
}

fn show(status: &CohortStatus) {
    let counts = &status.counts;
    let numbers = [
        ("correct", counts.correct),
        ("partly measured", counts.partial),
        ("built", counts.built),
        ("waiting for a build", counts.waiting),
        ("rejected", counts.rejected),
        ("build-failed", counts.build_failed),
        ("run-failed", counts.run_failed),
        ("timed-out", counts.timed_out),
        ("incorrect", counts.incorrect),
    ];
    let rows = numbers
        .iter()
        .filter(|(_, n)| *n > 0)
        .map(|(word, n)| vec![(*word).to_owned(), n.to_string()])
        .collect();
    print(&table(&["cases", "number"], rows));
    if counts.lost_rounds > 0 {
        print(&format!(
            "lost: {} rounds began and never ended; a run measures them again",
            counts.lost_rounds
        ));
    }
    match &status.coordinator {
        Some(holder) => print(&format!("running: {holder}")),
        None => print("running: no"),
    }
    if let (Some(device), Some(_)) = (&status.device, &status.coordinator)
        && let Some(holder) = &device.holder
    {
        let what = if device.ours {
            "on the device"
        } else {
            "waiting for the device"
        };
        print(&format!("{what}: {}", held_by(Some(holder))));
    }
    let left = status
        .left_ms
        .map_or_else(String::new, |ms| format!(", about {} s", ms.div_ceil(1000)));
    print(&format!(
        "left: {} builds, {} rounds{left}",
        status.builds_left, status.rounds_left
    ));
    for (reason, cases) in &status.failures {
        print(&format!("failed: {}: {reason}", cases.join(", ")));
    }
    for file in &status.torn {
        print(&format!(
            "torn: the last line of `{}` was cut off by a kill",
            file.display()
        ));
    }
}
