//! `layout-sweep status`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use cohort::{CohortDir, Frozen};
use coordinator::sweep::locks_of;
use coordinator::{CohortStatus, ExitCode};
use planner::{counted, grouped};

use crate::failure::Failure;
use crate::output::{Format, print, print_json, table};
use crate::planning::Planning;
use crate::progress::{held_by, minutes};
use crate::values::at_least;

/// Arguments of `status`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The cohort's folder.
    cohort: PathBuf,
    /// The device's lock file, where it is not the usual one.
    #[arg(long, value_name = "FILE")]
    device_lock: Option<PathBuf>,
    /// Show it again and again, until nothing is left or Ctrl-C ends it.
    #[arg(long)]
    watch: bool,
    /// Seconds between two looks of `--watch`.
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = at_least::<u64>(1))]
    every: u64,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Shows how far a cohort is.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let devices = devices(&arguments.cohort, arguments.device_lock.as_deref());
    loop {
        let status = coordinator::status(CohortDir::new(&arguments.cohort).path(), &devices).map_err(|error| {
            crate::freeze::unreadable(format!("`{}` can't be read", arguments.cohort.display()), error)
        })?;
        if arguments.watch && arguments.format == Format::Table && std::io::stdout().is_terminal() {
            // Cursor home, and everything below it away: the screen does not flicker.
            print("\u{1b}[H\u{1b}[J");
        }
        if arguments.format == Format::Json {
            print_json(&status)?;
        } else {
            print(&text(&status));
        }
        let over =
            status.builds_left + status.rounds_left == 0 && status.coordinator.is_none() && status.shards.is_empty();
        if !arguments.watch || over {
            return Ok(ExitCode::Done);
        }
        std::thread::sleep(Duration::from_secs(arguments.every));
    }
}

/// The devices that a cohort runs on; none where its target is not one of ours: then there is no lock to ask.
fn devices(cohort: &Path, lock: Option<&Path>) -> Vec<(String, PathBuf)> {
    let Ok(frozen) = Frozen::open(&CohortDir::new(cohort)) else {
        return Vec::new();
    };
    Planning::of_frozen(frozen.manifest()).map_or_else(
        |_| Vec::new(),
        |planning| locks_of(&planning.configured.exclusive(), lock),
    )
}

/// Columns of a line that names of cases may take.
const NAMES: usize = 50;

/// The first names, as many as fit into a line, and how many more there are.
fn some(names: &[String]) -> String {
    let mut shown = String::new();
    for (at, name) in names.iter().enumerate() {
        if at > 0 && shown.chars().count() + 2 + name.chars().count() > NAMES {
            return format!("{shown} and {} more", grouped(names.len() - at));
        }
        if at > 0 {
            shown.push_str(", ");
        }
        shown.push_str(name);
    }
    shown
}

fn text(status: &CohortStatus) -> String {
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
    let mut lines = vec![table(&["cases", "number"], rows)];
    if counts.lost_rounds > 0 {
        lines.push(format!(
            "lost: {} began and never ended; a run measures what is lost again",
            counted(counts.lost_rounds, "round")
        ));
    }
    lines.extend(activity(status));
    let left = status.left_ms.filter(|ms| *ms > 0).map_or_else(String::new, |ms| {
        format!(", about {}", minutes(Duration::from_millis(ms)))
    });
    lines.push(format!(
        "left: {}, {}{left}",
        counted(status.builds_left, "build"),
        counted(status.rounds_left, "round")
    ));
    for (reason, cases) in &status.failures {
        lines.push(format!("failed: {}: {reason}", some(cases)));
    }
    for file in &status.torn {
        lines.push(format!(
            "torn: the last line of `{}` was cut off by a kill",
            file.display()
        ));
    }
    lines.join("\n")
}

/// So many shards are shown one by one.
const SHOWN_SHARDS: usize = 8;

/// Who works on it, on what, and what it waits for.
fn activity(status: &CohortStatus) -> Vec<String> {
    let since = |since: &jiff::Timestamp| since.strftime("%H:%M:%S UTC").to_string();
    let mut lines = Vec::new();
    match &status.coordinator {
        Some(coordinator) => {
            let at = coordinator
                .since
                .map_or_else(String::new, |at| format!(", since {}", since(&at)));
            lines.push(format!("running: pid {}{at}", coordinator.pid));
        }
        None if status.shards.is_empty() => return vec!["running: no".to_owned()],
        None => {}
    }
    for claim in status.shards.iter().take(SHOWN_SHARDS) {
        lines.push(format!(
            "shard {}: {}, since {}",
            claim.shard,
            claim.worker,
            since(&claim.at)
        ));
    }
    if status.shards.len() > SHOWN_SHARDS {
        let more = (status.shards.len() - SHOWN_SHARDS) as u64;
        lines.push(format!(
            "and {}; `layout-sweep shards` shows all",
            counted(more, "shard")
        ));
    }
    for round in status.running.iter().take(SHOWN_SHARDS) {
        let pid = round.pid.map_or_else(String::new, |pid| format!(", pid {pid}"));
        lines.push(format!(
            "on `{}`: `{}` (round {}), since {}{pid}",
            round.device,
            round.case,
            round.round + 1,
            since(&round.since)
        ));
    }
    for device in status.devices.iter().filter(|device| !device.ours) {
        if let Some(holder) = &device.holder {
            lines.push(format!("waiting for `{}`: {}", device.device, held_by(Some(holder))));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_fit_into_a_line_and_all_are_counted() {
        for count in [1, 2, 3, 10, 5_000] {
            let names: Vec<String> = (0..count).map(|i| format!("case-{i:05}")).collect();
            let shown = some(&names);
            assert!(shown.chars().count() <= NAMES + " and 99,999 more".len(), "{shown}");
            let told = shown.matches("case-").count();
            let more = shown.split(" and ").nth(1).map_or(0, |rest| {
                rest.strip_suffix(" more")
                    .unwrap()
                    .replace(',', "")
                    .parse::<usize>()
                    .unwrap()
            });
            assert_eq!(told + more, count, "{shown}");
        }
    }
}
