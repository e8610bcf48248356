//! Frozen, built, run, resumed: with a target made of shell scripts.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod common;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use cohort::{BuildOutcome, RecordKind, RunOutcome};
use common::scripted::Scene;
use coordinator::sweep::Retry;
use coordinator::{ExitCode, RunError, status};

const THREE: [(&str, &str); 3] = [("fast", "VALUE=50"), ("slow", "VALUE=200"), ("same", "VALUE=50 #")];

#[test]
fn a_sweep_runs_and_a_resume_does_nothing() {
    let scene = Scene::new();
    scene.freeze(&THREE);
    let summary = scene.run();
    assert_eq!(summary.exit_code(), ExitCode::Done);
    assert_eq!(
        (summary.counts.correct, summary.counts.total(), summary.rounds_done),
        (4, 4, 12)
    );
    assert!(scene.target.counts().values().all(|&calls| calls == 3));
    scene.assert_clean();
    let files = || std::fs::read_dir(scene.dir().records()).unwrap().count();
    assert_eq!(files(), 1);
    let begin = Instant::now();
    let again = scene.run();
    assert!(begin.elapsed() < Duration::from_secs(3));
    assert_eq!((again.rounds_done, again.exit_code(), files()), (0, ExitCode::Done, 1));
    assert_eq!(scene.target.total(), 12);
    let status = status(&scene.cohort(), &[]).unwrap();
    assert_eq!(
        (status.counts, status.coordinator, status.rounds_left),
        (summary.counts, None, 0)
    );
}

#[test]
fn each_round_visits_every_case_in_an_order_of_its_own() {
    let scene = Scene::new();
    let names: Vec<String> = (0..8).map(|n| format!("c{n}")).collect();
    let cases: Vec<_> = names.iter().map(|name| (name.as_str(), "VALUE=1")).collect();
    scene.freeze(&cases);
    scene.run();
    let runs: Vec<(u32, String)> = scene
        .records()
        .into_iter()
        .filter_map(|record| match record.kind {
            RecordKind::Run { round, .. } => Some((round, record.case)),
            _ => None,
        })
        .collect();
    assert!(runs.is_sorted_by_key(|(round, _)| *round));
    let order = |wanted: u32| -> Vec<&str> {
        runs.iter()
            .filter(|(round, _)| *round == wanted)
            .map(|(_, case)| case.as_str())
            .collect()
    };
    assert!(order(0).len() == 9 && order(0) != order(1) && order(1) != order(2));
    // One plan, nine cases: built once.
    let builds = std::fs::read_dir(scene.dir().artifacts()).unwrap().count();
    assert_eq!(builds, 3);
    let other = Scene::new();
    other.freeze(&cases);
    other.run();
    let again: Vec<_> = other
        .records()
        .into_iter()
        .filter(|r| matches!(r.kind, RecordKind::Run { .. }))
        .collect();
    assert_eq!(
        again.iter().map(|r| &r.case).collect::<Vec<_>>(),
        runs.iter().map(|(_, c)| c).collect::<Vec<_>>()
    );
}

#[test]
fn a_failed_case_is_a_record_and_not_the_end() {
    let mut scene = Scene::new();
    scene.measure.run_timeout_ms = 4_000;
    let path = scene.cohort().with_file_name("mended");
    let mended = format!("[ -e '{}' ] || exit 3", path.display());
    scene.freeze(&[
        ("broken", "BROKEN"),
        ("spilled", "VALUE=1 # SPILLED"),
        ("rejected", "VALUE=1 # REJECTED"),
        ("exits", &mended),
        ("crashes", "kill -SEGV $$"),
        ("hangs", "trap '' TERM; sleep 1000 & sleep 1000; sleep 1000"),
        ("babbles", "yes 'case 1' | head -n 3000000"),
        ("garbage", "echo hello"),
        ("zero", "VALUE=0"),
        ("missing", "set -- \"$1\" \"$2\" 1"),
        ("fine", "VALUE=50"),
    ]);
    let summary = scene.run();
    assert_eq!(summary.exit_code(), ExitCode::SomeFailed);
    let counts = summary.counts;
    assert_eq!((counts.correct, counts.rejected, counts.build_failed), (2, 1, 2));
    assert_eq!((counts.run_failed, counts.timed_out, counts.incorrect), (6, 1, 0));
    let reasons = status(&scene.cohort(), &[]).unwrap().failures;
    let reason = |case: &str| -> &str {
        reasons
            .iter()
            .find(|(_, cases)| cases.iter().any(|c| c == case))
            .unwrap()
            .0
    };
    assert!(
        reason("broken").contains("exit code 1: plan.sh:1: error: BROKEN; log `cases/broken-"),
        "{}",
        reason("broken")
    );
    assert!(reason("spilled").contains("touches the stack"));
    assert!(reason("rejected").contains("too many registers"));
    assert!(reason("exits").starts_with("exit code 3"));
    assert!(reason("crashes").starts_with("ended by SIGSEGV (11)"));
    assert_eq!(reason("hangs"), "it ran longer than 4000 ms");
    assert!(reason("babbles").starts_with("it printed more than is read"));
    assert!(reason("garbage").contains("can't be read"));
    assert!(reason("zero").contains("sample 0 is no positive finite number"));
    assert!(reason("missing").contains("2 pairs wanted"));
    assert!(
        std::fs::read_to_string(scene.dir().case_build_log("broken"))
            .unwrap()
            .contains("error: BROKEN")
    );
    // Failures end a case at its first round; the others go on.
    assert_eq!(scene.rounds().len(), 3 + 3 + 7);
    scene.assert_clean();

    assert_eq!(scene.run().rounds_done, 0);
    std::fs::write(path, "").unwrap();
    let retried = scene
        .run_with(|options| options.retry = vec!["exits".parse::<Retry>().unwrap()])
        .unwrap();
    assert_eq!((retried.rounds_done, retried.counts.correct), (3, 3));
    let retry: Vec<_> = scene
        .records()
        .into_iter()
        .filter(|r| matches!(r.kind, RecordKind::Retry { .. }))
        .collect();
    assert_eq!((retry.len(), retry[0].attempt), (1, 2));
}

#[test]
fn a_wrong_result_stops_the_sweep_until_somebody_decides() {
    let scene = Scene::new();
    scene.freeze(&[
        ("wrong", "VALUE=1; WRONG='element 3'"),
        ("a", "VALUE=50"),
        ("b", "VALUE=60"),
    ]);
    let summary = scene.run();
    assert_eq!(
        (summary.exit_code(), summary.stopped_by.as_slice()),
        (ExitCode::Incorrect, ["wrong".to_owned()].as_slice())
    );
    let before = scene.rounds().len();
    assert!(before <= 4);
    let raised = scene.run();
    assert_eq!((raised.exit_code(), raised.rounds_done), (ExitCode::Incorrect, 0));
    let again = scene
        .run_with(|options| options.retry = vec![Retry::Incorrect])
        .unwrap();
    assert_eq!(again.exit_code(), ExitCode::Incorrect);
    let accepted = scene
        .run_with(|options| options.accept_incorrect = vec!["wrong".to_owned()])
        .unwrap();
    assert_eq!(accepted.exit_code(), ExitCode::SomeFailed);
    assert_eq!((accepted.counts.correct, accepted.counts.incorrect), (3, 1));
    let unknown = scene
        .run_with(|options| options.accept_incorrect = vec!["wrog".to_owned()])
        .unwrap_err();
    assert_eq!(unknown.exit_code(), ExitCode::Usage);
}

#[test]
fn what_changed_is_named() {
    let mut scene = Scene::new();
    scene.freeze(&THREE);
    let first = |scene: &Scene| match scene.run_with(|_| ()).unwrap_err() {
        error @ RunError::Mismatch { .. } => {
            assert_eq!(error.exit_code(), ExitCode::Mismatch);
            format!("{error}; {}", error.help().unwrap())
        }
        other => panic!("{other:?}"),
    };
    let sources = std::fs::read_dir(scene.dir().sources())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let file = std::fs::read_dir(sources).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{text} ")).unwrap();
    let message = first(&scene);
    assert!(
        message.contains("sources/") && message.contains("expected") && message.contains("`--cohort DIR`"),
        "{message}"
    );
    std::fs::write(&file, text).unwrap();

    std::fs::write(scene.dir().workload_inputs("w").join("a.bin"), "other").unwrap();
    assert!(first(&scene).contains("inputs/w/a.bin"));
    std::fs::write(scene.dir().workload_inputs("w").join("a.bin"), vec![7; 1000]).unwrap();

    scene.machine.class.insert("model".to_owned(), "stone".to_owned());
    let message = first(&scene);
    assert!(
        message.contains("`machine.model`: expected paper, found stone"),
        "{message}"
    );
    assert!(message.contains("--accept machine.model"), "{message}");
    assert_eq!(scene.target.total(), 0);
    let accepted = scene
        .run_with(|options| options.accept = vec!["machine.model".to_owned()])
        .unwrap();
    assert_eq!(accepted.counts.correct, 4);
}

#[test]
fn a_filtered_run_and_the_rest_are_the_whole() {
    let scene = Scene::new();
    scene.freeze(&THREE);
    let part = scene
        .run_with(|options| options.only = vec!["f*".to_owned(), "slow".to_owned()])
        .unwrap();
    assert_eq!((part.rounds_done, part.counts.correct), (6, 2));
    let part = scene
        .run_with(|options| options.exclude = vec!["same".to_owned()])
        .unwrap();
    assert_eq!(part.rounds_done, 3);
    assert_eq!(scene.run().rounds_done, 3);
    let whole = Scene::new();
    whole.freeze(&THREE);
    whole.run();
    assert_eq!(scene.rounds(), whole.rounds());
    let error = scene
        .run_with(|options| options.only = vec!["fas".to_owned()])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`--only fas`: the cohort has no such case; `fast` is one"
    );
}

#[test]
fn a_damaged_artifact_is_built_again() {
    let scene = Scene::new();
    scene.freeze(&THREE);
    scene
        .run_with(|options| options.time_limit = Some(Duration::ZERO))
        .unwrap();
    assert!(scene.records().is_empty());
    scene
        .run_with(|options| options.only = vec!["fast".to_owned()])
        .unwrap();
    let record = scene
        .records()
        .into_iter()
        .find(|record| record.case == "control")
        .unwrap();
    let RecordKind::Build {
        outcome: BuildOutcome::Built { units },
        ..
    } = record.kind
    else {
        panic!("{record:?}")
    };
    let built = &units["plan"];
    let artifact = scene.dir().artifact(&built.unit, "plan");
    std::fs::write(&artifact, "VALUE=1").unwrap();
    let summary = scene.run();
    assert_eq!(summary.counts.correct, 4);
    assert_eq!(std::fs::read_to_string(artifact).unwrap(), "VALUE=100\n");
    scene.assert_clean();
}

#[test]
fn artifacts_that_were_deleted_are_built_again() {
    let scene = Scene::new();
    scene.freeze(&THREE);
    scene.run();
    std::fs::remove_dir_all(scene.dir().artifacts()).unwrap();
    scene
        .run_with(|options| options.retry = vec![Retry::Case("fast".to_owned())])
        .unwrap();
    assert_eq!(
        scene
            .rounds()
            .iter()
            .filter(|(name, attempt, _)| name == "fast" && *attempt == 2)
            .count(),
        3
    );
    scene.assert_clean();
}

#[test]
fn a_harness_that_does_not_build_ends_the_run() {
    let mut scene = Scene::new();
    scene.target.harness_build = "echo 'harness.sh:7: error: no such thing' >&2; exit 2".to_owned();
    scene.freeze(&THREE);
    let error = scene.run_with(|_| ()).unwrap_err();
    let RunError::Harness { reason, log, .. } = &error else {
        panic!("{error:?}")
    };
    assert!(
        reason.contains("exit code 2: harness.sh:7: error: no such thing"),
        "{reason}"
    );
    assert!(std::fs::read_to_string(log).unwrap().contains("no such thing"));
    assert_eq!(error.exit_code(), ExitCode::Failure);
}

#[test]
fn crosses_and_finalists_come_once() {
    let mut scene = Scene::new();
    scene.measure.cross = 2;
    scene.measure.finalists = 10;
    scene.freeze(&THREE);
    let asked = std::cell::Cell::new(0);
    let form = || -> Option<coordinator::sweep::Crosses<'_>> {
        Some(Box::new(|rankings| {
            asked.set(asked.get() + 1);
            let fastest = &rankings[0].cases[..2];
            let names: Vec<_> = fastest.iter().map(|one| one.case.name.as_str()).collect();
            assert_eq!(names, ["fast", "same"]);
            assert!((fastest[0].ratio.point - 0.5).abs() < 0.01);
            Ok(vec![scene.case("cross", "VALUE=50 # cross")])
        }))
    };
    // A filter never makes the cohort grow.
    scene
        .run_crossing(|options| options.exclude = vec!["slow".to_owned()], form())
        .unwrap();
    assert_eq!(asked.get(), 0);
    let summary = scene.run_crossing(|_| (), form()).unwrap();
    assert_eq!((asked.get(), summary.counts.total()), (1, 5));
    // Three plans of one speed can't be told apart: each uses up its 10 pairs, as 4 + 4 + 2.
    let rounds = |case: &str| scene.rounds().iter().filter(|(name, ..)| name == case).count();
    assert_eq!((rounds("fast"), rounds("same"), rounds("cross")), (6, 6, 6));
    assert_eq!((rounds("slow"), rounds("control")), (3, 3));
    let again = scene.run_crossing(|_| (), form()).unwrap();
    assert_eq!((asked.get(), again.rounds_done), (1, 0));
}

#[test]
fn names_and_paths_of_every_kind() {
    let scene = Scene::named("it's a \"folder\" mit Ümläuten");
    let long = "x".repeat(200);
    scene.freeze(&[
        (long.as_str(), "VALUE=50"),
        ("../up 'n' down", "VALUE=60"),
        ("größe", "VALUE=70"),
    ]);
    let summary = scene.run();
    assert_eq!((summary.counts.correct, summary.exit_code()), (4, ExitCode::Done));
    scene.assert_clean();
}

#[test]
fn a_control_that_can_not_be_built_is_an_error_that_says_so() {
    let mut scene = Scene::new();
    scene.target.anonymous = true;
    scene.target.build = "grep -q 50 plan.sh && cp plan.sh \"$1\"".to_owned();
    scene.freeze(&[("fast", "VALUE=50")]);
    let error = scene.run_with(|_| ()).unwrap_err();
    assert!(matches!(error, RunError::Control { .. }), "{error:?}");
    assert!(error.help().unwrap().contains("--retry control"));
}

#[test]
fn records_precede_and_follow_each_round() {
    let scene = Scene::new();
    scene.freeze(&THREE);
    scene.run();
    let records = scene.records();
    let built = records.iter().filter(|r| matches!(r.kind, RecordKind::Build { .. }));
    assert_eq!(built.map(|r| r.case.as_str()).collect::<BTreeSet<_>>().len(), 4);
    let rest: Vec<_> = records
        .iter()
        .filter(|r| !matches!(r.kind, RecordKind::Build { .. }))
        .collect();
    assert_eq!(rest.len(), 24);
    for pair in rest.chunks(2) {
        let (
            RecordKind::Began { round, .. },
            RecordKind::Run {
                round: ended, outcome, ..
            },
        ) = (&pair[0].kind, &pair[1].kind)
        else {
            panic!("{pair:?}")
        };
        assert_eq!((round, &pair[0].case), (ended, &pair[1].case));
        assert!(matches!(outcome, RunOutcome::Correct { measurement } if measurement.pairs().len() == 2));
    }
    assert!(scene.dir().case_run_log("fast").is_file() && scene.dir().case_command("fast").is_file());
}

#[test]
fn a_harness_that_was_killed_is_not_blamed_on_the_compiler() {
    for (build, helps) in [("kill -KILL $$", false), ("echo 'h.c:1: error: no' >&2; exit 1", true)] {
        let mut scene = Scene::new();
        scene.target.harness_build = build.to_owned();
        scene.freeze(&THREE);
        let error = scene.run_with(|_| ()).unwrap_err();
        assert!(matches!(&error, RunError::Harness { .. }), "{error:?}");
        let help = error.help().unwrap_or_default();
        assert_eq!(help.contains("the compiler's first error"), helps, "{error}: {help}");
    }
}

#[test]
fn one_program_under_two_names_is_measured_once_unless_somebody_asks() {
    let mut scene = Scene::new();
    scene.target.anonymous = true;
    // Comments never reach the artifact, so the plans of `b` and `twin` differ and their programs don't.
    scene.target.build = "grep -v '^#' plan.sh > \"$1\"".to_owned();
    scene.freeze(&[
        ("a", "VALUE=50"),
        ("b", "VALUE=60"),
        ("twin", "VALUE=60\n# the same"),
        ("like-control", "VALUE=100\n# the same"),
    ]);
    let summary = scene.run();
    assert_eq!((summary.counts.correct, summary.counts.rejected), (3, 2));
    let calls = scene.target.counts();
    assert_eq!((calls.len(), scene.target.total()), (3, 9), "{calls:?}");
    let failures = status(&scene.cohort(), &[]).unwrap().failures;
    for (twin, measured) in [("twin", "b"), ("like-control", "control")] {
        let (reason, _) = failures.iter().find(|(_, cases)| cases[..] == [twin]).unwrap();
        assert!(
            reason.contains(&format!("the very program of `{measured}`")),
            "{reason}"
        );
    }
    assert_eq!(scene.run().rounds_done, 0, "a resume does not ask again");
    let retry = |options: &mut coordinator::RunOptions<'_>| options.retry = vec![Retry::Case("twin".to_owned())];
    let summary = scene.run_with(retry).unwrap();
    assert_eq!((summary.counts.correct, summary.rounds_done), (4, 3));
    scene.assert_clean();
}

#[test]
fn what_is_filtered_out_keeps_nobody_from_being_measured() {
    let mut scene = Scene::new();
    scene.target.anonymous = true;
    scene.target.build = "grep -v '^#' plan.sh > \"$1\"".to_owned();
    scene.freeze(&[("b", "VALUE=60"), ("twin", "VALUE=60\n# the same")]);
    let only = |options: &mut coordinator::RunOptions<'_>| options.only = vec!["twin".to_owned()];
    assert_eq!(scene.run_with(only).unwrap().counts.correct, 1);
    let summary = scene.run();
    assert_eq!((summary.counts.correct, summary.counts.rejected), (2, 1));
    assert!(scene.rounds().iter().any(|(case, ..)| case == "twin"));
    scene.assert_clean();
}
