//! `layout-sweep plan`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use coordinator::ExitCode;
use planner::select::{Refused, Selection};
use planner::{Plan, counted};
use serde::Serialize;

use crate::costs::CostsFile;
use crate::failure::Failure;
use crate::output::{Format, print, print_json, table};
use crate::planning::Planning;
use crate::{select, why};

/// Arguments of `plan`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The sweep definition.
    definition: PathBuf,
    /// Count geometries and cases.
    #[arg(long, conflicts_with = "cases")]
    count: bool,
    /// List the cases (the default).
    #[arg(long)]
    cases: bool,
    /// Ask about geometries: can they be described, can they be executed, does this exploration keep them.
    #[arg(long, value_name = "CONSTRAINT", num_args = 1.., conflicts_with_all = ["count", "cases", "select"])]
    why: Vec<String>,
    #[command(flatten)]
    costs: CostsFile,
    #[command(flatten)]
    search: select::Search,
    /// The workload that `--why` and `--select` are about, where the definition has several.
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Serialize)]
struct ListedCase<'a> {
    name: &'a str,
    workload: &'a str,
    family: &'a str,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat_of: Option<&'a str>,
    plan: Plan,
}

#[derive(Serialize)]
struct Count {
    screened: BTreeMap<String, BTreeMap<String, u64>>,
    total: u64,
    legal_plans: BTreeMap<String, String>,
    cases: usize,
    refused: usize,
    notes: Vec<String>,
}

/// Shows what a definition makes.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let planning = Planning::of_path(&arguments.definition, arguments.costs.read()?)?;
    let selection = planning.select()?;
    let workload = arguments.workload.as_deref();
    if !arguments.why.is_empty() {
        why::tell(&planning, &selection, workload, &arguments.why, arguments.format)?;
    } else if arguments.search.select {
        select::search(&planning, &selection, workload, &arguments.search, arguments.format)?;
    } else if arguments.count {
        count(&selection, arguments.format)?;
    } else {
        list(&planning, &selection, arguments.format)?;
    }
    Ok(ExitCode::Done)
}

fn count(selection: &Selection, format: Format) -> Result<(), Failure> {
    let several = selection.workloads.len() > 1;
    let mut screened = BTreeMap::new();
    for workload in &selection.workloads {
        for (operation, counts) in &workload.screened {
            let name = if several {
                format!("{}/{operation}", workload.name)
            } else {
                operation.clone()
            };
            screened.insert(name, counts.clone());
        }
    }
    let count = Count {
        total: screened.values().flat_map(BTreeMap::values).sum(),
        screened,
        legal_plans: selection
            .workloads
            .iter()
            .map(|w| (w.name.clone(), w.total.to_string()))
            .collect(),
        cases: selection.workloads.iter().map(|w| w.cases.len()).sum(),
        refused: selection.refused.len(),
        notes: noted(selection).map(str::to_owned).collect(),
    };
    if format == Format::Json {
        return print_json(&count);
    }
    let mut rows = Vec::new();
    for (operation, orientations) in &count.screened {
        for (orientation, n) in orientations {
            rows.push(vec![operation.clone(), orientation.clone(), n.to_string()]);
        }
    }
    print(&table(&["operation", "orientation", "screened geometries"], rows));
    for (workload, plans) in &count.legal_plans {
        print(&format!("{workload}: {plans} legal plans in all"));
    }
    print(&format!(
        "{} screened geometries, {}, {} refused",
        count.total,
        counted(count.cases as u64, "case"),
        count.refused
    ));
    for note in &count.notes {
        print(&format!("note: {note}"));
    }
    Ok(())
}

/// Prints the cases of a selection.
pub(crate) fn list(planning: &Planning, selection: &Selection, format: Format) -> Result<(), Failure> {
    let mut listed = Vec::new();
    for selected in &selection.workloads {
        let Some(choice) = planning
            .definition
            .workloads
            .iter()
            .find(|w| w.workload.name == selected.name)
        else {
            return Err(Failure::new(
                ExitCode::Failure,
                format!("workload `{}` was lost", selected.name),
            ));
        };
        for case in &selected.cases {
            listed.push(ListedCase {
                name: &case.name,
                workload: &case.workload,
                family: &case.family,
                reason: &case.reason,
                repeat_of: case.repeat_of.as_deref(),
                plan: planning.configured.plan(&choice.workload, &case.assignment),
            });
        }
    }
    if format == Format::Json {
        return print_json(&listed);
    }
    let rows = listed
        .iter()
        .map(|case| vec![case.name.to_owned(), case.family.to_owned(), case.reason.to_owned()])
        .collect();
    print(&table(&["case", "family", "reason"], rows));
    for line in told(&selection.refused, selection) {
        print(&line);
    }
    Ok(())
}

/// Refusals and notes, one line each.
pub(crate) fn told(refused: &[Refused], selection: &Selection) -> Vec<String> {
    let refusals = refused
        .iter()
        .map(|refused| format!("refused: `{}`: {}", refused.name, refused.reason));
    let notes = noted(selection).map(|note| format!("note: {note}"));
    refusals.chain(notes).collect()
}

/// What selection has to say about each workload.
fn noted(selection: &Selection) -> impl Iterator<Item = &str> {
    let notes = selection.workloads.iter().flat_map(|workload| &workload.notes);
    notes.map(String::as_str)
}
