//! A sweep is killed in the middle and resumed.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
