//! Cost of a search, step by step: `cargo run --release -p layout-sweep-target-ipu21 --example search -- 160 256 8`.
#![allow(clippy::disallowed_methods, reason = "an example may read a clock and arguments")]
#![allow(clippy::print_stdout, reason = "a table for people")]
use std::collections::BTreeMap;

use planner::Workload;
use target_api::SearchWidth;
use target_ipu21::{costs, search};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let widths: Vec<usize> = std::env::args()
        .skip(1)
        .map(|word| word.parse())
        .collect::<Result<_, _>>()?;
    let [shortlist, beam, finalists] = widths[..] else {
        return Err("expected three widths: shortlist, beam, finalists".into());
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
        finalists,
    };
    let report = search::search(&workload, &table, width, &[])?;
    for step in &report.steps {
        println!("{}: {} -> {} {:?}", step.name, step.looked_at, step.kept, step.dropped);
    }
    for finalist in &report.finalists {
        let values: Vec<f64> = finalist.estimates.iter().map(|estimate| estimate.value).collect();
        println!("{values:?} {}", finalist.text);
    }
    println!("{:.1?}", started.elapsed());
    Ok(())
}
