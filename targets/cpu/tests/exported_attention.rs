//! Exported attentions: compiled without a flag by every compiler at hand, checked against the float64 reference under the
//! sanitizers, called from two threads at once, and refusing what they must refuse.

#![allow(
    clippy::disallowed_methods,
    reason = "a test may read files, clocks and run programs"
)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "these are tests, outside a test function"
)]

mod support;

use std::path::Path;

use support::attentions::{Problem, covering, problem, workload};
use support::{SANITIZE, compilers, execute, native_isa, words};
use target_cpu::attention::facts::Context;
use target_cpu::attention::geometry::AttentionPlan;
use target_cpu::attention::run::tolerance;
use target_cpu::export::exported_attention;
use target_cpu::isa::Isa;

/// Writes, compiles and runs one exported plan; panics with what went wrong.
fn check(folder: &Path, cc: &str, isa: Isa, problem: &Problem, plan: &AttentionPlan, flags: &[&str]) {
    let extents = problem.attention.extents;
    let context = Context {
        isa,
        threads: plan.threads,
        extents,
        geometry: &plan.geometry,
    };
    let about = ["case \"a\" of cohort a/b */ c".to_owned()];
    let kernel = exported_attention(context, "attention", &about);
    std::fs::write(folder.join("attention.c"), &kernel.source).unwrap();
    std::fs::write(folder.join("attention.h"), &kernel.header).unwrap();
    std::fs::write(folder.join("main.c"), include_str!("data/use_attention.c")).unwrap();
    std::fs::write(folder.join("user.h"), include_str!("data/user.h")).unwrap();
    let mut compile = words(&[cc, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror"]);
    compile.extend(words(flags));
    compile.extend(words(&["-o", "main", "main.c", "attention.c", "-lm", "-lpthread"]));
    let failed = |problem: String| panic!("{problem}\n{plan:#?}");
    execute(&compile, folder).unwrap_or_else(failed);
    let inputs = problem.folder.display().to_string();
    let allowed = format!("{:e}", tolerance(extents));
    let said = execute(&words(&["./main", &inputs, &allowed]), folder).unwrap_or_else(failed);
    assert!(said.contains("case \"a\" of cohort a/b */ c\n"), "{said}");
    assert!(said.ends_with("right\n"), "{said}\n{plan:#?}");
}

#[test]
fn exported_attentions_compile_without_warnings_and_are_right() {
    let folder = tempfile::tempdir().unwrap();
    let odd = problem(folder.path(), &workload([3, 3, 37, 45, 11, 13], false));
    let causal = problem(folder.path(), &workload([4, 2, 40, 40, 8, 16], true));
    for (of, cc) in compilers().iter().enumerate() {
        for (seed, problem) in [(21, &odd), (22, &causal)] {
            let plans = covering(problem.attention.extents, native_isa(), seed, 2);
            for (n, plan) in plans.iter().enumerate() {
                // The sanitizers' runtime of clang is a package of its own.
                let flags = if of == 0 && n == 0 { SANITIZE } else { &["-O3"] };
                check(folder.path(), cc, native_isa(), problem, plan, flags);
            }
        }
        for plan in covering(odd.attention.extents, Isa::Plain, 23, 1) {
            check(folder.path(), cc, Isa::Plain, &odd, &plan, &[]);
        }
    }
}
