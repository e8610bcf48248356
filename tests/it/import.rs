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
    assert!(
        shown.contains("of cache.json") && shown.contains("build id driver 535"),
        "{shown}"
    );
    let report = fs_err::read_to_string(bench.path("reports/cache/report.md")).unwrap();
    assert!(
        report.contains("Imported: every measured figure is that of `cache.json`"),
        "{report}"
    );
    assert!(report.contains("RuntimeFailedConfig"), "{report}");
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
    // Nothing is overwritten.
    bench.expect(2, &["import", "cache.json"]);
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
    bench.expect(0, &["import", "t.csv", "--unit", "ms"]);
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
