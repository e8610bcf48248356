//! `layout-sweep cache`.

use std::time::Duration;

use clap::Args;
use coordinator::{BuildCache, CacheError, ExitCode};
use planner::counted;

use crate::failure::Failure;
use crate::output::{Format, print, print_json, table};

/// Arguments of `cache`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Remove builds; what is in use stays, and so does what cohorts have copied.
    #[arg(long)]
    prune: bool,
    /// Remove only what was not used for this time (`30d`, `12h`).
    #[arg(long, value_name = "TIME", value_parser = age, requires = "prune")]
    older_than: Option<Duration>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// A time as a person writes it; days as well.
fn age(text: &str) -> Result<Duration, String> {
    let days = text.strip_suffix('d').and_then(|days| days.parse::<u64>().ok());
    match days {
        Some(days) => days
            .checked_mul(24 * 3600)
            .map(Duration::from_secs)
            .ok_or_else(|| format!("\"{text}\" is too long")),
        None => crate::values::time(text).map_err(|error| format!("{error}, or days: \"30d\"")),
    }
}

/// The cache of this user on this machine; `None` where no folder is known.
pub(crate) fn usual() -> Option<BuildCache> {
    BuildCache::usual_folder().map(BuildCache::new)
}

/// Shows or prunes the cache of builds.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Some(cache) = usual() else {
        return Err(Failure::usage(
            "there is no build cache: neither XDG_CACHE_HOME nor HOME is set",
        ));
    };
    let failed = |error: CacheError| {
        let what = format!("the build cache `{}` can't be read", cache.folder().display());
        Failure::because(ExitCode::Failure, what, error)
    };
    if arguments.prune {
        let pruned = cache.prune(arguments.older_than).map_err(failed)?;
        if arguments.format == Format::Json {
            print_json(&pruned)?;
        } else {
            let in_use = match pruned.in_use {
                0 => String::new(),
                n => format!("; {n} in use stayed"),
            };
            print(&format!(
                "{} removed, {}{in_use}",
                counted(pruned.entries, "build"),
                size(pruned.bytes)
            ));
        }
        return Ok(ExitCode::Done);
    }
    let entries = cache.entries().map_err(failed)?;
    if arguments.format == Format::Json {
        print_json(&entries)?;
        return Ok(ExitCode::Done);
    }
    let rows: Vec<_> = entries
        .iter()
        .map(|entry| {
            vec![
                entry.unit.chars().take(16).collect(),
                size(entry.bytes),
                entry.used.map_or_else(|| "-".to_owned(), |time| time.to_string()),
                entry.locked_by.as_ref().map_or_else(String::new, ToString::to_string),
            ]
        })
        .collect();
    if !rows.is_empty() {
        print(&table(&["unit", "size", "last used", "in use by"], rows));
    }
    let bytes = entries.iter().map(|entry| entry.bytes).sum();
    print(&format!(
        "{}, {}, in `{}`",
        counted(entries.len(), "build"),
        size(bytes),
        cache.folder().display()
    ));
    Ok(ExitCode::Done)
}

/// Bytes for people, in powers of 1024.
fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["B", "KiB", "MiB"] {
        if value < 1024.0 {
            return if unit == "B" {
                format!("{bytes} B")
            } else {
                format!("{value:.1} {unit}")
            };
        }
        value /= 1024.0;
    }
    format!("{value:.1} GiB")
}
