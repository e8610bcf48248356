//! Statistics of a cohort that is small enough to be worked out by hand.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use cohort::RunOutcome;
use common::{Fixture, measurement};

/// Cases whose pairs are all alike in each round, so that every median can be seen. The control takes 1,000 ns.
fn exact() -> Fixture {
    let mut it = Fixture::new(&[("mlp", "control")]);
    // Name, ratio, predicted ns, score.
    for (name, ratio, predicted, score) in [
        ("control", 1.0, 1_100.0, 5.0),
        ("fast", 0.5, 600.0, 7.0),
        ("slow", 2.0, 1_000.0, 6.0),
        ("slower", 4.0, 3_000.0, 9.0),
    ] {
        it.case(
            "mlp",
            name,
            "some",
            &[("model", predicted, "ns"), ("proxy", score, "score")],
        );
        it.built(name, 1);
        for round in 0..4 {
            // The machine gives 100, 200, 100, 200 GFLOP/s: at half the peak everything takes twice as long.
            let slow = if round % 2 == 0 { 2.0 } else { 1.0 };
            let pair = (1_000.0 * ratio * slow, 1_000.0 * slow, 200.0 / slow);
            it.round(name, 1, round, &[pair; 3]);
        }
    }
    it
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.unwrap();
    assert!(
        (found - expected).abs() < 1e-12 * expected.abs().max(1.0),
        "{found} is not {expected}"
    );
}

#[test]
fn cases_by_hand() {
    let analysis = exact().analysis();
    let workload = &analysis.workloads[0];
    let fast = workload.case("fast").unwrap();
    let ratio = fast.ratio.unwrap();
    assert_eq!(
        (ratio.median, ratio.lower, ratio.upper, ratio.samples),
        (0.5, Some(0.5), Some(0.5), 12)
    );
    // Six calls of 1,000 ns and six of 500 ns.
    near(fast.value, 750.0);
    // The median of all probes is 150 GFLOP/s: 1,000 x 100 / 150 and 500 x 200 / 150 are both 666.7 ns.
    near(workload.median_peak_gflops, 150.0);
    near(fast.normalised_value, 2_000.0 / 3.0);
    near(workload.control_value, 4_000.0 / 3.0);
    // 2 (100 x 500 x 1,000 + 100 x 1,000 x 500) operations.
    assert_eq!(workload.flops, "200000000");
    near(fast.gflops, 2e8 / 750.0);
    // 2e8 / 1,000 ns / 100 GFLOP/s and 2e8 / 500 / 200 are both 2,000.
    near(fast.share_of_peak, 2_000.0);
    let phases: Vec<(&str, f64)> = fast
        .phases
        .iter()
        .map(|phase| (phase.name.as_str(), phase.median))
        .collect();
    assert_eq!(phases, [("up", 450.0), ("down", 300.0)]);
}

#[test]
fn estimates_by_hand() {
    let analysis = exact().analysis();
    let estimates = &analysis.workloads[0].estimates;
    let (model, proxy) = (&estimates[0], &estimates[1]);
    // Ratios 1, 0.5, 2, 4 have ranks 2, 1, 3, 4; predictions 1,100, 600, 1,000, 3,000 have 3, 1, 2, 4:
    // rho = 1 - 6 (1 + 0 + 1 + 0) / (4 x 15) = 0.8; five of six pairs agree, so tau = 4 / 6.
    assert_eq!((model.name.as_str(), model.samples), ("model", 4));
    near(model.spearman, 0.8);
    near(model.kendall, 4.0 / 6.0);
    assert_eq!(
        (model.comparable_pairs, model.inversions, model.ties_predicted),
        (6, 1, 0)
    );
    assert_eq!(
        (model.selected.as_deref(), model.best.as_deref()),
        (Some("fast"), Some("fast"))
    );
    assert_eq!(
        (model.regret_ratio, model.regret_value, model.rank_of_best),
        (Some(1.0), Some(0.0), Some(1))
    );
    // Normalised: 1,333.3, 666.7, 2,666.7, 5,333.3 ns. Ratios 0.825, 0.9, 0.375, 0.5625.
    near(model.bias, f64::midpoint(0.825, 0.5625));
    near(model.mdape_percent, f64::midpoint(17.5, 43.75));
    near(model.ceiling, 1.0);

    // Scores 5, 7, 6, 9 have ranks 1, 3, 2, 4: differences 1, 2, 1, 0. It chooses the control, which takes 0.5 of its
    // own 1,333.3 ns longer than the best, and puts the best third.
    near(proxy.spearman, 1.0 - 6.0 * 6.0 / 60.0);
    assert_eq!(proxy.selected.as_deref(), Some("control"));
    assert_eq!((proxy.regret_ratio, proxy.rank_of_best), (Some(2.0), Some(3)));
    near(proxy.regret_value, 2_000.0 / 3.0);
    assert_eq!((proxy.bias, proxy.mdape_percent), (None, None));
}

#[test]
fn crosses_stay_out_of_the_statistics() {
    let plain = exact().analysis();
    let mut it = exact();
    let cross = Fixture::make_case(
        "mlp",
        "cross-0-0",
        "cross",
        &[("model", 1.0, "ns"), ("proxy", 1.0, "score")],
    );
    let cases = vec![cross];
    let units = Vec::new();
    it.add(cohort::AdditionKind::Crosses { cases, units });
    it.measure("cross-0-0", 0.4);
    let with = it.analysis();
    let winner = with.workloads[0].winner.as_ref().unwrap();
    assert_eq!(winner.case, "cross-0-0");
    for (a, b) in plain.workloads[0].estimates.iter().zip(&with.workloads[0].estimates) {
        assert_eq!(
            (a.spearman, &a.selected, a.inversions),
            (b.spearman, &b.selected, b.inversions)
        );
        assert_eq!(b.left_out.get("chosen by results"), Some(&1));
    }
}

#[test]
fn pairs_within_the_noise_are_not_compared() {
    let mut it = Fixture::new(&[("mlp", "control")]);
    // Ratios spread from 0.96 to 1.04 around medians of 1 and 1.01; the third is far away.
    for (name, middle, predicted) in [("control", 1.0, 3.0), ("near", 1.01, 2.0), ("far", 1.5, 1.0)] {
        it.case("mlp", name, "some", &[("proxy", predicted, "score")]);
        it.built(name, 1);
        for round in 0..4 {
            let pairs = [-0.04, 0.0, 0.04].map(|off| ((middle + off) * 1e6, 1e6, 100.0));
            it.round(name, 1, round, &pairs);
        }
    }
    let analysis = it.analysis();
    let proxy = &analysis.workloads[0].estimates[0];
    assert_eq!((proxy.comparable_pairs, proxy.inversions), (2, 2));
    assert_eq!(
        analysis.workloads[0].winner.as_ref().unwrap().ties,
        Some(vec!["near".to_owned()])
    );
}

#[test]
fn confirmation_gives_the_headline_and_chooses_nothing() {
    let analysis = common::typical().analysis();
    let winner = analysis.workloads[0].winner.as_ref().unwrap();
    assert_eq!(winner.case, "cross-0-0");
    assert_eq!(winner.confirmed[0].case, "confirm-cross-0-0");
    assert_eq!(winner.confirmed_ratio, Some(winner.confirmed[0].ratio));
    assert!(
        analysis.workloads[0]
            .best()
            .iter()
            .all(|(case, _)| case.name != "confirm-cross-0-0")
    );
}

#[test]
fn the_latest_attempt_counts_and_all_are_shown() {
    let analysis = common::typical().analysis();
    let case = analysis.workloads[0].case("up-04").unwrap();
    assert_eq!((case.outcome.word(), case.ratio.unwrap().median), ("correct", 1.5));
    let attempts: Vec<_> = case
        .attempts
        .iter()
        .map(|a| (a.number, a.outcome.word(), a.rounds))
        .collect();
    assert_eq!(attempts, [(1, "run-failed", 0), (2, "correct", 4)]);
}

#[test]
fn a_wrong_result_is_never_ranked() {
    let mut it = exact();
    it.case("mlp", "wrong", "some", &[("model", 1.0, "ns")]);
    it.built("wrong", 1);
    it.round("wrong", 1, 0, &[(1.0, 1_000.0, 100.0); 3]);
    let outcome = RunOutcome::Incorrect {
        reason: "block 3 was never written".to_owned(),
        measurement: Some(measurement(&[(1.0, 1_000.0, 100.0); 3])),
    };
    it.run("wrong", 1, 1, outcome);
    let analysis = it.analysis();
    let case = analysis.workloads[0].case("wrong").unwrap();
    assert_eq!((case.outcome.word(), case.ratio, case.pairs), ("incorrect", None, 0));
    assert_eq!(case.reason.as_deref(), Some("block 3 was never written"));
    assert_eq!(analysis.workloads[0].winner.as_ref().unwrap().case, "fast");
    assert_eq!(analysis.workloads[0].estimates[0].left_out.get("incorrect"), Some(&1));
}
