//! The state function, case by case.

use cohort::{
    BuildOutcome, Case, Outcome, Problem, Record, RecordKind, RoundState, RunOutcome, State, StateError, Status, state,
};

use crate::made::{self, began, built, correct, incorrect, record, retry, run};

fn cases() -> Vec<Case> {
    ["w control", "c"].map(|name| made::case("w", name)).into()
}

/// Numbers the kinds of `c` as written by one writer, then hands the state to `check`.
fn with(kinds: Vec<(u32, RecordKind)>, check: impl FnOnce(State<'_>)) {
    let records: Vec<Record> = (0..)
        .zip(kinds)
        .map(|(sequence, (attempt, kind))| record("w1", sequence, "c", attempt, kind))
        .collect();
    with_records(&records, |state| check(state.unwrap()));
}

fn with_records(records: &[Record], check: impl FnOnce(Result<State<'_>, StateError>)) {
    check(state(&made::manifest(&["w"], 2, 3, 2), &cases(), &[], records));
}

fn problem(records: &[Record], expected: &Problem) {
    with_records(records, |state| match state {
        Err(StateError::Record { problem, .. }) => assert_eq!(&problem, expected),
        other => panic!("{expected:?}: {other:?}"),
    });
}

#[test]
fn statuses() {
    let reason = || "x".to_owned();
    let failed = |round| run(round, RunOutcome::RunFailed { reason: reason() });
    let late = |round| run(round, RunOutcome::TimedOut { reason: reason() });
    let build = made::build;
    let histories: Vec<(Vec<(u32, RecordKind)>, Status)> = vec![
        (vec![], Status::Waiting),
        (vec![(1, built())], Status::Built),
        (vec![(1, built()), (1, began(0))], Status::Built),
        (vec![(1, built()), (1, began(0)), (1, correct(0))], Status::Partial),
        (vec![(1, built()), (1, correct(1))], Status::Partial),
        (
            vec![(1, built()), (1, correct(0)), (1, correct(1))],
            Status::Done(Outcome::Correct),
        ),
        (
            vec![(1, built()), (1, correct(0)), (1, failed(1))],
            Status::Done(Outcome::RunFailed),
        ),
        (vec![(1, built()), (1, late(0))], Status::Done(Outcome::TimedOut)),
        (
            vec![(1, built()), (1, failed(1)), (1, late(0))],
            Status::Done(Outcome::TimedOut),
        ),
        (
            vec![(1, built()), (1, late(0)), (1, incorrect(1))],
            Status::Done(Outcome::Incorrect),
        ),
        (
            vec![(1, build(BuildOutcome::Rejected { reason: reason() }))],
            Status::Done(Outcome::Rejected),
        ),
        (
            vec![(1, build(BuildOutcome::BuildFailed { reason: reason() }))],
            Status::Done(Outcome::BuildFailed),
        ),
        (
            vec![(1, build(BuildOutcome::TimedOut { reason: reason() }))],
            Status::Done(Outcome::TimedOut),
        ),
        (vec![(1, built()), (1, failed(0)), (2, retry())], Status::Waiting),
        (
            vec![(1, built()), (1, failed(0)), (2, retry()), (2, built())],
            Status::Built,
        ),
        (
            vec![(2, retry()), (3, retry()), (3, built()), (3, correct(0))],
            Status::Partial,
        ),
    ];
    for (kinds, expected) in histories {
        with(kinds.clone(), |state| {
            let case = state.get("c").unwrap();
            assert_eq!(case.status(), expected, "{kinds:?}");
            assert_eq!(state.get("w control").unwrap().status(), Status::Waiting);
            let counts = state.counts();
            assert_eq!(counts.total(), 2);
            let done = matches!(expected, Status::Done(_));
            assert_eq!(case.rounds_left().is_empty(), done);
            assert!(!state.all_terminal());
            let incorrect = expected == Status::Done(Outcome::Incorrect);
            assert_eq!(state.stopped_by(), if incorrect { vec!["c"] } else { vec![] });
        });
    }
}

#[test]
fn lost_rounds_are_left_to_do() {
    with(
        vec![(1, built()), (1, began(0)), (1, began(1)), (1, correct(1))],
        |state| {
            let case = state.get("c").unwrap();
            assert!(matches!(case.latest().unwrap().rounds[&0], RoundState::Lost(r) if r.sequence == 1));
            assert_eq!(case.lost().map(|(round, _)| round).collect::<Vec<_>>(), [0]);
            assert_eq!((state.counts().lost_rounds, case.latest().unwrap().lost_starts), (1, 1));
            let left = state.left();
            assert_eq!(left.builds.len(), 1);
            let rounds: Vec<_> = left
                .rounds
                .iter()
                .map(|l| (l.case, l.attempt, l.round, l.pairs))
                .collect();
            assert_eq!(rounds, [("c", 1, 0, 3)]);
        },
    );
    // Done again: no longer lost, but remembered.
    with(
        vec![(1, built()), (1, began(0)), (1, began(0)), (1, correct(0))],
        |state| {
            let case = state.get("c").unwrap();
            assert_eq!((case.lost().count(), case.latest().unwrap().lost_starts), (0, 1));
            assert_eq!(state.duplicates(), []);
        },
    );
}

#[test]
fn the_clock_of_writers_does_not_matter() {
    // The later session has the earlier name: its clock went back.
    let records = [
        record("b", 0, "c", 1, built()),
        record("b", 1, "c", 1, began(0)),
        record("a", 0, "c", 1, began(0)),
        record("a", 1, "c", 1, correct(0)),
    ];
    with_records(&records, |state| {
        let state = state.unwrap();
        let latest = state.get("c").unwrap().latest().unwrap();
        assert_eq!(latest.rounds[&0].done().unwrap().record.writer, "a");
        assert_eq!(latest.lost_starts, 1);
    });
}

#[test]
fn only_its_own_writer_ends_a_start() {
    // `b` never said that it began; `a` did and was killed.
    let records = [
        record("a", 0, "c", 1, built()),
        record("a", 1, "c", 1, began(0)),
        record("b", 0, "c", 1, correct(0)),
    ];
    with_records(&records, |state| {
        let state = state.unwrap();
        let case = state.get("c").unwrap();
        assert_eq!((case.lost().count(), case.latest().unwrap().lost_starts), (0, 1));
    });
}

#[test]
fn duplicates() {
    let failed = run(0, RunOutcome::RunFailed { reason: "x".into() });
    let records = [
        record("a", 0, "c", 1, built()),
        record("a", 1, "c", 1, correct(0)),
        record("b", 0, "c", 1, built()),
        record("b", 1, "c", 1, failed),
    ];
    with_records(&records, |state| {
        let state = state.unwrap();
        assert_eq!(state.get("c").unwrap().status(), Status::Partial);
        let found: Vec<_> = state
            .duplicates()
            .iter()
            .map(|d| (&d.record.writer[..], d.record.sequence))
            .collect();
        assert_eq!(found, [("b", 0), ("b", 1)]);
    });
    // A repetition can't hide a wrong result.
    let records = [
        record("a", 0, "c", 1, built()),
        record("a", 1, "c", 1, correct(0)),
        record("a", 2, "c", 1, incorrect(0)),
        record("a", 3, "c", 1, correct(0)),
    ];
    with_records(&records, |state| {
        let state = state.unwrap();
        assert_eq!(state.stopped_by(), ["c"]);
        assert_eq!(state.duplicates().len(), 2);
        assert!(
            state
                .duplicates()
                .iter()
                .any(|d| d.counted.sequence == 2 && d.record.sequence == 1)
        );
    });
}

#[test]
fn impossible_records() {
    let one = |attempt, kind| record("a", 0, "c", attempt, kind);
    let failed = made::build(BuildOutcome::BuildFailed { reason: "x".into() });
    problem(&[record("a", 0, "nobody", 1, built())], &Problem::UnknownCase);
    problem(&[one(0, built())], &Problem::BadAttempt);
    problem(&[one(1, retry())], &Problem::BadAttempt);
    problem(&[one(2, built())], &Problem::NoRetry);
    problem(&[one(3, retry())], &Problem::NoRetry);
    problem(&[one(u32::MAX, retry())], &Problem::NoRetry);
    problem(
        &[one(1, built()), record("a", 1, "c", 1, began(2))],
        &Problem::UnknownRound { round: 2, wanted: 2 },
    );
    problem(&[one(1, began(0))], &Problem::RoundWithoutBuild);
    problem(&[one(1, correct(0))], &Problem::RoundWithoutBuild);
    problem(
        &[one(1, failed.clone()), record("a", 1, "c", 1, began(0))],
        &Problem::RoundWithoutBuild,
    );
    problem(
        &[one(1, correct(0)), record("a", 1, "c", 1, built())],
        &Problem::RoundWithoutBuild,
    );
    problem(&[one(1, built()), one(1, correct(0))], &Problem::SequenceTwice);
    let (now, before, writer) = ("build-failed", "built", "a".to_owned());
    problem(
        &[one(1, built()), record("a", 1, "c", 1, failed)],
        &Problem::BuildContradicts {
            now,
            before,
            writer,
            sequence: 0,
        },
    );
}

#[test]
fn errors_name_file_and_case() {
    with_records(&[record("a", 5, "nobody", 1, built())], |state| {
        let text = state.unwrap_err().to_string();
        let expected = "record 5 of `records/a.jsonl`, case `nobody`, attempt 1: the cohort has no such case";
        assert_eq!(text, expected);
    });
    let manifest = made::manifest(&["w"], 2, 3, 3);
    let text = state(&manifest, &cases(), &[], &[]).unwrap_err().to_string();
    assert_eq!(text, "`manifest.json` counts 3 cases, but `cases.jsonl` has 2");
}

#[test]
fn crosses_wait_for_all_initial_cases() {
    let all = |case: &'static str, from| {
        let kinds = [built(), correct(0), correct(1)].into_iter();
        kinds
            .zip(from..)
            .map(move |(kind, sequence)| record("a", sequence, case, 1, kind))
    };
    let mut records: Vec<_> = all("c", 0).collect();
    with_records(&records, |state| {
        let state = state.unwrap();
        assert!(!state.initial_terminal() && !state.may_cross());
    });
    records.extend(all("w control", 3));
    with_records(&records, |state| {
        let state = state.unwrap();
        assert!(state.initial_terminal() && state.may_cross() && state.all_terminal() && state.left().is_empty());
        assert_eq!(state.counts().correct, 2);
    });
    let manifest = made::manifest(&["w"], 2, 3, 2);
    let kind = cohort::AdditionKind::Crosses {
        cases: vec![made::case("w", "x")],
        units: Vec::new(),
    };
    let additions = [cohort::Addition {
        number: 1,
        previous_sha256: String::new(),
        reason: String::new(),
        at: made::at(0),
        records: std::collections::BTreeMap::new(),
        kind,
    }];
    let cases = cases();
    let state = state(&manifest, &cases, &additions, &records).unwrap();
    assert!(state.initial_terminal() && !state.may_cross() && !state.all_terminal());
    assert_eq!(state.left().builds[0].case, "x");
}

#[test]
fn consents_are_kept_and_count_for_one_attempt() {
    let general = |case: &str, attempt| {
        let difference = made::difference();
        record(
            "b",
            0,
            case,
            attempt,
            cohort::RecordKind::AcceptDifference { difference },
        )
    };
    let mut records = vec![
        record("a", 0, "c", 1, built()),
        record("a", 1, "c", 1, incorrect(0)),
        general("", 0),
    ];
    with_records(&records, |state| {
        let state = state.unwrap();
        assert_eq!((state.stopped_by(), state.consents().len()), (vec!["c"], 1));
    });
    let accept = || cohort::RecordKind::AcceptIncorrect {};
    records.push(record("c", 0, "c", 1, accept()));
    records.push(record("c", 1, "c", 1, accept()));
    with_records(&records, |state| {
        let state = state.unwrap();
        assert_eq!((state.stopped_by(), state.duplicates().len()), (vec![], 1));
        assert_eq!(state.counts().incorrect, 1, "it is still no result");
    });
    records.extend([
        record("c", 2, "c", 2, retry()),
        record("c", 3, "c", 2, built()),
        record("c", 4, "c", 2, incorrect(1)),
    ]);
    with_records(&records, |state| assert_eq!(state.unwrap().stopped_by(), ["c"]));
    problem(&[general("c", 0)], &Problem::NoCaseOfIts);
    problem(&[general("", 1)], &Problem::NoCaseOfIts);
}

#[test]
fn a_writer_works_on_one_machine() {
    let machine = |sequence, found: &str| {
        let differences = vec![cohort::Difference {
            found: Some(found.to_owned()),
            ..made::difference()
        }];
        let instance = std::collections::BTreeMap::new();
        record("a", sequence, "", 0, RecordKind::Machine { differences, instance })
    };
    let records = [machine(0, "stone"), machine(1, "stone")];
    with_records(&records, |state| {
        let state = state.unwrap();
        assert_eq!((state.unlike().len(), state.machine_of("a").len()), (1, 1));
        assert!(state.machine_of("b").is_empty() && state.consents().is_empty());
    });
    problem(
        &[machine(0, "stone"), machine(1, "glass")],
        &Problem::AnotherMachine { sequence: 0 },
    );
}

type Change = fn(&mut cohort::Manifest, &mut Vec<Case>);

const DIGEST: &str = "0000000000000000000000000000000000000000000000000000000000000000";

fn file(path: &str) -> cohort::FileDigest {
    cohort::FileDigest {
        path: path.into(),
        sha256: DIGEST.into(),
        bytes: 0,
    }
}

fn unit(digest: &str, path: &str, artifact: &str) -> cohort::UnitRef {
    let (digest, artifact) = (digest.to_owned(), artifact.to_owned());
    cohort::UnitRef {
        digest,
        files: vec![file(path)],
        steps: Vec::new(),
        artifact,
        inspect: Vec::new(),
    }
}

#[test]
fn cohorts_that_somebody_sent() {
    let layout = |change: Change| {
        let mut manifest = made::manifest(&["v", "w"], 1, 1, 3);
        let mut cases = vec![
            made::case("v", "v control"),
            made::case("w", "w control"),
            made::case("w", "c"),
        ];
        change(&mut manifest, &mut cases);
        match state(&manifest, &cases, &[], &[]) {
            Err(StateError::Layout(error)) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let refused: [(Change, &str); 11] = [
        (
            |_, cases| cases[2].repeat_of = Some("v control".into()),
            "repeats `v control`",
        ),
        (
            |m, _| m.workloads[1].control = Some("v control".into()),
            "control `v control` of workload `w` is not among",
        ),
        (
            |m, _| m.workloads[1].workload.name = "v".into(),
            "workload `v` is there twice",
        ),
        (
            |m, _| m.workloads[1].workload.name = "../w".into(),
            "`../w` can't be the name",
        ),
        (
            |m, _| m.binary.as_mut().unwrap().path = "/bin/sh".into(),
            "`/bin/sh` can't be the name",
        ),
        (|m, _| m.binary = None, "names no binary"),
        (
            |m, _| m.inputs = vec![m.binary.clone().unwrap(), file("w/../../x")],
            "`w/../../x` can't be the name",
        ),
        (
            |m, _| m.units = vec![unit("../x", "k.c", "k.so")],
            "`../x` is no SHA-256",
        ),
        (
            |m, _| m.units = vec![unit(DIGEST, "../k.c", "k.so")],
            "`../k.c` can't be the name",
        ),
        (
            |m, _| m.units = vec![unit(DIGEST, "k.c", "../k.so")],
            "`../k.so` can't be the name",
        ),
        (|m, _| m.harness = Some(DIGEST.into()), "the harness 0000"),
    ];
    for (change, words) in refused {
        let text = layout(change);
        assert!(text.contains(words), "{text}");
    }
}
