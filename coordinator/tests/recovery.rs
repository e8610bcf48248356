//! A round that ended well just before its coordinator died is taken from its log; nothing else is.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod common;

use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use cohort::{RecordKind, RunOutcome, ShardId, case_folder};
use common::scripted::Scene;
use common::stand_in::{assert_gone, name, running, signal, start, start_on_shard};
use common::within;
use coordinator::Event;
use coordinator::sweep::hand_out;
use rustix::process::Signal;
use target_api::{Exclusive, Of};

/// Not a test: a coordinator in a process of its own.
#[test]
#[ignore = "started by other tests"]
fn stand_in() {
    common::stand_in::main();
}

/// Stops a coordinator that was started, while a command sleeps and `now` holds of all calls so far, lets what runs come to its
/// end, and kills the coordinator before it hears of that.
fn kill_unheard(scene: &Scene, mut child: Child, now: impl Fn(&[String]) -> bool) {
    let calls = || std::fs::read_to_string(&scene.target.calls).unwrap_or_default();
    let sleeps = || running(scene).into_iter().any(|pid| name(pid) == "sleep");
    assert!(within(Duration::from_secs(30), || {
        sleeps() && now(&calls().lines().map(str::to_owned).collect::<Vec<_>>())
    }));
    signal(&child, Signal::STOP);
    assert!(within(Duration::from_secs(20), || running(scene).is_empty()));
    // The guard ends after its command.
    assert!(within(Duration::from_secs(20), || common::stand_in::is_free(
        &common::stand_in::device_lock(scene)
    )));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_gone(scene);
}

/// The same while a round of `a` goes on.
fn killed_after_the_end(script: &str) -> Scene {
    let mut scene = Scene::new();
    scene.measure.rounds = 2;
    scene.freeze(&[("a", script)]);
    kill_unheard(&scene, start(&scene), |_| true);
    scene
}

/// Two rounds of `a`, each with `pairs` pairs of commands that take turns.
fn taking_turns(pairs: u32, script: &str, control: &'static str) -> Scene {
    let mut scene = Scene::new();
    scene.target.alternating = true;
    scene.measure.rounds = 2;
    scene.measure.pairs = pairs;
    scene.control = control;
    scene.freeze(&[("a", script)]);
    scene
}

/// What is measured again later need not be waited for.
const SLEEPS_TWICE: &str = "[ $(grep -c \"^$4\" \"$CALLS\") -gt 2 ] || sleep 0.4";

/// How often `folder` was called.
fn count(calls: &[String], folder: &str) -> usize {
    calls.iter().filter(|call| *call == folder).count()
}

/// Rounds that began and never ended, those that were done again included.
fn lost_starts(scene: &Scene) -> u64 {
    let snapshot = cohort::Snapshot::read(&scene.dir()).unwrap();
    let state = snapshot.state().unwrap();
    let attempts = state.cases().iter().flat_map(|case| case.attempts.values());
    attempts.map(|attempt| attempt.lost_starts).sum()
}

fn copy(from: &Path, to: &Path) {
    if to.exists() {
        std::fs::remove_dir_all(to).unwrap();
    }
    assert!(
        Command::new("cp")
            .arg("-a")
            .args([from, to])
            .status()
            .unwrap()
            .success()
    );
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(path, text.replacen(from, to, 1)).unwrap();
}

fn cut(path: &Path) {
    let text = std::fs::read(path).unwrap();
    std::fs::write(path, &text[..text.len() / 2]).unwrap();
}

/// Does each of these to the `saved` cohort and goes on: everything is measured, nothing taken, and it is told why; nothing
/// is where the reason is empty.
fn nothing_is_taken(scene: &Scene, saved: &Path, tampers: &[(&str, &str, &dyn Fn())]) {
    for (what, reason, tamper) in tampers {
        copy(saved, &scene.cohort());
        tamper();
        let mut told = Vec::new();
        let summary = scene.run_telling(|event| {
            if let Event::Doubted { case, why, .. } = event {
                told.push(format!("{case}: {why}"));
            }
        });
        assert_eq!(told.len(), usize::from(!reason.is_empty()), "{what}: {told:?}");
        assert!(
            told.iter().all(|one| one.starts_with("a: ") && one.contains(reason)),
            "{what}: {told:?}"
        );
        assert_eq!((summary.rounds_recovered, summary.counts.correct), (0, 2), "{what}");
        assert_eq!(scene.rounds(), whole(), "{what}");
        scene.assert_clean();
    }
}

/// All rounds, once each.
fn whole() -> Vec<(String, u32, u32)> {
    let rounds = ["a", "control"].into_iter().flat_map(|case| [(case, 0), (case, 1)]);
    rounds.map(|(case, round)| (case.to_owned(), 1, round)).collect()
}

/// Whoever writes a record says on which machine it was measured.
#[test]
fn a_machine_of_another_class_takes_nothing_from_the_log() {
    let mut scene = killed_after_the_end("VALUE=50; sleep 0.6");
    scene.machine.class.insert("model".to_owned(), "stone".to_owned());
    let summary = scene
        .run_with(|options| options.unlike = vec!["machine.model".to_owned()])
        .unwrap();
    assert_eq!((summary.rounds_recovered, summary.counts.correct), (0, 2));
    assert_eq!(scene.rounds(), whole());
}

#[test]
fn what_ended_well_is_not_measured_twice_and_what_is_in_doubt_is() {
    let scene = killed_after_the_end(&format!("VALUE=50; echo spans > profile.json; {SLEEPS_TWICE}"));
    let (cohort, saved) = (scene.cohort(), scene.cohort().with_file_name("saved"));
    copy(&cohort, &saved);
    let before = scene.target.total();
    let summary = scene.run();
    assert_eq!((summary.rounds_recovered, summary.counts.correct), (1, 2));
    assert_eq!(scene.rounds(), whole());
    assert_eq!(scene.target.total(), 4, "{before} before");
    let recovered: Vec<_> = scene
        .records()
        .into_iter()
        .filter(|record| matches!(record.kind, RecordKind::Run { recovered: true, .. }))
        .collect();
    let RecordKind::Run {
        run_ms, profile_sha256, ..
    } = &recovered[0].kind
    else {
        panic!()
    };
    assert_eq!(*profile_sha256, Some(cohort::sha256_hex(b"spans\n")));
    assert!(
        recovered.len() == 1 && recovered[0].case == "a" && *run_ms >= 400,
        "{recovered:?}"
    );
    scene.assert_clean();

    let dir = scene.dir();
    let (log, command, profile) = (dir.case_run_log("a"), dir.case_command("a"), dir.case_profile("a"));
    let running = dir.case_dirs().join(".running");
    let (note, stderr) = (running.join("0.ended.json"), running.join("0.stderr"));
    let tampers: [(&str, &str, &dyn Fn()); 11] = [
        ("a partial log", "run.log` was changed after its end", &|| cut(&log)),
        ("other errors", "0.stderr` was changed after its end", &|| {
            std::fs::write(&stderr, "something\n").unwrap();
        }),
        ("another log", "run.log` was changed after its end", &|| {
            edit(&log, "case ", "case 1");
        }),
        ("another profile", "profile.json` was changed after its end", &|| {
            edit(&profile, "spans", "others");
        }),
        ("no note", "", &|| std::fs::remove_file(&note).unwrap()),
        ("half a note", "0.ended.json` is gone or damaged", &|| cut(&note)),
        ("half a command", "command.json` is gone or damaged", &|| cut(&command)),
        ("another plan", "its `plan` differs", &|| {
            edit(&command, "VALUE=50", "VALUE=51");
        }),
        ("another round", "its `round` differs", &|| {
            edit(&command, "\"round\": ", "\"round\": 1");
        }),
        ("another artifact", "command.json` is not that of this round", &|| {
            edit(&command, "\"plan\": \"", "\"plan\": \"0");
        }),
        ("a failing end", "0.ended.json` does not tell of a good end", &|| {
            edit(&note, "\"exit_code\":0", "\"exit_code\":1");
        }),
    ];
    nothing_is_taken(&scene, &saved, &tampers);
}

#[test]
fn a_failed_round_is_measured_again() {
    let scene = killed_after_the_end("sleep 0.6; exit 3");
    assert!(!scene.dir().case_dirs().join(".running/0.ended.json").exists());
    let calls = || scene.target.counts()[&cohort::case_folder("a")];
    let before = calls();
    let summary = scene.run();
    assert_eq!((summary.rounds_recovered, summary.counts.run_failed), (0, 1));
    assert_eq!(calls(), before + 1);
}

#[test]
fn a_wrong_result_is_never_recovered() {
    let scene = killed_after_the_end("VALUE=50; sleep 0.6; WRONG='element 3'");
    let summary = scene.run();
    assert_eq!(summary.rounds_recovered, 0);
    assert_eq!(summary.stopped_by, ["a"]);
}

#[test]
fn case_and_control_in_turn_are_taken_as_a_whole() {
    let scene = taking_turns(2, &format!("VALUE=50; {SLEEPS_TWICE}"), "VALUE=100");
    let (cohort, saved) = (scene.cohort(), scene.cohort().with_file_name("saved"));
    // Of two pairs case, control, control, case: the last command of the first round.
    let a = case_folder("a");
    kill_unheard(&scene, start(&scene), |calls| count(calls, &a) == 2);
    copy(&cohort, &saved);
    let summary = scene.run();
    assert_eq!((summary.rounds_recovered, summary.counts.correct), (1, 2));
    assert_eq!(scene.rounds(), whole());
    // Two cases, two rounds, two pairs, two commands.
    assert_eq!(scene.target.total(), 16);
    let records = scene.records();
    let mut of_a = records.iter().filter(|record| record.case == "a");
    let taken = of_a.find_map(|record| match &record.kind {
        RecordKind::Run {
            recovered: true,
            outcome: RunOutcome::Correct { measurement },
            run_ms,
            ..
        } => Some((measurement, *run_ms)),
        _ => None,
    });
    let (measurement, run_ms) = taken.unwrap();
    let samples: Vec<_> = measurement.samples.iter().map(|one| (one.of, one.value)).collect();
    let (case, control) = ((Of::Case, 5000.0), (Of::Control, 10000.0));
    assert_eq!(samples, [case, control, control, case]);
    assert!(run_ms >= 800, "the time of all its commands: {run_ms}");
    scene.assert_clean();
    nothing_of_turns_is_taken(&scene, &saved);
}

/// Each file that a round of case and control in turn is taken from, changed in some way.
fn nothing_of_turns_is_taken(scene: &Scene, saved: &Path) {
    let dir = scene.dir();
    let running = dir.case_dirs().join(".running");
    let (log, command) = (dir.case_run_log("a"), dir.case_command("a"));
    let beside = dir.case_dir("a").join("control");
    let (other_log, other_command) = (beside.join("run.log"), beside.join("command.json"));
    let (note, earlier) = (running.join("0.ended.json"), running.join("0.earlier.jsonl"));
    let (stderr, other_stderr) = (running.join("0.stderr"), running.join("0.control"));
    let lines = |keep: &dyn Fn(&[&str]) -> Vec<String>| {
        let text = std::fs::read_to_string(&earlier).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        std::fs::write(&earlier, keep(&lines).join("\n") + "\n").unwrap();
    };
    let own = |lines: &[&str]| -> Vec<String> { lines.iter().map(|&line| line.to_owned()).collect() };
    nothing_is_taken(
        scene,
        saved,
        &[
            ("a partial log", "run.log` was changed after its end", &|| cut(&log)),
            ("a partial log of the control", "control/run.log` was changed", &|| {
                cut(&other_log);
            }),
            ("another log", "run.log` was changed after its end", &|| {
                edit(&log, "case ", "case 1");
            }),
            ("another log of the control", "control/run.log` was changed", &|| {
                edit(&other_log, "case ", "case 1");
            }),
            ("other errors", "0.stderr` was changed after its end", &|| {
                std::fs::write(&stderr, "x").unwrap();
            }),
            ("other errors of the control", "0.control` was changed", &|| {
                std::fs::write(&other_stderr, "x").unwrap();
            }),
            ("no note", "", &|| std::fs::remove_file(&note).unwrap()),
            ("half a note", "0.ended.json` is gone or damaged", &|| cut(&note)),
            ("a failing end", "0.ended.json` does not tell of a good end", &|| {
                edit(&note, "\"exit_code\":0", "\"exit_code\":1");
            }),
            ("half a command", "command.json` is gone or damaged", &|| cut(&command)),
            (
                "half a command of the control",
                "control/command.json` was changed",
                &|| cut(&other_command),
            ),
            ("another plan", "its `plan` differs", &|| {
                edit(&command, "VALUE=50", "VALUE=51");
            }),
            (
                "another plan of the control",
                "control/command.json` was changed",
                &|| {
                    edit(&other_command, "VALUE=100", "VALUE=101");
                },
            ),
            ("another round", "its `round` differs", &|| {
                edit(&command, "\"round\": ", "\"round\": 1");
            }),
            ("another turn", "its `turn` differs", &|| {
                edit(&command, "\"pair\": 1", "\"pair\": 0");
            }),
            ("another artifact", "command.json` is not that of this round", &|| {
                edit(&command, "\"control.plan\": \"", "\"control.plan\": \"0");
            }),
            ("no earlier commands", "0.earlier.jsonl` is gone or damaged", &|| {
                std::fs::remove_file(&earlier).unwrap();
            }),
            ("half of them", "0.earlier.jsonl` is gone or damaged", &|| cut(&earlier)),
            (
                "one of them with another number",
                "0.earlier.jsonl` was changed",
                &|| edit(&earlier, "10000", "10001"),
            ),
            ("one of them missing", "does not tell of each command", &|| {
                lines(&|lines| own(&lines[1..]));
            }),
            ("one of them twice", "does not tell of each command", &|| {
                lines(&|lines| own(&[lines[0], lines[0], lines[2]]));
            }),
            ("one too many", "does not tell of each command", &|| {
                lines(&|lines| own(&[lines, &lines[2..]].concat()));
            }),
        ],
    );
}

#[test]
fn a_control_that_ends_a_round_is_heard_of_too() {
    let scene = taking_turns(1, "VALUE=50", "VALUE=100; sleep 0.4");
    let order = [case_folder("a"), "control".to_owned()];
    kill_unheard(&scene, start(&scene), |calls| calls.ends_with(&order));
    let summary = scene.run();
    assert_eq!((summary.rounds_recovered, summary.counts.correct), (1, 2));
    assert_eq!((scene.rounds(), scene.target.total()), (whole(), 8));
    assert_eq!(lost_starts(&scene), 1);
    scene.assert_clean();
}

#[test]
fn half_a_pair_is_measured_again() {
    let script = format!("VALUE=50; {SLEEPS_TWICE}");
    let a = case_folder("a");
    // The first command ended unheard; it was heard of and the second one began; a pair is whole, the round is not.
    for (pairs, unheard, runs) in [(1, true, 1), (1, false, 2), (2, true, 3)] {
        let scene = taking_turns(pairs, &script, "VALUE=100; sleep 0.2");
        // Of the first round.
        let now = |calls: &[String]| {
            let from = calls.iter().position(|call| *call == a);
            from.is_some_and(|from| calls.len() - from == runs)
        };
        if unheard {
            kill_unheard(&scene, start(&scene), now);
        } else {
            let mut child = start(&scene);
            let calls = || std::fs::read_to_string(&scene.target.calls).unwrap_or_default();
            assert!(within(Duration::from_secs(30), || now(&calls()
                .lines()
                .map(str::to_owned)
                .collect::<Vec<_>>())));
            child.kill().unwrap();
            child.wait().unwrap();
            assert_gone(&scene);
        }
        let summary = scene.run();
        assert_eq!((summary.rounds_recovered, summary.counts.correct), (0, 2), "{pairs}");
        assert_eq!(scene.rounds(), whole());
        let all = 2 * 2 * 2 * pairs as usize;
        assert_eq!(scene.target.total(), all + runs, "{pairs}: that round alone");
        assert_eq!(lost_starts(&scene), 1);
        scene.assert_clean();
    }
}

#[test]
fn a_failed_end_of_turns_is_measured_again() {
    // Case, control, control, case: the last command of the first round.
    for end in ["exit 3", "WRONG='element 3'"] {
        let script = format!("VALUE=50; [ $(grep -c \"^$4\" \"$CALLS\") != 2 ] || {{ sleep 0.4; {end}; }}");
        let scene = taking_turns(2, &script, "VALUE=100");
        let a = case_folder("a");
        kill_unheard(&scene, start(&scene), |calls| count(calls, &a) == 2);
        // It fails once only.
        let summary = scene.run();
        assert_eq!((summary.rounds_recovered, summary.counts.correct), (0, 2), "{end}");
        assert_eq!((scene.rounds(), lost_starts(&scene)), (whole(), 1));
    }
}

/// Fresh builds have artifacts of their own, and more pairs.
#[test]
fn rounds_of_confirmations_are_taken_too() {
    for (alternating, last) in [(false, 1), (true, 4)] {
        let mut scene = Scene::new();
        scene.target.alternating = alternating;
        scene.measure.rounds = 1;
        scene.measure.confirm = 1;
        let sleepy = format!(
            "VALUE=50; case $4 in confirm-1-a*) [ $(grep -c \"^$4\" \"$CALLS\") != {last} ] || sleep 0.6;; esac"
        );
        scene.freeze(&[("a", &sleepy)]);
        let folder = case_folder("confirm-1-a");
        kill_unheard(&scene, start(&scene), |calls| count(calls, &folder) == last);
        let summary = scene.run();
        assert_eq!((summary.rounds_recovered, summary.counts.correct), (1, 4));
        let rounds = scene.rounds();
        let own: Vec<u32> = rounds
            .iter()
            .filter(|(case, ..)| case == "confirm-1-a")
            .map(|(.., round)| *round)
            .collect();
        assert_eq!((own, rounds.len()), (vec![0, 1], 6), "{rounds:?}");
        assert_eq!(scene.target.counts()[&folder], 2 * last);
        scene.assert_clean();
    }
}

#[test]
fn rounds_side_by_side_are_taken_by_fewer_workers() {
    let mut scene = Scene::new();
    scene.target.exclusive = Exclusive::Nothing;
    scene.measure.rounds = 1;
    scene.control = "VALUE=100; sleep 0.6";
    let script = |value: u32| format!("VALUE={value}; sleep 0.6");
    let (a, b, c) = (script(50), script(60), script(70));
    scene.freeze(&[("a", &a), ("b", &b), ("c", &c)]);
    kill_unheard(&scene, start(&scene), |calls| calls.len() == 4);
    let notes = || {
        let running = std::fs::read_dir(scene.dir().running(None)).unwrap().flatten();
        running
            .filter(|entry| entry.file_name().to_string_lossy().ends_with(".ended.json"))
            .count()
    };
    assert!(within(Duration::from_secs(10), || notes() == 4));
    let summary = scene.run_with(|options| options.jobs = 1).unwrap();
    assert_eq!((summary.rounds_recovered, summary.counts.correct), (4, 4));
    assert_eq!((scene.rounds().len(), scene.target.total()), (4, 4));
    scene.assert_clean();
}

#[test]
fn a_round_of_a_shard_is_taken_by_whoever_goes_on_with_its_case() {
    let script = format!("VALUE=50; {SLEEPS_TWICE}");
    let a = case_folder("a");
    for alternating in [false, true] {
        let mut scene = Scene::new();
        scene.target.alternating = alternating;
        scene.measure.rounds = 2;
        scene.measure.pairs = 1;
        scene.freeze(&[("a", &script)]);
        let hand_out = || hand_out(&scene.cohort(), None, false, None, &mut |_, _| ()).unwrap();
        hand_out().unwrap();
        // In turn, the second round is control, case: it ends with the second call of the case.
        let wanted = 1 + usize::from(alternating);
        kill_unheard(&scene, start_on_shard(&scene, 0), |calls| count(calls, &a) == wanted);
        let saved = scene.cohort().with_file_name("saved");
        copy(&scene.cohort(), &saved);
        let before = scene.target.total();
        let again = |batch: Option<u32>| {
            copy(&saved, &scene.cohort());
            let before = scene.target.total();
            if batch == Some(2) {
                assert_eq!(hand_out().unwrap().number, 2);
            }
            let summary = scene.run_with(|options| options.shard = batch.map(|batch| ShardId { batch, shard: 0 }));
            assert_eq!(summary.unwrap().rounds_recovered, 1, "{batch:?}");
            assert_eq!(scene.rounds(), whole(), "{batch:?}");
            scene.target.total() - before
        };
        // The same shard; what was left of it, handed out anew; a coordinator of all.
        for batch in [Some(1), Some(2), None] {
            let runs = if alternating { 8 } else { 4 };
            assert_eq!(before + again(batch), runs, "{batch:?}");
        }
    }
}
