//! `layout-sweep plan DEFINITION --select`: a plan chosen without running any.

use std::fmt::Write as _;

use clap::Args;
use planner::select::Selection;
use target_api::{SearchReport, SearchStep, SearchWidth};

use crate::failure::Failure;
use crate::freezing;
use crate::output::{Format, print, print_json, table};
use crate::planning::Planning;
use crate::trial_constraints::{one_workload, texts};
use crate::values::up_to;

/// Arguments of a search.
#[derive(Args)]
pub(crate) struct Search {
    /// Search all plans without running any: shortlists, a beam, finalists that are expanded, mapped, placed.
    #[arg(long, conflicts_with_all = ["count", "cases"])]
    pub(crate) select: bool,
    /// Geometries per operation.
    #[arg(long, requires = "select", value_name = "N", default_value_t = 400, value_parser = up_to::<u32>(100_000))]
    shortlist: u32,
    /// Whole plans that are kept after the first estimate.
    #[arg(long, requires = "select", value_name = "N", default_value_t = 65_536, value_parser = up_to::<u32>(100_000))]
    beam: u32,
    /// Whole plans of these that are looked at tile by tile.
    #[arg(long, requires = "select", value_name = "N", default_value_t = 256, value_parser = up_to::<u32>(100_000))]
    expanded: u32,
    /// Whole plans whose memories and mappings are tried, and then as many that are scheduled.
    #[arg(long, requires = "select", value_name = "N", default_value_t = 8, value_parser = up_to::<u32>(10_000))]
    finalists: u32,
    /// Cases whose survival is told (default: all explicit ones).
    #[arg(long, requires = "select", value_delimiter = ',', value_name = "NAMES")]
    watch: Vec<String>,
}

/// Searches and prints what was found and what was dropped where.
pub(crate) fn search(
    planning: &Planning,
    selection: &Selection,
    workload: Option<&str>,
    arguments: &Search,
    format: Format,
) -> Result<(), Failure> {
    let selected = one_workload(selection, workload)?;
    let its = freezing::workload(planning, &selected.name)?;
    if let Some(name) = arguments
        .watch
        .iter()
        .find(|name| selected.cases.iter().all(|case| case.name != **name))
    {
        return Err(Failure::usage(format!(
            "`--watch {name}`: the definition makes no such case"
        )));
    }
    let explicit = |name: &str| planning.definition.cases.iter().any(|case| case.name.value == name);
    let watch: Vec<_> = selected
        .cases
        .iter()
        .filter(|case| match arguments.watch.as_slice() {
            [] => explicit(&case.name),
            names => names.contains(&case.name),
        })
        .map(|case| (case.name.clone(), case.assignment.clone()))
        .collect();
    let width = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
    let width = SearchWidth {
        shortlist: width(arguments.shortlist),
        beam: width(arguments.beam),
        expanded: width(arguments.expanded),
        finalists: width(arguments.finalists),
    };
    let report = texts(planning)?
        .search(its, width, &watch)
        .map_err(|refusal| Failure::usage(refusal.to_string()))?;
    if format == Format::Json {
        return print_json(&report);
    }
    show(planning, &report);
    Ok(())
}

fn show(planning: &Planning, report: &SearchReport) {
    let rows = report.steps.iter().map(row).collect();
    print(&table(&["step", "looked at", "kept", "dropped", "given plans"], rows));
    let rows = report
        .finalists
        .iter()
        .map(|finalist| {
            let value = |name: &str| {
                let estimate = finalist.estimates.iter().find(|estimate| estimate.name == name);
                estimate.map_or_else(|| "-".to_owned(), |estimate| format!("{:.0}", estimate.value))
            };
            vec![
                value("placed"),
                value("expanded"),
                value("compact"),
                finalist.text.clone(),
            ]
        })
        .collect();
    print(&table(&["placed (modelled)", "expanded", "compact", "plan"], rows));
    let Some(winner) = report.finalists.first() else {
        print("no plan is left");
        return;
    };
    let mut line = format!("layout-sweep try {}", planning.definition.source.path);
    for word in winner.text.split(' ') {
        // Writing to a string can't fail.
        _ = match word.strip_prefix("mapping=") {
            Some(mapping) => write!(line, " --mapping {mapping}"),
            None => write!(line, " --constraint {word}"),
        };
    }
    print(&format!("chosen: {}\nrun it: {line}", winner.text));
}

fn row(step: &SearchStep) -> Vec<String> {
    let dropped: Vec<String> = step.dropped.iter().map(|(rule, n)| format!("{rule} {n}")).collect();
    let watched: Vec<String> = step
        .watched
        .iter()
        .map(|(name, survival)| {
            let rank = survival
                .rank
                .map_or_else(|| "not there".to_owned(), |rank| format!("rank {rank}"));
            let fate = if survival.survived { "goes on" } else { "dropped" };
            format!("{name}: {rank}, {fate}")
        })
        .collect();
    vec![
        format!("{} by {}", step.name, step.by),
        step.looked_at.to_string(),
        step.kept.to_string(),
        dropped.join(", "),
        watched.join("; "),
    ]
}
