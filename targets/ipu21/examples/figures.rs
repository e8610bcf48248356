//! What the tile array costs here, on one core: screening, one case compiled, scheduled and timed, and run; memory.
//!
//! `cargo run --release -p layout-sweep-target-ipu21 --example figures`

#![allow(clippy::disallowed_methods, reason = "an example may read a clock and files")]
#![allow(clippy::print_stdout, reason = "figures for people")]

use std::time::Instant;

use planner::{Refusal, Workload};
use target_ipu21::exchange::Policy;
use target_ipu21::geometry::Orientation;
use target_ipu21::program::{Program, identity};
use target_ipu21::unit::{self, Data};
use target_ipu21::{costs, screen, text};

const UP: &str = "0:4x92x4:4x1:48:interleaved:normal:complete:direct";
const DOWN: &str = "2:4x24x15:15x1:48:standard:normal:complete:direct";
/// How often everything is screened.
const TIMES: u32 = 200;

/// Most memory that this process had so far.
fn peak() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |line| line.trim().to_owned())
}

fn screened(workload: &Workload) -> usize {
    let both = [Orientation::Normal, Orientation::Swapped];
    let gemms = workload.gemms();
    gemms
        .flat_map(|(_, extents)| both.map(|orientation| screen::geometries(extents, orientation).len()))
        .sum()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let kind = planner::workloads::kind("siglip-mlp").ok_or("no such workload")?;
    let workload = Workload {
        name: "siglip-mlp".to_owned(),
        operations: kind.operations(&std::collections::BTreeMap::new(), None)?,
    };
    let started = Instant::now();
    let count: usize = (0..TIMES).map(|_| screened(&workload)).sum();
    let each = started.elapsed().as_secs_f64() * 1e6 / count as f64;
    println!("{each:.3} microseconds per screened geometry ({count} of them)");

    let geometries = [text::parse(UP)?.1, text::parse(DOWN)?.1];
    let table = costs::builtin("after").ok_or("no such table")?;
    let started = Instant::now();
    let compiled = Program::new(&workload, &geometries, identity())
        .and_then(|program| unit::compile(program, Policy::default()))
        .map_err(|refusal: Refusal| refusal.to_string())?;
    let cycles = unit::timing(&compiled, &table)?.cycles();
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{seconds:.2} s to compile, schedule and time the control ({cycles} cycles); at most {} so far",
        peak()
    );

    let data = Data::new(&workload, 1);
    let started = Instant::now();
    let result = unit::run(&compiled, &data);
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{seconds:.2} s to run it ({} values); at most {} so far",
        result.len(),
        peak()
    );
    Ok(())
}
