//! Whatever ends a coordinator, nothing measured is lost, nothing is measured twice, and nothing stays behind.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod common;

use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use common::scripted::Scene;
use common::stand_in::{assert_gone, device_lock, running, signal, start};
use common::{parent, within};
use coordinator::lock::HOST_DEVICE;
use coordinator::lock::{DeviceLock, Holder, Mode};
use coordinator::{CohortStatus, ExitCode, RunError, status};
use rustix::process::{Pid, Signal, kill_process};

/// Not a test: a coordinator in a process of its own.
#[test]
#[ignore = "started by other tests"]
fn stand_in() {
    common::stand_in::main();
}

#[test]
fn killed_at_many_moments_and_resumed() {
    let scene = Scene::new();
    let slow = "VALUE=50; (sleep 0.03; sleep 0.03) & sleep 0.05";
    scene.freeze(&[("a", slow), ("b", slow), ("c", slow), ("d", slow)]);
    let mut kills = 0;
    for moment in 0..40_u64 {
        let mut child = start(&scene);
        // From before the first build to the last round: the later ones get further before they are killed.
        std::thread::sleep(Duration::from_millis(20 + moment * 67 % 900));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        if scene.rounds().len() == 15 {
            break;
        }
    }
    assert!(kills >= 3, "{kills}");
    assert_gone(&scene);
    let summary = scene.run();
    assert_eq!((summary.counts.correct, summary.exit_code()), (5, ExitCode::Done));
    let all: Vec<_> = ["a", "b", "c", "control", "d"]
        .iter()
        .flat_map(|case| (0..3).map(|round| ((*case).to_owned(), 1, round)))
        .collect();
    assert_eq!(scene.rounds(), all);
    // At most the one that was running is run again.
    assert!(
        scene.target.total() <= 15 + kills,
        "{} runs, {kills} kills",
        scene.target.total()
    );
    scene.assert_clean();
}

#[test]
fn the_first_interrupt_finishes_what_runs() {
    let scene = Scene::new();
    scene.freeze(&[
        ("a", "VALUE=50; sleep 0.4"),
        ("b", "VALUE=60; sleep 0.4"),
        ("c", "sleep 0.4"),
    ]);
    let mut child = start(&scene);
    assert!(within(Duration::from_secs(20), || scene.target.total() >= 2
        && !running(&scene).is_empty()));
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_gone(&scene);
    let status = status(&scene.cohort(), &[]).unwrap();
    assert_eq!(status.counts.lost_rounds, 0);
    let done = scene.rounds().len();
    assert!(done == scene.target.total() && done < 12);
    scene.run();
    assert_eq!((scene.rounds().len(), scene.target.total()), (12, 12));
    scene.assert_clean();
}

#[test]
fn the_second_interrupt_ends_what_runs() {
    let scene = Scene::new();
    let path = scene.target.calls.with_file_name("mended");
    let stubborn = format!(
        "[ -e '{}' ] || {{ trap '' TERM; setsid sleep 1000 & sleep 1000; sleep 1000; }}",
        path.display()
    );
    scene.freeze(&[("a", "VALUE=50"), ("stubborn", &stubborn)]);
    let mut child = start(&scene);
    assert!(within(Duration::from_secs(20), || running(&scene).len() >= 3));
    let begin = Instant::now();
    signal(&child, Signal::INT);
    let told =
        || std::fs::read_to_string(scene.target.calls.with_file_name(common::stand_in::FINISHING)).unwrap_or_default();
    assert!(within(Duration::from_secs(10), || told() == "x"), "told at the signal");
    assert!(child.try_wait().unwrap().is_none(), "the first one waits for what runs");
    assert!(!running(&scene).is_empty());
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(begin.elapsed() < Duration::from_secs(20));
    assert_eq!(told(), "x");
    assert_gone(&scene);
    assert!(scene.rounds().iter().all(|(case, ..)| case != "stubborn"));
    assert_eq!(status(&scene.cohort(), &[]).unwrap().counts.lost_rounds, 1);
    std::fs::write(path, "").unwrap();
    assert_eq!(scene.run().counts.correct, 3);
    scene.assert_clean();
}

#[test]
fn only_one_coordinator_works_on_a_cohort() {
    let scene = Scene::new();
    scene.freeze(&[("a", "VALUE=50; sleep 1")]);
    let mut child = start(&scene);
    assert!(within(Duration::from_secs(20), || !running(&scene).is_empty()));
    let error = scene.run_with(|options| options.lock_timeout = None).unwrap_err();
    let RunError::Busy(Some(holder)) = &error else {
        panic!("{error:?}")
    };
    assert_eq!((holder.pid, error.exit_code()), (child.id(), ExitCode::LockTimeout));
    let lock = device_lock(&scene);
    let mut seen = None;
    assert!(within(Duration::from_secs(5), || {
        seen = status(&scene.cohort(), &[(HOST_DEVICE.to_owned(), lock.clone())])
            .unwrap()
            .devices
            .into_iter()
            .find(|device| device.ours);
        seen.is_some()
    }));
    assert!(!seen.unwrap().holder.unwrap().case.is_empty());
    assert_eq!(
        status(&scene.cohort(), &[]).unwrap().coordinator.unwrap().pid,
        child.id()
    );
    let now = || status(&scene.cohort(), &[]).unwrap();
    let a = |status: &CohortStatus| matches!(&status.running[..], [one] if one.case == "a");
    let mut live = now();
    assert!(within(Duration::from_secs(10), || {
        live = now();
        a(&live)
    }));
    assert_eq!(live.counts.lost_rounds, 0);
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    let dead = now();
    assert_eq!((dead.running.len(), dead.counts.lost_rounds), (0, 1));
    assert_gone(&scene);
    assert_eq!(status(&scene.cohort(), &[]).unwrap().coordinator, None);
    assert_eq!(scene.run().counts.correct, 2);
}

#[test]
fn two_cohorts_take_turns_on_one_device() {
    let (one, two) = (Scene::new(), Scene::new());
    let shared = device_lock(&one);
    // Each run takes a folder that the other one must not find.
    let critical = format!(
        "mkdir '{0}' || exit 9; sleep 0.02; rmdir '{0}'",
        shared.with_file_name("busy").display()
    );
    for scene in [&one, &two] {
        scene.freeze(&[("a", &critical), ("b", &critical), ("c", &critical)]);
    }
    std::thread::scope(|scope| {
        for scene in [&one, &two] {
            let shared = shared.clone();
            scope.spawn(move || {
                let summary = scene.run_with(|options| options.device_lock = Some(shared)).unwrap();
                assert_eq!((summary.counts.correct, summary.counts.failed()), (4, 0));
            });
        }
    });
}

#[test]
fn a_killed_guard_costs_one_case() {
    let scene = Scene::new();
    scene.freeze(&[
        ("a", "VALUE=50"),
        ("victim", "sleep 1000; sleep 1000"),
        ("b", "VALUE=60"),
    ]);
    let summary = std::thread::scope(|scope| {
        scope.spawn(|| {
            assert!(within(Duration::from_secs(20), || !running(&scene).is_empty()));
            let sleeping = || {
                running(&scene).into_iter().find(|pid| {
                    std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "sleep")
                })
            };
            let mut found = None;
            assert!(within(Duration::from_secs(20), || {
                found = sleeping();
                found.is_some()
            }));
            let guard = parent(parent(found.unwrap()));
            kill_process(Pid::from_raw(guard).unwrap(), Signal::KILL).unwrap();
        });
        scene.run()
    });
    assert_eq!((summary.counts.correct, summary.counts.run_failed), (3, 1));
    let failures = status(&scene.cohort(), &[]).unwrap().failures;
    assert!(
        failures
            .keys()
            .next()
            .unwrap()
            .contains("the guard ended before its command"),
        "{failures:?}"
    );
    assert_gone(&scene);
    scene.assert_clean();
}

#[test]
fn a_torn_last_line_is_told_and_its_round_is_run_again() {
    let scene = Scene::new();
    scene.freeze(&[("a", "VALUE=50")]);
    scene.run();
    let file = scene.record_file();
    let text = std::fs::read(&file).unwrap();
    std::fs::write(&file, &text[..text.len() - 5]).unwrap();
    let summary = scene.run();
    assert_eq!(
        (summary.rounds_done, summary.dropped.len(), summary.counts.correct),
        (1, 1, 2)
    );
}

#[test]
fn the_time_limit_ends_waiting_for_the_device() {
    for mode in [Mode::Exclusive, Mode::Shared] {
        // Held exclusively, builds wait; held shared, rounds do.
        let scene = Scene::new();
        scene.freeze(&[("a", "VALUE=50")]);
        let lock = DeviceLock::try_acquire(&device_lock(&scene), mode, &Holder::this_process("other", "x"));
        let held = lock.unwrap().unwrap();
        let begin = Instant::now();
        let limit = Duration::from_secs(6);
        let summary = scene.run_with(|options| options.time_limit = Some(limit)).unwrap();
        assert!(summary.time_over && begin.elapsed() >= limit);
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
        assert_eq!((summary.rounds_done, summary.counts.lost_rounds), (0, 0));
        assert_eq!(summary.counts.built, if mode == Mode::Shared { 2 } else { 0 });
        drop(held);
        assert_eq!(scene.run().counts.correct, 2);
    }
}

#[test]
fn the_first_interrupt_ends_what_only_waits_for_the_device() {
    for mode in [Mode::Exclusive, Mode::Shared] {
        let scene = Scene::new();
        scene.freeze(&[("a", "VALUE=50")]);
        let lock = DeviceLock::try_acquire(&device_lock(&scene), mode, &Holder::this_process("other", "x"));
        let held = lock.unwrap().unwrap();
        let mut child = start(&scene);
        let waiting = || {
            let status = status(&scene.cohort(), &[]).unwrap();
            let ready = if mode == Mode::Shared { 2 } else { 0 };
            status.coordinator.is_some() && status.counts.built == ready
        };
        assert!(within(Duration::from_secs(20), waiting));
        // Its guard is asked for by then, or will be: either way nothing begins.
        std::thread::sleep(Duration::from_millis(300));
        signal(&child, Signal::INT);
        let begin = Instant::now();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
        drop(held);
        assert_gone(&scene);
        let status = status(&scene.cohort(), &[]).unwrap();
        assert_eq!((status.counts.lost_rounds, scene.target.total()), (0, 0));
        assert_eq!(scene.run().counts.correct, 2);
    }
}
