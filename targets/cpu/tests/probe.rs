//! The probe beside each pair: one slice that the system disturbed does not spoil it.

#![allow(
    clippy::disallowed_methods,
    reason = "a test may read files, clocks and run programs"
)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop at the first surprise"
)]

mod support;

use support::{compiler, execute};
use target_cpu::harness::harness_sources;

/// Six slices of which one alone was left in peace.
const FAKE: &str = r#"
#include <stdio.h>
#include "peak.h"
static int calls;
static double budget;
static double fake(double budget_ns)
{
    static const double found[] = {3, 2, 1, 9, 4, 5};
    budget += budget_ns;
    return found[calls++];
}
int main(void)
{
    const double best = best_of(fake, 6, 500);
    printf("%g of %d in %g", best, calls, budget);
    return 0;
}
"#;

#[test]
fn the_best_slice_counts() {
    let Some(cc) = compiler() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in harness_sources() {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    std::fs::write(folder.path().join("fake.c"), FAKE).unwrap();
    let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<String>>();
    let build = [vec![cc], words("-std=gnu11 -O1 -w -o fake fake.c")].concat();
    execute(&build, folder.path()).unwrap();
    let printed = execute(&words("./fake"), folder.path()).unwrap();
    assert_eq!(printed, "9 of 6 in 3000");
    let (_, run) = harness_sources()
        .into_iter()
        .find(|(name, _)| *name == "run.h")
        .unwrap();
    assert!(run.contains("best_of(peak_gflops, PROBE_SLICES, SLICE_NS)"));
}
