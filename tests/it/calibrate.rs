//! Cost tables from records: fitted, judged on held-out plans, put in force, gated.

use serde_json::Value;

use crate::support::Bench;

/// A program whose times follow a law: 40 for each block, 3 for each step, 50 for each value that is held.
const PROGRAM: &str = "#!/bin/sh\n\
    blocks=$((256 / $1)); steps=$((65536 / $2)); held=$(($1 * $2))\n\
    echo \"ns=$((40 * blocks * blocks + 3 * steps + 50 * held))\"; echo pass\n";

/// What somebody guessed: nothing for what is held, so that the largest of everything looks best.
fn definition(tiles: &str, unrolls: &str) -> String {
    format!(
        r#"
target = "command"

[command]
sources = ["program"]
run = ["sh", "program", "{{tile}}", "{{unroll}}"]

[command.result]
time = {{ regex = '^ns=(\d+)$', unit = "ns" }}
pass = {{ regex = '^pass$' }}
objective = "time"

[parameters]
tile = {tiles}
unroll = {unrolls}

[estimates.model]
about = "blocks, steps, and what is held"
terms = {{ blocks = "(256 / tile) ** 2", steps = "65536 / unroll", held = "tile * unroll" }}
coefficients = {{ blocks = 100.0, steps = 1.0, held = 0.001 }}

[explore]
exhaustive = {{ limit = 100 }}

[measure]
rounds = 1
finalists = 0
confirm = 0
"#
    )
}

fn swept() -> Bench {
    let bench = Bench::new();
    fs_err::write(bench.path("cohorts/program"), PROGRAM).unwrap();
    bench.define("fit", &definition("[8, 16, 32, 64]", "[1, 2, 4, 8]"));
    bench.define("held-out", &definition("[4, 128, 256]", "[2, 16, 32, 64]"));
    bench.expect(0, &["sweep", "cohorts/fit.toml", "cohorts/held-out.toml"]);
    bench
}

fn term<'a>(calibration: &'a Value, name: &str) -> &'a Value {
    let terms = calibration["families"][0]["terms"].as_array().unwrap();
    terms.iter().find(|term| term["term"] == name).unwrap()
}

#[test]
fn a_formula_of_ones_own_is_fitted_judged_and_put_in_force() {
    let bench = swept();
    let found = bench.json(&[
        "calibrate",
        "--fit",
        "cohorts/fit",
        "--holdout",
        "cohorts/held-out",
        "--output",
        "costs.toml",
        "--format",
        "json",
    ]);
    assert_eq!(found["families"][0]["exact"], true, "{found:#}");
    for (name, law) in [("blocks", 40.0), ("steps", 3.0), ("held", 50.0)] {
        assert_eq!(term(&found, name)["new"].as_f64(), Some(law), "{found:#}");
    }
    let headline = &found["headline"];
    assert!(headline["before"].as_f64() > Some(1.05), "{headline}");
    assert_eq!(headline["after"].as_f64(), Some(1.0), "{headline}");
    assert_eq!(found["verdict"], "better");
    let report = fs_err::read_to_string(bench.path("costs-report/calibration.md")).unwrap();
    for word in [
        "Regret",
        "exact",
        "predicted-model.svg",
        "residuals-model-tile.svg",
        "held",
    ] {
        assert!(report.contains(word), "`{word}` is not in\n{report}");
    }
    let table = fs_err::read_to_string(bench.path("costs.toml")).unwrap();
    for word in [
        "[provenance]",
        "cohorts/held-out",
        "[model.terms]",
        "ns = 50",
        "fitted_at",
        "regret on held-out plans",
    ] {
        assert!(table.contains(word), "`{word}` is not in\n{table}");
    }

    // Never over a table that is there.
    let again = ["calibrate", "--fit", "cohorts/fit", "--output", "costs.toml"];
    let (_, stderr) = bench.expect(2, &again);
    assert!(stderr.contains("exists already"), "{stderr}");
    assert_eq!(fs_err::read_to_string(bench.path("costs.toml")).unwrap(), table);
    let (stdout, _) = bench.expect(
        0,
        &["calibrate", "--fit", "cohorts/fit", "--costs", "costs.toml", "--apply"],
    );
    assert!(stdout.contains("mv 'costs-calibrated.toml' 'costs.toml'"), "{stdout}");
    assert!(stdout.contains("not judged"), "{stdout}");
    assert_eq!(fs_err::read_to_string(bench.path("costs.toml")).unwrap(), table);

    // The gate of a CI: the definition's own coefficients fail, the new table passes.
    let (_, stderr) = bench.expect(7, &["check", "cohorts/held-out", "--max-regret", "1.05"]);
    assert!(stderr.contains("above 1.05"), "{stderr}");
    bench.expect(
        0,
        &[
            "check",
            "cohorts/held-out",
            "--max-regret",
            "1.05",
            "--costs",
            "costs.toml",
        ],
    );

    // In force it is frozen with its digest; the same definition under other prices is another cohort.
    bench.expect(0, &["plan", "cohorts/fit.toml", "--costs", "costs.toml"]);
    let (_, stderr) = bench.expect(4, &["freeze", "cohorts/fit.toml", "--costs", "costs.toml"]);
    assert!(
        stderr.contains("costs.toml") && stderr.contains("own prices"),
        "{stderr}"
    );
    bench.expect(0, &["freeze", "cohorts/fit.toml", "--costs", "costs.toml", "--new"]);
    let manifest = fs_err::read_to_string(bench.path("cohorts/fit-2/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["costs"]["sha256"], found["new"]["sha256"]);
    bench.expect(0, &["run", "cohorts/fit-2"]);
    bench.expect(0, &["check", "cohorts/fit-2", "--max-regret", "1"]);
}

#[test]
fn what_overlaps_is_refused_and_can_be_taken_out() {
    let bench = swept();
    let (_, stderr) = bench.expect(2, &["calibrate", "--fit", "cohorts/fit", "--holdout", "cohorts/fit"]);
    assert!(stderr.contains("overlap") && stderr.contains("cohorts/fit"), "{stderr}");
    bench.define("both", &definition("[8, 128]", "[2, 4]"));
    bench.expect(0, &["sweep", "cohorts/both.toml"]);
    let calibrate = ["calibrate", "--fit", "cohorts/fit", "--holdout", "cohorts/both"];
    let (_, stderr) = bench.expect(2, &calibrate);
    assert!(
        stderr.contains("2 keys") && stderr.contains("--without-shared"),
        "{stderr}"
    );
    let found = bench.json(&[&calibrate[..], &["--without-shared", "--format", "json"]].concat());
    assert_eq!(found["families"][0]["keys"], 14);
    assert_eq!(found["excluded"]["measured on the held-out side too"], 2);
}

/// Names are checked against the table in force, and what was left out is said once and for whom.
#[test]
fn imported_samples_that_no_table_knows_are_named() {
    let bench = Bench::new();
    let import = |file: &str, database: &str| {
        let unit = ["--target", "ipu21", "--unit", "cycles"];
        bench.expect(0, &[&["import", file, "--samples", database], &unit[..]].concat())
    };
    // Neither the kernel nor the argument is one that the table knows; each is named once.
    let odd = "kernel,elements,colums,cycles\nreductoin,8,,360\nreductoin,9,,361\nreduction,8,2,360\nreduction,9,2,0\n";
    fs_err::write(bench.path("odd.csv"), odd).unwrap();
    let (stdout, stderr) = import("odd.csv", "odd.json");
    assert_eq!(stderr.matches("warning").count(), 2, "{stderr}");
    assert!(
        stderr.contains("prices the kernel `reductoin`: it prices `"),
        "{stderr}"
    );
    assert!(
        stderr.contains("look at the argument `colums` of the kernel `reduction`: it looks at `elements`, `partials`"),
        "{stderr}"
    );
    assert!(
        stdout.contains("3 samples of `odd.csv` added, 1 left out; 3 keys of"),
        "{stdout}"
    );
    // What earlier imports left out is said to be theirs too; a database without keys has no kernels.
    for (name, said, whose) in [
        (
            "zero.csv",
            "0 samples of `zero.csv` added, 1 left out; no key in all",
            "left out: 1 sample ",
        ),
        (
            "one.csv",
            "1 sample of `one.csv` added, 0 left out; 1 key of reduction in all",
            "left out, by this and earlier imports: 1 sample ",
        ),
    ] {
        let value = if name == "one.csv" { 360 } else { 0 };
        let text = format!("kernel,elements,partials,cycles\nreduction,8,2,{value}\n");
        fs_err::write(bench.path(name), text).unwrap();
        let (stdout, _) = import(name, "none.json");
        assert!(stdout.contains(said) && stdout.contains(whose), "{stdout}");
    }
}

#[test]
fn a_database_is_written_and_read_back_and_foreign_samples_are_imported() {
    let bench = swept();
    let fit = [
        "calibrate",
        "--fit",
        "cohorts/fit",
        "--database",
        "samples.json",
        "--format",
        "json",
    ];
    let one = bench.json(&fit);
    let table = one["new"]["file"].as_str().unwrap().to_owned();
    let two = bench.json(&[
        "calibrate",
        "--fit",
        "samples.json",
        "--costs",
        &table,
        "--format",
        "json",
    ]);
    assert_eq!(term(&one, "held")["new"], term(&two, "held")["new"]);
    assert!(bench.json(&["calibrate", "--schema"])["properties"]["keys"].is_object());

    fs_err::write(
        bench.path("foreign.csv"),
        "kernel,elements,partials,cycles,note\n\
         reduction,8,2,360,a\nreduction,56,2,438,a\nreduction,1472,2,2700,a\nreduction,2208,4,4974,a\n\
         reduction,1472,4,3444,b\nreduction,576,15,3090,b\nreduction,2208,28,18222,b\n",
    )
    .unwrap();
    let import = [
        "import",
        "foreign.csv",
        "--samples",
        "ipu.json",
        "--target",
        "ipu21",
        "--unit",
        "cycles",
        "--build-id",
        "f817817",
        "--column",
        "ignore=note",
    ];
    let (stdout, stderr) = bench.expect(0, &import);
    assert!(stdout.contains("7 samples"), "{stdout}");
    assert!(!stderr.contains("warning"), "{stderr}");
    let (_, stderr) = bench.expect(2, &import);
    assert!(stderr.contains("foreign.csv"), "{stderr}");
    let found = bench.json(&["calibrate", "--fit", "ipu.json", "--format", "json"]);
    let reduction = found["families"]
        .as_array()
        .unwrap()
        .iter()
        .find(|family| family["family"] == "reduction")
        .unwrap();
    assert_eq!(reduction["exact"], true, "{reduction:#}");
    let new: Vec<f64> = reduction["terms"]
        .as_array()
        .unwrap()
        .iter()
        .map(|term| term["new"].as_f64().unwrap())
        .collect();
    assert_eq!(new, [12.0, 282.0, 66.0]);

    // The same table as a spreadsheet writes it in much of the world, with its unit in the header.
    let foreign = fs_err::read_to_string(bench.path("foreign.csv")).unwrap();
    let spread = foreign
        .replace(',', ";")
        .replace("cycles", "time_cycles")
        .replace("8;2;360", "8;2;360,0");
    fs_err::write(
        bench.path("spread.csv"),
        format!("\u{feff}{}", spread.replace('\n', "\r\n")),
    )
    .unwrap();
    let column = ["--column", "ignore=note", "--build-id", "f817817"];
    let spread = ["import", "spread.csv", "--samples", "spread.json", "--target", "ipu21"];
    let (stdout, _) = bench.expect(0, &[&spread[..], &column].concat());
    assert!(stdout.contains("7 samples"), "{stdout}");
    let keys = |file: &str| {
        let text = fs_err::read_to_string(bench.path(file)).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["keys"].clone()
    };
    assert_eq!(keys("spread.json"), keys("ipu.json"));

    // Nanoseconds are no cycles.
    let in_ns = import.map(|word| match word {
        "ipu.json" => "ns.json",
        "cycles" => "ns",
        own => own,
    });
    let foreign = fs_err::read_to_string(bench.path("foreign.csv")).unwrap();
    fs_err::write(bench.path("foreign.csv"), foreign.replace(",cycles,", ",ns,")).unwrap();
    bench.expect(0, &in_ns);
    let (_, stderr) = bench.expect(2, &["calibrate", "--fit", "ns.json"]);
    for word in ["`reduction` are in ns", "`reduction` in cycles"] {
        assert!(stderr.contains(word), "`{word}` is not in\n{stderr}");
    }
}

/// A product on the CPU, with packed operands and one block.
fn cpu_definition(workload: &str, unrolls: &str) -> String {
    format!(
        r#"
target = "cpu"
control = "plain"

[cpu]
threads = 1

[[workload]]
{workload}

[[case]]
name = "plain"
plan = {{ "*.unroll" = 4, "*.inner" = 1, "*.rows" = 1, "*.activations" = "packed", "*.staging" = "streamed" }}
[[case]]
name = "copied"
like = "plain"
plan = {{ "*.staging" = "complete" }}

[explore]
vary = [{{ from = "plain", attribute = "*.unroll", values = {unrolls} }}]

[measure]
rounds = 2
pairs = 1
finalists = 0
confirm = 0
"#
    )
}

#[test]
fn the_prices_of_a_cpu_are_fitted_to_its_phases_and_put_in_force() {
    let bench = Bench::new();
    let drawn = "name = \"gemm\"\ndrawn = { count = 3, seed = 2, extents = { rows = [24, 64], inner = [32, 96], \
                 columns = [32, 96] } }";
    let other = "name = \"other\"\nkind = \"gemm\"\nrows = 90\ninner = 144\ncolumns = 208";
    bench.define("fit", &cpu_definition(drawn, "[8]"));
    bench.define("held-out", &cpu_definition(other, "[2, 16]"));
    bench.expect(0, &["sweep", "cohorts/fit.toml", "cohorts/held-out.toml"]);
    let found = bench.json(&[
        "calibrate",
        "--fit",
        "cohorts/fit",
        "--holdout",
        "cohorts/held-out",
        "--estimate",
        "analytic",
        "--output",
        "costs.toml",
        "--format",
        "json",
    ]);
    assert_eq!(found["unit"], "ns", "{found:#}");
    let family = |name: &str| {
        let families = found["families"].as_array().unwrap();
        families.iter().find(|family| family["family"] == name).unwrap()
    };
    // Three products, of each three plans whose product is a kernel; all pack, and one of each copies.
    for (name, keys, samples) in [("gemm", 9, 18), ("pack", 3, 18), ("copy", 3, 6)] {
        let own = family(name);
        assert_eq!(own["keys"], keys, "{own:#}");
        // What was interrupted is left out and counted.
        assert!(own["samples"].as_u64() <= Some(samples), "{own:#}");
    }
    assert_eq!(family("gelu")["keys"], 0);
    let point = &family("gemm")["points"][0]["arguments"];
    assert!(point["calls"].as_u64() > Some(0), "{point}");
    let judged = found["judgements"].as_array().unwrap();
    let analytic = judged.iter().find(|own| own["estimate"] == "analytic").unwrap();
    assert_eq!(analytic["cases"], 4, "{analytic:#}");
    assert!(
        analytic["new"]["median_ratio"]["point"].as_f64() > Some(0.0),
        "{analytic:#}"
    );
    assert!(found["headline"]["before"].as_f64() >= Some(1.0), "{found:#}");
    assert_eq!(found["unjudged"], serde_json::json!([]));

    // Both cohorts' own reports show it after the next analysis.
    for (cohort, side) in [("fit", "this cohort fitted"), ("held-out", "this cohort held out")] {
        bench.expect(0, &["analyze", &format!("cohorts/{cohort}")]);
        let read = |file: &str| fs_err::read_to_string(bench.path(&format!("reports/{cohort}/{file}"))).unwrap();
        let (report, page) = (read("report.md"), read("report.html"));
        for word in [
            "## Calibration",
            side,
            "../../costs-report/predicted-gemm.svg",
            "95 % interval",
        ] {
            assert!(report.contains(word), "`{word}` is not in\n{report}");
        }
        assert!(page.contains("id=\"calibration\"") && page.contains("../../costs-report/calibration.md"));
        assert!(bench.path("costs-report/predicted-gemm.svg").is_file());
    }

    // In force, it is frozen with its digest, and plans have other estimates.
    bench.expect(
        0,
        &["freeze", "cohorts/held-out.toml", "--costs", "costs.toml", "--new"],
    );
    let read =
        |cohort: &str, file: &str| fs_err::read_to_string(bench.path(&format!("cohorts/{cohort}/{file}"))).unwrap();
    let manifest: Value = serde_json::from_str(&read("held-out-2", "manifest.json")).unwrap();
    assert_eq!(manifest["costs"]["sha256"], found["new"]["sha256"]);
    assert_ne!(read("held-out-2", "cases.jsonl"), read("held-out", "cases.jsonl"));
    bench.expect(
        0,
        &[
            "check",
            "cohorts/held-out",
            "--max-regret",
            "100",
            "--costs",
            "costs.toml",
        ],
    );
    // A price below zero is none: the plans are counted and named, and judge nothing.
    let text = fs_err::read_to_string(bench.path("costs.toml")).unwrap();
    let (head, tail) = text.split_once("[pack.terms]").unwrap();
    let (bytes, rest) = tail.trim_start().split_once('\n').unwrap();
    let broken = format!("{head}[pack.terms]\nbytes = {{ of = \"bytes\", cycles = -1000 }}\n{rest}");
    assert!(bytes.starts_with("bytes"), "{bytes}");
    fs_err::write(bench.path("broken.toml"), broken).unwrap();
    let (_, stderr) = bench.expect(
        2,
        &[
            "check",
            "cohorts/held-out",
            "--max-regret",
            "1.05",
            "--estimate",
            "analytic",
            "--costs",
            "broken.toml",
        ],
    );
    for word in ["does not judge 4 held-out plans", "`plain`", "no price of `pack`"] {
        assert!(stderr.contains(word), "`{word}` is not in\n{stderr}");
    }
}
