//! `layout-sweep targets`.

use std::collections::BTreeMap;

use clap::Args;
use coordinator::ExitCode;
use planner::workloads::{ExtentDefault, KINDS};
use planner::{Domain, Value};
use serde::Serialize;
use target_api::{Options, Target, Topic};

use crate::failure::Failure;
use crate::output::{Format, print, print_json, table};
use crate::planning::{machine, machine_failure};
use crate::registry::{self, TARGETS};

/// Arguments of `targets`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Show the attributes that plans of this target have, with their values on this machine; or, where the definition
    /// says what varies, everything that it may say.
    target: Option<String>,
    /// The kind of workload whose plans are shown; extents that it does not have by itself are taken as 512.
    #[arg(long, default_value = "siglip-mlp", requires = "target")]
    workload: String,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Serialize)]
struct Listed {
    id: &'static str,
    about: &'static str,
}

#[derive(Serialize)]
struct Entry<'a> {
    topic: &'static str,
    word: &'a str,
    about: &'a str,
}

#[derive(Serialize)]
struct Attribute {
    name: String,
    values: String,
    default: Option<Value>,
    about: String,
}

/// Lists targets, or the attributes of one.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if let Some(id) = &arguments.target {
        attributes(id, arguments)?;
        return Ok(ExitCode::Done);
    }
    let listed: Vec<Listed> = TARGETS
        .iter()
        .map(|t| Listed {
            id: t.id(),
            about: t.about(),
        })
        .collect();
    if arguments.format == Format::Json {
        print_json(&listed)?;
    } else {
        let rows = listed
            .iter()
            .map(|t| vec![t.id.to_owned(), t.about.to_owned()])
            .collect();
        print(&table(&["target", "what it is"], rows));
    }
    Ok(ExitCode::Done)
}

fn attributes(id: &str, arguments: &Arguments) -> Result<(), Failure> {
    let target: &dyn Target = registry::target(id).ok_or_else(|| {
        let names: Vec<String> = TARGETS.iter().map(|target| format!("`{}`", target.id())).collect();
        Failure::usage(format!("no target is called `{id}`: expected {}", names.join(", ")))
    })?;
    let guide = target.guide();
    if !guide.is_empty() {
        return tell(&guide, arguments.format);
    }
    let options = Options::new();
    let machine = machine(target, &options, false).map_err(|error| machine_failure(error, None))?;
    let configured = target
        .configure(&options, &machine)
        .map_err(|error| Failure::usage(error.to_string()))?;
    let workload = named(&arguments.workload)?;
    let refused = |refusal| Failure::usage(format!("workload `{}`: {refusal}", arguments.workload));
    let space = configured.space(&workload).map_err(refused)?;
    let defaults = configured.defaults(&workload).map_err(refused)?;
    let attributes: Vec<Attribute> = space
        .parameters
        .iter()
        .map(|parameter| Attribute {
            name: parameter.name.clone(),
            values: match &parameter.domain {
                Domain::List(values) => values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
                Domain::Range { start, stop } => format!("{start} to {stop}"),
            },
            default: defaults.get(&parameter.name).cloned(),
            about: parameter.about.clone(),
        })
        .collect();
    if arguments.format == Format::Json {
        return print_json(&attributes);
    }
    let rows = attributes
        .into_iter()
        .map(|a| {
            vec![
                a.name,
                a.values,
                a.default.map_or_else(String::new, |v| v.to_string()),
                a.about,
            ]
        })
        .collect();
    print(&table(&["attribute", "values", "default", "what it means"], rows));
    let others = KINDS
        .iter()
        .map(|kind| kind.name)
        .filter(|name| *name != arguments.workload);
    let others: Vec<String> = others
        .filter(|name| named(name).is_ok_and(|workload| configured.space(&workload).is_ok()))
        .map(|name| format!("`--workload {name}`"))
        .collect();
    if !others.is_empty() {
        print(&format!(
            "\nThese are plans of `{}`; others: {}.",
            arguments.workload,
            others.join(", ")
        ));
    }
    Ok(())
}

/// What definitions of a target may say.
fn tell(guide: &[Topic], format: Format) -> Result<(), Failure> {
    if format == Format::Json {
        let entries = guide.iter().flat_map(|topic| {
            let own = topic.entries.iter();
            own.map(|(word, about)| Entry {
                topic: topic.name,
                word,
                about,
            })
        });
        return print_json(&entries.collect::<Vec<_>>());
    }
    for topic in guide {
        let rows = topic.entries.iter();
        let rows = rows.map(|(word, about)| vec![word.clone(), about.clone()]).collect();
        print(&table(&[topic.name, "what it means"], rows));
        print("");
    }
    Ok(())
}

/// Extents of shown workloads that have none of their own; attributes and words do not depend on them, ranges do.
const SHOWN_EXTENT: i64 = 512;

/// A workload of the kind `name`, for showing what plans of it look like.
fn named(name: &str) -> Result<planner::Workload, Failure> {
    let kind = planner::workloads::kind(name).ok_or_else(|| {
        let names: Vec<String> = KINDS.iter().map(|kind| format!("`{}`", kind.name)).collect();
        Failure::usage(format!("no workload is called `{name}`: expected {}", names.join(", ")))
    })?;
    let required = kind.extents.iter().filter(|key| key.default == ExtentDefault::Required);
    let given: BTreeMap<&str, i64> = required.map(|key| (key.name, SHOWN_EXTENT)).collect();
    let operations = kind
        .operations(&given, kind.activations.first().map(|(_, function)| *function))
        .map_err(|error| Failure::usage(error.to_string()))?;
    Ok(planner::Workload {
        name: name.to_owned(),
        operations,
    })
}
