//! The unit model beside published whole-MLP measurements: renderer cycles, kernels before and after the loop upgrade.
//!
//! `cargo run --release -p layout-sweep-target-ipu21 --example published`

#![allow(clippy::disallowed_methods, reason = "an example may read a clock and files")]
#![allow(clippy::print_stdout, reason = "a table for people")]

use planner::{Refusal, Workload};
use target_ipu21::exchange::Policy;
use target_ipu21::program::Program;
use target_ipu21::{costs, mapping, text, unit};

/// Name, up, down (result factors, memory, staging), mapping, kernels, measured renderer cycles.
const CASES: &[(&str, &str, &str, &str, &str, usize)] = &[
    (
        "sweep down-22",
        "4x1 complete",
        "15x1 standard complete",
        "identity",
        "before",
        186_630,
    ),
    (
        "sweep historical",
        "4x1 complete",
        "15x1 interleaved complete",
        "identity",
        "before",
        188_196,
    ),
    (
        "upgrade historical",
        "4x1 complete",
        "15x1 interleaved complete",
        "identity",
        "after",
        176_706,
    ),
    (
        "control",
        "4x1 complete",
        "15x1 standard complete",
        "identity",
        "after",
        175_140,
    ),
    (
        "down result 5x3",
        "4x1 complete",
        "5x3 standard complete",
        "identity",
        "after",
        173_442,
    ),
    (
        "down result 4x3",
        "4x1 complete",
        "4x3 standard complete",
        "identity",
        "after",
        176_652,
    ),
    (
        "down result 3x3",
        "4x1 complete",
        "3x3 standard complete",
        "identity",
        "after",
        179_214,
    ),
    (
        "up result 2x2",
        "2x2 complete",
        "15x1 standard complete",
        "identity",
        "after",
        179_274,
    ),
    (
        "mapping block 92/2",
        "4x1 complete",
        "15x1 standard complete",
        "block:92:2",
        "after",
        174_132,
    ),
    (
        "down batch 7",
        "4x1 complete",
        "15x1 standard batch-7",
        "identity",
        "after",
        179_382,
    ),
    (
        "down batch 2",
        "4x1 complete",
        "15x1 standard batch-2",
        "identity",
        "after",
        207_654,
    ),
    (
        "up batch 2",
        "4x1 batch-2",
        "15x1 standard complete",
        "identity",
        "after",
        182_070,
    ),
];

fn run(
    workload: &Workload,
    case: &(&str, &str, &str, &str, &str, usize),
) -> Result<String, Box<dyn std::error::Error>> {
    let (name, up, down, map, table, measured) = case;
    let (factors, staging) = up.split_once(' ').ok_or("two words")?;
    let up = format!("0:4x92x4:{factors}:48:interleaved:normal:{staging}:direct");
    let [factors, memory, staging] = down.split(' ').collect::<Vec<_>>()[..] else {
        return Err("three words".into());
    };
    let down = format!("2:4x24x15:{factors}:48:{memory}:normal:{staging}:direct");
    let geometries = [text::parse(&up)?.1, text::parse(&down)?.1];
    let started = std::time::Instant::now();
    let program = Program::new(workload, &geometries, mapping::parse(map)?)?;
    let compiled = unit::compile(program, Policy::default())?;
    let cycles = unit::timing(&compiled, &costs::builtin(table).ok_or("no such table")?).cycles();
    let error = 100.0 * (cycles as f64 / *measured as f64 - 1.0);
    Ok(format!(
        "{name:20} {cycles:8} {measured:8} {error:+6.2} %  {:?} {:.1?}",
        compiled.horizons(),
        started.elapsed()
    ))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let kind = planner::workloads::kind("siglip-mlp").ok_or("no such workload")?;
    let operations = kind.operations(&std::collections::BTreeMap::new(), None)?;
    let workload = Workload {
        name: "siglip-mlp".to_owned(),
        operations,
    };
    for case in CASES {
        println!("{}", run(&workload, case)?);
    }
    for line in include_str!("../tests/fixtures/cases.csv").lines().skip(1) {
        let [name, up, down, _] = line.split(',').collect::<Vec<_>>()[..] else {
            continue;
        };
        let geometries = [text::parse(up)?.1, text::parse(down)?.1];
        let fits = |program: Program| -> Result<(), Refusal> {
            unit::check(&program, &target_ipu21::traffic::phases(&program))
        };
        if let Err(refusal) = Program::new(&workload, &geometries, mapping::parse("identity")?).and_then(fits) {
            println!("{name}: {refusal}");
        }
    }
    Ok(())
}
