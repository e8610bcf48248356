//! A profile of the tile array on a terminal: what its unit model saw on all tiles.

use target_ipu21::profile::{Profile, Spread, Summary, spread};

use crate::output::{print, table};

/// Phases, exchange, kernels, operations and memory of the tile array.
pub(crate) fn show(profile: &Profile, summary: &Summary) {
    print(&format!(
        "{}\nsimulated: {} {}, kernels `{}`",
        profile.plan, profile.cycles, profile.unit, profile.costs
    ));
    print("\nphases and work, in order");
    print(&steps(profile));
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

fn steps(profile: &Profile) -> String {
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
