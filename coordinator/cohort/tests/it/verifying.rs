//! What was changed after the freeze is found and named.

use cohort::{Difference, Frozen, machine_differences, verify};

use crate::made;

fn expect(frozen: &Frozen, name: &str, expected: bool, found: bool) {
    let differences = verify(frozen).unwrap();
    let [difference] = &differences[..] else {
        panic!("{differences:?}")
    };
    assert_eq!(difference.name, name);
    assert_eq!(
        (difference.expected.is_some(), difference.found.is_some()),
        (expected, found),
        "{difference}"
    );
    assert_ne!(difference.expected, difference.found);
}

#[test]
fn one_byte_anywhere() {
    let (_folder, frozen) = made::frozen();
    assert_eq!(verify(&frozen).unwrap(), []);
    let source = format!("sources/{}/src/k.h", frozen.manifest().units[1].digest);
    for name in [
        "manifest.json",
        "cases.jsonl",
        "toolchain/layout-sweep",
        "inputs/w/a.f32",
        &source,
    ] {
        let path = frozen.dir().path().join(name);
        let before = fs_err::read(&path).unwrap();
        fs_err::write(&path, [&before[..], b" "].concat()).unwrap();
        expect(&frozen, name, true, true);
        fs_err::remove_file(&path).unwrap();
        expect(&frozen, name, true, false);
        fs_err::write(&path, before).unwrap();
        assert_eq!(verify(&frozen).unwrap(), []);
    }
}

/// Whoever opens the cohort afterwards has only the edited file and its digest.
#[test]
fn a_manifest_that_was_edited_before_it_was_read() {
    let (_folder, frozen) = made::frozen();
    let dir = frozen.dir();
    let text = fs_err::read_to_string(dir.manifest()).unwrap();
    let edited = text.replacen("\"rounds\":", "\"rounds\":1", 1);
    assert_ne!(edited, text);
    fs_err::write(dir.manifest(), edited).unwrap();
    expect(&Frozen::open(dir).unwrap(), "manifest.json", true, true);
    fs_err::write(dir.manifest(), text).unwrap();
    assert_eq!(verify(&Frozen::open(dir).unwrap()).unwrap(), []);
    // Cohorts that were frozen before the digest was kept are what they are: their records have none either.
    let digest = fs_err::read(dir.manifest_digest()).unwrap();
    fs_err::remove_file(dir.manifest_digest()).unwrap();
    assert_eq!(verify(&Frozen::open(dir).unwrap()).unwrap(), []);
    let line = "{\"writer\":\"w\"";
    fs_err::write(dir.record_file("w"), format!("{line}}}\n")).unwrap();
    assert_eq!(verify(&Frozen::open(dir).unwrap()).unwrap(), []);
    let sealed = &cohort::sha256_hex(line.as_bytes())[..16];
    fs_err::write(dir.record_file("w"), format!("{line},\"chain\":\"{sealed}\"}}\n")).unwrap();
    expect(&Frozen::open(dir).unwrap(), "manifest.sha256", true, false);
    fs_err::write(dir.manifest_digest(), digest).unwrap();
    assert_eq!(verify(&Frozen::open(dir).unwrap()).unwrap(), []);
}

#[test]
fn files_that_were_added() {
    let (_folder, frozen) = made::frozen();
    let source = format!("sources/{}/src/immintrin.h", frozen.manifest().units[0].digest);
    for name in ["inputs/w/b.f32", "inputs/v", &source] {
        let path = frozen.dir().path().join(name);
        fs_err::write(&path, "x").unwrap();
        expect(&frozen, name, false, true);
        fs_err::remove_file(&path).unwrap();
    }
    // Artifacts, records and logs come and go.
    fs_err::write(frozen.dir().records().join("x.jsonl"), "").unwrap();
    fs_err::create_dir(frozen.dir().unit_artifacts("u")).unwrap();
    fs_err::write(frozen.dir().coordinator_lock(), "").unwrap();
    assert_eq!(verify(&frozen).unwrap(), []);
}

#[test]
fn additions_and_their_sources() {
    let (_folder, mut frozen) = made::frozen();
    let unit = made::unit("up", "int x;");
    let digest = cohort::unit_digest(&unit, &made::machine().tools);
    let growth = cohort::Growth::Crosses {
        cases: Vec::new(),
        units: vec![unit],
    };
    frozen.grow(made::at(0), "x", growth).unwrap();
    assert_eq!(verify(&frozen).unwrap(), []);
    for name in ["additions/001.json", &format!("sources/{digest}/src/k.c")] {
        let path = frozen.dir().path().join(name);
        let before = fs_err::read(&path).unwrap();
        fs_err::write(&path, "changed").unwrap();
        expect(&frozen, name, true, true);
        fs_err::write(&path, before).unwrap();
    }
}

#[test]
fn machines() {
    let frozen = made::machine();
    assert_eq!(machine_differences(&frozen, &frozen), []);
    let mut now = frozen.clone();
    now.instance.insert("hostname".into(), "there".into());
    now.facts = serde_json::Value::Null;
    now.tools[0].path = "/opt/cc".into();
    assert_eq!(
        machine_differences(&frozen, &now),
        [],
        "instance, facts and a tool's path are only recorded"
    );
    now.class.insert("cpu".into(), "slow".into());
    now.class.remove("governor");
    now.class.insert("driver".into(), "1".into());
    now.tools[0].sha256 = "cd".into();
    let difference = |name: &str, expected: Option<&str>, found: Option<&str>| Difference {
        name: name.into(),
        expected: expected.map(str::to_owned),
        found: found.map(str::to_owned),
    };
    let expected = [
        difference("machine.cpu", Some("fast"), Some("slow")),
        difference("machine.driver", None, Some("1")),
        difference("machine.governor", Some("performance"), None),
        difference("tool.compiler", Some("ab"), Some("cd")),
    ];
    assert_eq!(machine_differences(&frozen, &now), expected);
    assert_eq!(expected[1].to_string(), "`machine.driver`: expected nothing, found 1");

    // The same wrapper before another compiler.
    let said = |version: &str, output: Option<&str>| {
        let mut machine = made::machine();
        machine.tools[0].version = version.to_owned();
        machine.tools[0].output = output.map(str::to_owned);
        machine
    };
    let found = |now: &target_api::Machine| machine_differences(&said("nvcc", Some("nvcc\n12.1")), now);
    assert_eq!(found(&said("nvcc", Some("nvcc\n12.1"))), []);
    let output = |expected, found| [difference("tool.compiler.output", Some(expected), found)];
    assert_eq!(found(&said("nvcc", Some("nvcc\n12.9"))), output("12.1", Some("12.9")));
    assert_eq!(found(&said("nvcc", None)), output("12.1", None));
    assert_eq!(found(&said("gcc", Some("gcc\n12.1"))), output("nvcc", Some("gcc")));
}
