//! The vectorised GELU against float64: over the range that matters, at large values, in every instruction set that runs.

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

use support::{compiler, execute, native_isa};
use target_cpu::codegen::gelu_source;
use target_cpu::compile::FLAGS;
use target_cpu::isa::Isa;

/// The error that the generated source states.
const STATED: f64 = 6e-7;

const MAIN: &str = r#"
#include <math.h>
#include <stdio.h>
static float one(float x)
{
    float lanes[LANES];
    store(lanes, gelu(splat(x)));
    return lanes[LANES - 1];
}
int main(void)
{
    double worst = 0;
    for (int i = -2400000; i <= 2400000; i++) {
        const float x = (float)i * 5e-6f;
        const double u = sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * (double)x * x * x);
        const double off = fabs(one(x) - x / (1 + exp(-2 * u)));
        if (!(off <= worst)) worst = off;
    }
    printf("%.9g\n", worst);
    const float large[] = {13, 20, 88, 1e3f, 1e6f, 1e12f, 1e19f, 1e20f, 1e30f, 3.4e38f};
    int bad = 0;
    for (int i = 0; i < 10; i++) {
        if (one(large[i]) != large[i]) bad++;
        if (!(fabsf(one(-large[i])) < 1e-30f)) bad++;
    }
    if (one(0) != 0 || one(-0.0f) != 0) bad++;
    printf("%d %d %d\n", bad, isinf(one(INFINITY)) != 0, isnan(one(NAN)) != 0);
    return 0;
}
"#;

fn check(isa: Isa, cc: &str, run_with: &[&str], extra: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let source = format!("#include \"layout_sweep.h\"\n{}{MAIN}", gelu_source(isa));
    std::fs::write(folder.path().join("gelu.c"), source).unwrap();
    std::fs::write(
        folder.path().join("layout_sweep.h"),
        include_str!("../src/c/layout_sweep.h"),
    )
    .unwrap();
    let mut argv = vec![cc.to_owned()];
    argv.extend(
        FLAGS
            .iter()
            .chain(isa.flags())
            .chain(extra)
            .map(|flag| (*flag).to_owned()),
    );
    argv.extend(["-Wall", "-Wextra", "-Werror", "-o", "gelu", "gelu.c", "-lm"].map(str::to_owned));
    execute(&argv, folder.path()).unwrap();
    let mut run: Vec<String> = run_with.iter().map(|word| (*word).to_owned()).collect();
    run.push(folder.path().join("gelu").display().to_string());
    let text = execute(&run, folder.path()).unwrap();
    let (worst, rest) = text.split_once('\n').unwrap();
    let worst: f64 = worst.parse().unwrap();
    println!("{isa}: largest absolute error over [-12, 12]: {worst:e}");
    assert!(worst < STATED, "{isa}: {worst:e}");
    assert!(worst > 1e-8, "an error of {worst:e} is too good to be float32");
    assert_eq!(rest.trim(), "0 1 1", "{isa}: bad large values, infinity kept, NaN kept");
}

#[test]
fn the_native_gelu_is_as_exact_as_it_says() {
    let Some(cc) = compiler() else { return };
    check(native_isa(), &cc, &[], &[]);
}

#[test]
fn the_plain_gelu_is_as_exact_as_it_says() {
    let Some(cc) = compiler() else { return };
    check(Isa::Plain, &cc, &[], &[]);
}
