//! Faults of disk, clock, locks and limits, made to happen.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod common;

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use common::scripted::Scene;
use common::stand_in::{device_lock, start_after};
use coordinator::sweep::Retry;
use coordinator::{Event, ExitCode, RunError, run, status};

/// Not a test: a coordinator in a process of its own.
#[test]
#[ignore = "started by other tests"]
fn stand_in() {
    common::stand_in::main();
}

/// `(exit code, what it said)` of a coordinator that a shell starts after `before`.
fn after(before: &str, scene: &Scene) -> (Option<i32>, String) {
    let mut child = start_after(before, scene);
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), said)
}

/// Files may not grow beyond this: shells count 512 or 1,024 bytes. Without the trap the limit's signal would end the
/// processes before a write can fail.
const FULL: &str = "trap '' XFSZ; ulimit -f 16";

#[test]
fn a_full_disk_while_records_are_written() {
    let mut scene = Scene::new();
    scene.measure.rounds = 30;
    scene.freeze(&[("a", "VALUE=50")]);
    let (code, said) = after(FULL, &scene);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("bytes were written") || said.contains("File too large"),
        "{said}"
    );
    let before = scene.rounds();
    assert!((1..60).contains(&before.len()), "{}", before.len());
    let calls = scene.target.total();
    let summary = scene.run();
    assert_eq!((summary.exit_code(), summary.dropped.len()), (ExitCode::Done, 0));
    // Even what could not be written down was not lost.
    assert_eq!((calls, summary.rounds_recovered), (before.len() + 1, 1));
    assert_eq!((scene.rounds().len(), scene.target.total()), (60, 60));
    scene.assert_clean();
}

#[test]
fn a_full_disk_while_something_is_built() {
    let mut scene = Scene::new();
    scene.target.build =
        "{ cat plan.sh; ! grep -q BIG plan.sh || head -c 200000 /dev/zero | tr '\\0' '#'; } > \"$1\"".to_owned();
    scene.freeze(&[("small", "VALUE=50"), ("big", "VALUE=60 # BIG")]);
    let (code, said) = after(FULL, &scene);
    assert_eq!(code, Some(3), "{said}");
    let failures = status(&scene.cohort(), &[]).unwrap().failures;
    let (reason, cases) = failures.iter().next().unwrap();
    assert!(
        failures.len() == 1 && cases == &["big"] && reason.contains("File too large"),
        "{failures:?}"
    );
    let summary = scene.run_with(|options| options.retry = vec![Retry::Failed]).unwrap();
    assert_eq!((summary.counts.correct, summary.rounds_done), (3, 3));
    scene.assert_clean();
}

#[test]
fn a_cohort_that_can_not_be_written() {
    let scene = Scene::new();
    scene.freeze(&[("a", "VALUE=50")]);
    let folder = scene.cohort().display().to_string();
    let readonly = format!("mount --bind '{folder}' '{folder}' && mount -o remount,bind,ro '{folder}'");
    // Of root's permissions only the file system itself takes some away.
    let possible = Command::new("unshare")
        .args(["-m", "sh", "-c", &readonly])
        .stderr(Stdio::null())
        .status();
    if !possible.is_ok_and(|status| status.success()) {
        println!("NOT TESTED: this process can't mount a folder read-only");
        return;
    }
    let script = readonly.replace('\'', "");
    let inside = format!("exec unshare -m sh -c '{script} && exec \"$0\" \"$@\"' \"$0\" \"$@\"");
    let (code, said) = after(&inside, &scene);
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("Read-only file system") && said.contains("cohort"),
        "{said}"
    );
    assert!(scene.records().is_empty() && scene.target.total() == 0);
    assert_eq!(scene.run().counts.correct, 2);
}

#[test]
fn every_record_may_be_cut_anywhere() {
    let mut scene = Scene::new();
    scene.measure.rounds = 1;
    scene.freeze(&[("a", "VALUE=50")]);
    scene.run();
    let file = scene.record_file();
    let whole = std::fs::read(&file).unwrap();
    let rounds = scene.rounds();
    let ends: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] == b'\n').collect();
    let mut begin = 0_usize;
    for end in ends {
        // Nothing of the line, half of it, all but its end.
        for at in [begin, begin.midpoint(end), end] {
            for entry in std::fs::read_dir(scene.dir().records()).unwrap() {
                std::fs::remove_file(entry.unwrap().path()).unwrap();
            }
            std::fs::write(&file, &whole[..at]).unwrap();
            let kept = scene.rounds();
            let summary = scene.run();
            let torn = usize::from(at != begin);
            assert_eq!((summary.counts.correct, summary.dropped.len()), (2, torn), "{at}");
            assert_eq!(summary.rounds_done, 2 - kept.len() as u64, "{at}");
            assert_eq!(scene.rounds(), rounds, "{at}");
        }
        begin = end + 1;
    }
    scene.assert_clean();
}

#[test]
fn a_bad_line_in_the_middle_stops_a_run_and_is_named() {
    let scene = Scene::new();
    scene.freeze(&[("a", "VALUE=50")]);
    scene.run();
    let file = scene.record_file();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("\"round\":1", "\"round\":x", 1)).unwrap();
    let calls = scene.target.total();
    let error = scene.run_with(|_| ()).unwrap_err();
    let words = error.to_string();
    assert!(
        words.contains(file.to_str().unwrap()) && words.contains("line "),
        "{words}"
    );
    assert_eq!(scene.target.total(), calls);
}

/// Seconds since 1970 that the clock shows next.
static CLOCK: AtomicI64 = AtomicI64::new(2_000_000_000);

fn backwards() -> jiff::Timestamp {
    jiff::Timestamp::from_second(CLOCK.fetch_sub(3600, Ordering::SeqCst)).unwrap()
}

#[test]
fn a_clock_that_runs_backwards_changes_nothing() {
    let mut scene = Scene::new();
    scene.measure.cross = 1;
    scene.measure.finalists = 4;
    scene.measure.confirm = 1;
    scene.freeze(&[("a", "VALUE=50"), ("b", "VALUE=50 #")]);
    for only in ["a", "b", "*"] {
        let back = |options: &mut coordinator::RunOptions<'_>| {
            options.clock = backwards;
            options.only = vec![only.to_owned()];
        };
        scene.run_with(back).unwrap();
    }
    let summary = scene.run_with(|options| options.clock = backwards).unwrap();
    assert_eq!((summary.counts.correct, summary.exit_code()), (5, ExitCode::Done));
    assert!(scene.target.counts().values().all(|calls| *calls <= 4));
    let times: Vec<_> = scene.records().iter().map(|record| record.at).collect();
    assert!(!times.is_sorted());
    assert_eq!(scene.run().rounds_done, 0);
}

#[test]
fn outputs_of_every_bad_kind_are_no_results() {
    let scene = Scene::new();
    let pair = "echo 'control 1'; echo 'case 1'; echo 'control 1'; exit 0";
    scene.freeze(&[
        ("nan", &format!("echo 'case NaN'; {pair}")),
        ("infinite", &format!("echo 'case inf'; {pair}")),
        ("negative", &format!("echo 'case -1'; {pair}")),
        ("silent", "exit 0"),
        ("binary", "head -c 4096 /dev/urandom; exit 0"),
        ("fine", "VALUE=50"),
    ]);
    let summary = scene.run();
    let counts = summary.counts;
    assert_eq!(
        (counts.correct, counts.run_failed, summary.exit_code()),
        (2, 5, ExitCode::SomeFailed)
    );
    let failures = status(&scene.cohort(), &[]).unwrap().failures;
    let reason = |case: &str| {
        failures
            .iter()
            .find(|(_, cases)| cases.iter().any(|c| c == case))
            .unwrap()
            .0
    };
    for case in ["nan", "infinite", "negative"] {
        assert!(
            reason(case).contains("sample 0 is no positive finite number"),
            "{}",
            reason(case)
        );
    }
    assert!(reason("silent").contains("2 pairs wanted"));
    assert!(reason("binary").contains("can't be read"));
}

#[test]
fn a_build_that_hangs_is_ended_at_its_time() {
    let mut scene = Scene::new();
    scene.measure.build_timeout_ms = 1_500;
    scene.target.build =
        "! grep -q HANGS plan.sh || { trap '' TERM; setsid sleep 1000 & sleep 1000; sleep 1000; }; cp plan.sh \"$1\""
            .to_owned();
    scene.freeze(&[("hangs", "VALUE=50 # HANGS"), ("fine", "VALUE=60")]);
    let summary = scene.run();
    assert_eq!((summary.counts.correct, summary.counts.timed_out), (2, 1));
    let failures = status(&scene.cohort(), &[]).unwrap().failures;
    assert!(
        failures.keys().next().unwrap().contains("ran longer than 1.5 s"),
        "{failures:?}"
    );
    scene.assert_clean();
}

#[test]
fn limits_of_every_size() {
    let scene = Scene::new();
    scene.freeze(&[("a", "VALUE=50")]);
    let limited = |limit| scene.run_with(move |options| options.time_limit = Some(limit)).unwrap();
    let none = limited(Duration::ZERO);
    assert_eq!((none.rounds_done, none.time_over), (0, true));
    // No clock shows this time, and more jobs than there are builds are fine, as are none.
    let summary = scene
        .run_with(|options| {
            (options.time_limit, options.jobs) = (Some(Duration::MAX), 0);
            options.only = vec!["a".to_owned()];
        })
        .unwrap();
    assert_eq!((summary.rounds_done, summary.time_over), (3, false));
    let summary = scene.run_with(|options| options.jobs = usize::MAX).unwrap();
    assert_eq!((summary.rounds_done, summary.counts.correct), (3, 2));
}

/// One process that holds the lock as `flock(1)` does.
fn flock(scene: &Scene) -> std::process::Child {
    let lock = device_lock(scene);
    let script = format!("exec 9>>'{}'; flock 9; echo; exec sleep 1000", lock.display());
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    child
}

#[test]
fn a_sweep_waits_for_flock_and_goes_on_when_its_holder_is_killed() {
    let scene = Scene::new();
    scene.freeze(&[("a", "VALUE=50")]);
    let mut holder = flock(&scene);
    let error = scene
        .run_with(|options| options.lock_timeout = Some(Duration::ZERO))
        .unwrap_err();
    assert_eq!(error.exit_code(), ExitCode::LockTimeout, "{error}");
    assert!(matches!(error, RunError::Process { .. }), "{error:?}");
    assert!(scene.rounds().is_empty());
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        let sweep = scope.spawn(|| {
            let options = scene.options();
            run(&scene.cohort(), &options, None, &mut |event, _| {
                // The kernel names who took the lock, a `flock` that has gone; its heir has no name here.
                if let Event::Waiting { .. } = event {
                    tell.send(()).unwrap();
                }
            })
        });
        told.recv_timeout(Duration::from_secs(20)).unwrap();
        let begin = Instant::now();
        holder.kill().unwrap();
        holder.wait().unwrap();
        let summary = sweep.join().unwrap().unwrap();
        assert_eq!(summary.counts.correct, 2);
        assert!(begin.elapsed() < Duration::from_secs(20));
    });
}
