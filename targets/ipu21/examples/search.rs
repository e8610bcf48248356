//! Cost of a search, step by step: `cargo run --release -p layout-sweep-target-ipu21 --example search -- 400 65536 256 8`.

#![allow(clippy::disallowed_methods, reason = "an example may read a clock and arguments")]
#![allow(clippy::print_stdout, reason = "a table for people")]
use std::collections::BTreeMap;

use planner::{Assignment, Workload};
use target_api::SearchWidth;
use target_ipu21::{attributes, costs, search, text};

/// The published plan that every search should keep for a while.
fn historical() -> Result<Assignment, Box<dyn std::error::Error>> {
    let mut plan = Assignment::new();
    for (operation, constraint) in [
        ("up", "0:4x92x4:4x1:48:interleaved:normal:complete:direct"),
        ("down", "2:4x24x15:15x1:48:interleaved:normal:complete:direct"),
    ] {
        for (name, value) in attributes::of_geometry(operation, &text::parse(constraint)?.1) {
            plan.set(&name, value);
        }
    }
    Ok(plan)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let widths: Vec<usize> = std::env::args()
        .skip(1)
        .map(|word| word.parse())
        .collect::<Result<_, _>>()?;
    let [shortlist, beam, expanded, finalists] = widths[..] else {
        return Err("expected four widths: shortlist, beam, expanded, finalists".into());
    };
    let kind = planner::workloads::kind("siglip-mlp").ok_or("no such workload")?;
    let workload = Workload {
        name: "siglip-mlp".to_owned(),
        operations: kind.operations(&BTreeMap::new(), None)?,
    };
    let table = costs::builtin("after").ok_or("no such table")?;
    let started = std::time::Instant::now();
    let width = SearchWidth {
        shortlist,
        beam,
        expanded,
        finalists,
    };
    let report = search::search(&workload, &table, width, &[("historical".to_owned(), historical()?)])?;
    for step in &report.steps {
        println!(
            "{}: {} -> {} {:?} {:?}",
            step.name, step.looked_at, step.kept, step.dropped, step.watched
        );
    }
    for finalist in &report.finalists {
        let values: Vec<f64> = finalist.estimates.iter().map(|estimate| estimate.value).collect();
        println!("{values:?} {}", finalist.text);
    }
    println!("{:.1?}", started.elapsed());
    Ok(())
}
