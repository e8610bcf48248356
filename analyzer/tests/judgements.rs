//! Estimates by kind of phase, drift, consents, several workloads: worked by hand.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use analyzer::analysis::TieRule;
use analyzer::report::markdown;
use analyzer::{Analysis, tables};
use cohort::{Difference, RecordKind};
use common::Fixture;

#[track_caller]
fn near(found: Option<f64>, expected: f64) {
    let found = found.unwrap();
    assert!(
        (found - expected).abs() < 1e-9 * expected.abs().max(1.0),
        "{found} is not {expected}"
    );
}

/// Times in ms: four rounds of three pairs, without noise in their ratios; in the last round everything takes half as long
/// again, which moves no median. The fixture's phases are `up` (compute, 0.6 of the time) and
/// `down` (reduce, 0.4).
fn quiet(it: &mut Fixture, name: &str, ms: f64) {
    it.built(name, 1);
    for round in 0..4 {
        let slow = if round == 3 { 1.5 } else { 1.0 };
        it.round(name, 1, round, &[(ms * 1e6 * slow, 1e7 * slow, 100.0); 3]);
    }
}

#[test]
fn kinds_of_phases_by_hand() {
    let mut it = Fixture::new(&[("mlp", "control")]);
    // Measured compute: 6, 3, 12, 24 ms. Predicted for it, over two parts: 3, 1, 5, 2 ms.
    for (name, ms, up, compute) in [
        ("control", 10.0, 2.0, 1.0),
        ("a", 5.0, 1.0, 0.0),
        ("b", 20.0, 3.0, 2.0),
        ("c", 40.0, 1.0, 1.0),
    ] {
        it.case("mlp", name, name, &[("model", ms * 1e6, "ns"), ("other", 1.0, "ns")]);
        let parts = [("up", up * 1e6), ("compute", compute * 1e6), ("exchange", 1e6)];
        it.cases.last_mut().unwrap().estimates[0].parts = parts.map(|(name, ns)| (name.to_owned(), ns)).to_vec();
        quiet(&mut it, name, ms);
    }
    // Predicted without parts.
    it.case("mlp", "d", "d", &[("model", 1e6, "ns")]);
    quiet(&mut it, "d", 80.0);
    let analysis = it.analysis();
    let model = &analysis.workloads[0].estimates[0];
    // `exchange` was not measured, `reduce` not predicted.
    let [compute] = model.phases.as_slice() else {
        panic!("{:?}", model.phases)
    };
    let judged = &compute.judgement;
    assert_eq!((compute.kind.as_str(), judged.samples), ("compute", 4));
    assert_eq!(judged.left_out.get("not predicted"), Some(&1));
    // Ranks 2, 1, 3, 4 against 3, 1, 4, 2: squared differences 1, 0, 1, 4.
    near(judged.spearman, 1.0 - 6.0 * 6.0 / 60.0);
    assert_eq!(
        (judged.selected.as_deref(), judged.regret_ratio),
        (Some("a"), Some(1.0))
    );
    // Ratios 1/2, 1/3, 5/12, 1/12.
    near(judged.bias, f64::midpoint(1.0 / 3.0, 5.0 / 12.0));
    assert!(analysis.workloads[0].estimates[1].phases.is_empty());
    // Whole: it would choose d, which takes 80 ms where 5 are possible; without noise nothing flips.
    assert_eq!((model.whole.samples, model.whole.winner_flip_rate), (5, Some(0.0)));
    assert_eq!(model.whole.cross_fitted_regret, Some(16.0));
}

#[test]
fn choosing_by_hand() {
    let mut it = Fixture::new(&[("mlp", "control")]);
    // The model's order: c, a, control, b. Measured: a, control, b, c.
    for (name, ms, predicted) in [
        ("control", 10.0, 3.0),
        ("a", 5.0, 2.0),
        ("b", 20.0, 4.0),
        ("c", 40.0, 1.0),
    ] {
        it.case("mlp", name, name, &[("model", predicted * 1e6, "ns")]);
        quiet(&mut it, name, ms);
    }
    let analysis = it.analysis();
    let judged = &analysis.workloads[0].estimates[0].whole;
    let at: Vec<(usize, f64)> = judged.at_k.iter().map(|at| (at.k, at.regret_ratio)).collect();
    assert_eq!(at, [(1, 8.0), (3, 1.0)]);
    let hits: Vec<f64> = judged.at_k.iter().map(|at| at.hit_rate).collect();
    assert_eq!(hits, [0.0, 2.0 / 3.0]);
    near(judged.cross_fitted_regret, 8.0);
    assert_eq!(judged.regret_ratio, Some(8.0));
    assert_eq!((judged.tie_rule, judged.tie_threshold), (TieRule::Intervals, None));
    assert_eq!((judged.comparable_pairs, judged.inversions), (6, 3));
    // Slopes of measured over predicted: points (3, 10), (2, 5), (4, 20), (1, 40): 5, 10, -15, 7.5, -35, -20/3.
    near(judged.line.map(|line| line.slope), f64::midpoint(-20.0 / 3.0, 5.0));
}

/// A control that slows down from 10 to 12 ms halfway, and one round at 30 ms.
fn drifting() -> Analysis {
    let mut it = Fixture::new(&[("mlp", "control")]);
    for name in ["control", "a", "b", "c", "d"] {
        it.case("mlp", name, name, &[]);
        it.built(name, 1);
    }
    let mut nth = 0;
    for round in 0..4 {
        for name in ["control", "a", "b", "c", "d"] {
            let slow = if nth < 10 { 10.0 } else { 12.0 };
            let control = if nth == 4 {
                30.0
            } else {
                slow + 0.01 * f64::from(nth % 3)
            };
            it.round(name, 1, round, &[(control * 1e6, control * 1e6, 100.0); 3]);
            nth += 1;
        }
    }
    it.analysis()
}

#[test]
fn drift_and_disturbances() {
    let mut analysis = drifting();
    let drift = analysis.workloads[0].drift.clone().unwrap();
    assert_eq!(drift.rounds, 20);
    assert!(drift.test.unwrap().p_two_sided < 0.01 && drift.test.unwrap().z < 0.0);
    assert!((drift.first_half - 1.001e7).abs() < 1.0 && (drift.second_half - 1.201e7).abs() < 1.0);
    let which: Vec<(&str, u32)> = drift
        .disturbed
        .iter()
        .map(|round| (round.case.as_str(), round.round))
        .collect();
    assert_eq!(which, [("d", 0)]);
    assert_eq!(analysis.workloads[0].case("d").unwrap().disturbed_rounds, [0]);
    assert!(analysis.workloads[0].case("c").unwrap().disturbed_rounds.is_empty());
    // In order of time, ten seconds a record.
    assert_eq!((drift.points[1].case.as_str(), drift.points[1].seconds), ("a", 10.0));
    let folder = tempfile::tempdir().unwrap();
    analyzer::report::write(&mut analysis, folder.path()).unwrap();
    assert!(analysis.files.contains(&"drift.png".to_owned()));
    assert!(markdown(&analysis).contains("the machine changed meanwhile"));
    assert!(tables::render(&analysis).contains("drift: The control took"));
    let json = std::fs::read_to_string(folder.path().join("statistics.json")).unwrap();
    assert!(!json.contains("\"points\""), "a million rounds have no place in it");
}

#[test]
fn consents_are_shown_first() {
    let mut it = Fixture::new(&[("mlp", "control")]);
    it.case("mlp", "control", "control", &[]);
    quiet(&mut it, "control", 10.0);
    let difference = Difference {
        name: "machine.governor".to_owned(),
        expected: Some("performance".to_owned()),
        found: None,
    };
    it.record("", 0, RecordKind::AcceptDifference { difference });
    let analysis = it.analysis();
    assert_eq!(analysis.consents[0].what, "machine.governor");
    let report = markdown(&analysis);
    let place = report.find("Measured under accepted differences").unwrap();
    assert!(place < report.find("The answer").unwrap());
    assert!(report.contains("`machine.governor`: frozen with `performance`, accepted as - ("));
    assert!(tables::render(&analysis).contains("accepted differences: machine.governor"));
}

/// Plans `p` and `q` on two workloads of three cases each; `r` was measured on the first only.
#[test]
fn one_plan_for_all_workloads() {
    let mut it = Fixture::new(&[("one", "c1"), ("two", "c2")]);
    let cases = [
        ("one", "c1", "control plan", 10.0),
        ("one", "p1", "p", 4.0),
        ("one", "q1", "q", 5.0),
        ("one", "r1", "r", 2.0),
        ("two", "c2", "control plan", 10.0),
        ("two", "p2", "p", 9.0),
        ("two", "q2", "q", 6.0),
    ];
    for (workload, name, plan, ms) in cases {
        it.case(workload, name, "family", &[]);
        it.cases.last_mut().unwrap().plan.text = plan.to_owned();
        quiet(&mut it, name, ms);
    }
    let analysis = it.analysis();
    let across = analysis.across.as_ref().unwrap();
    let single = across.single.as_ref().unwrap();
    // p: 4 / 2 and 9 / 6; q: 5 / 2 and 1. The roots of 3 and of 2.5.
    assert_eq!((across.common_plans, single.plan.as_str()), (3, "q"));
    near(Some(single.mean_regret), 2.5_f64.sqrt());
    let regrets: Vec<f64> = single.on.iter().map(|on| on.regret_ratio).collect();
    assert_eq!(regrets, [2.5, 1.0]);
    assert!(markdown(&analysis).contains("## All workloads"));
    assert!(tables::render(&analysis).contains("all workloads: The best single plan"));
}

#[test]
fn the_simplest_of_those_that_tie_comes_first() {
    let mut it = Fixture::new(&[("mlp", "control")]);
    let cases = [
        ("control", 1.0, [0_u32, 0]),
        ("far", 0.5, [1, 1]),
        ("near", 0.502, [0, 1]),
        ("slow", 2.0, [0, 0]),
    ];
    for (name, ratio, [up, down]) in cases {
        it.case("mlp", name, name, &[]);
        let attributes = &mut it.cases.last_mut().unwrap().plan.attributes;
        attributes.set("up", up.into());
        attributes.set("down", down.into());
        it.measure(name, ratio);
    }
    let analysis = it.analysis();
    let winner = analysis.workloads[0].winner.as_ref().unwrap();
    let members: Vec<(&str, usize)> = winner
        .simplest_first
        .iter()
        .map(|member| (member.case.as_str(), member.changes))
        .collect();
    assert_eq!(members, [("near", 1), ("far", 2)]);
    assert!(winner.flip_rate.is_some_and(|rate| rate > 0.0 && rate < 1.0));
}

#[test]
fn the_definition_may_give_a_tie_threshold_and_weights() {
    let mut it = Fixture::new(&[("one", "c1"), ("two", "c2")]);
    it.manifest.definition =
        "[measure]\ntie = 2e6\n[[workload]]\nname = \"one\"\nweight = 3\n[[workload]]\nname = \"two\"".to_owned();
    // Of the pairs of 10, 9 and 4 ms one lies within 2 ms. Predictions have them all in the opposite order.
    for (workload, name, plan, ms, predicted) in [
        ("one", "c1", "c", 10.0, 1.0),
        ("one", "p1", "p", 9.0, 2.0),
        ("one", "q1", "q", 4.0, 3.0),
        ("two", "c2", "c", 10.0, 1.0),
        ("two", "p2", "p", 5.0, 1.0),
        ("two", "q2", "q", 20.0, 1.0),
    ] {
        it.case(workload, name, "family", &[("model", predicted * 1e6, "ns")]);
        it.cases.last_mut().unwrap().plan.text = plan.to_owned();
        quiet(&mut it, name, ms);
    }
    let analysis = it.analysis();
    let judged = &analysis.workloads[0].estimates[0].whole;
    assert_eq!(
        (judged.tie_rule, judged.tie_threshold),
        (TieRule::Definition, Some(0.2))
    );
    assert_eq!((judged.comparable_pairs, judged.inversions), (2, 2));
    let across = analysis.across.as_ref().unwrap();
    assert_eq!(across.weights, [3.0, 1.0]);
    // Regrets: c 2.5 and 2, p 2.25 and 1, q 1 and 4. Cubes of the first times the second: 31.25, 11.39, 4.
    assert_eq!(across.single.as_ref().unwrap().plan, "q");
    near(Some(across.single.as_ref().unwrap().mean_regret), 4.0_f64.powf(0.25));
    // Three times 10 ms and once 10; three times 4 and once 5.
    let sum = across.sum.unwrap();
    near(Some(sum.control), 40e6);
    near(Some(sum.best), 17e6);
    near(Some(sum.ratio), 17.0 / 40.0);
    let said = tables::render(&analysis).replace("\n  ", " ");
    assert!(
        said.contains("they take 40.00 ms with their controls and 17.00 ms with each one's best: 0.425"),
        "{said}"
    );
}

/// Five repetitions each, nothing beside them: 10, 8 and 8.01 ms with noise of a percent.
#[test]
fn values_that_vary_without_a_control_beside_them() {
    let mut it = Fixture::new(&[("mlp", "control")]);
    for (name, ms) in [("control", 10.0), ("a", 8.0), ("b", 8.01), ("c", 12.0)] {
        it.case("mlp", name, name, &[("model", ms * 1e6, "ns")]);
        it.built(name, 1);
        for round in 0..4 {
            let pairs: Vec<(f64, f64, f64)> = (0..3)
                .map(|call| {
                    (
                        ms * 1e6 * (1.0 + 0.003 * f64::from((5 * round + 7 * call) % 4)),
                        1.0,
                        1.0,
                    )
                })
                .collect();
            let mut measurement = common::measurement(&pairs);
            measurement.samples.retain(|sample| sample.of == target_api::Of::Case);
            measurement.probes.clear();
            it.run(name, 1, round, cohort::RunOutcome::Correct { measurement });
        }
    }
    let analysis = it.analysis();
    let workload = &analysis.workloads[0];
    assert!(!workload.paired && workload.varies);
    let control = workload.case("control").unwrap().ratio.unwrap();
    assert!(control.samples == 12 && control.lower.is_some_and(|lower| lower < 1.0));
    // One sample never decides: a and b can't be told apart, the others can.
    let winner = workload.winner.as_ref().unwrap();
    assert_eq!(
        (winner.case.as_str(), winner.ties.as_deref()),
        ("a", Some(&["b".to_owned()][..]))
    );
    assert!(winner.flip_rate.is_some_and(|rate| rate > 0.0));
    let judged = &workload.estimates[0].whole;
    assert_eq!((judged.tie_rule, judged.comparable_pairs), (TieRule::Intervals, 5));
    assert!(judged.cross_fitted_regret.is_some());
    assert!(markdown(&analysis).contains("no control beside the case"));
}

#[test]
fn one_pair_shows_no_noise_and_flips_nothing() {
    let counted = |pairs: usize| {
        let mut it = Fixture::new(&[("mlp", "row-major")]);
        for (name, ratio) in [("row-major", 1.0), ("up-00", 0.9), ("up-01", 0.91)] {
            it.case("mlp", name, name, &[("model", ratio, "score")]);
            it.built(name, 1);
            for round in 0..u32::try_from(pairs).unwrap() {
                let noise = 1.0 + 0.03 * f64::from(round % 3);
                it.round(name, 1, round, &[(1e6 * ratio * noise, 1e6, 400.0)]);
            }
        }
        it.analysis()
    };
    let one = counted(1);
    let workload = &one.workloads[0];
    let noise = workload.noise.unwrap();
    assert_eq!((noise.q05, noise.q95, noise.ratio.samples), (None, None, 1));
    assert_eq!(workload.winner.as_ref().unwrap().flip_rate, None);
    assert_eq!(workload.estimates[0].whole.winner_flip_rate, None);
    let report = markdown(&one);
    assert!(
        report.contains("- The control was called once beside itself: one pair shows no noise.")
            && !report.contains("- Noise"),
        "{report}"
    );
    let two = counted(2);
    let workload = &two.workloads[0];
    assert!(workload.noise.unwrap().range().is_some());
    assert!(
        workload
            .winner
            .as_ref()
            .unwrap()
            .flip_rate
            .is_some_and(|rate| rate > 0.0)
    );
    assert!(markdown(&two).contains("- Noise (measured)"));
}
