//! `layout-sweep`: finds the fastest way to lay a workload out on a machine, and says how far each cost model can be
//! trusted while doing it.
//!
//! One file per subcommand; each parses, calls and prints.

mod amounts;
mod analyze;
mod cache;
mod calibrate;
mod check;
mod compare;
mod costs;
mod crossing;
mod doctor;
mod explain;
mod export;
mod export_kernel;
mod failure;
mod freeze;
mod freezing;
mod import;
mod import_samples;
mod init;
mod inventory;
mod output;
mod place;
mod plan;
mod planning;
mod profile;
mod profile_tiles;
mod programs;
mod progress;
mod registry;
mod run;
mod running;
mod select;
mod shards;
mod sources;
mod status;
mod sweep;
mod targets;
mod trial;
mod trial_constraints;
mod unit_model;
mod values;
mod verify;
mod why;
mod workloads;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use failure::Failure;

/// Finds the fastest way to lay a workload out on a machine, and says how far each cost model can be trusted.
#[derive(Parser)]
#[command(version, about, arg_required_else_help = true, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The main job: plan, freeze or resume, run, analyze; prints the result and where the report lies.
    Sweep(sweep::Arguments),
    /// Show which cases a definition makes, or count geometries; builds and runs nothing.
    Plan(plan::Arguments),
    /// Build, check and measure one plan now, without a cohort.
    Try(trial::Arguments),
    /// Freeze a definition into a cohort, without running it.
    Freeze(freeze::Arguments),
    /// Run what is left of a frozen cohort.
    Run(run::Arguments),
    /// Hand out what is left in shards for workers on many machines, or show who works on which.
    Shards(shards::Arguments),
    /// Say what is done, running and left; works while a run goes on.
    Status(status::Arguments),
    /// Check a cohort against its digests and this machine; runs nothing.
    Verify(verify::Arguments),
    /// Evaluate a cohort and write its report.
    Analyze(analyze::Arguments),
    /// Show where the time of a case went, phase by phase over workers or tiles.
    Profile(profile::Arguments),
    /// Say why one case is faster than another: plans, phases, and how each estimate saw it.
    Explain(explain::Arguments),
    /// Compare the cases that two cohorts have in common; a gate for CI.
    Compare(compare::Arguments),
    /// Fit a cost table to kernel samples of cohorts, and judge it on cohorts that the fit never saw.
    Calibrate(calibrate::Arguments),
    /// Check that an estimate still chooses good plans of a cohort; a gate for CI.
    Check(check::Arguments),
    /// Write what a cohort measured as T4, CSV or Markdown, or one of its plans as TOML.
    Export(export::Arguments),
    /// Make a cohort of what another tuner measured: it can be analysed, never continued.
    Import(import::Arguments),
    /// List the targets, or the attributes of one.
    Targets(targets::Arguments),
    /// Say what a network consists of, and what a target makes of it.
    Inventory(inventory::Arguments),
    /// List the workloads that definitions can name.
    Workloads(workloads::Arguments),
    /// Show the builds that are kept for all cohorts of this machine, or remove them.
    Cache(cache::Arguments),
    /// Say what this machine can measure, and how well.
    Doctor(doctor::Arguments),
    /// Write an example definition to begin with, or list the examples.
    Init(init::Arguments),
}

/// What follows an option that takes a number or a time is its value even with a minus before it: then the message says what
/// the option takes, not that nobody knows `-1`.
fn command_line() -> clap::Command {
    let taking = |argument: clap::Arg| {
        if argument.is_positional() || !argument.get_action().takes_values() {
            return argument;
        }
        // `-1s` is no number.
        if argument.get_value_names().is_some_and(|names| names == ["TIME"]) {
            argument.allow_hyphen_values(true)
        } else {
            argument.allow_negative_numbers(true)
        }
    };
    Arguments::command().mut_subcommands(move |command| command.mut_args(taking))
}

fn main() -> std::process::ExitCode {
    let raw: Vec<OsString> = std::env::args_os().collect();
    // The guard is started once per round: it must not pay for the parser of everything else.
    let hidden = raw.get(1..).unwrap_or_default();
    if let Some(code) = coordinator::guard::hidden_subcommand(hidden).or_else(|| unit_model::hidden_subcommand(hidden))
    {
        std::process::exit(code);
    }
    // Usage errors are clap's own; it exits with 2, as ours do.
    let matches = command_line().get_matches_from(raw);
    let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let result = match arguments.command {
        Command::Sweep(arguments) => sweep::execute(&arguments),
        Command::Plan(arguments) => plan::execute(&arguments),
        Command::Try(arguments) => trial::execute(&arguments),
        Command::Freeze(arguments) => freeze::execute(&arguments),
        Command::Run(arguments) => run::execute(&arguments),
        Command::Shards(arguments) => shards::execute(&arguments),
        Command::Status(arguments) => status::execute(&arguments),
        Command::Verify(arguments) => verify::execute(&arguments),
        Command::Analyze(arguments) => analyze::execute(&arguments),
        Command::Profile(arguments) => profile::execute(&arguments),
        Command::Explain(arguments) => explain::execute(&arguments),
        Command::Compare(arguments) => compare::execute(&arguments),
        Command::Calibrate(arguments) => calibrate::execute(&arguments),
        Command::Check(arguments) => check::execute(&arguments),
        Command::Export(arguments) => export::execute(&arguments),
        Command::Import(arguments) => import::execute(&arguments),
        Command::Targets(arguments) => targets::execute(&arguments),
        Command::Inventory(arguments) => inventory::execute(&arguments),
        Command::Workloads(arguments) => workloads::execute(&arguments),
        Command::Cache(arguments) => cache::execute(&arguments),
        Command::Doctor(arguments) => doctor::execute(&arguments),
        Command::Init(arguments) => init::execute(&arguments),
    };
    let code = result.unwrap_or_else(|failure: Failure| {
        output::narrate(&failure.to_string());
        failure.code
    });
    code.into()
}
