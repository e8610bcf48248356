//! What the C compiler is told.

use crate::isa::Isa;

/// Flags that every translation unit gets. `-O2` equals `-O3` here and builds faster; `-O1` is 1.17 times slower.
pub const FLAGS: &[&str] = &["-std=gnu11", "-O2", "-ffp-contract=fast", "-fPIC", "-fno-math-errno"];

fn words(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

fn with_flags(cc: &str, isa: Isa, rest: &[&str]) -> Vec<String> {
    let mut argv = words(&[cc]);
    argv.extend(words(FLAGS));
    argv.extend(words(isa.flags()));
    argv.extend(words(rest));
    argv
}

/// The two commands that make `gemm.so` of `gemm.c`, by way of `gemm.s`, which [`crate::assembly::check`] reads.
///
/// They run in the folder that holds `gemm.c`; `include` is the folder of `layout_sweep.h`.
#[must_use]
pub fn compile_steps(isa: Isa, cc: &str, include: &str) -> Vec<Vec<String>> {
    let include = format!("-I{include}");
    vec![
        with_flags(cc, isa, &[&include, "-S", "-o", "gemm.s", "gemm.c"]),
        words(&[cc, "-shared", "-o", "gemm.so", "gemm.s"]),
    ]
}

/// The command that makes `harness` of `harness.c` in the folder that holds the harness's sources.
#[must_use]
pub fn harness_step(isa: Isa, cc: &str) -> Vec<String> {
    with_flags(cc, isa, &["-o", "harness", "harness.c", "-ldl", "-lpthread", "-lm"])
}
