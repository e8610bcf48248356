//! `layout-sweep profile`: where the time of a case went.

use std::path::PathBuf;

use clap::Args;
use cohort::CohortDir;
use coordinator::ExitCode;
use serde::Serialize;
use target_ipu21::profile::{Profile, Spread, Summary, spread, summary};

use crate::failure::Failure;
use crate::output::{Format, print, print_json, table};

/// Arguments of `profile`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The cohort's folder.
    cohort: PathBuf,
    /// The case.
    case: String,
    /// How to print: JSON has every tile and every kernel call.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    profile: &'a Profile,
    summary: Summary,
}

/// Shows the profile that a run left beside its case.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let path = CohortDir::new(&arguments.cohort).case_profile(&arguments.case);
    let text = fs_err::read_to_string(&path).map_err(|error| {
        Failure::because(
            ExitCode::Usage,
            format!("there is no profile of `{}`", arguments.case),
            error,
        )
        .help("profiles are written by the runs of a unit model, for each case of a small cohort")
    })?;
    let profile: Profile = serde_json::from_str(&text)
        .map_err(|error| Failure::because(ExitCode::Usage, format!("`{}` is no profile", path.display()), error))?;
    let whole = Whole {
        summary: summary(&profile),
        profile: &profile,
    };
    if arguments.format == Format::Json {
        print_json(&whole)?;
    } else {
        show(&profile, &whole.summary);
    }
    Ok(ExitCode::Done)
}

fn show(profile: &Profile, summary: &Summary) {
    print(&format!(
        "{}\nsimulated: {} {}, kernels `{}`",
        profile.plan, profile.cycles, profile.unit, profile.costs
    ));
    print("\nphases and work, in order");
    print(&timeline(profile));
    print("\nexchange: cycles in which lanes are busy, tile by tile (least/median/most)");
    print(&lanes(profile));
    print("\nkernels");
    let rows = summary.kernels.iter().map(|kernel| {
        let numbers = [
            kernel.calls,
            kernel.tiles,
            kernel.tile_cycles,
            kernel.busiest_tile,
            kernel.longest_call,
        ];
        std::iter::once(kernel.kernel.clone())
            .chain(numbers.map(|n| n.to_string()))
            .collect()
    });
    let header = [
        "kernel",
        "calls",
        "tiles",
        "tile cycles",
        "busiest tile",
        "longest call",
    ];
    print(&table(&header, rows.collect()));
    print("\noperations");
    let rows = summary.operations.iter().map(|operation| {
        vec![
            operation.operation.clone(),
            operation.exchange.to_string(),
            operation.compute.to_string(),
        ]
    });
    print(&table(&["operation", "exchange", "compute"], rows.collect()));
    print("\nmemory: bytes on a tile at most (least/median/most)");
    let memory = &profile.memory;
    let rows = [
        ("interleaved", &memory.interleaved),
        ("standard", &memory.standard),
        ("exchange tables", &memory.tables),
    ];
    let rows = rows.map(|(name, bytes)| vec![name.to_owned(), words(spread(bytes))]);
    print(&table(&["region", "bytes"], rows.to_vec()));
}

fn timeline(profile: &Profile) -> String {
    let mut rows = Vec::new();
    for step in &profile.steps {
        rows.push(vec![
            step.start.to_string(),
            step.name.clone(),
            step.after_arrival.to_string(),
            step.scheduled.to_string(),
            step.arrival_spread.to_string(),
            String::new(),
        ]);
        let work = spread(&step.segment.cycles);
        rows.push(vec![
            (step.start + step.after_arrival).to_string(),
            step.segment.name.clone(),
            work.most.to_string(),
            String::new(),
            String::new(),
            words(work),
        ]);
    }
    let header = [
        "start",
        "phase or work",
        "cycles",
        "scheduled",
        "arrival spread",
        "tiles (least/median/most)",
    ];
    table(&header, rows)
}

fn lanes(profile: &Profile) -> String {
    let rows = profile.steps.iter().map(|step| {
        let [ordinary, paired] = step.endpoint_bounds;
        vec![
            step.name.clone(),
            format!("{} ({} paired)", step.transfers, step.paired),
            words(spread(&step.lanes.send)),
            words(spread(&step.lanes.receive)),
            format!("{ordinary} / {paired}"),
            step.scheduled.to_string(),
        ]
    });
    let header = [
        "phase",
        "transfers",
        "send",
        "receive",
        "bound ordinary / paired",
        "scheduled",
    ];
    table(&header, rows.collect())
}

fn words(spread: Spread) -> String {
    format!("{}/{}/{}", spread.least, spread.median, spread.most)
}
