//! What stands on disk: every kind of record and addition is read back as it was, and lines keep their form.

use std::collections::BTreeMap;

use cohort::{Addition, AdditionKind, BuildOutcome, Case, Manifest, Record, RunOutcome, UnitBuilt};
use proptest::prelude::*;
use target_api::{Estimate, Moment};

use crate::made;

fn back<T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) -> String {
    let text = serde_json::to_string(value).unwrap();
    let read: T = serde_json::from_str(&text).unwrap();
    assert_eq!(&read, value, "{text}");
    text
}

fn line(kind: cohort::RecordKind) -> String {
    let text = back(&made::record("w", 7, "c", 1, kind));
    let head = r#"{"writer":"w","sequence":7,"at":"2023-11-14T22:13:27Z","case":"c","attempt":1,"#;
    text.strip_prefix(head).unwrap_or_else(|| panic!("{text}")).to_owned()
}

#[test]
fn every_kind_of_record() {
    let reason = || "no".to_owned();
    let units = [(
        "up".to_owned(),
        UnitBuilt {
            unit: "u".into(),
            artifact_sha256: "a".into(),
            build_ms: Some(3),
            reproduces: None,
            facts: [("fma".to_owned(), "12".to_owned())].into(),
        },
    )];
    let estimate = Estimate {
        name: "m".into(),
        value: 0.1,
        unit: "ns".into(),
        moment: Moment::Build,
        parts: Vec::new(),
    };
    let built = cohort::RecordKind::Build {
        outcome: BuildOutcome::Built { units: units.into() },
        estimates: vec![estimate],
    };
    let lines = [
        (
            built,
            concat!(
                r#""record":"build","outcome":"built","units":{"up":{"unit":"u","artifact_sha256":"a","build_ms":3,"#,
                r#""facts":{"fma":"12"}}},"estimates":[{"name":"m","value":0.1,"unit":"ns","moment":"build"}]}"#
            ),
        ),
        (
            made::build(BuildOutcome::Rejected { reason: reason() }),
            r#""record":"build","outcome":"rejected","reason":"no"}"#,
        ),
        (
            made::build(BuildOutcome::BuildFailed { reason: reason() }),
            r#""record":"build","outcome":"build-failed","reason":"no"}"#,
        ),
        (
            made::build(BuildOutcome::TimedOut { reason: reason() }),
            r#""record":"build","outcome":"timed-out","reason":"no"}"#,
        ),
        (made::began(2), r#""record":"began","round":2,"device":"cpu0"}"#),
        (
            made::correct(2),
            concat!(
                r#""record":"run","round":2,"device":"cpu0","outcome":"correct","measurement":{"verdict":"correct","#,
                r#""samples":[{"of":"control","value":1.0},{"of":"case","value":0.1}]},"run_ms":5,"waited_ms":0}"#
            ),
        ),
        (
            made::incorrect(0),
            concat!(
                r#""record":"run","round":0,"device":"cpu0","outcome":"incorrect","#,
                r#""reason":"block 3 was never written","run_ms":5,"waited_ms":0}"#
            ),
        ),
        (
            made::run(0, RunOutcome::RunFailed { reason: reason() }),
            r#""record":"run","round":0,"device":"cpu0","outcome":"run-failed","reason":"no","run_ms":5,"waited_ms":0}"#,
        ),
        (
            made::run(0, RunOutcome::TimedOut { reason: reason() }),
            r#""record":"run","round":0,"device":"cpu0","outcome":"timed-out","reason":"no","run_ms":5,"waited_ms":0}"#,
        ),
        (
            cohort::RecordKind::AcceptDifference {
                difference: made::difference(),
            },
            r#""record":"accept-difference","name":"machine.model","expected":"paper","found":"stone"}"#,
        ),
        (
            cohort::RecordKind::Machine {
                differences: vec![made::difference()],
                instance: [("hostname".to_owned(), "n1".to_owned())].into(),
            },
            concat!(
                r#""record":"machine","differences":[{"name":"machine.model","expected":"paper","found":"stone"}],"#,
                r#""instance":{"hostname":"n1"}}"#
            ),
        ),
        (
            cohort::RecordKind::AcceptIncorrect {},
            r#""record":"accept-incorrect"}"#,
        ),
        (made::retry(), r#""record":"retry","because":"--retry failed"}"#),
    ];
    for (kind, expected) in lines {
        assert_eq!(line(kind), expected);
    }
}

#[test]
fn incorrect_keeps_its_measurement() {
    let measurement = Some(made::measurement());
    back(&made::record(
        "w",
        0,
        "c",
        1,
        made::run(
            0,
            RunOutcome::Incorrect {
                reason: "x".into(),
                measurement,
            },
        ),
    ));
}

#[test]
fn every_kind_of_addition() {
    let rounds: BTreeMap<_, _> = [("c".to_owned(), vec![3, 4])].into();
    let case: Case = made::case("w", "c");
    let kinds = [
        (
            AdditionKind::Crosses {
                cases: vec![case.clone()],
                units: Vec::new(),
            },
            r#""kind":"crosses","cases":["#,
        ),
        (
            AdditionKind::Finalists { rounds: rounds.clone() },
            r#""kind":"finalists","rounds":{"c":[3,4]}}"#,
        ),
        (
            AdditionKind::Confirmation {
                cases: vec![case],
                rounds,
            },
            r#""kind":"confirmation","cases":["#,
        ),
    ];
    for (kind, expected) in kinds {
        let (previous_sha256, reason) = ("0".repeat(64), "because".to_owned());
        let addition = Addition {
            number: 1,
            previous_sha256,
            reason,
            at: made::at(0),
            records: std::collections::BTreeMap::new(),
            kind,
        };
        let text = back(&addition);
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn manifest_and_case() {
    let mut manifest: Manifest = made::manifest(&["a", "b"], 4, 5, 0);
    manifest.harness = Some("h".into());
    back(&manifest);
    back(&made::case("w", "quotes \" ' \\ and \u{1F600} and \n"));
}

proptest! {
    /// Numbers are read back to the last bit, through all the flattened layers.
    #[test]
    fn numbers_are_exact(value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
        let mut measurement = made::measurement();
        measurement.samples[0].value = value;
        let record = made::record("w", 0, "c", 1, made::run(0, RunOutcome::Correct { measurement }));
        let read: Record = serde_json::from_slice(&serde_json::to_vec(&record).unwrap()).unwrap();
        prop_assert_eq!(read, record);
    }
}
