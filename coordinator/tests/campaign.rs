//! Kills at random moments: of the coordinator, of its guards, of what they run. Nothing is lost, nothing is measured
//! twice but what was in flight, nothing stays. `CAMPAIGN_KILLS` asks for more than a quick test can afford.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod common;

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use cohort::{Record, RecordKind, Snapshot};
use common::scripted::Scene;
use common::stand_in::{self, assert_gone, children, running};
use common::within;
use coordinator::ExitCode;
use coordinator::sweep::Retry;
use rustix::process::{Pid, Signal, kill_process};
use stats::random::SplitMix64;

/// Not a test: a coordinator in a process of its own.
#[test]
#[ignore = "started by other tests"]
fn stand_in() {
    stand_in::main();
}

fn kill(pid: i32) -> bool {
    Pid::from_raw(pid).is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
}

#[test]
fn kills_of_everything_at_random_moments() {
    let wanted = std::env::var("CAMPAIGN_KILLS").map_or(24, |text| text.parse::<usize>().unwrap());
    let mut scene = Scene::new();
    scene.measure.rounds = 12;
    scene.measure.confirm = 1;
    let slow = "VALUE=50; (sleep 0.02; sleep 0.02) & sleep 0.04";
    scene.target.build = "sleep 0.05; cp plan.sh \"$1\"".to_owned();
    scene.freeze(&[("a", slow), ("b", slow), ("c", "VALUE=60; sleep 0.03"), ("d", slow)]);
    let cache = tempfile::tempdir().unwrap();
    let mut random = SplitMix64::new(7);
    let mut kills: BTreeMap<&str, usize> = BTreeMap::new();
    let mut seen: Vec<Record> = Vec::new();
    let mut turn = 0;
    while kills.values().sum::<usize>() < wanted {
        let mut command = Command::new(std::env::current_exe().unwrap());
        stand_in::prepare(&mut command, &scene, Some(cache.path()));
        let mut child = command.env(stand_in::RETRY, "1").stderr(Stdio::null()).spawn().unwrap();
        let mut pause = || std::thread::sleep(Duration::from_millis(20 + random.next_u64() % 500));
        pause();
        turn = (turn + 1) % 3;
        let mut victims = Vec::new();
        if turn > 0 {
            // What it takes to have one of them is often not there at that very moment.
            within(Duration::from_secs(2), || {
                victims = if turn == 1 {
                    children(child.id())
                } else {
                    running(&scene)
                };
                !victims.is_empty()
            });
        }
        let what = if turn == 1 { "guard" } else { "child" };
        if let Some(&victim) = victims.first()
            && kill(victim)
        {
            *kills.entry(what).or_default() += 1;
            pause();
        }
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            *kills.entry("coordinator").or_default() += 1;
        } else if victims.is_empty() {
            // Everything is done: what a larger campaign still wants is done on another cohort.
            break;
        }
        child.wait().unwrap();
        let now = scene.records();
        assert!(seen.iter().all(|record| now.contains(record)), "a record is lost");
        seen = now;
    }
    assert_gone(&scene);
    let summary = scene.run_with(|options| options.retry = vec![Retry::Failed]).unwrap();
    assert_eq!(
        (summary.exit_code(), summary.counts.correct),
        (ExitCode::Done, summary.counts.total())
    );
    let records = scene.records();
    assert!(seen.iter().all(|record| records.contains(record)), "a record is lost");

    let mut rounds: BTreeMap<(&str, u32, u32), usize> = BTreeMap::new();
    let mut recovered = 0;
    for record in &records {
        if let RecordKind::Run {
            round,
            recovered: taken,
            ..
        } = &record.kind
        {
            *rounds.entry((&record.case, record.attempt, *round)).or_default() += 1;
            recovered += usize::from(*taken);
        }
    }
    let twice = rounds.values().filter(|times| **times > 1).count();
    let snapshot = Snapshot::read(&scene.dir()).unwrap();
    let state = snapshot.state().unwrap();
    let attempts = state.cases().iter().flat_map(|case| case.attempts.values());
    let begun_in_vain: u64 = attempts.map(|attempt| attempt.lost_starts).sum();
    let in_flight = usize::try_from(begun_in_vain).unwrap() - recovered;
    let calls = scene.target.total();
    println!(
        "kills {kills:?}; records {} (lost 0); rounds {} (twice {twice}, in flight {in_flight}, recovered {recovered}); \
         runs {calls}; processes left {}",
        records.len(),
        rounds.len(),
        running(&scene).len()
    );
    assert_eq!(twice, 0);
    assert!(in_flight <= kills["coordinator"], "{in_flight} in flight");
    // A coordinator that dies between the start of a command and the record of it leaves a run that no record begins.
    assert!(
        calls <= rounds.len() + kills["coordinator"],
        "{calls} runs for {} rounds",
        rounds.len()
    );
    scene.assert_clean();
    assert!(!scene.dir().case_dirs().join(".running").exists());
    let left: Vec<_> = std::fs::read_dir(cache.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with('.'))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
