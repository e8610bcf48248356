//! `layout-sweep shards`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use cohort::{Held, ShardId};
use coordinator::ExitCode;
use coordinator::sweep::ShardStatus;
use planner::counted;
use serde::Serialize;

use crate::failure::Failure;
use crate::freeze::open;
use crate::output::{Format, print, print_json, table};
use crate::progress::{Display, shell_word};
use crate::values::{at_least, time};

/// Arguments of `shards`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The cohort's folder.
    cohort: PathBuf,
    /// Hand out everything that is left: freeze it into shards, each for one worker on any node that sees the folder.
    #[arg(long)]
    hand_out: bool,
    /// Cases of one shard (default: so many that it takes some minutes).
    #[arg(long, value_name = "N", requires = "hand_out", value_parser = at_least::<u32>(1))]
    size: Option<u32>,
    /// Hand out shards whose workers may still live as well: it is certain that they don't.
    #[arg(long, requires = "hand_out")]
    take_over: bool,
    /// Give up after waiting so long for another coordinator of the cohort (which is not waited for without this).
    #[arg(long, value_name = "TIME", value_parser = time)]
    lock_timeout: Option<Duration>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// A shard, for scripts.
#[derive(Serialize)]
struct Shown<'a> {
    shard: String,
    cases: usize,
    done: usize,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<&'a cohort::Claim>,
    #[serde(skip_serializing_if = "Option::is_none")]
    release: Option<&'a cohort::Release>,
    command: String,
}

/// Lists the shards of a cohort, or hands out what is left in new ones.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let frozen = open(&arguments.cohort)?;
    let path = frozen.dir().path().to_owned();
    let failed = |error: coordinator::RunError| {
        let help = error.help();
        let failure = Failure::because(
            error.exit_code(),
            format!("the shards of `{}` can't be told", path.display()),
            error,
        );
        match help {
            Some(help) => failure.help(help),
            None => failure,
        }
    };
    if arguments.hand_out {
        crate::freeze::refuse_imported(&frozen)?;
        let repeat = |case: &str| shell_word(case);
        let mut display = Display::new(repeat);
        let size = arguments.size.map(|size| size as usize);
        coordinator::sweep::hand_out(
            &path,
            size,
            arguments.take_over,
            arguments.lock_timeout,
            &mut |event, progress| display.show(event, progress),
        )
        .map_err(failed)?;
    }
    let shards = coordinator::sweep::shards(&path).map_err(failed)?;
    let command = |shard: ShardId| {
        format!(
            "layout-sweep run {} --shard {shard}",
            shell_word(&path.display().to_string())
        )
    };
    if arguments.format == Format::Json {
        let shown: Vec<_> = shards
            .iter()
            .map(|shard| Shown {
                shard: shard.shard.to_string(),
                cases: shard.cases,
                done: shard.done,
                state: state(shard),
                claim: shard.held.as_ref().map(|held| &held.claim),
                release: shard.held.as_ref().and_then(|held| held.release.as_ref()),
                command: command(shard.shard),
            })
            .collect();
        print_json(&shown)?;
        return Ok(ExitCode::Done);
    }
    if shards.is_empty() {
        print("no shards: `--hand-out` makes some of what is left");
        return Ok(ExitCode::Done);
    }
    let rows = shards.iter().map(|shard| {
        let who = shard.held.as_ref().map_or_else(String::new, who);
        let (cases, done) = (shard.cases.to_string(), shard.done.to_string());
        vec![shard.shard.to_string(), cases, done, state(shard).to_owned(), who]
    });
    print(&table(&["shard", "cases", "done", "state", "by"], rows.collect()));
    let open: Vec<_> = shards.iter().filter(|shard| shard.done < shard.cases).collect();
    if let Some(first) = open.first() {
        print(&format!(
            "{} with cases left; each is worked on by: {}",
            counted(open.len() as u64, "shard"),
            command(first.shard)
        ));
    }
    Ok(ExitCode::Done)
}

fn state(shard: &ShardStatus) -> &'static str {
    match &shard.held {
        _ if shard.done == shard.cases => "done",
        None => "free",
        Some(Held { release: None, .. }) => "held",
        Some(_) => "left",
    }
}

/// Who has it, or why it was left.
fn who(held: &Held) -> String {
    let since = held.claim.at.strftime("%Y-%m-%d %H:%M:%S UTC");
    match held.release.as_ref() {
        None => format!("{}, since {since}", held.claim.worker),
        Some(release) => {
            let why = release.why.as_deref().unwrap_or("its cases are done");
            format!("{}: {why}", held.claim.worker)
        }
    }
}
