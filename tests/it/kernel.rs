//! `export --kernel` on a real cohort, and the examples that use what it writes.

use std::process::Command;

use crate::support::Bench;

/// Runs a command in the bench's folder and hands back its standard output; `None` when there is no such program.
fn run(bench: &Bench, argv: &[&str]) -> Option<String> {
    let output = Command::new(argv[0])
        .args(&argv[1..])
        .current_dir(bench.path(""))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .ok()?;
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{argv:?}: {}\n{error}", output.status);
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn the_best_plan_goes_into_other_programs() {
    let bench = Bench::quick();
    bench.expect(0, &["sweep", "cohorts/quick.toml"]);
    let told = bench.expect(0, &["export", "cohorts/quick", "--kernel", "mlp.c"]).1;
    assert!(
        told.contains("written: `mlp.c`") && told.contains("written: `mlp.h`"),
        "{told}"
    );
    let header = std::fs::read_to_string(bench.path("mlp.h")).unwrap();
    for words in [
        "of workload `quick-gemm`",
        "measured there: median",
        "what the figure needs: gcc or clang with",
    ] {
        assert!(header.contains(words), "{words} in\n{header}");
    }

    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/exported-kernel");
    match run(&bench, &["python3", &format!("{examples}/use_kernel.py"), "mlp.c"]) {
        Some(said) => assert!(
            said.contains("measured there: median") && said.contains("largest error"),
            "{said}"
        ),
        None => println!("SKIPPED: no python3, its example was not run"),
    }
    let cc = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    run(&bench, &[&cc, "-std=gnu11", "-O2", "-c", "mlp.c"]).unwrap();
    run(&bench, &["ar", "rcs", "libmlp.a", "mlp.o"]).unwrap();
    let rust = format!("{examples}/use_kernel.rs");
    run(
        &bench,
        &["rustc", "--edition", "2024", "-L", ".", "-l", "static=mlp", &rust],
    )
    .unwrap();
    let said = run(&bench, &["./use_kernel"]).unwrap();
    assert!(said.contains("RMS of the result: "), "{said}");

    // An attention has no weights; what was never measured says so.
    let definition = "target = \"cpu\"\ncontrol = \"plain\"\n[cpu]\nthreads = 1\n[[workload]]\nname = \"small\"\nkind = \"attention\"\n\
                      heads = 2\nqueries = 21\nkeys = 19\nwidth = 8\n[[case]]\nname = \"plain\"\nplan = { \"attention.unroll\" = 2 }\n";
    bench.define("small", definition);
    bench.expect(0, &["freeze", "cohorts/small.toml"]);
    let export = ["export", "cohorts/small", "--kernel", "attention.c", "--case", "plain"];
    bench.expect(0, &export);
    if let Some(said) = run(
        &bench,
        &["python3", &format!("{examples}/use_attention.py"), "attention.c"],
    ) {
        assert!(
            said.contains("never measured") && said.contains("largest error of the last row"),
            "{said}"
        );
    }

    let (_, error) = bench.expect(2, &["export", "cohorts/quick", "--kernel", "my-mlp.c"]);
    assert!(
        error.contains("`--kernel my-mlp.c`: expected a file `NAME.c`"),
        "{error}"
    );
    let (_, error) = bench.expect(2, &["export", "cohorts/quick", "--kernel", "mlp.c", "--case", "none"]);
    assert!(error.contains("the cohort has no case `none`"), "{error}");
}
