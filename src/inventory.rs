//! `layout-sweep inventory`.

mod against;
mod emit;
mod listing;
mod show;
mod spreadsheet;
mod tree;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use coordinator::ExitCode;
use planner::network::{BUILT_IN, Bound, BuiltIn, Inventory, MACHINES, MachineFile, Model, Network, parse};
use serde::Serialize;

use crate::failure::Failure;
use crate::output::{narrate, print, print_json};
use crate::values::at_least;
use against::Against;

/// Arguments of `inventory`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// A network: one of those that ship, or a file. Without it those that ship are listed.
    network: Option<String>,
    /// List the operations that a network file can name, with their fields.
    #[arg(long, conflicts_with = "network")]
    operations: bool,
    /// Another value for a parameter of the network.
    #[arg(long, value_name = "NAME=N", value_parser = setting, requires = "network")]
    set: Vec<(String, i64)>,
    /// Bounds in seconds for a machine: one of those that ship, or a file.
    #[arg(long, value_name = "MACHINE", requires = "network")]
    machine: Vec<String>,
    /// Ask a target what becomes of every distinct layer, and what it takes.
    #[arg(long, value_name = "TARGET", requires = "network")]
    against: Option<String>,
    /// Write a sweep definition of the most expensive shapes into this folder, weighted by how often they occur.
    #[arg(long, value_name = "DIR", requires = "against")]
    emit: Option<PathBuf>,
    /// Shapes that `--emit` writes.
    #[arg(long, value_name = "SHAPES", default_value_t = 8, value_parser = at_least::<u16>(1))]
    most: u16,
    /// Levels of the module tree that are shown; JSON has all.
    #[arg(long, value_name = "LEVELS", default_value_t = 2, value_parser = at_least::<usize>(0))]
    depth: usize,
    /// Rows of long tables that are shown; JSON and CSV have all.
    #[arg(long, value_name = "ROWS", default_value_t = 24, value_parser = at_least::<usize>(0))]
    rows: usize,
    /// How to print. CSV: one line for each distinct layer.
    #[arg(long, value_enum, default_value_t = Form::Table)]
    format: Form,
}

/// Form of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// For people.
    Table,
    /// One JSON document.
    Json,
    /// One line for each distinct layer.
    Csv,
}

/// What is printed as JSON.
#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    inventory: &'a Inventory,
    tree: &'a [Model],
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<&'a Against>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bounds: Vec<MachineBounds>,
}

/// Bounds on one machine.
#[derive(Serialize)]
struct MachineBounds {
    #[serde(flatten)]
    machine: MachineFile,
    bounds: Vec<Bound>,
}

/// Reads `NAME=N`.
fn setting(text: &str) -> Result<(String, i64), String> {
    let expected = || format!("expected a parameter and a whole number, as in `keys=128`, found `{text}`");
    let (name, number) = text.split_once('=').ok_or_else(expected)?;
    let number = number.trim().replace('_', "").parse().map_err(|_| expected())?;
    Ok((name.trim().to_owned(), number))
}

/// Shows what follows from a network.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Some(name) = &arguments.network else {
        listing::list(arguments.operations, arguments.format)?;
        return Ok(ExitCode::Done);
    };
    let network = network(name, &arguments.set)?;
    let inventory = Inventory::new(&network);
    let bounds = arguments
        .machine
        .iter()
        .map(|machine| bounds(machine, &inventory))
        .collect::<Result<Vec<_>, _>>()?;
    let held = match &arguments.against {
        Some(target) => {
            let target = against::configured(target)?;
            Some((against::against(&network, &inventory, &*target)?, target))
        }
        None => None,
    };
    let against = held.as_ref().map(|(against, _)| against);
    match arguments.format {
        Form::Json => print_json(&Whole {
            inventory: &inventory,
            tree: &network.models,
            against,
            bounds,
        })?,
        Form::Csv => print(&match against {
            Some(against) => against.csv()?,
            None => spreadsheet::shapes(&inventory)?,
        }),
        Form::Table => {
            show::models(&inventory);
            // Who asks a target has seen the rest.
            if let Some(against) = against {
                against.show(arguments.rows);
            } else {
                tree::show(&network, arguments.depth);
                show::rest(&inventory, arguments.rows);
            }
            for bounds in &bounds {
                show::bounds(bounds);
            }
        }
    }
    if let (Some(folder), Some((against, target))) = (&arguments.emit, &held) {
        let (path, said) = emit::emit(folder, &inventory, against, &**target, arguments.most.into())?;
        narrate(&format!("wrote {}: {said}", path.display()));
    }
    Ok(ExitCode::Done)
}

fn bounds(machine: &str, inventory: &Inventory) -> Result<MachineBounds, Failure> {
    let (path, text) = content(machine, MACHINES, "machine")?;
    let machine = MachineFile::parse(&path, &text).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(MachineBounds {
        bounds: machine.bounds(inventory),
        machine,
    })
}

fn network(name: &str, set: &[(String, i64)]) -> Result<Network, Failure> {
    let (path, text) = content(name, BUILT_IN, "network")?;
    parse(&path, &text, set).map_err(|error| Failure::usage(error.to_string()))
}

/// Path and content of what ships under this name, else of the file.
fn content(name: &str, shipped: &[BuiltIn], what: &str) -> Result<(String, String), Failure> {
    if let Some(file) = shipped.iter().find(|file| file.name == name) {
        return Ok((file.path.to_owned(), file.text.to_owned()));
    }
    let path = PathBuf::from(name);
    if !path.exists() && !is_path(&path) {
        let known: Vec<String> = shipped.iter().map(|file| format!("`{}`", file.name)).collect();
        let message = format!("no {what} is called `{name}`: expected {}, or a file", known.join(", "));
        return Err(Failure::usage(message));
    }
    let text = fs_err::read_to_string(&path)
        .map_err(|error| Failure::because(ExitCode::Usage, format!("the {what} can't be read"), error))?;
    Ok((name.to_owned(), text))
}

fn is_path(path: &Path) -> bool {
    path.components().count() > 1 || path.extension().is_some()
}
