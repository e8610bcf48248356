//! From draft to frozen cohort: whole or not at all.

use cohort::{CohortDir, CohortError, Draft, Frozen, LayoutError, Snapshot};
use target_api::{Input, InputSet};

use crate::made;

#[test]
fn the_whole_folder() {
    let (folder, frozen) = made::frozen();
    assert_eq!(made::names(folder.path()), ["program", "sweep"]);
    let dir = CohortDir::new(folder.path().join("sweep"));
    let all = [
        "additions",
        "artifacts",
        "cases",
        "cases.jsonl",
        "inputs",
        "manifest.json",
        "manifest.sha256",
        "records",
        "sources",
    ];
    assert_eq!(made::names(dir.path()), [&all[..], &["toolchain"]].concat());
    assert_eq!(frozen.dir(), &dir);
    assert_eq!(Frozen::open(&dir).unwrap(), frozen);

    let manifest = frozen.manifest();
    assert_eq!((manifest.cases, manifest.units.len()), (2, 2));
    assert!(manifest.units.is_sorted_by(|a, b| a.digest < b.digest));
    for unit in &manifest.units {
        let text = fs_err::read(dir.unit_sources(&unit.digest).join("src/k.c")).unwrap();
        assert_eq!(unit.files[0].sha256, cohort::sha256_hex(&text));
        assert_eq!(unit.steps[0].environment["LANG"], "C");
    }
    assert_eq!(manifest.inputs[0].path, "w/a.f32");
    assert_eq!(fs_err::read(dir.workload_inputs("w").join("a.f32")).unwrap(), [1, 2, 3]);
    assert_eq!(fs_err::read(dir.binary()).unwrap(), b"program");
    let cases = fs_err::read(dir.cases()).unwrap();
    assert_eq!(manifest.cases_sha256, cohort::sha256_hex(&cases));
    let snapshot = Snapshot::read(&dir).unwrap();
    assert_eq!(snapshot.state().unwrap().counts().waiting, 2);
}

#[test]
fn what_is_in_the_way_stays() {
    let folder = tempfile::tempdir().unwrap();
    let dir = CohortDir::new(folder.path().join("deep/sweep"));
    fs_err::create_dir_all(dir.path()).unwrap();
    // An empty folder is no obstacle.
    made::draft(folder.path()).freeze(&dir, 1).unwrap();
    let before = fs_err::read(dir.manifest()).unwrap();
    let error = made::draft(folder.path()).freeze(&dir, 1).unwrap_err();
    assert!(matches!(error, CohortError::AlreadyFrozen { .. }), "{error}");
    assert_eq!(fs_err::read(dir.manifest()).unwrap(), before);

    let other = CohortDir::new(folder.path().join("other"));
    fs_err::create_dir(other.path()).unwrap();
    fs_err::write(other.path().join("thesis.tex"), "x").unwrap();
    let error = made::draft(folder.path()).freeze(&other, 1).unwrap_err();
    assert!(error.to_string().contains("it holds `thesis.tex`"), "{error}");
    assert_eq!(made::names(other.path()), ["thesis.tex"]);

    let file = CohortDir::new(folder.path().join("program"));
    assert!(made::draft(folder.path()).freeze(&file, 1).is_err());
    assert_eq!(made::names(folder.path()), ["deep", "other", "program"]);
}

#[test]
fn leftovers_of_kills_are_removed_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let dir = CohortDir::new(folder.path().join("sweep"));
    for name in [
        ".sweep.freezing-1",
        ".sweep.freezing-99",
        ".sweep.freezing-alive-1",
        ".sweep.freezing-",
        ".other.freezing-1",
    ] {
        fs_err::create_dir_all(folder.path().join(name).join("sources")).unwrap();
    }
    let alive = folder.path().join(".sweep.freezing-77");
    fs_err::create_dir(&alive).unwrap();
    let lock = fs_err::File::open(&alive).unwrap();
    lock.file().try_lock().unwrap();
    made::draft(folder.path()).freeze(&dir, 99).unwrap();
    let kept = [
        ".other.freezing-1",
        ".sweep.freezing-",
        ".sweep.freezing-77",
        ".sweep.freezing-alive-1",
        "program",
        "sweep",
    ];
    assert_eq!(made::names(folder.path()), kept);

    let other = CohortDir::new(folder.path().join("x/sweep"));
    fs_err::create_dir_all(folder.path().join("x/.sweep.freezing-5")).unwrap();
    let locked = fs_err::File::open(folder.path().join("x/.sweep.freezing-5")).unwrap();
    locked.file().try_lock().unwrap();
    let error = made::draft(folder.path()).freeze(&other, 5).unwrap_err();
    assert!(matches!(error, CohortError::BeingFrozen { .. }), "{error}");
}

#[test]
fn a_folder_that_cannot_be_written() {
    // The mode of a folder doesn't stop root, but nobody can create folders in this one.
    let folder = tempfile::tempdir().unwrap();
    for path in ["/proc/sweep", "/proc/self/x/sweep"] {
        let error = made::draft(folder.path()).freeze(&CohortDir::new(path), 1).unwrap_err();
        assert!(error.to_string().contains("/proc/"), "{error}");
    }
}

type Change = fn(&mut Draft);

/// Freezes what `change` made of a draft, expects an error, and that nothing is left.
fn refused(change: Change) -> CohortError {
    let folder = tempfile::tempdir().unwrap();
    let mut draft = made::draft(folder.path());
    change(&mut draft);
    let error = draft
        .freeze(&CohortDir::new(folder.path().join("sweep")), 1)
        .unwrap_err();
    assert_eq!(made::names(folder.path()), ["program"]);
    error
}

#[test]
fn drafts_that_do_not_fit() {
    let layouts: [(Change, &str); 4] = [
        (|d| d.add_case(made::case("w", "other")), "case `other` is there twice"),
        (
            |d| d.add_case(made::case("v", "x")),
            "workload `v`, which the manifest doesn't have",
        ),
        (
            |d| {
                let mut case = made::case("w", "x");
                case.repeat_of = Some("y".into());
                d.add_case(case);
            },
            "repeats `y`",
        ),
        (
            |d| {
                let mut case = made::case("w", "x");
                case.units.insert("up".into(), "0".repeat(64));
                d.add_case(case);
            },
            "needs unit 0000",
        ),
    ];
    for (change, words) in layouts {
        let error = refused(change);
        assert!(
            matches!(error, CohortError::Layout { .. }) && error.to_string().contains(words),
            "{error}"
        );
    }
    let error = refused(|d| {
        let mut case = made::case("w", "x");
        case.estimates[0].value = f64::NAN;
        d.add_case(case);
    });
    assert!(error.to_string().starts_with("case `x` can't be written"), "{error}");
}

#[test]
fn no_control_no_rounds_no_binary() {
    let folder = tempfile::tempdir().unwrap();
    let dir = CohortDir::new(folder.path().join("sweep"));
    let binary = folder.path().join("program");
    let draft = |rounds| Draft::new(made::header(&["w"], rounds, 1), &binary);
    let error = draft(1).freeze(&dir, 1).unwrap_err();
    assert!(error.to_string().contains("program"), "{error}");
    fs_err::write(&binary, "x").unwrap();
    let error = draft(1).freeze(&dir, 1).unwrap_err();
    let no_control = matches!(
        &error,
        CohortError::Layout {
            problem: LayoutError::NoControl { .. },
            ..
        }
    );
    assert!(no_control, "{error}");
    let error = draft(0).freeze(&dir, 1).unwrap_err();
    assert!(error.to_string().contains("no rounds"), "{error}");
    assert_eq!(made::names(folder.path()), ["program"]);
}

#[test]
fn paths_that_lead_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut draft = made::draft(folder.path());
    for path in ["../x", "/etc/passwd", "", "a/../b"] {
        let mut unit = made::unit("u", "x");
        unit.sources[0].path = path.into();
        assert!(
            matches!(draft.add_unit(unit), Err(CohortError::BadPath { .. })),
            "{path}"
        );
        let mut unit = made::unit("u", "x");
        unit.artifact = path.into();
        assert!(draft.add_unit(unit).is_err(), "{path}");
        let files = vec![Input {
            name: path.into(),
            bytes: Vec::new(),
        }];
        assert!(draft.set_inputs("w", InputSet { files }).is_err(), "{path}");
        assert!(draft.set_inputs(path, InputSet::default()).is_err(), "{path}");
    }
    let mut unit = made::unit("u", "x");
    unit.sources[1].path = unit.sources[0].path.clone();
    assert!(draft.add_unit(unit).is_err());
}

#[test]
fn units_that_are_the_same_are_kept_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut draft = made::draft(folder.path());
    let one = draft.add_unit(made::unit("up", "int k;")).unwrap();
    assert_eq!(one, draft.add_unit(made::unit("down", "int k;")).unwrap());
    let mut turned = made::unit("up", "int k;");
    turned.sources.reverse();
    assert_eq!(one, draft.add_unit(turned).unwrap());
    let mut other = made::unit("up", "int l;");
    other.sources.reverse();
    let other = draft.add_unit(other).unwrap();
    assert_ne!(one, other);
    let frozen = draft.freeze(&CohortDir::new(folder.path().join("sweep")), 1).unwrap();
    let described = frozen.units().find(|unit| unit.digest == other).unwrap();
    assert!(described.files.is_sorted());
}

#[test]
fn odd_names_of_cases_and_folders() {
    let folder = tempfile::tempdir().unwrap();
    let long = "n".repeat(200);
    let dir = CohortDir::new(folder.path().join("mit Leerzeichen 'und' \"Ümläuten\" 日本"));
    let mut draft = made::draft(folder.path());
    let names = [
        format!("{long}1"),
        format!("{long}2"),
        "a/b \"c\" 'd'".into(),
        "名前".into(),
        "\u{7}\n".into(),
    ];
    for name in &names {
        draft.add_case(made::case("w", name));
    }
    let frozen = draft.freeze(&dir, 1).unwrap();
    let read: Vec<_> = Frozen::open(&dir)
        .unwrap()
        .cases()
        .map(|case| case.name.clone())
        .collect();
    assert_eq!(read[2..], names);
    for name in &names {
        fs_err::create_dir(dir.case_dir(name)).unwrap();
        fs_err::write(dir.case_run_log(name), "").unwrap();
    }
    assert_eq!(made::names(&dir.case_dirs()).len(), names.len());
    assert_eq!(frozen.state(&[]).unwrap().cases().len(), 7);
}

#[test]
fn manifests_and_cases_that_were_damaged() {
    let (_folder, frozen) = made::frozen();
    let dir = frozen.dir();
    let manifest = fs_err::read(dir.manifest()).unwrap();
    for length in [0, 1, 10, manifest.len() / 2, manifest.len() - 3] {
        fs_err::write(dir.manifest(), &manifest[..length]).unwrap();
        let error = Frozen::open(dir).unwrap_err();
        assert!(error.to_string().contains("manifest.json`: "), "{error}");
    }
    let newer = String::from_utf8(manifest.clone())
        .unwrap()
        .replace("\"format\":1", "\"format\":2");
    fs_err::write(dir.manifest(), newer).unwrap();
    let error = Frozen::open(dir).unwrap_err();
    assert!(
        error.to_string().ends_with("has format 2; this version reads format 1"),
        "{error}"
    );
    fs_err::write(dir.manifest(), &manifest).unwrap();

    let cases = fs_err::read(dir.cases()).unwrap();
    fs_err::write(dir.cases(), &cases[..cases.len() - 1]).unwrap();
    assert!(matches!(Frozen::open(dir).unwrap_err(), CohortError::Changed { .. }));
    fs_err::write(dir.cases(), &cases).unwrap();
    assert_eq!(Frozen::open(dir).unwrap(), frozen);

    fs_err::remove_file(dir.manifest()).unwrap();
    for error in [Frozen::open(dir).unwrap_err(), Snapshot::read(dir).unwrap_err()] {
        assert!(matches!(error, CohortError::NoCohort { .. }), "{error}");
    }
    let missing = CohortDir::new(dir.path().join("cases.jsonl"));
    assert!(matches!(
        Frozen::open(&missing).unwrap_err(),
        CohortError::NoCohort { .. }
    ));
}
