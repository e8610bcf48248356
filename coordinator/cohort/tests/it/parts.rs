//! What a worker of some cases reads is what it would see of them in the whole.

use std::collections::{BTreeSet, HashSet};

use cohort::{
    BuildOutcome, CohortDir, CohortError, Frozen, Growth, Record, RecordKind, RecordWriter, Snapshot, UnitBuilt,
    WriterName, verify,
};

use crate::made::{self, began, correct};

const NAMES: [&str; 6] = ["a", "b", "repeats b", "c", "d", "repeats the repetition"];

/// Two workloads with a control each; cases that share a unit with others, that repeat others, and additions of every kind.
fn grown() -> (tempfile::TempDir, CohortDir) {
    let folder = tempfile::tempdir().unwrap();
    let dir = CohortDir::new(folder.path().join("sweep"));
    let binary = folder.path().join("program");
    fs_err::write(&binary, "program").unwrap();
    let mut draft = cohort::Draft::new(made::header(&["v", "w"], 2, 3), binary);
    draft.set_harness(made::unit("harness", "int main;")).unwrap();
    let shared = draft.add_unit(made::unit("up", "int shared;")).unwrap();
    let own = draft.add_unit(made::unit("up", "int own;")).unwrap();
    for name in ["v control", "w control"].into_iter().chain(NAMES) {
        let workload = if matches!(name, "v control" | "c") { "v" } else { "w" };
        let mut case = made::case(workload, name);
        let unit = if matches!(name, "a" | "d") { &shared } else { &own };
        case.units.insert("up".into(), unit.clone());
        case.repeat_of = match name {
            "repeats b" => Some("b".into()),
            "repeats the repetition" => Some("repeats b".into()),
            _ => None,
        };
        draft.add_case(case);
    }
    let mut frozen = draft.freeze(&dir, 1).unwrap();
    let mut cross = made::case("w", "cross");
    cross.units.insert("up".into(), own.clone());
    let crosses = Growth::Crosses {
        cases: vec![cross],
        units: vec![made::unit("up", "int own;")],
    };
    frozen.grow(made::at(1), "fastest", crosses).unwrap();
    let rounds = [
        ("a".to_owned(), vec![7]),
        ("cross".to_owned(), vec![8]),
        ("c".to_owned(), vec![9]),
    ];
    let finalists = Growth::Finalists { rounds: rounds.into() };
    frozen.grow(made::at(2), "close", finalists).unwrap();
    let mut again = made::case("w", "again");
    again.repeat_of = Some("d".into());
    let confirmation = Growth::Confirmation {
        cases: vec![again],
        rounds: [("again".to_owned(), vec![5, 5])].into(),
    };
    frozen.grow(made::at(3), "sure", confirmation).unwrap();
    write_records(&frozen, &dir);
    (folder, dir)
}

/// Two writers of cases in turn, and a torn line.
fn write_records(frozen: &Frozen, dir: &CohortDir) {
    let writer = |number| RecordWriter::create(dir, &WriterName::new(made::at(0), number, "n")).unwrap();
    let mut writers = [writer(1), writer(2)];
    let difference = made::difference();
    let accept = RecordKind::AcceptDifference { difference };
    writers[1].append(made::at(0), "", 0, accept).unwrap();
    for (number, case) in frozen.cases().enumerate() {
        let units = case.units.iter().map(|(label, unit)| {
            let built = UnitBuilt {
                unit: unit.clone(),
                artifact_sha256: "a".repeat(64),
                build_ms: Some(1),
                reproduces: None,
                facts: std::collections::BTreeMap::new(),
            };
            (label.clone(), built)
        });
        let built = BuildOutcome::Built { units: units.collect() };
        let own = &mut writers[number % 2];
        for kind in [made::build(built), began(0), correct(0), began(1)] {
            own.append(made::at(1), &case.name, 1, kind).unwrap();
        }
    }
    let path = writers[0].path().to_owned();
    let mut text = fs_err::read(&path).unwrap();
    text.extend(b"{\"writer\":");
    fs_err::write(path, text).unwrap();
}

#[test]
fn every_part_sees_of_its_cases_what_the_whole_sees() {
    let (_folder, dir) = grown();
    let whole = Snapshot::read(&dir).unwrap();
    let state = whole.state().unwrap();
    for chosen in 0_u32..1 << NAMES.len() {
        let wanted = NAMES.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1);
        let wanted: HashSet<String> = wanted.map(|(_, name)| (*name).to_owned()).collect();
        let (part, others) = Snapshot::read_part(&dir, &wanted).unwrap();
        assert!(part.frozen.is_part() && !whole.frozen.is_part());
        let seen = part.state().unwrap();
        let names: BTreeSet<&str> = seen.cases().iter().map(|case| case.case.name.as_str()).collect();
        for name in wanted
            .iter()
            .map(String::as_str)
            .chain(["v control", "w control", "cross", "again", "d"])
        {
            assert!(names.contains(name), "{name}: {wanted:?}");
        }
        assert_eq!(
            names.contains("c"),
            wanted.contains("c"),
            "nothing is read that nobody needs"
        );
        for case in seen.cases() {
            assert_eq!(Some(case), state.get(&case.case.name));
        }
        assert_eq!(seen.consents(), state.consents());
        assert_eq!(part.records.dropped, whole.records.dropped);
        assert_eq!(verify(&part.frozen).unwrap(), verify(&whole.frozen).unwrap());
        // Builds of others are known by the units that they share, and nothing else of them.
        let built = |record: &Record| matches!(record.kind, RecordKind::Build { .. });
        assert!(
            others
                .iter()
                .all(|record| built(record) && !names.contains(record.case.as_str()))
        );
        let known = cohort::built_artifacts(&part.frozen, others.iter().chain(&part.records.records));
        let all = cohort::built_artifacts(&whole.frozen, &whole.records.records);
        for unit in seen.cases().iter().flat_map(|case| case.case.units.values()) {
            assert_eq!(known.get(unit), all.get(unit), "{unit}");
        }
    }
}

#[test]
fn a_part_can_not_grow_and_is_checked_like_the_whole() {
    let (_folder, dir) = grown();
    let mut part = Frozen::open_part(&dir, &HashSet::new()).unwrap();
    let rounds = [("a".to_owned(), vec![1])].into();
    let grown = part.grow(made::at(4), "x", Growth::Finalists { rounds });
    assert!(grown.unwrap_err().to_string().contains("only some of its cases"));
    assert_eq!(Frozen::cases_in(&dir).unwrap(), 8);

    let wanted = HashSet::from(["a".to_owned()]);
    let records = dir.record_file(WriterName::new(made::at(0), 2, "n").as_str());
    let text = fs_err::read_to_string(&records).unwrap();
    fs_err::write(&records, text.replacen("\"sequence\":7", "\"sequence\":6", 1)).unwrap();
    let error = Snapshot::read_part(&dir, &wanted).unwrap_err().to_string();
    assert!(error.contains("expected sequence number 7, found 6"), "{error}");
    fs_err::write(&records, text).unwrap();
    let cases = fs_err::read_to_string(dir.cases()).unwrap();
    fs_err::write(dir.cases(), cases.replacen("because", "perhaps", 1)).unwrap();
    let error = Snapshot::read_part(&dir, &wanted).unwrap_err();
    assert!(matches!(error, CohortError::Changed { .. }), "{error}");
}
