//! The only place that writes to the terminal: results to stdout, narration to stderr.

use std::io::{ErrorKind, Write, stderr, stdout};
use std::process;

use clap::ValueEnum;
use coordinator::ExitCode;
use planner::grouped;
use serde::Serialize;

use crate::failure::Failure;

/// Form of a result that a person or a script reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Table,
    /// One JSON document.
    Json,
}

/// Writes a result to stdout. A reader that has gone away ends the program quietly, as pipes are used.
pub(crate) fn print(text: &str) {
    let mut out = stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| {
        if text.ends_with('\n') {
            Ok(())
        } else {
            out.write_all(b"\n")
        }
    });
    if let Err(error) = written.and_then(|()| out.flush()) {
        if error.kind() == ErrorKind::BrokenPipe {
            process::exit(ExitCode::Done.code().into());
        }
        narrate(&format!(
            "error: standard output can't be written\n  caused by: {error}"
        ));
        process::exit(ExitCode::Failure.code().into());
    }
}

/// Writes a result as indented JSON to stdout.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::because(ExitCode::Failure, "the result can't be written as JSON", error))?;
    print(&text);
    Ok(())
}

/// Writes one line of narration to stderr. If that fails there is nobody left to tell.
pub(crate) fn narrate(text: &str) {
    let _ = writeln!(stderr().lock(), "{text}");
}

/// The first few of several names, and how many more there are.
pub(crate) fn some_of(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let mut text = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN {
        text = format!("{text} and {} more", grouped(names.len() - SHOWN));
    }
    text
}

/// A table of text that wraps at the terminal's width, or at 100 columns where there is no terminal.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = comfy_table::Table::new();
    table
        .load_style(comfy_table::TableStyle::new())
        .set_content_arrangement(comfy_table::ContentArrangement::Dynamic)
        .set_width(width())
        .set_header(header.to_vec())
        .add_rows(rows);
    table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

fn width() -> u16 {
    rustix::termios::tcgetwinsize(stdout())
        .ok()
        .map(|size| size.ws_col)
        .filter(|columns| *columns >= 40)
        .unwrap_or(100)
}
