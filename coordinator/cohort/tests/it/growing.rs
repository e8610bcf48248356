//! Additions: written once, chained, checked.

use cohort::{AdditionKind, CohortError, Frozen, Growth, RecordWriter, Snapshot, Source, WriterName, verify};

use crate::made;

fn crosses(name: &str, text: &str) -> Growth {
    let unit = made::unit("up", text);
    let mut case = made::case("w", name);
    case.units
        .insert("up".into(), cohort::unit_digest(&unit, &made::machine().tools));
    Growth::Crosses {
        cases: vec![case],
        units: vec![unit, made::unit("up", "int k;")],
    }
}

fn finalists(name: &str, pairs: &[u32]) -> Growth {
    Growth::Finalists {
        rounds: [(name.to_owned(), pairs.to_vec())].into(),
    }
}

fn confirmation(name: &str, of: Option<&str>, listed: &str) -> Growth {
    let mut case = made::case("w", name);
    case.repeat_of = of.map(str::to_owned);
    Growth::Confirmation {
        cases: vec![case],
        rounds: [(listed.to_owned(), vec![5, 6])].into(),
    }
}

#[test]
fn it_grows_and_is_read_back() {
    let (_folder, mut frozen) = made::frozen();
    let dir = frozen.dir().clone();
    assert_eq!(
        frozen
            .grow(made::at(1), "three fastest", crosses("cross", "int x;"))
            .unwrap()
            .number,
        1
    );
    frozen.grow(made::at(2), "close", finalists("cross", &[7])).unwrap();
    frozen
        .grow(made::at(3), "confirm", confirmation("again", Some("cross"), "again"))
        .unwrap();
    assert_eq!(made::names(&dir.additions()), ["001.json", "002.json", "003.json"]);
    assert_eq!(Frozen::open(&dir).unwrap(), frozen);
    assert_eq!(verify(&frozen).unwrap(), []);
    let AdditionKind::Crosses { units, .. } = &frozen.additions()[0].kind else {
        panic!()
    };
    assert_eq!(units.len(), 1, "the unit that the manifest has is not added again");

    let state = frozen.state(&[]).unwrap();
    let wanted = |name: &str| state.get(name).unwrap().wanted.clone();
    assert_eq!(wanted("other"), [3, 3]);
    assert_eq!(wanted("cross"), [3, 3, 7]);
    assert_eq!(wanted("again"), [5, 6]);
    assert_eq!(state.get("again").unwrap().source, Source::Addition(3));
    let controls: Vec<_> = state
        .cases()
        .iter()
        .filter(|case| case.control)
        .map(|case| &case.case.name)
        .collect();
    assert_eq!(controls, ["w control"]);
}

#[test]
fn growth_that_does_not_fit_changes_nothing() {
    let (_folder, mut frozen) = made::frozen();
    frozen.grow(made::at(0), "first", crosses("cross", "int x;")).unwrap();
    let before = frozen.clone();
    let growths = [
        (crosses("cross 2", "int y;"), "an earlier one has done so"),
        (finalists("nobody", &[1]), "there is no such case"),
        (finalists("other", &[]), "no rounds"),
        (finalists("other", &[1, 0]), "no rounds, or a round without pairs"),
        (confirmation("other", Some("cross"), "other"), "is there twice"),
        (confirmation("new", None, "new"), "it repeats no case"),
        (confirmation("new", Some("nobody"), "new"), "repeats `nobody`"),
        (confirmation("new", Some("other"), "other"), "no rounds are listed"),
    ];
    for (growth, words) in growths {
        let error = frozen.grow(made::at(1), "x", growth).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(frozen, before);
        assert_eq!(made::names(&frozen.dir().additions()), ["001.json"]);
    }
    assert_eq!(Frozen::open(frozen.dir()).unwrap(), before);
    assert_eq!(verify(&frozen).unwrap(), []);
}

#[test]
fn two_that_grow_one_cohort_do_not_overwrite() {
    let (_folder, mut one) = made::frozen();
    let mut two = one.clone();
    one.grow(made::at(0), "one", finalists("other", &[1])).unwrap();
    let error = two.grow(made::at(0), "two", finalists("other", &[2])).unwrap_err();
    assert!(matches!(error, CohortError::Exists { .. }), "{error}");
    assert_eq!(Frozen::open(one.dir()).unwrap(), one);
}

#[test]
fn the_chain_holds() {
    let (_folder, mut frozen) = made::frozen();
    let dir = frozen.dir().clone();
    frozen.grow(made::at(0), "one", finalists("other", &[1])).unwrap();
    frozen.grow(made::at(0), "two", finalists("other", &[2])).unwrap();
    let first = fs_err::read_to_string(dir.addition(1)).unwrap();
    fs_err::write(dir.addition(1), first.replace("[1]", "[9]")).unwrap();
    let error = Frozen::open(&dir).unwrap_err();
    assert!(error.to_string().contains("001.json` was changed"), "{error}");
    fs_err::write(dir.addition(1), &first).unwrap();
    Frozen::open(&dir).unwrap();

    let manifest = fs_err::read_to_string(dir.manifest()).unwrap();
    fs_err::write(dir.manifest(), manifest.replace("\"finalists\":24", "\"finalists\":25")).unwrap();
    let error = Frozen::open(&dir).unwrap_err();
    assert!(error.to_string().contains("manifest.json` was changed"), "{error}");
    fs_err::write(dir.manifest(), manifest).unwrap();

    fs_err::write(dir.additions().join(".writing-abc"), "half").unwrap();
    Frozen::open(&dir).unwrap();
    for name in ["notes", "3.json", "0003.json"] {
        fs_err::write(dir.additions().join(name), "x").unwrap();
        assert!(Frozen::open(&dir).unwrap_err().to_string().contains("not an addition"));
        fs_err::remove_file(dir.additions().join(name)).unwrap();
    }
    fs_err::rename(dir.addition(2), dir.addition(3)).unwrap();
    assert!(
        Frozen::open(&dir)
            .unwrap_err()
            .to_string()
            .contains("003.json`: addition 2 stands where")
    );
    fs_err::remove_file(dir.addition(3)).unwrap();
    fs_err::rename(dir.addition(1), dir.addition(2)).unwrap();
    assert!(Frozen::open(&dir).is_err(), "the first one is missing");
}

/// Another writer goes on while a reader reads: what it sees always fits together.
#[test]
fn reading_needs_no_lock() {
    let (_folder, mut frozen) = made::frozen();
    let dir = frozen.dir().clone();
    let mut writer = RecordWriter::create(&dir, &WriterName::new(made::at(0), 1, "h")).unwrap();
    writer.append(made::at(0), "other", 1, made::built()).unwrap();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut rounds = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                let snapshot = Snapshot::read(&dir).unwrap();
                let state = snapshot.state().unwrap();
                let now = state
                    .get("other")
                    .unwrap()
                    .latest()
                    .map_or(0, |latest| latest.correct().count());
                assert!(now >= rounds);
                rounds = now;
            }
        });
        for round in 0..40 {
            if round >= 2 {
                frozen.grow(made::at(0), "more", finalists("other", &[1])).unwrap();
            }
            writer.append(made::at(0), "other", 1, made::began(round)).unwrap();
            writer.append(made::at(0), "other", 1, made::correct(round)).unwrap();
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        reader.join().unwrap();
    });
    let snapshot = Snapshot::read(&dir).unwrap();
    assert_eq!(
        snapshot
            .state()
            .unwrap()
            .get("other")
            .unwrap()
            .latest()
            .unwrap()
            .correct()
            .count(),
        40
    );
}

#[test]
fn the_last_addition_tells_that_it_was_edited() {
    let (_folder, mut frozen) = made::frozen();
    frozen.grow(made::at(0), "close", finalists("other", &[7])).unwrap();
    let path = frozen.dir().addition(1);
    let text = fs_err::read_to_string(&path).unwrap();
    for (from, to) in [("\"close\"", "\"clear\""), ("[7]", "[7,7]")] {
        let edited = text.replace(from, to);
        assert_ne!(edited, text, "{from}");
        fs_err::write(&path, edited).unwrap();
        let opened = cohort::Frozen::open(frozen.dir());
        assert!(matches!(opened, Err(CohortError::Changed { .. })), "{from}: {opened:?}");
    }
    fs_err::write(&path, text).unwrap();
    assert_eq!(cohort::Frozen::open(frozen.dir()).unwrap(), frozen);
}
