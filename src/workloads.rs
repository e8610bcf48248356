//! `layout-sweep workloads`.

use clap::Args;
use coordinator::ExitCode;
use planner::workloads::{ExtentDefault, KINDS};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{Format, print, print_json, table};

/// Arguments of `workloads`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Serialize)]
struct Kind {
    name: &'static str,
    about: &'static str,
    extents: Vec<String>,
}

/// Lists the kinds of workloads.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let kinds: Vec<Kind> = KINDS
        .iter()
        .map(|kind| Kind {
            name: kind.name,
            about: kind.about,
            extents: kind
                .extents
                .iter()
                .map(|key| match key.default {
                    ExtentDefault::Required => key.name.to_owned(),
                    ExtentDefault::Value(n) => format!("{} = {n}", key.name),
                    ExtentDefault::SameAs(other) => format!("{} = {other}", key.name),
                })
                .collect(),
        })
        .collect();
    if arguments.format == Format::Json {
        print_json(&kinds)?;
    } else {
        let rows = kinds
            .iter()
            .map(|k| vec![k.name.to_owned(), k.extents.join(", "), k.about.to_owned()])
            .collect();
        print(&table(&["kind", "keys", "what it computes"], rows));
    }
    Ok(ExitCode::Done)
}
