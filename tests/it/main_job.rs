//! The main job from definition to report, and again.

use crate::support::{Bench, QUICK, tree};

#[test]
fn a_sweep_goes_from_definition_to_report_and_a_second_one_does_nothing() {
    let bench = Bench::quick();
    let (stdout, _) = bench.expect(0, &["sweep", "cohorts/quick.toml"]);
    for wanted in [
        "plain",
        "winner",
        "proxy",
        "analytic",
        "reports/quick/report.html",
        "cohorts/quick",
    ] {
        assert!(stdout.contains(wanted), "`{wanted}` is not in\n{stdout}");
    }
    let files = [
        "report.md",
        "summary.csv",
        "statistics.json",
        "ranking.svg",
        "ranking.png",
    ];
    for file in files {
        assert!(bench.path("reports/quick").join(file).is_file(), "{file}");
    }
    // The limit of the time, of operations and of each level of the memory, beside what the two cases reach.
    let text = fs_err::read_to_string(bench.path("reports/quick/statistics.json")).unwrap();
    let statistics: serde_json::Value = serde_json::from_str(&text).unwrap();
    let roofline = &statistics["workloads"][0]["roofline"];
    let limits = roofline["limits"].as_array().unwrap();
    let resources: Vec<&str> = limits.iter().map(|limit| limit["resource"].as_str().unwrap()).collect();
    assert_eq!(resources, ["operations", "L1 from L2", "L2 from L3", "L3 from DRAM"]);
    let least = limits.iter().map(|limit| limit["least"].as_f64().unwrap());
    assert_eq!(Some(least.fold(0.0, f64::max)), roofline["least"].as_f64());
    assert!(
        limits
            .iter()
            .all(|limit| limit["label"] == "measured" && limit["rate"].as_f64() > Some(0.0))
    );
    assert_eq!(limits[0]["amount"], 2.0 * 145.0 * 192.0 * 208.0);
    let report = fs_err::read_to_string(bench.path("reports/quick/report.md")).unwrap();
    assert!(report.contains("(roofline): no plan takes less than"), "{report}");
    let status = bench.json(&["status", "cohorts/quick", "--format", "json"]);
    assert_eq!(status["rounds_left"], 0);
    assert_eq!(status["builds_left"], 0);
    assert_eq!(status["failures"], serde_json::json!({}));

    let (cohort, report) = (tree(&bench.path("cohorts/quick")), tree(&bench.path("reports/quick")));
    bench.expect(0, &["sweep", "cohorts/quick.toml"]);
    assert_eq!(
        tree(&bench.path("reports/quick")),
        report,
        "a second analysis writes the same bytes"
    );
    let again = tree(&bench.path("cohorts/quick"));
    let names =
        |files: &[(std::path::PathBuf, Vec<u8>)]| files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
    assert_eq!(names(&again), names(&cohort), "nothing is built or measured twice");
    assert!(again == cohort, "no file of a finished cohort changes");
}

#[test]
fn every_record_is_checked_paired_and_normalised() {
    let bench = Bench::quick();
    bench.expect(0, &["freeze", "cohorts/quick.toml"]);
    bench.expect(0, &["run", "cohorts/quick", "--only", "plain"]);
    let runs: Vec<_> = bench
        .records("cohorts/quick")
        .into_iter()
        .filter(|record| record["record"] == "run")
        .collect();
    assert_eq!(runs.len(), 2, "two rounds of the only case");
    for run in runs {
        assert_eq!(run["outcome"], "correct");
        let measurement = &run["measurement"];
        let error = &measurement["error"];
        assert!(error["max_absolute"].as_f64().unwrap() <= error["tolerance"].as_f64().unwrap());
        assert_eq!(error["elements"], 145 * 208);
        let counted = |of: &str| {
            let samples = measurement["samples"].as_array().unwrap();
            samples
                .iter()
                .filter(|s| s["of"] == of && s["warm_up"].as_bool() != Some(true))
                .count()
        };
        assert_eq!((counted("case"), counted("control")), (3, 3), "pairs = 3");
        assert!(
            measurement["probes"].as_array().unwrap().len() >= 3,
            "a peak probe beside each pair"
        );
        for sample in measurement["samples"].as_array().unwrap() {
            let phases: f64 = sample["phases"]
                .as_array()
                .unwrap()
                .iter()
                .map(|p| p["value"].as_f64().unwrap())
                .sum();
            let whole = sample["value"].as_f64().unwrap();
            assert!(
                (phases - whole).abs() <= 0.05 * whole + 2000.0,
                "phases add up: {phases} of {whole}"
            );
        }
    }
    // A filtered run followed by a full run is a full run: nothing of the first is done again.
    bench.expect(0, &["run", "cohorts/quick"]);
    let of_plain = bench
        .records("cohorts/quick")
        .into_iter()
        .filter(|record| {
            record["record"] == "run" && record["case"] == "plain" && record["round"].as_u64().unwrap() < 2
        })
        .count();
    assert_eq!(of_plain, 2);
}

#[test]
fn counting_and_listing_need_no_cohort() {
    let bench = Bench::quick();
    let count = bench.json(&["plan", "cohorts/quick.toml", "--count", "--format", "json"]);
    assert!(count["screened"]["gemm"]["normal"].as_u64().unwrap() > 0);
    assert_eq!(count["total"], count["screened"]["gemm"]["normal"]);
    let cases = bench.json(&["plan", "cohorts/quick.toml", "--cases", "--format", "json"]);
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len() as u64, count["cases"].as_u64().unwrap());
    assert_eq!(cases[0]["name"], "plain");
    assert_eq!(cases[0]["family"], "control");
    assert!(
        cases
            .iter()
            .all(|case| case["plan"]["attributes"]["gemm.height"].is_u64())
    );
    assert!(!bench.path("cohorts/quick").exists());
}

#[test]
fn a_report_lies_beside_the_cohorts_wherever_the_command_runs() {
    let bench = Bench::quick();
    let mut inside = bench.command(&["sweep", "quick.toml", "--only", "plain"]);
    let output = inside.current_dir(bench.path("cohorts")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(bench.path("reports/quick/report.md").is_file());
}

#[test]
fn attributes_are_listed_for_every_kind_of_workload() {
    let bench = Bench::new();
    for (kind, attribute) in [
        ("siglip-mlp", "up.height"),
        ("mlp", "down.width"),
        ("gemm", "gemm.unroll"),
    ] {
        let (stdout, _) = bench.expect(0, &["targets", "cpu", "--workload", kind]);
        assert!(stdout.contains(attribute), "{stdout}");
    }
}

#[test]
fn a_dry_run_writes_nothing() {
    let bench = Bench::quick();
    let before = tree(bench.root());
    let (stdout, _) = bench.expect(0, &["sweep", "--dry-run", "cohorts/quick.toml"]);
    assert!(stdout.contains("modelled"), "{stdout}");
    let dry = bench.json(&["sweep", "--dry-run", "cohorts/quick.toml", "--format", "json"]);
    assert!(dry["cases"].as_u64().unwrap() > 0 && dry["build_seconds"].is_number());
    assert!(tree(bench.root()) == before);
}

#[test]
fn a_plan_can_be_tried_at_once() {
    let bench = Bench::quick();
    let trial = bench.json(&[
        "try",
        "cohorts/quick.toml",
        "--case",
        "kernel-2x16",
        "--pairs",
        "2",
        "--format",
        "json",
    ]);
    assert_eq!(trial["outcome"], "correct");
    assert_eq!(trial["unit"], "ns");
    assert!(trial["value"].as_f64().unwrap() > 0.0);
    assert!(
        trial["phases"]
            .as_array()
            .unwrap()
            .iter()
            .any(|phase| phase["kind"] == "compute")
    );
    assert!(trial["estimates"]["analytic"].as_f64().unwrap() > 0.0);
    assert!(trial["error"]["max_absolute"].as_f64().unwrap() > 0.0);

    // With AVX2 there are 16 registers, one too few; with AVX-512 the kernel would be legal.
    let pinned = QUICK.replacen("threads = 1", "threads = 1\nisa = \"avx2\"", 1);
    bench.define("pinned", &pinned);
    fs_err::write(bench.path("plan.toml"), "[gemm]\nheight = 7\nwidth = 16\n").unwrap();
    let refused = bench.json(&["try", "cohorts/pinned.toml", "--plan", "plan.toml", "--format", "json"]);
    assert_eq!(refused["outcome"], "rejected");
    let reason = refused["reason"].as_str().unwrap();
    assert!(
        reason.contains("registers") && reason.contains("nearest legal"),
        "{reason}"
    );
}

#[test]
fn several_workloads_have_a_control_each() {
    let bench = Bench::new();
    let second = "[[workload]]\nname = \"second\"\nkind = \"gemm\"\nrows = 37\ninner = 64\ncolumns = 48\n\n[[case]]";
    bench.define("two", &QUICK.replacen("[[case]]", second, 1));
    let (stdout, _) = bench.expect(0, &["sweep", "cohorts/two.toml", "--only", "*plain,*kernel-2x16"]);
    assert!(
        stdout.contains("quick-gemm/plain") && stdout.contains("second/kernel-2x16"),
        "{stdout}"
    );
}
