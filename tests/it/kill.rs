//! A sweep is killed in the middle and resumed.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::runs;
use crate::support::{Bench, processes_of};

#[test]
fn a_killed_sweep_leaves_nothing_behind_and_goes_on() {
    let bench = Bench::quick();
    bench.expect(0, &["freeze", "cohorts/quick.toml"]);
    let lock = bench.path("device.lock");
    let run = ["run", "cohorts/quick", "--device-lock", lock.to_str().unwrap()];
    // While builds go on, and while rounds go on.
    for wanted in [1, 9] {
        let mut child = bench
            .command(&run)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(120);
        while bench.records("cohorts/quick").len() < wanted && Instant::now() < deadline {
            assert!(
                child.try_wait().unwrap().is_none(),
                "it ended before it could be killed"
            );
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        nothing_left(&bench);
        let free = Command::new("flock")
            .args(["--nonblock", lock.to_str().unwrap(), "true"])
            .status()
            .unwrap();
        assert!(free.success(), "the device's lock is still held");
    }
    let before = finished(&bench);
    bench.expect(0, &run);
    let after = finished(&bench);
    for (round, times) in &after {
        assert_eq!(*times, 1, "{round:?} was measured {times} times");
    }
    assert!(
        before.keys().all(|round| after.contains_key(round)),
        "nothing measured is lost"
    );
    let status = bench.json(&["status", "cohorts/quick", "--format", "json"]);
    assert_eq!(status["rounds_left"], 0);
    let (stdout, _) = bench.expect(0, &["analyze", "cohorts/quick"]);
    assert!(stdout.contains("winner"), "{stdout}");
}

/// Waits until no process knows the folder; fails when one stays.
fn nothing_left(bench: &Bench) {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let left = processes_of(bench.root());
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "still there: {left:#?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// How often each round of each case ended.
fn finished(bench: &Bench) -> BTreeMap<(String, u64), u32> {
    let mut rounds = BTreeMap::new();
    for record in bench.records("cohorts/quick") {
        if record["record"] == "run" {
            let round = (
                record["case"].as_str().unwrap().to_owned(),
                record["round"].as_u64().unwrap(),
            );
            *rounds.entry(round).or_insert(0) += 1;
        }
    }
    rounds
}

/// The program of a definition whose result stands in a file: each call waits for `go`, where that is to be.
const PROGRAM: &str = r#"#!/bin/sh
case $1 in
check) echo "$3" >>"$2/checks"; grep -q time "$3/result.json";;
report) echo '{"steps": 3}';;
*)
    echo "$1" >>"$2/calls"
    [ $(wc -l <"$2/calls") != 2 ] || until [ -e "$2/go" ]; do sleep 0.02; done
    echo "{\"time\": $(($1 * 100))}" >"$3/result.json";;
esac
"#;

const TURNS: &str = r#"
target = "command"
control = "one"
[command]
sources = ["run.sh"]
run = ["./run.sh", "{n}", "{cohort}", "{case_dir}"]
check = ["./run.sh", "check", "{cohort}", "{case_dir}"]
[[command.report]]
name = "steps"
run = ["./run.sh", "report"]
[command.result]
time = { file = "result.json", pointer = "/time", unit = "ns" }
steps = { json = "steps", pointer = "/steps", unit = "steps" }
objective = "time"
[parameters]
n = "1:2:1"
[measure]
rounds = 2
pairs = 1
finalists = 0
[[case]]
name = "one"
family = "control"
reason = "the first"
plan = { n = 1 }
[[case]]
name = "two"
family = "other"
reason = "the second"
plan = { n = 2 }
"#;

/// Freezes it and runs it; stops the coordinator during the second call, the last one of the first round, and kills it before
/// it hears of its end. Gives what runs the rest.
fn pair_ended_unheard(bench: &Bench, definition: &str) -> Vec<String> {
    bench.define("turns", definition);
    fs_err::write(bench.path("cohorts/run.sh"), PROGRAM).unwrap();
    bench.expect(0, &["freeze", "cohorts/turns.toml"]);
    let lock = bench.path("device.lock").display().to_string();
    let run = ["run", "cohorts/turns", "--device-lock", &lock];
    let mut child = bench.command(&run).stderr(Stdio::null()).spawn().unwrap();
    let wait = |done: &dyn Fn() -> bool| {
        let deadline = Instant::now() + Duration::from_secs(120);
        while !done() {
            assert!(Instant::now() < deadline, "it never came so far");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    wait(&|| lines(bench, "calls").len() == 2);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    fs_err::write(bench.path("cohorts/turns/go"), "").unwrap();
    // Then the guard has seen the end and noted it.
    wait(&|| {
        let flock = Command::new("flock").args(["--nonblock", &lock, "true"]).status();
        flock.unwrap().success()
    });
    child.kill().unwrap();
    child.wait().unwrap();
    nothing_left(bench);
    assert!(runs(bench, "cohorts/turns").is_empty());
    run.map(str::to_owned).to_vec()
}

fn lines(bench: &Bench, file: &str) -> Vec<String> {
    let text = fs_err::read_to_string(bench.path("cohorts/turns").join(file));
    text.unwrap_or_default().lines().map(str::to_owned).collect()
}

/// The values of the only round that was taken from its logs.
fn taken(bench: &Bench) -> (String, Vec<f64>) {
    let runs = runs(bench, "cohorts/turns");
    let taken: Vec<_> = runs.iter().filter(|run| run["recovered"] == true).collect();
    let [taken] = taken.as_slice() else {
        panic!("one: {runs:?}")
    };
    let samples = taken["measurement"]["samples"].as_array().unwrap();
    assert!(
        samples.iter().all(|one| one["extra"].to_string().contains("steps")),
        "reports are made good: {taken}"
    );
    let values = samples.iter().map(|one| one["value"].as_f64().unwrap()).collect();
    (taken["case"].as_str().unwrap().to_owned(), values)
}

#[test]
fn a_pair_of_commands_that_ended_unheard_is_not_run_again() {
    let bench = Bench::new();
    let run = pair_ended_unheard(&bench, TURNS);
    let run: Vec<&str> = run.iter().map(String::as_str).collect();
    let (_, said) = bench.expect(0, &run);
    assert!(said.contains("taken from its log"), "{said}");
    let (case, values) = taken(&bench);
    let own = if case == "one" { 100.0 } else { 200.0 };
    assert_eq!(values, [own, 100.0], "the case, then the control");
    assert_eq!(runs(&bench, "cohorts/turns").len(), 4);
    let ran = (lines(&bench, "calls").len(), lines(&bench, "checks").len());
    assert_eq!(ran, (8, 8), "nothing ran for nothing");
}

/// Then logs are kept of failures only, and rounds work in a folder of the worker's.
#[test]
fn so_it_is_in_a_large_cohort() {
    let bench = Bench::new();
    let all = "n = \"1:1100:1\"\n[explore]\nexhaustive = { limit = 2000 }";
    let run = pair_ended_unheard(&bench, &TURNS.replace("n = \"1:2:1\"", all));
    assert!(bench.records("cohorts/turns").len() > 1000);
    let run: Vec<&str> = run.iter().map(String::as_str).chain(["--only", "one"]).collect();
    bench.expect(0, &run);
    let (_, values) = taken(&bench);
    let calls = lines(&bench, "calls");
    let measured: Vec<f64> = calls[..2].iter().map(|n| n.parse::<f64>().unwrap() * 100.0).collect();
    assert_eq!(values, measured);
}
