//! A round that ended well just before its coordinator died is taken from its log; nothing else is.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod common;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use cohort::RecordKind;
use common::scripted::Scene;
use common::stand_in::{assert_gone, name, running, signal, start};
use common::within;
use rustix::process::Signal;

/// Not a test: a coordinator in a process of its own.
#[test]
#[ignore = "started by other tests"]
fn stand_in() {
    common::stand_in::main();
}

/// Stops a coordinator while a round of `a` goes on, lets the round come to its end, and kills the coordinator before it
/// hears of it.
fn killed_after_the_end(script: &str) -> Scene {
    let mut scene = Scene::new();
    scene.measure.rounds = 2;
    scene.freeze(&[("a", script)]);
    let mut child = start(&scene);
    let sleeps = || running(&scene).into_iter().any(|pid| name(pid) == "sleep");
    assert!(within(Duration::from_secs(20), sleeps));
    signal(&child, Signal::STOP);
    assert!(within(Duration::from_secs(20), || running(&scene).is_empty()));
    // The guard ends after its command.
    assert!(within(Duration::from_secs(20), || common::stand_in::is_free(
        &common::stand_in::device_lock(&scene)
    )));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_gone(&scene);
    scene
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
    let scene = killed_after_the_end("VALUE=50; sleep 0.6");
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
    let RecordKind::Run { run_ms, .. } = recovered[0].kind else {
        panic!()
    };
    assert!(
        recovered.len() == 1 && recovered[0].case == "a" && run_ms >= 600,
        "{recovered:?}"
    );
    scene.assert_clean();

    let dir = scene.dir();
    let (log, command) = (dir.case_run_log("a"), dir.case_command("a"));
    let note = dir.case_dirs().join(".running/0.ended.json");
    let edit = |path: &Path, from: &str, to: &str| {
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(from), "{text}");
        std::fs::write(path, text.replacen(from, to, 1)).unwrap();
    };
    let cut = |path: &Path| {
        let text = std::fs::read(path).unwrap();
        std::fs::write(path, &text[..text.len() / 2]).unwrap();
    };
    let tampers: [(&str, &dyn Fn()); 9] = [
        ("a partial log", &|| cut(&log)),
        ("another log", &|| edit(&log, "case ", "case 1")),
        ("no note", &|| std::fs::remove_file(&note).unwrap()),
        ("half a note", &|| cut(&note)),
        ("half a command", &|| cut(&command)),
        ("another plan", &|| edit(&command, "VALUE=50", "VALUE=51")),
        ("another round", &|| edit(&command, "\"round\": ", "\"round\": 1")),
        ("another artifact", &|| edit(&command, "\"plan\": \"", "\"plan\": \"0")),
        ("a failing end", &|| edit(&note, "\"exit_code\":0", "\"exit_code\":1")),
    ];
    for (what, tamper) in tampers {
        copy(&saved, &cohort);
        tamper();
        let summary = scene.run();
        assert_eq!((summary.rounds_recovered, summary.counts.correct), (0, 2), "{what}");
        assert_eq!(scene.rounds(), whole(), "{what}");
        scene.assert_clean();
    }
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
