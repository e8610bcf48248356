//! `import` and `export`: what others measured is analysed, never continued.

use crate::support::Bench;

const KERNEL_TUNER: &str = include_str!("../fixtures/tuners/kernel-tuner-failed.json");
const T4: &str = include_str!("../fixtures/tuners/t4.json");
const T1: &str = include_str!("../fixtures/tuners/t1.json");

fn write(bench: &Bench, name: &str, text: &str) {
    fs_err::write(bench.path(name), text).unwrap();
}

#[test]
fn an_import_is_analysed_and_never_continued() {
    let bench = Bench::new();
    write(&bench, "cache.json", KERNEL_TUNER);
    let (shown, _) = bench.expect(0, &["import", "cache.json", "--build-id", "driver 535"]);
    assert!(
        shown.contains("14 configurations of `cache.json` (kernel-tuner): 12 measured by others with 96 samples of time in ms, 1 build-failed, 1 run-failed"),
        "{shown}"
    );
    let (shown, _) = bench.expect(0, &["analyze", "cohorts/cache"]);
    let shown = shown.replace("\n  ", " ");
    assert!(
        shown.contains("of cache.json") && shown.contains("build id driver 535"),
        "{shown}"
    );
    let report = fs_err::read_to_string(bench.path("reports/cache/report.md")).unwrap();
    assert!(
        report.contains("Imported: every figure labelled published is that of `cache.json`"),
        "{report}"
    );
    assert!(report.contains("RuntimeFailedConfig"), "{report}");
    let unknown = "(roofline): not known, since an imported file does not say what its machine gives at most.";
    assert!(report.contains(unknown), "{report}");
    let page = fs_err::read_to_string(bench.path("reports/cache/report.html")).unwrap();
    assert!(page.contains("nothing was measured on this machine"));
    let status = bench.json(&["status", "cohorts/cache", "--format", "json"]);
    assert_eq!(
        (&status["counts"]["correct"], &status["builds_left"]),
        (&12.into(), &0.into())
    );
    let (shown, _) = bench.expect(0, &["verify", "cohorts/cache"]);
    assert!(shown.contains("as they were imported from `cache.json`"), "{shown}");
    let (_, error) = bench.expect(4, &["run", "cohorts/cache"]);
    assert!(
        error.contains("was imported from `cache.json`") && error.contains("help: "),
        "{error}"
    );
    bench.define("cache", crate::support::QUICK);
    let (_, error) = bench.expect(4, &["sweep", "cohorts/cache.toml"]);
    assert!(error.contains("can be analysed, never continued"), "{error}");
    let (_, error) = bench.expect(2, &["import", "cache.json", "--cohort", "other", "--control", "zzz"]);
    assert_eq!(error.matches("control `zzz`").count(), 1, "{error}");
    assert!(error.contains("`other`") && !error.contains(".freezing"), "{error}");
    // Nothing is overwritten.
    bench.expect(2, &["import", "cache.json"]);
}

#[test]
fn a_folder_of_the_published_sweep_is_analysed_with_its_estimates() {
    let bench = Bench::new();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/published-sweep");
    let folder = folder.to_str().unwrap();
    let (shown, said) = bench.expect(
        0,
        &["import", folder, "--build-id", "0123abcd", "--control", "historical"],
    );
    assert!(
        shown.contains("7 configurations of `published-sweep` (published): 5 measured by others with 5 samples of renderer_cycles in cycles, 1 rejected, 1 timed-out"),
        "{shown}"
    );
    assert!(
        said.contains("cut off") && said.contains("without a result: `joint-rows-3`, `joint-rows-6`"),
        "{said}"
    );
    let (shown, _) = bench.expect(0, &["analyze", "cohorts/published-sweep"]);
    let shown = shown.replace("\n  ", " ");
    assert!(
        shown.contains("down-22: 0.992") && shown.contains("build id 0123abcd"),
        "{shown}"
    );
    let statistics = fs_err::read_to_string(bench.path("reports/published-sweep/statistics.json")).unwrap();
    let statistics: serde_json::Value = serde_json::from_str(&statistics).unwrap();
    let workload = &statistics["workloads"][0];
    let estimates = workload["estimates"].as_array().unwrap();
    let names: Vec<&str> = estimates.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["compact", "expanded", "refined"]);
    // Four passed and were chosen beforehand; the cross judges nothing.
    assert_eq!(
        (&estimates[0]["samples"], &estimates[0]["left_out"]["not predicted"]),
        (&4.into(), &1.into())
    );
    let report = fs_err::read_to_string(bench.path("reports/published-sweep/report.md")).unwrap();
    for foreign in [
        "0 operations",
        "peak",
        "normalised",
        "screened",
        "on imported",
        "GFLOP",
        "(measured)",
    ] {
        let line = report.lines().find(|line| line.contains(foreign));
        assert!(line.is_none(), "`{foreign}`: {line:?}");
    }
    assert!(
        report.starts_with("# `published-sweep`, imported") && report.contains("(published)"),
        "{report}"
    );
}

#[test]
fn a_rate_goes_in_and_comes_out_as_it_is() {
    let bench = Bench::new();
    write(&bench, "rates.csv", "x,throughput (GB/s)\n1,3.7\n2,49\n4,12.25\n");
    bench.expect(0, &["import", "rates.csv", "--objective", "throughput"]);
    let (shown, _) = bench.expect(0, &["analyze", "cohorts/rates"]);
    assert!(shown.contains("GB/s") && shown.contains("49.00"), "{shown}");
    let json = bench.json(&["analyze", "cohorts/rates", "--format", "json"]);
    assert_eq!(json["workloads"][0]["winner"]["case"], "2");
    let (csv, _) = bench.expect(0, &["export", "cohorts/rates", "--format", "csv"]);
    assert!(
        csv.contains("throughput (GB/s)") && csv.contains(",3.7") && csv.contains(",12.25"),
        "{csv}"
    );
    let (table, _) = bench.expect(0, &["export", "cohorts/rates", "--format", "markdown"]);
    assert!(
        table.find("| 49 |").unwrap() < table.find("| 3.7 |").unwrap(),
        "{table}"
    );
    write(&bench, "again.csv", &csv);
    bench.expect(0, &["import", "again.csv", "--objective", "throughput"]);
    assert_eq!(
        bench
            .expect(0, &["export", "cohorts/again", "--format", "csv"])
            .0
            .lines()
            .nth(1),
        csv.lines().nth(1)
    );
    for text in [csv, table] {
        assert!(!text.contains("inverse") && !text.contains("1/("), "{text}");
    }
}

#[test]
fn t4_comes_back_as_it_went_in() {
    let bench = Bench::new();
    write(&bench, "sweep_T4.json", T4);
    bench.expect(0, &["import", "sweep_T4.json", "--cohort", "one"]);
    bench.expect(0, &["export", "one", "--format", "t4", "-o", "again.json"]);
    bench.expect(0, &["import", "again.json", "--cohort", "two"]);
    let again = bench.expect(0, &["export", "two", "--format", "t4"]).0;
    let told = |text: &str| -> Vec<String> {
        let json: serde_json::Value = serde_json::from_str(text).unwrap();
        let results = json["results"].as_array().unwrap().iter();
        let told = results.map(|result| {
            format!(
                "{} {} {} {}",
                result["configuration"],
                result["invalidity"],
                result["times"]["runtimes"],
                result["measurements"][0]["value"]
            )
        });
        told.collect()
    };
    assert_eq!(told(T4), told(&again));
    let csv = bench.expect(0, &["export", "one", "--format", "csv", "-o", "one.csv"]);
    assert!(csv.0.is_empty());
    let (shown, _) = bench.expect(0, &["import", "one.csv", "--cohort", "three"]);
    assert!(
        shown.contains("14 configurations") && shown.contains("96 samples"),
        "{shown}"
    );
    let (shown, _) = bench.expect(0, &["compare", "one", "two", "--max-regression", "1.0001"]);
    assert!(shown.contains("12"), "{shown}");
    let markdown = bench.expect(0, &["export", "one", "--format", "markdown"]).0;
    assert!(
        markdown.contains("measured by whom: sweep\\_T4.json") && markdown.contains("| run-failed |"),
        "{markdown}"
    );
    let plan = bench.expect(0, &["export", "one", "--format", "toml"]).0;
    assert!(plan.contains("block_size_x = "), "{plan}");
}

#[test]
fn a_search_space_becomes_a_definition_that_counts() {
    let bench = Bench::new();
    write(&bench, "hotspot.json", T1);
    bench.expect(0, &["import", "hotspot.json"]);
    let (count, _) = bench.expect(0, &["plan", "--count", "cohorts/hotspot.toml"]);
    // As the fixtures of the planner count it, by trying all.
    assert!(count.replace(',', "").contains("82984"), "{count}");
}

#[test]
fn numbers_above_another_one_are_derived_and_say_so() {
    let bench = Bench::new();
    write(&bench, "score.csv", "x,score\n1,-1.5\n2,0.5\n3,-0.25\n");
    let import = |above: &'static str| {
        let own = ["import", "score.csv", "--column", "value=score", "--unit", "points"];
        [&own[..], &["--direction", "higher", "--above", above]].concat()
    };
    let (_, stderr) = bench.expect(2, &import("-1"));
    assert!(stderr.contains("line 2 has -1.5, the least"), "{stderr}");
    assert!(!bench.path("cohorts/score").exists());
    bench.expect(0, &import("-2"));
    bench.expect(0, &["analyze", "cohorts/score"]);
    let report = fs_err::read_to_string(bench.path("reports/score/report.md")).unwrap();
    assert!(report.contains("points above -2"), "{report}");
    assert!(report.contains("labelled derived"), "{report}");
    assert!(!report.contains("published"), "{report}");
    let csv = fs_err::read_to_string(bench.path("reports/score/summary.csv")).unwrap();
    assert!(csv.contains("points above -2"), "{csv}");
    let told = bench.json(&["explain", "cohorts/score", "2", "3", "--format", "json"]);
    assert_eq!(
        (&told["values"], &told["origin"], &told["objective"]["unit"]),
        (&"derived".into(), &"derived".into(), &"points above -2".into())
    );
}

#[test]
fn a_number_without_a_unit_stands_by_itself() {
    let bench = Bench::new();
    write(
        &bench,
        "s.csv",
        "x,score,estimate:guess (1)\n1,0.25,0.3\n2,0.5,0.4\n3,0.75,0.9\n4,0.6,0.7\n",
    );
    let (shown, _) = bench.expect(0, &["import", "s.csv", "--column", "value=score", "--unit", "1"]);
    assert!(shown.contains("4 samples of score; more of it is better"), "{shown}");
    let (shown, _) = bench.expect(0, &["analyze", "cohorts/s"]);
    let report = fs_err::read_to_string(bench.path("reports/s/report.md")).unwrap();
    assert!(report.contains("Objective: score, more is better"), "{report}");
    assert!(report.contains("- 0.7500 (published)"), "{report}");
    let (explained, _) = bench.expect(0, &["explain", "cohorts/s", "2"]);
    let (listed, _) = bench.expect(0, &["export", "cohorts/s", "--format", "markdown"]);
    for text in [&shown, &report, &explained, &listed] {
        for odd in ["(1)", " in 1,", "0 1 (", "  ("] {
            assert!(!text.lines().any(|line| line.trim().contains(odd)), "{odd}: {text}");
        }
    }
}

#[test]
fn what_cannot_be_imported_says_why() {
    let bench = Bench::new();
    write(
        &bench,
        "bad.json",
        r#"{"tune_params_keys": ["x"], "cache": {"1": {"x": 1}}}"#,
    );
    let (_, error) = bench.expect(2, &["import", "bad.json"]);
    assert!(error.contains("configuration `1` lacks `time`"), "{error}");
    write(&bench, "t.csv", "\u{feff}tile;time\r\n1;2,5\r\n");
    let (_, error) = bench.expect(2, &["import", "t.csv"]);
    assert!(
        error.contains("in which unit `time` is") && error.contains("--unit"),
        "{error}"
    );
    let (stdout, _) = bench.expect(0, &["import", "t.csv", "--unit", "ms"]);
    assert!(
        stdout.contains("1 configuration of") && stdout.contains("with 1 sample of time in ms"),
        "{stdout}"
    );
    for (own, words) in [
        (None, "compared with itself, the first measured case of its workload"),
        (Some("nobody"), "has no case `nobody`\nhelp: there are: "),
    ] {
        let name = bench.json(&["analyze", "cohorts/t", "--format", "json"])["workloads"][0]["control"].clone();
        let (_, error) = bench.expect(2, &["explain", "cohorts/t", own.unwrap_or(name.as_str().unwrap())]);
        assert!(error.contains(words), "{error}");
    }
    // A table without lines needs no unit.
    write(&bench, "head.csv", "tile,time\n");
    let (_, error) = bench.expect(2, &["import", "head.csv"]);
    assert!(error.contains("there is no line below the header"), "{error}");
    write(&bench, "zero.csv", "tile,time_ms\n1,0\n");
    bench.expect(0, &["import", "zero.csv"]);
    let (_, error) = bench.expect(3, &["analyze", "cohorts/zero"]);
    assert!(error.contains("no case has a correct result"), "{error}");
    let (_, error) = bench.expect(2, &["import", "missing.json"]);
    assert!(error.contains("missing.json"), "{error}");
    let (_, error) = bench.expect(2, &["import", "t.csv", "--format", "ktt"]);
    assert!(
        error.contains("there are: kernel-tuner, t4, t1, published, csv"),
        "{error}"
    );
}
