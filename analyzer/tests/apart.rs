//! Machines of several classes: each is analysed as if the others had never been there.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;

use analyzer::collect::collect_all;
use analyzer::rows::evaluate;
use analyzer::{Analysis, Dataset};
use cohort::{Difference, RecordKind};
use common::Fixture;

/// Three cases beside the control. The frozen class measured the control and `a`, another one `b` and `c`; both a part of
/// `d`, which is the best on the one and the worst on the other.
fn mixed() -> Fixture {
    let mut it = Fixture::new(&[("mlp", "control")]);
    for (name, guess) in [("control", 1.0), ("a", 0.9), ("b", 0.8), ("c", 0.7), ("d", 0.6)] {
        it.case("mlp", name, "some", &[("model", guess * 1e6, "ns")]);
    }
    for (name, ratio) in [("control", 1.0), ("a", 0.9), ("b", 0.95), ("c", 1.3)] {
        it.measure(name, ratio);
    }
    it.built("d", 1);
    for round in 0..4 {
        let ratio = if round < 2 { 0.5 } else { 1.6 };
        let pairs: Vec<(f64, f64, f64)> = (0..3)
            .map(|pair| (1e6 * (ratio + 0.01 * f64::from(pair)), 1e6, 400.0))
            .collect();
        it.round("d", 1, round, &pairs);
    }
    for record in &mut it.records {
        let round = match record.kind {
            RecordKind::Run { round, .. } => round,
            _ => 0,
        };
        let other = matches!(record.case.as_str(), "b" | "c") || (record.case == "d" && round >= 2);
        if other {
            "v".clone_into(&mut record.writer);
        }
    }
    it
}

fn other_class() -> RecordKind {
    let difference = |name: &str, found: &str| Difference {
        name: name.to_owned(),
        expected: Some("frozen".to_owned()),
        found: Some(found.to_owned()),
    };
    RecordKind::Machine {
        differences: vec![
            difference("machine.cpu_model", "Other CPU"),
            difference("tool.gpu.output", "B200"),
        ],
        instance: BTreeMap::from([("hostname".to_owned(), "n2".to_owned())]),
    }
}

fn datasets(it: &Fixture) -> Vec<Dataset> {
    let mut manifest = it.manifest.clone();
    manifest.cases = it.cases.len() as u64;
    let state = cohort::state(&manifest, &it.cases, &it.additions, &it.records).unwrap();
    collect_all(&manifest, &it.additions, &state).unwrap()
}

fn both() -> (Analysis, Analysis) {
    let mut it = mixed();
    it.record("", 0, other_class());
    "v".clone_into(&mut it.records.last_mut().unwrap().writer);
    let found: Vec<Analysis> = datasets(&it).iter().map(|own| evaluate(own).unwrap()).collect();
    let [frozen, other]: [Analysis; 2] = found.try_into().unwrap();
    (frozen, other)
}

fn ratios(analysis: &Analysis) -> BTreeMap<&str, f64> {
    let cases = analysis.workloads[0].cases.iter();
    cases
        .filter_map(|case| Some((case.name.as_str(), case.ratio?.median)))
        .collect()
}

#[test]
fn each_class_has_a_table_and_a_winner_of_its_own() {
    let (frozen, other) = both();
    let names = |analysis: &Analysis| ratios(analysis).into_keys().map(str::to_owned).collect::<Vec<String>>();
    assert_eq!(names(&frozen), ["a", "control", "d"]);
    assert_eq!(names(&other), ["b", "c", "control", "d"]);
    let winner = |analysis: &Analysis| analysis.workloads[0].winner.clone().unwrap().case;
    assert_eq!((winner(&frozen).as_str(), winner(&other).as_str()), ("d", "b"));
    let (own, others) = (ratios(&frozen)["d"], ratios(&other)["d"]);
    assert!(
        (0.4..0.6).contains(&own) && (1.5..1.7).contains(&others),
        "{own} {others}"
    );
    // Beside every case the other class measured the control, never as a case.
    let control = other.workloads[0].case("control").unwrap();
    assert_eq!((control.pairs, ratios(&other)["control"]), (0, 1.0));
    assert_eq!(frozen.workloads[0].noise.map(|noise| noise.ratio.samples), Some(12));
    assert_eq!(other.workloads[0].noise, None);
    // A model is judged by what one class measured.
    let judged = |analysis: &Analysis| analysis.workloads[0].estimates[0].whole.samples;
    assert_eq!((judged(&frozen), judged(&other)), (3, 3));
    assert_eq!(other.setup.machine["cpu_model"], "Other CPU");
    assert_eq!(other.setup.instance["hostname"], "n2");
    assert_eq!((frozen.setup.class, other.setup.class), (0, 1));
    let counts: Vec<(usize, usize)> = other
        .setup
        .classes
        .iter()
        .map(|class| (class.cases, class.rounds))
        .collect();
    assert_eq!(
        (counts, &frozen.setup.classes),
        (vec![(3, 10), (3, 10)], &other.setup.classes)
    );
}

/// A control that no class but another measured as a case is the best of what is slower than it.
#[test]
fn the_control_wins_where_nothing_is_faster() {
    let mut it = mixed();
    it.records.retain(|record| record.case != "b");
    it.record("", 0, other_class());
    "v".clone_into(&mut it.records.last_mut().unwrap().writer);
    let other = evaluate(&datasets(&it)[1]).unwrap();
    let winner = other.workloads[0].winner.clone().unwrap();
    assert_eq!((winner.case.as_str(), winner.ratio.median), ("control", 1.0));
    assert!(!other.workloads[0].shows_a_gain());
}

/// What the frozen class says is what it would say had the others never measured anything.
#[test]
fn others_change_nothing() {
    let (frozen, _) = both();
    let mut alone = mixed();
    alone.records.retain(|record| record.writer == "w");
    alone.cases.retain(|case| !["b", "c"].contains(&case.name.as_str()));
    let alone = alone.analysis();
    let own = &frozen.workloads[0];
    for name in ["control", "a"] {
        assert_eq!(own.case(name), alone.workloads[0].case(name));
    }
    assert_eq!(ratios(&frozen), ratios(&alone));
    assert_eq!(own.winner, alone.workloads[0].winner);
    assert_eq!(own.control_value, alone.workloads[0].control_value);
    assert_eq!(own.estimates, alone.workloads[0].estimates);
}

#[test]
fn every_view_says_which_machines_it_is_about() {
    let (frozen, other) = both();
    let (first, second) = (analyzer::report::markdown(&frozen), analyzer::report::markdown(&other));
    assert!(
        first.contains("This is about the frozen class of machines alone: 10 rounds of 3 cases."),
        "{first}"
    );
    assert!(first.contains("class 1 of machines (machine.cpu_model"), "{first}");
    assert!(first.contains("its report is in `machine-1`"), "{first}");
    assert!(
        second.contains("This is about class 1 of machines") && second.contains("its report is in `..`"),
        "{second}"
    );
    assert!(second.contains("estimates were made for the frozen class"), "{second}");
    let terminal = analyzer::tables::render(&other).replace('\n', " ");
    assert!(terminal.contains("machines: This is about class 1"), "{terminal}");
}
