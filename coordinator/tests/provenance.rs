//! Confirmations, consents, and what `verify` finds.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests too")]

mod common;

use std::collections::BTreeMap;

use cohort::{BuildOutcome, RecordKind, Snapshot, UnitBuilt, audit};
use common::scripted::Scene;
use coordinator::sweep::Retry;
use coordinator::{BuildCache, ExitCode, RunError};

const THREE: [(&str, &str); 3] = [("fast", "VALUE=50"), ("slow", "VALUE=200"), ("same", "VALUE=50 #")];

/// Case -> what its plan was built to, of latest builds.
fn plans(scene: &Scene) -> BTreeMap<String, UnitBuilt> {
    let records = scene.records().into_iter();
    let built = records.filter_map(|record| match record.kind {
        RecordKind::Build {
            outcome: BuildOutcome::Built { units },
            ..
        } => Some((record.case, units["plan"].clone())),
        _ => None,
    });
    built.collect()
}

/// Builds are noted in `built`, and end in a line of their own where they are not `reproducible`.
fn noting(scene: &mut Scene, reproducible: bool) -> std::path::PathBuf {
    let noted = scene.target.calls.with_file_name("built");
    let own = if reproducible {
        ""
    } else {
        "; echo \"# $(date +%s%N)\" >> \"$1\""
    };
    scene.target.build = format!("cat plan.sh >> '{}'; cp plan.sh \"$1\"{own}", noted.display());
    noted
}

fn pairs(scene: &Scene, case: &str) -> usize {
    let records = scene.records().into_iter().filter(|record| record.case == case);
    let measured = records.filter_map(|record| match record.kind {
        RecordKind::Run {
            outcome: cohort::RunOutcome::Correct { measurement },
            ..
        } => Some(measurement.pairs().len()),
        _ => None,
    });
    measured.sum()
}

const CONFIRMATIONS: [&str; 4] = [
    "confirm-1-control",
    "confirm-1-fast",
    "confirm-2-control",
    "confirm-2-fast",
];

#[test]
fn winner_and_control_are_built_again_from_scratch() {
    let mut scene = Scene::new();
    scene.measure.confirm = 2;
    let noted = noting(&mut scene, true);
    scene.freeze(&THREE);
    let cache = tempfile::tempdir().unwrap();
    let cached = || scene.run_with(|options| options.cache = Some(BuildCache::new(cache.path())));
    // A filter never makes the cohort grow.
    scene.run_with(|options| options.only = vec!["*".to_owned()]).unwrap();
    assert_eq!(plans(&scene).len(), 4);
    let summary = cached().unwrap();
    assert_eq!((summary.counts.correct, summary.exit_code()), (8, ExitCode::Done));
    let built = std::fs::read_to_string(&noted).unwrap();
    let times = |plan: &str| built.lines().filter(|line| *line == plan).count();
    assert_eq!((times("VALUE=50"), times("VALUE=100"), times("VALUE=200")), (3, 3, 1));
    let plans = plans(&scene);
    for name in CONFIRMATIONS {
        assert_eq!(plans[name].reproduces, Some(true), "{name}");
        assert!(plans[name].build_ms.is_some() && pairs(&scene, name) == 8, "{name}");
    }
    assert_eq!(plans["fast"].reproduces, None);
    assert_eq!(BuildCache::new(cache.path()).entries().unwrap(), []);
    // The fresh winner is measured beside the fresh control; that one beside the control as it was.
    let run = |case: &str| -> Vec<String> {
        let text = std::fs::read_to_string(scene.dir().case_command(case)).unwrap();
        let command: serde_json::Value = serde_json::from_str(&text).unwrap();
        let words = command["run"]["arguments"].as_array().unwrap().iter();
        words.take(2).map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let artifact = |unit: &str, case: &str| {
        let key = cohort::fresh_key(unit, case);
        scene
            .dir()
            .artifact(&key, "plan")
            .canonicalize()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    };
    let (fast, control) = (plans["fast"].unit.as_str(), plans["control"].unit.as_str());
    let fresh = artifact(control, "confirm-2-control");
    assert_eq!(run("confirm-2-fast"), [artifact(fast, "confirm-2-fast"), fresh.clone()]);
    assert_eq!(run("confirm-2-control")[0], fresh);
    assert!(run("confirm-2-control")[1].ends_with(&format!("{control}/plan")));

    let again = cached().unwrap();
    assert_eq!((again.rounds_done, again.counts.total()), (0, 8));
    let checked = audit(&Snapshot::read(&scene.dir()).unwrap()).unwrap();
    // A harness, three shared plans, one of other text, four fresh ones.
    assert_eq!(
        (checked.differences, checked.artifacts, checked.additions),
        (Vec::new(), 9, 1)
    );
    scene.assert_clean();
}

#[test]
fn a_build_that_does_not_reproduce_is_said_to() {
    let mut scene = Scene::new();
    (scene.measure.confirm, scene.measure.finalists) = (1, 9);
    noting(&mut scene, false);
    scene.freeze(&[("slow", "VALUE=200")]);
    scene.run();
    // The control is the fastest: it is confirmed, alone.
    let plans = plans(&scene);
    assert_eq!(
        plans.keys().collect::<Vec<_>>(),
        ["confirm-1-control", "control", "slow"]
    );
    assert_eq!(plans["confirm-1-control"].reproduces, Some(false));
    assert_ne!(
        plans["confirm-1-control"].artifact_sha256,
        plans["control"].artifact_sha256
    );
    assert_eq!(pairs(&scene, "confirm-1-control"), 9);
}

#[test]
fn another_winner_is_confirmed_as_well() {
    let mut scene = Scene::new();
    scene.measure.confirm = 1;
    let mended = scene.cohort().with_file_name("mended");
    let script = format!("[ -e '{}' ] || exit 3; VALUE=20", mended.display());
    scene.freeze(&[("fast", "VALUE=50"), ("mends", &script)]);
    assert_eq!(scene.run().counts.total(), 5);
    std::fs::write(mended, "").unwrap();
    scene.run_with(|options| options.retry = vec![Retry::Failed]).unwrap();
    let plans = plans(&scene);
    let fresh: Vec<_> = plans.keys().filter(|name| name.starts_with("confirm")).collect();
    assert_eq!(
        fresh,
        [
            "confirm-1-control",
            "confirm-1-fast",
            "confirm-2-control",
            "confirm-2-mends"
        ]
    );
    assert_eq!(scene.run().rounds_done, 0);
}

/// What the control measures beside itself is noise, however small: reports call it 1, and so must who confirms.
#[test]
fn a_control_that_is_lucky_beside_itself_is_no_winner() {
    let mut scene = Scene::new();
    scene.measure.confirm = 1;
    // 100 as the control, 80 as the case beside it.
    scene.control = "[ -n \"$CONTROL_VALUE\" ] && VALUE=80 || VALUE=100";
    scene.freeze(&[("better", "VALUE=90")]);
    scene.run();
    let plans = plans(&scene);
    let fresh: Vec<_> = plans.keys().filter(|name| name.starts_with("confirm")).collect();
    assert_eq!(fresh, ["confirm-1-better", "confirm-1-control"]);
}

#[test]
fn a_consent_is_recorded_and_holds_for_what_was_seen() {
    let mut scene = Scene::new();
    scene.freeze(&THREE);
    scene.machine.class.insert("model".to_owned(), "stone".to_owned());
    let accept = |name: &str| scene.run_with(|options| options.accept = vec![name.to_owned()]);
    assert!(matches!(accept("machine.other"), Err(RunError::Mismatch { .. })));
    accept("machine.model").unwrap();
    let mut said = 0;
    let options = scene.options();
    coordinator::run(&scene.cohort(), &options, None, &mut |event, _| {
        if let coordinator::Event::Verified { accepted, .. } = event {
            said += accepted.len();
        }
    })
    .unwrap();
    assert_eq!(said, 1, "it is not asked for again, but still told");
    let snapshot = Snapshot::read(&scene.dir()).unwrap();
    let consents = snapshot.state().unwrap().consents().to_vec();
    let RecordKind::AcceptDifference { difference } = &consents[0].kind else {
        panic!()
    };
    assert_eq!(
        (consents.len(), difference.to_string().as_str()),
        (1, "`machine.model`: expected paper, found stone")
    );
    drop(options);
    scene.machine.class.insert("model".to_owned(), "scissors".to_owned());
    assert!(matches!(scene.run_with(|_| ()), Err(RunError::Mismatch { .. })));
}

#[test]
fn a_machine_of_another_class_is_refused_or_measured_apart() {
    let mut scene = Scene::new();
    scene.freeze(&THREE);
    scene
        .run_with(|options| options.only = vec!["fast".to_owned()])
        .unwrap();
    let own = scene.records().len();
    scene.machine.class.insert("model".to_owned(), "stone".to_owned());
    let unlike = |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        scene.run_with(|options| options.unlike = names)
    };
    assert!(matches!(unlike(&[]), Err(RunError::Mismatch { .. })));
    assert!(matches!(unlike(&["machine.other"]), Err(RunError::Mismatch { .. })));
    assert_eq!(scene.records().len(), own, "whoever is refused leaves nothing");
    unlike(&["machine.mod*"]).unwrap();
    assert_eq!(unlike(&["machine.model"]).unwrap().rounds_done, 0);
    let records = scene.records();
    let machines: Vec<_> = records
        .iter()
        .filter(|record| matches!(record.kind, RecordKind::Machine { .. }))
        .collect();
    assert_eq!(machines.len(), 1, "whoever finds nothing to do leaves nothing");
    assert_eq!((machines[0].sequence, machines[0].case.as_str()), (0, ""));
    let snapshot = Snapshot::read(&scene.dir()).unwrap();
    let state = snapshot.state().unwrap();
    let [class] = state.unlike() else {
        panic!("{:?}", state.unlike())
    };
    assert_eq!(
        class.differences[0].to_string(),
        "`machine.model`: expected paper, found stone"
    );
    let cases = |differences| {
        let part = state.apart(differences);
        let measured = part.cases().iter().filter(|case| case.outcome().is_some());
        measured.map(|case| case.case.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(cases(&[]), ["fast"]);
    assert_eq!(cases(class.differences), ["control", "slow", "same"]);
}

#[test]
fn a_device_that_fails_on_its_third_run() {
    let scene = Scene::new();
    let count = scene.cohort().with_file_name("count");
    let script = format!(
        "echo >> '{0}'; [ $(wc -l < '{0}') -ne 3 ] || WRONG='element 3'; VALUE=50",
        count.display()
    );
    scene.freeze(&[("third", &script), ("b", "VALUE=60")]);
    let stopped = |summary: coordinator::RunSummary| (summary.exit_code(), summary.stopped_by.len());
    assert_eq!(stopped(scene.run()), (ExitCode::Incorrect, 1));
    assert_eq!(scene.target.counts()[&cohort::case_folder("third")], 3);
    assert_eq!(stopped(scene.run()), (ExitCode::Incorrect, 1));
    let accepted = scene.run_with(|options| options.accept_incorrect = vec!["third".to_owned()]);
    assert_eq!(stopped(accepted.unwrap()), (ExitCode::SomeFailed, 0));
    // Once accepted it is not raised again; another attempt is another matter.
    assert_eq!(stopped(scene.run()), (ExitCode::SomeFailed, 0));
    let snapshot = Snapshot::read(&scene.dir()).unwrap();
    assert!(
        snapshot
            .state()
            .unwrap()
            .get("third")
            .unwrap()
            .latest()
            .unwrap()
            .accepted
            .is_some()
    );
    std::fs::write(&count, "\n\n").unwrap();
    let retry = |word: &str| {
        scene
            .run_with(|options| options.retry = vec![word.parse().unwrap()])
            .unwrap()
    };
    assert_eq!(stopped(retry("third")), (ExitCode::Incorrect, 1));
    let summary = retry("incorrect");
    assert_eq!((summary.counts.correct, summary.exit_code()), (3, ExitCode::Done));
}

#[test]
fn what_verify_finds() {
    let scene = Scene::new();
    scene.freeze(&THREE);
    scene.run();
    let check = || audit(&Snapshot::read(&scene.dir()).unwrap()).unwrap();
    let whole = check();
    assert_eq!(
        (whole.differences, whole.artifacts, whole.additions),
        (Vec::new(), 5, 0)
    );
    let plan = plans(&scene)["fast"].clone();
    let artifact = scene.dir().artifact(&plan.unit, "plan");
    let bytes = std::fs::read(&artifact).unwrap();
    std::fs::write(&artifact, "VALUE=1").unwrap();
    let found = check().differences;
    assert_eq!(
        (found.len(), found[0].expected.as_ref()),
        (1, Some(&plan.artifact_sha256))
    );
    assert_eq!(found[0].name, format!("artifacts/{}/plan", plan.unit));
    // What is gone says nothing wrong: the measurement stands, and who needs the artifact builds and compares it.
    std::fs::remove_file(&artifact).unwrap();
    let without = check();
    assert_eq!((without.differences, without.artifacts), (Vec::new(), 4));
    assert_eq!(without.gone, std::slice::from_ref(&artifact));
    let mut told = Vec::new();
    let summary = scene.run_telling(|event| {
        if let coordinator::Event::Verified { gone, .. } = event {
            told.extend_from_slice(gone);
        }
    });
    assert_eq!(
        (summary.exit_code(), told),
        (ExitCode::Done, vec![artifact.clone()]),
        "a run says the same"
    );
    std::fs::write(&artifact, bytes).unwrap();

    // A round that stands before its build can't be: its writer says so by its numbers.
    let file = scene.record_file();
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (builds, rest): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| line["record"] == "build");
    let moved = rest.into_iter().chain(builds).zip(0..).map(|(mut line, number)| {
        line["sequence"] = number.into();
        format!("{line}\n")
    });
    std::fs::write(&file, moved.collect::<String>()).unwrap();
    let error = audit(&Snapshot::read(&scene.dir()).unwrap()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("a round without a successful build before it"),
        "{error}"
    );
}

#[test]
fn a_measured_value_that_was_edited_stops_a_run() {
    let scene = Scene::new();
    scene.freeze(&THREE);
    scene.run();
    let file = scene.record_file();
    let text = std::fs::read_to_string(&file).unwrap();
    let number = text.lines().position(|line| line.contains("\"run_ms\":")).unwrap();
    let edited = text.replacen("\"run_ms\":", "\"run_ms\":9", 1);
    std::fs::write(&file, &edited).unwrap();
    let error = scene.run_with(|_| {}).unwrap_err();
    let name = format!(
        "records/{}, line {}",
        file.file_name().unwrap().to_str().unwrap(),
        number + 1
    );
    assert!(error.to_string().contains(&name), "{error}");
    assert_eq!(error.exit_code(), ExitCode::Mismatch);
    assert!(error.help().unwrap().contains("from a copy"), "{error:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), edited, "nothing was written");
}
