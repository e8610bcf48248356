//! Sweeps without a line of Rust: the shipped matrix product, and the published driver against its stand-in.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{Bench, processes_of, text};

const MATMUL: &str = include_str!("../../cohorts/matmul-command.toml");
const KERNEL: &str = include_str!("../../cohorts/kernels/matmul.c");
const DRIVER: &str = include_str!("../../cohorts/siglip-mlp-ipu21-driver.toml");

/// Little work for each of the seventeen cases.
fn matmul() -> Bench {
    let bench = Bench::new();
    let small = MATMUL
        .replace("\"256\"", "\"64\"")
        .replace("rounds = 3\nfinalists = 6", "rounds = 2\nfinalists = 0");
    assert_ne!(small, MATMUL);
    bench.define("matmul", &small);
    fs_err::create_dir(bench.path("cohorts/kernels")).unwrap();
    fs_err::write(bench.path("cohorts/kernels/matmul.c"), KERNEL).unwrap();
    bench
}

pub(crate) fn runs(bench: &Bench, cohort: &str) -> Vec<Value> {
    let records = bench.records(cohort).into_iter();
    records.filter(|record| record["record"] == "run").collect()
}

#[test]
fn a_matrix_product_goes_from_definition_to_report() {
    let bench = matmul();
    let (stdout, _) = bench.expect(0, &["sweep", "cohorts/matmul.toml"]);
    assert!(stdout.contains("winner"), "{stdout}");
    let runs = runs(&bench, "cohorts/matmul");
    let cases: std::collections::BTreeSet<&str> = runs.iter().map(|run| run["case"].as_str().unwrap()).collect();
    assert!(cases.len() >= 3 && runs.len() == 2 * cases.len(), "{runs:?}");
    for run in &runs {
        assert_eq!(run["outcome"], "correct", "{run}");
        let samples = run["measurement"]["samples"].as_array().unwrap();
        let count = |of: &str| samples.iter().filter(|sample| sample["of"] == of).count();
        assert!(
            count("case") > 0 && count("case") == count("control"),
            "alternated: {run}"
        );
        assert!(samples[0]["extra"]["gflops"].as_f64().unwrap() > 0.0);
    }
    let csv = fs_err::read_to_string(bench.path("reports/matmul/summary.csv")).unwrap();
    assert!(csv.lines().next().unwrap().contains("other.gflops"), "{csv}");
    let report = fs_err::read_to_string(bench.path("reports/matmul/report.md")).unwrap();
    assert!(
        !report.contains(" 0 GFLOP/s") && report.contains("ns"),
        "no rate of no operations"
    );
    let unknown = "(roofline): not known, since neither its operations nor what its machine gives at most is told.";
    assert!(report.contains(unknown), "{report}");
    assert!(processes_of(bench.root()).is_empty());

    // A command multiplies no matrices that anybody knows of.
    let page = fs_err::read_to_string(bench.path("reports/matmul/report.html")).unwrap();
    let page = &page[page.find("<body>").unwrap()..page.find("<script type=\"application/json\"").unwrap()];
    assert!(report.starts_with("# `matmul`\n"), "{report}");
    for foreign in [
        "0 operations",
        "matrix products",
        "peak probe",
        "on command",
        "normalised",
    ] {
        for text in [report.as_str(), page] {
            let line = text.lines().find(|line| line.contains(foreign));
            assert!(line.is_none(), "`{foreign}`: {line:?}");
        }
    }

    let records = bench.records("cohorts/matmul").len();
    bench.expect(0, &["sweep", "cohorts/matmul.toml"]);
    assert_eq!(bench.records("cohorts/matmul").len(), records, "nothing is done twice");

    // The checkout may change; the frozen copy may not.
    fs_err::write(bench.path("cohorts/kernels/matmul.c"), "#error changed\n").unwrap();
    bench.expect(0, &["run", "cohorts/matmul", "--retry", "plain"]);
    let sources = bench.path("cohorts/matmul/sources");
    let unit = std::fs::read_dir(sources).unwrap().next().unwrap().unwrap().path();
    fs_err::write(unit.join("kernels/matmul.c"), "#error changed\n").unwrap();
    let (_, stderr) = bench.expect(4, &["run", "cohorts/matmul"]);
    assert!(stderr.contains("kernels/matmul.c"), "{stderr}");
}

#[test]
fn without_a_control_values_are_compared_with_the_first_measured_case() {
    let bench = matmul();
    let text = fs_err::read_to_string(bench.path("cohorts/matmul.toml")).unwrap();
    bench.define("alone", &text.replace("control = \"plain\"\n", ""));
    bench.expect(0, &["sweep", "cohorts/alone.toml"]);
    let manifest = fs_err::read_to_string(bench.path("cohorts/alone/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert!(manifest["workloads"][0].get("control").is_none(), "{manifest}");
    for run in runs(&bench, "cohorts/alone") {
        let samples = run["measurement"]["samples"].as_array().unwrap();
        assert!(samples.iter().all(|sample| sample["of"] == "case"));
    }
    let report = fs_err::read_to_string(bench.path("reports/alone/report.md")).unwrap();
    assert!(
        report.contains("no control, ratios are relative to the first case"),
        "{report}"
    );
}

/// The published sweep with the stand-ins on `PATH`.
struct Driver(Bench);

impl Driver {
    fn new() -> Self {
        let bench = Bench::new();
        bench.define("ipu", &DRIVER.replace("run = \"600s\"", "run = \"5s\""));
        Self(bench)
    }

    fn command(&self, arguments: &[&str], behaviour: &str) -> Command {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stand-in");
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        let mut command = self.0.command(arguments);
        command
            .arg("--device-lock")
            .arg(self.0.path("ipu.lock"))
            .env("PATH", path)
            .env("STAND_IN", behaviour)
            .env("STAND_IN_TRACE", self.0.path("trace"));
        command
    }

    #[track_caller]
    fn expect(&self, code: i32, arguments: &[&str], behaviour: &str) -> String {
        let output = self.command(arguments, behaviour).output().unwrap();
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        said
    }

    fn outcomes(&self) -> Vec<(String, String)> {
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        runs(&self.0, "cohorts/ipu")
            .iter()
            .map(|run| (word(&run["case"]), word(&run["outcome"])))
            .collect()
    }
}

#[test]
fn the_published_driver_runs_with_its_lock_its_reports_and_its_estimates() {
    let driver = Driver::new();
    driver.expect(0, &["sweep", "cohorts/ipu.toml", "--only", "historical,up-0*"], "*=ok");
    let outcomes = driver.outcomes();
    assert_eq!(outcomes.len(), 11);
    assert!(outcomes.iter().all(|(_, outcome)| outcome == "correct"), "{outcomes:?}");
    let run = &runs(&driver.0, "cohorts/ipu")[0];
    assert_eq!(run["device"], "ipu21");
    let extra = &run["measurement"]["samples"][0]["extra"];
    let of = |name: &str| extra[name].as_f64().unwrap();
    let refined = of("expanded_cycles") - of("expanded_exchange_cycles") + of("scheduled_exchange_cycles");
    assert!((of("refined_cycles") - refined).abs() < 1e-9, "{extra}");
    let cases = driver.0.path("cohorts/ipu/cases");
    for entry in std::fs::read_dir(cases).unwrap() {
        let folder = entry.unwrap().path();
        for report in ["barriers.json", "kernels.json", "operations.json"] {
            let made = fs_err::read_to_string(folder.join(report)).unwrap();
            assert!(serde_json::from_str::<Value>(&made).unwrap().is_array(), "{made}");
        }
    }
    // The stand-in takes the lock itself: had the guard held it, nothing would have been locked.
    let trace = fs_err::read_to_string(driver.0.path("trace")).unwrap();
    assert_eq!(trace.lines().filter(|line| line.starts_with("locked")).count(), 11);
    let csv = fs_err::read_to_string(driver.0.path("reports/ipu/summary.csv")).unwrap();
    let head = csv.lines().next().unwrap();
    for column in ["estimate.compact", "estimate.expanded", "other.refined_cycles"] {
        assert!(head.split(',').any(|own| own == column), "{head}");
    }
}

#[test]
fn a_wrong_result_stops_the_sweep_until_it_is_accepted_or_retried() {
    let driver = Driver::new();
    let only = ["sweep", "cohorts/ipu.toml", "--only", "historical,up-00,up-01"];
    let said = driver.expect(6, &only, "*up-01*=wrong;*=ok");
    assert!(said.contains("incorrect: up-01"), "{said}");
    let stopped = driver.outcomes();
    assert!(
        stopped.contains(&("up-01".to_owned(), "incorrect".to_owned())),
        "{stopped:?}"
    );

    driver.expect(6, &only, "*=ok");
    assert_eq!(
        driver.outcomes(),
        stopped,
        "a stop is raised again before anything runs"
    );
    driver.expect(
        0,
        &[
            "run",
            "cohorts/ipu",
            "--only",
            "historical,up-00,up-01",
            "--retry",
            "up-01",
        ],
        "*=ok",
    );
    let after = driver.outcomes();
    assert_eq!(after.iter().filter(|(case, _)| case == "up-01").count(), 2, "{after:?}");
    for case in ["historical", "up-00"] {
        let own = after.iter().filter(|(name, _)| name == case).count();
        assert_eq!(own, 1, "`{case}` is measured once");
    }
}

#[test]
fn bad_ends_of_the_driver_are_told_apart() {
    for (behaviour, outcome, code) in [
        ("reject", "rejected", 0),
        ("crash", "run-failed", 3),
        ("no-cycles", "run-failed", 3),
        ("flood", "run-failed", 3),
        ("crash-loaded", "incorrect", 6),
        ("partial", "incorrect", 6),
        ("stubborn", "incorrect", 6),
        ("no-profile", "correct", 0),
    ] {
        let driver = Driver::new();
        let said = driver.expect(
            code,
            &["sweep", "cohorts/ipu.toml", "--only", "historical,up-00"],
            &format!("*historical*={behaviour};*=ok"),
        );
        let outcomes = driver.outcomes();
        let own = outcomes.iter().find(|(case, _)| case == "historical");
        assert_eq!(
            own.map(|(_, outcome)| outcome.as_str()),
            Some(outcome),
            "{behaviour}: {said}"
        );
        if code == 6 {
            assert!(said.contains("stopped: wrong results"), "{said}");
        }
        let other = ("up-00".to_owned(), "correct".to_owned());
        assert!(
            code == 6 || outcomes.contains(&other),
            "{behaviour} is no reason to stop: {outcomes:?}"
        );
        assert!(processes_of(driver.0.root()).is_empty(), "{behaviour} left processes");
    }
}

/// A definition of one shell script as its program: `run.sh` gets what `arguments` say.
pub(crate) fn scripted(script: &str, command: &str) -> Bench {
    let bench = Bench::new();
    let program = format!("#!/bin/sh\n{script}\n");
    fs_err::write(bench.path("cohorts/run.sh"), program).unwrap();
    let definition = format!(
        "target = \"command\"\n[command]\nsources = [\"run.sh\"]\n{command}\n[command.result]\n\
         time = {{ regex = 'time=(\\d+)', unit = \"ns\" }}\npass = {{ regex = 'pass' }}\nobjective = \"time\"\n\
         [parameters]\nn = \"1:6:1\"\n[measure]\nrounds = 2\n"
    );
    bench.define("script", &definition);
    bench
}

#[test]
fn every_device_has_a_worker_and_a_lock() {
    // Each run holds a folder of its device: a second one on the same device would fail to make it.
    let script = "mkdir \"$3/$2.used\" || exit 1; sleep 0.1; rmdir \"$3/$2.used\"; echo \"time=$1 pass\"";
    let devices = format!("\"dev-a-{0}\", \"dev-b-{0}\"", std::process::id());
    let command = format!("run = [\"./run.sh\", \"{{n}}\", \"{{device}}\", \"{{cohort}}\"]\ndevices = [{devices}]");
    let bench = scripted(script, &command);
    bench.expect(0, &["sweep", "cohorts/script.toml"]);
    let runs = runs(&bench, "cohorts/script");
    let cases: std::collections::BTreeSet<&str> = runs.iter().map(|run| run["case"].as_str().unwrap()).collect();
    assert_eq!(runs.len(), 2 * cases.len(), "two rounds of each case");
    let used: std::collections::BTreeSet<&str> = runs.iter().map(|run| run["device"].as_str().unwrap()).collect();
    assert_eq!(used.len(), 2, "both devices work: {used:?}");
    for lock in used {
        std::fs::remove_file(coordinator::lock::device_lock_path(lock)).unwrap();
    }
}

#[test]
fn a_pair_that_has_begun_comes_to_its_end() {
    let script = "echo \"$1\" >>\"$2/calls\"\nuntil [ -e \"$2/go\" ]; do sleep 0.02; done\necho \"time=$1 pass\"";
    for limit in [None, Some("1s")] {
        let bench = scripted(script, "run = [\"./run.sh\", \"{n}\", \"{cohort}\"]");
        let text = fs_err::read_to_string(bench.path("cohorts/script.toml")).unwrap();
        let paired = text.replace("target =", "control = \"one\"\ntarget =")
            + "pairs = 1\n[[case]]\nname = \"one\"\nfamily = \"control\"\nreason = \"the first\"\nplan = { n = 1 }\n\
               [[case]]\nname = \"two\"\nfamily = \"other\"\nreason = \"the second\"\nplan = { n = 2 }\n";
        bench.define("script", &paired);
        let lock = bench.path("device.lock").display().to_string();
        bench.expect(0, &["freeze", "cohorts/script.toml"]);
        let mut arguments = vec!["run", "cohorts/script", "--device-lock", &lock];
        arguments.extend(limit.map(|limit| ["--time-limit", limit]).into_iter().flatten());
        let mut child = bench.command(&arguments).spawn().unwrap();
        let calls = || fs_err::read_to_string(bench.path("cohorts/script/calls")).unwrap_or_default();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while calls().is_empty() {
            assert!(std::time::Instant::now() < deadline, "the round never began");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        if limit.is_none() {
            let pid = rustix::process::Pid::from_child(&child);
            rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(1200));
        fs_err::write(bench.path("cohorts/script/go"), "").unwrap();
        let ended = child.wait().unwrap().code();
        assert_eq!(ended, Some(if limit.is_some() { 0 } else { 130 }), "{limit:?}");

        let first = runs(&bench, "cohorts/script");
        let [first] = first.as_slice() else {
            panic!("one round: {first:?}")
        };
        assert_eq!(first["outcome"], "correct", "{limit:?}: {first}");
        let samples = first["measurement"]["samples"].as_array().unwrap();
        let of: Vec<_> = samples.iter().map(|sample| sample["of"].as_str().unwrap()).collect();
        assert!(of.contains(&"case") && of.contains(&"control"), "{of:?}");
        bench.expect(0, &["run", "cohorts/script", "--device-lock", &lock]);
        let runs = runs(&bench, "cohorts/script");
        let rounds: std::collections::BTreeSet<_> = runs
            .iter()
            .map(|run| (run["case"].to_string(), run["round"].to_string()))
            .collect();
        assert_eq!((runs.len(), rounds.len()), (4, 4), "{limit:?}: {runs:?}");
        let commands: usize = runs
            .iter()
            .map(|run| run["measurement"]["samples"].as_array().unwrap().len())
            .sum();
        assert_eq!(
            calls().lines().count(),
            commands,
            "{limit:?}: no command ran for nothing"
        );
    }
}

#[test]
fn what_an_earlier_round_left_is_no_result() {
    // The second round of a case writes nothing.
    let script = "[ -e \"$2/once\" ] || echo \"{\\\"time\\\": $1}\" >\"$2/made.json\"; touch \"$2/once\"; echo pass";
    let bench = scripted(script, "run = [\"./run.sh\", \"{n}\", \"{case_dir}\"]\ndevices = []");
    let text = fs_err::read_to_string(bench.path("cohorts/script.toml")).unwrap();
    let own = "time = { file = 'made.json', pointer = '/time', unit = \"ns\" }";
    let text = text.replace("time = { regex = 'time=(\\d+)', unit = \"ns\" }", own);
    assert!(text.contains(own), "{text}");
    bench.define("script", &text);
    let (_, said) = bench.expect(3, &["sweep", "cohorts/script.toml"]);
    let runs = runs(&bench, "cohorts/script");
    let (first, second): (Vec<_>, Vec<_>) = runs.iter().partition(|run| run["round"] == 0);
    assert!(!first.is_empty() && first.len() == second.len(), "{said}");
    assert!(first.iter().all(|run| run["outcome"] == "correct"), "{first:?}");
    for run in second {
        let reason = run["reason"].as_str().unwrap_or_default();
        assert!(
            run["outcome"] == "run-failed" && reason.contains("`made.json` is not there"),
            "{run}"
        );
    }
}

#[test]
fn what_a_hook_set_is_undone_whatever_happens() {
    let script = "case $1 in\n\
                  before) touch \"$2/set\"; echo set >>\"$2/hooks\";;\n\
                  after) rm \"$2/set\"; echo undone >>\"$2/hooks\";;\n\
                  2) [ -f \"$2/set\" ]; exit 7;;\n\
                  3) while :; do sleep 1; done;;\n\
                  *) [ -f \"$2/set\" ] && echo \"time=$1 pass\";;\nesac";
    let command = "run = [\"./run.sh\", \"{n}\", \"{cohort}\"]\nbefore_run = [\"./run.sh\", \"before\", \"{cohort}\"]\n\
                   after_run = [\"./run.sh\", \"after\", \"{cohort}\"]\ntimeout = { run = \"1s\" }";
    let bench = scripted(script, command);
    let lock = bench.path("device.lock").display().to_string();
    bench.expect(3, &["sweep", "cohorts/script.toml", "--device-lock", &lock]);
    let outcomes: Vec<_> = runs(&bench, "cohorts/script")
        .iter()
        .map(|run| run["outcome"].as_str().unwrap().to_owned())
        .collect();
    for outcome in ["correct", "run-failed", "timed-out"] {
        assert!(outcomes.iter().any(|own| own == outcome), "{outcome}: {outcomes:?}");
    }
    let hooks = fs_err::read_to_string(bench.path("cohorts/script/hooks")).unwrap();
    let pairs: Vec<&str> = hooks.lines().collect();
    assert_eq!(pairs.len(), 2 * outcomes.len());
    assert!(pairs.chunks(2).all(|pair| pair == ["set", "undone"]), "{hooks}");

    // A coordinator that is killed can't undo anything: its guard does.
    fs_err::remove_file(bench.path("cohorts/script/hooks")).unwrap();
    let retry = ["run", "cohorts/script", "--retry", "timed-out", "--device-lock", &lock];
    let mut child = bench.command(&retry).spawn().unwrap();
    let hooks = || fs_err::read_to_string(bench.path("cohorts/script/hooks")).unwrap_or_default();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !hooks().contains("set") {
        assert!(std::time::Instant::now() < deadline, "the round never began");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    while !hooks().contains("undone") {
        assert!(std::time::Instant::now() < deadline, "nobody undid it: {}", hooks());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(!bench.path("cohorts/script/set").exists());
}

#[test]
fn a_check_that_hangs_or_says_no_is_told_apart() {
    let script = "case $1 in\n\
                  check) case $(cat \"$2\") in *time=2*) sleep 1000;; *time=3*) exit 9;; esac;;\n\
                  *) echo \"time=$1 pass\";;\nesac";
    let command = "run = [\"./run.sh\", \"{n}\"]\ncheck = [\"./run.sh\", \"check\", \"{run_log}\"]\n\
                   timeout = { check = \"1s\" }";
    let bench = scripted(script, command);
    let lock = bench.path("device.lock").display().to_string();
    let sweep = ["sweep", "cohorts/script.toml", "--device-lock", &lock];
    let (_, stderr) = bench.expect(2, &[&sweep[..], &["--accept-incorrect", "*"]].concat());
    assert!(
        stderr.contains("`--accept-incorrect *`: expected whole names"),
        "{stderr}"
    );
    bench.expect(3, &[&sweep[..], &["--accept-incorrect", "all-00002"]].concat());
    let mut ends = std::collections::BTreeMap::new();
    for run in runs(&bench, "cohorts/script") {
        let outcome = run["outcome"].as_str().unwrap().to_owned();
        let reason = run["reason"].as_str().unwrap_or_default().to_owned();
        ends.entry(outcome).or_insert_with(Vec::new).push(reason);
    }
    assert!(
        ends["timed-out"][0].contains("check") && ends["timed-out"].len() == 1,
        "{ends:?}"
    );
    assert!(
        !ends["incorrect"].is_empty() && ends["incorrect"][0].contains("check"),
        "{ends:?}"
    );
    assert!(processes_of(bench.root()).is_empty());
}

#[test]
fn a_check_that_can_not_start_accuses_nobody() {
    // It is there, and what reads it is not: nobody can know before.
    for (text, said) in [
        ("#!/no/such/shell\n", "never ran"),
        ("#!/usr/bin/env no-such-interpreter\n", "the check could not run"),
    ] {
        a_check_that_can_not_start(text, said);
    }
}

fn a_check_that_can_not_start(text: &str, said: &str) {
    let bench = scripted(
        "echo \"time=$1 pass\"",
        "run = [\"./run.sh\", \"{n}\"]\ncheck = [\"./check.sh\", \"{run_log}\"]",
    );
    fs_err::write(bench.path("cohorts/check.sh"), text).unwrap();
    let path = bench.path("cohorts/script.toml");
    let definition = fs_err::read_to_string(&path).unwrap();
    fs_err::write(path, definition.replace("[\"run.sh\"]", "[\"run.sh\", \"check.sh\"]")).unwrap();
    let lock = bench.path("device.lock").display().to_string();
    bench.expect(3, &["sweep", "cohorts/script.toml", "--device-lock", &lock]);
    let runs = runs(&bench, "cohorts/script");
    let reason = |run: &Value| run["reason"].as_str().unwrap_or_default().to_owned();
    assert!(
        runs.iter()
            .all(|run| run["outcome"] == "run-failed" && reason(run).contains(said)),
        "{runs:?}"
    );
}

#[test]
fn plans_without_a_value_are_told() {
    let bench = scripted("echo \"time=$1 pass\"", "run = [\"./run.sh\", \"{n}\"]");
    let text = fs_err::read_to_string(bench.path("cohorts/script.toml")).unwrap();
    let range = "n = \"1:6:1\"\n";
    assert!(text.contains(range));
    let own = format!("{range}constraints = [\"n > 0\", \"6 % (n - 1) == 0\"]\n");
    bench.define("script", &text.replace(range, &own));
    let (stdout, _) = bench.expect(0, &["plan", "cohorts/script.toml"]);
    let place = "`cohorts/script.toml:11:25`: `parameters.constraints[1]`: division by zero";
    assert!(stdout.contains("left out") && stdout.contains(place), "{stdout}");
}

#[test]
fn a_plan_for_which_an_estimate_has_no_value_is_a_case_without_it() {
    let bench = scripted("echo \"time=$1 pass\"", "run = [\"./run.sh\", \"{n}\"]");
    let text = fs_err::read_to_string(bench.path("cohorts/script.toml")).unwrap();
    let models = "[estimates.m]\nterms = { a = \"1 / (n - 2)\" }\ncoefficients = { a = 1.0 }\n\
                  [estimates.all]\nterms = { a = \"n\" }\ncoefficients = { a = 1.0 }\n";
    bench.define("script", &format!("{text}{models}"));
    let lock = bench.path("device.lock").display().to_string();
    let (_, stderr) = bench.expect(0, &["sweep", "cohorts/script.toml", "--device-lock", &lock]);
    assert!(
        stderr.contains("estimate `m` has no value for 1 of 6 cases, which are kept without it")
            && stderr.contains("`cohorts/script.toml:14:15`: `estimates.m.terms.a`: division by zero in `1 / (n - 2)`"),
        "{stderr}"
    );
    let cases = fs_err::read_to_string(bench.path("cohorts/script/cases.jsonl")).unwrap();
    let cases: Vec<Value> = cases.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(cases.len(), 6);
    let mut without = Vec::new();
    for case in &cases {
        let names: Vec<&str> = case["estimates"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| e["name"].as_str().unwrap())
            .collect();
        match case["unestimated"].get("m") {
            Some(why) => {
                assert!(why.as_str().unwrap().contains("division by zero"), "{case}");
                assert_eq!(names, ["all"]);
                without.push(&case["plan"]["attributes"]["n"]);
            }
            None => assert_eq!(names, ["m", "all"]),
        }
    }
    assert_eq!(without, [2]);
    assert_eq!(runs(&bench, "cohorts/script").len(), 12, "every case is measured");
    let report = fs_err::read_to_string(bench.path("reports/script/report.md")).unwrap();
    assert!(
        report.contains("- `m` has no value for 1 case; for `") && report.contains("division by zero"),
        "{report}"
    );
    let csv = fs_err::read_to_string(bench.path("reports/script/summary.csv")).unwrap();
    let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = rows.next().unwrap();
    let column = head.iter().position(|name| *name == "estimate.m").unwrap();
    assert_eq!(rows.filter(|row| row[column].is_empty()).count(), 1, "{csv}");
}

#[test]
fn inherited_variables_must_stay_as_they_were() {
    let bench = scripted(
        "echo \"time=$1 pass\"",
        "run = [\"./run.sh\", \"{n}\"]\npass_env = [\"SCRIPT_FLAG\"]",
    );
    let lock = bench.path("device.lock").display().to_string();
    let run = |flag: &str, arguments: &[&str]| {
        let mut command = bench.command(arguments);
        let output = command.env("SCRIPT_FLAG", flag).output().unwrap();
        (output.status.code(), text(&output.stderr))
    };
    assert_eq!(run("1", &["freeze", "cohorts/script.toml"]).0, Some(0));
    let again = ["run", "cohorts/script", "--device-lock", &lock];
    let (code, stderr) = run("2", &again);
    assert!(code == Some(4) && stderr.contains("env.SCRIPT_FLAG"), "{stderr}");
    assert_eq!(run("1", &again).0, Some(0));
}
