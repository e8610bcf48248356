//! Statistics of a cohort that is small enough to be worked out by hand.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;

use cohort::{AdditionKind, RunOutcome};
use common::{Fixture, measurement};

/// Cases whose pairs are all alike in each round, so that every median can be seen. The control takes 10 ms.
fn exact() -> Fixture {
    let mut it = Fixture::new(&[("mlp", "control")]);
    // Name, ratio, predicted ns, score.
    for (name, ratio, predicted, score) in [
        ("control", 1.0, 1.1e7, 5.0),
        ("fast", 0.5, 6e6, 7.0),
        ("slow", 2.0, 1e7, 6.0),
        ("slower", 4.0, 3e7, 9.0),
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
            let pair = (1e7 * ratio * slow, 1e7 * slow, 200.0 / slow);
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
    // Six calls of 10 ms and six of 5 ms.
    near(fast.value, 7.5e6);
    // The median of all probes is 150 GFLOP/s: 10 x 100 / 150 and 5 x 200 / 150 are both 6.667 ms.
    near(workload.median_peak_gflops, 150.0);
    near(fast.normalised_value, 2e7 / 3.0);
    near(workload.control_value, 4e7 / 3.0);
    // 2 (100 x 500 x 1,000 + 100 x 1,000 x 500) operations.
    assert_eq!(workload.flops, "200000000");
    near(fast.gflops, 2e8 / 7.5e6);
    // 2e8 / 1e7 ns / 100 GFLOP/s and 2e8 / 5e6 / 200 are both 0.2.
    near(fast.share_of_peak, 0.2);
    let phases: Vec<(&str, f64)> = fast
        .phases
        .iter()
        .map(|phase| (phase.name.as_str(), phase.median))
        .collect();
    assert_eq!(phases, [("up", 4.5e6), ("down", 3e6)]);
}

#[test]
fn estimates_by_hand() {
    let analysis = exact().analysis();
    let estimates = &analysis.workloads[0].estimates;
    let (model, proxy) = (&estimates[0], &estimates[1]);
    // Ratios 1, 0.5, 2, 4 have ranks 2, 1, 3, 4; predictions 11, 6, 10, 30 ms have 3, 1, 2, 4:
    // rho = 1 - 6 (1 + 0 + 1 + 0) / (4 x 15) = 0.8; five of six pairs agree, so tau = 4 / 6.
    assert_eq!((model.name.as_str(), model.whole.samples), ("model", 4));
    near(model.whole.spearman, 0.8);
    near(model.whole.kendall, 4.0 / 6.0);
    assert_eq!(
        (
            model.whole.comparable_pairs,
            model.whole.inversions,
            model.whole.ties_predicted
        ),
        (6, 1, 0)
    );
    assert_eq!(
        (model.whole.selected.as_deref(), model.whole.best.as_deref()),
        (Some("fast"), Some("fast"))
    );
    assert_eq!(
        (
            model.whole.regret_ratio,
            model.whole.regret_value,
            model.whole.rank_of_best
        ),
        (Some(1.0), Some(0.0), Some(1))
    );
    // Normalised: 13.333, 6.667, 26.667, 53.333 ms. Ratios 0.825, 0.9, 0.375, 0.5625.
    near(model.whole.bias, f64::midpoint(0.825, 0.5625));
    near(model.whole.mdape_percent, f64::midpoint(17.5, 43.75));
    near(model.whole.ceiling.ceiling, 1.0);

    // Scores 5, 7, 6, 9 have ranks 1, 3, 2, 4: differences 1, 2, 1, 0. It chooses the control, which takes 0.5 of its
    // own 13.333 ms longer than the best, and puts the best third.
    near(proxy.whole.spearman, 1.0 - 6.0 * 6.0 / 60.0);
    assert_eq!(proxy.whole.selected.as_deref(), Some("control"));
    assert_eq!(
        (proxy.whole.regret_ratio, proxy.whole.rank_of_best),
        (Some(2.0), Some(3))
    );
    near(proxy.whole.regret_value, 2e7 / 3.0);
    assert_eq!((proxy.whole.bias, proxy.whole.mdape_percent), (None, None));
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
            (a.whole.spearman, &a.whole.selected, a.whole.inversions),
            (b.whole.spearman, &b.whole.selected, b.whole.inversions)
        );
        assert_eq!(b.whole.left_out.get("chosen by results"), Some(&1));
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
    assert_eq!((proxy.whole.comparable_pairs, proxy.whole.inversions), (2, 2));
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
fn values_that_never_vary_are_comparable_beside_a_control_too() {
    let mut it = Fixture::new(&[("mlp", "control")]);
    // The model has the two fastest the wrong way round: 1 of 6 pairs.
    for (name, value, predicted) in [
        ("control", 8.0, 8.0),
        ("a", 4.0, 1.0),
        ("b", 2.0, 2.0),
        ("c", 16.0, 9.0),
    ] {
        it.case("mlp", name, name, &[("model", predicted, "ns")]);
        it.built(name, 1);
        for round in 0..3 {
            it.round(name, 1, round, &[(value, 8.0, 400.0)]);
        }
    }
    let workload = &it.analysis().workloads[0];
    assert!(workload.paired && !workload.varies && workload.shows_a_gain());
    let model = &workload.estimates[0].whole;
    assert_eq!((model.comparable_pairs, model.inversions), (6, 1));
    let winner = workload.winner.as_ref().unwrap();
    assert_eq!((winner.case.as_str(), winner.ties.as_deref()), ("b", Some(&[][..])));
    // One call that differs, and noise is what has to be exceeded.
    it.round("c", 1, 3, &[(16.5, 8.0, 400.0)]);
    assert!(it.analysis().workloads[0].varies);
}

/// A winner chosen by 3 pairs around 0.5 and confirmed by 12 around `ratio`, with 1 % of noise.
fn confirmed(ratio: f64) -> Fixture {
    let mut it = Fixture::new(&[("mlp", "control")]);
    it.case("mlp", "control", "control", &[]);
    it.case("mlp", "fast", "fast", &[]);
    for (name, ratio) in [("control", 1.0), ("fast", 0.5)] {
        it.built(name, 1);
        it.round(
            name,
            1,
            0,
            &[0.99, 1.0, 1.01].map(|noise| (1e6 * ratio * noise, 1e6, 400.0)),
        );
    }
    let mut again = Fixture::make_case("mlp", "again", "confirm", &[]);
    again.repeat_of = Some("fast".to_owned());
    it.add(AdditionKind::Confirmation {
        cases: vec![again],
        rounds: BTreeMap::from([("again".to_owned(), vec![3; 4])]),
    });
    it.measure("again", ratio);
    it
}

#[test]
fn the_headline_follows_from_the_confirmation() {
    for (ratio, said, not) in [
        (0.5, "**Take `fast`: ", "No gain over"),
        (1.2, "**No gain over the control, `control`, is confirmed. ", "**Take"),
    ] {
        let analysis = confirmed(ratio).analysis();
        assert_eq!(analysis.workloads[0].shows_a_gain(), ratio < 1.0);
        let report = analyzer::report::markdown(&analysis);
        assert!(report.contains(said) && !report.contains(not), "{report}");
        let line = report.lines().find(|line| line.starts_with(said)).unwrap();
        assert!(line.contains("(12 pairs of confirmation)"), "{line}");
        let shown = analyzer::tables::render(&analysis).replace("\n  ", " ");
        assert!(shown.contains("12 pairs of confirmation."), "{shown}");
        assert_eq!(shown.contains("No case is shown to be faster"), ratio > 1.0, "{shown}");
    }
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
    it.round("wrong", 1, 0, &[(1e6, 1e7, 400.0); 3]);
    let outcome = RunOutcome::Incorrect {
        reason: "block 3 was never written".to_owned(),
        measurement: Some(measurement(&[(1e6, 1e7, 400.0); 3])),
    };
    it.run("wrong", 1, 1, outcome);
    let analysis = it.analysis();
    let case = analysis.workloads[0].case("wrong").unwrap();
    assert_eq!((case.outcome.word(), case.ratio, case.pairs), ("incorrect", None, 0));
    assert_eq!(case.reason.as_deref(), Some("block 3 was never written"));
    assert_eq!(analysis.workloads[0].winner.as_ref().unwrap().case, "fast");
    assert_eq!(
        analysis.workloads[0].estimates[0].whole.left_out.get("incorrect"),
        Some(&1)
    );
}

#[test]
fn the_control_is_1_by_definition() {
    let mut it = Fixture::new(&[("mlp", "control")]);
    // The control beside itself comes out at 0.92, wholly below 1; the others are slower, or not shown to be faster.
    for (name, low, high, predicted) in [
        ("slow", 1.1, 1.2, 3.0),
        ("control", 0.91, 0.93, 2.0),
        ("slower", 1.3, 1.4, 4.0),
    ] {
        it.case("mlp", name, "some", &[("proxy", predicted, "score")]);
        it.built(name, 1);
        for round in 0..4 {
            it.round(
                name,
                1,
                round,
                &[low, f64::midpoint(low, high), high].map(|r| (r * 1e6, 1e6, 400.0)),
            );
        }
    }
    let analysis = it.analysis();
    let workload = &analysis.workloads[0];
    let control = workload.case("control").unwrap().ratio.unwrap();
    assert_eq!(
        (control.median, control.lower, control.upper, control.samples),
        (1.0, None, None, 0)
    );
    let noise = workload.noise.unwrap().ratio;
    near(Some(noise.median), 0.92);
    assert!(noise.upper.unwrap() < 1.0 && !workload.shows_a_gain());
    let winner = workload.winner.as_ref().unwrap();
    assert_eq!((winner.case.as_str(), winner.ratio), ("control", control));
    assert_eq!((winner.ties.as_deref(), winner.undecided.len()), (Some(&[][..]), 0));
    let proxy = &workload.estimates[0];
    // The control is exact, so it is comparable with both others.
    assert_eq!((proxy.whole.comparable_pairs, proxy.whole.inversions), (3, 0));
    assert_eq!(
        (proxy.whole.regret_ratio, proxy.whole.best.as_deref()),
        (Some(1.0), Some("control"))
    );
    let shown = analyzer::tables::render(&analysis);
    let report = analyzer::report::markdown(&analysis);
    assert!(shown.contains("winner: control, the control. No case is shown to be faster than the control."));
    assert!(report.contains("**Keep the control, `control`: no case is shown to be faster than the control.**"));
    assert!(report.contains("the control against itself gives 0.920 [0.9"));

    // A median below 1 that the noise explains is no gain, and regret is told against exactly 1.
    it.case("mlp", "maybe", "some", &[("proxy", 1.0, "score")]);
    it.built("maybe", 1);
    for round in 0..4 {
        it.round("maybe", 1, round, &[0.9, 0.98, 1.1].map(|r| (r * 1e6, 1e6, 400.0)));
    }
    it.cases[1].estimates[0].value = 0.5;
    let analysis = it.analysis();
    let workload = &analysis.workloads[0];
    assert_eq!(workload.winner.as_ref().unwrap().case, "maybe");
    assert!(!workload.shows_a_gain());
    near(workload.estimates[0].whole.regret_ratio, 1.0 / 0.98);
    let shown = analyzer::tables::render(&analysis);
    assert!(
        shown
            .replace("\n  ", " ")
            .contains("12 pairs. No case is shown to be faster than the control."),
        "{shown}"
    );
    let report = analyzer::report::markdown(&analysis);
    assert!(
        report.contains(
            "**No case is shown to be faster than the control, `control`. The best median is that of `maybe`:"
        )
    );
}

#[test]
fn a_disturbed_probe_is_left_out_of_shares() {
    let mut it = Fixture::new(&[("mlp", "control")]);
    // 200 GFLOP/s on a machine that gives 400: one probe of each round of `a` saw a quarter of it, all those of `b`.
    for (name, peaks) in [("control", [400.0; 3]), ("a", [400.0, 100.0, 400.0]), ("b", [100.0; 3])] {
        it.case("mlp", name, "some", &[("model", 2e6, "ns")]);
        it.built(name, 1);
        (0..4).for_each(|round| it.round(name, 1, round, &peaks.map(|peak| (1e6, 1e6, peak))));
    }
    let analysis = it.analysis();
    let workload = &analysis.workloads[0];
    near(workload.median_peak_gflops, 400.0);
    let (a, b) = (workload.case("a").unwrap(), workload.case("b").unwrap());
    assert_eq!((a.pairs, a.disturbed_probes, b.disturbed_probes), (12, 4, 12));
    near(a.share_of_peak, 0.5);
    near(a.normalised_value, 1e6);
    assert_eq!((b.share_of_peak, b.normalised_value), (None, None));
    // It is ranked all the same, and judges the order of a model but not its bias.
    near(b.ratio.map(|ratio| ratio.median), 1.0);
    assert_eq!(workload.estimates[0].whole.samples, 3);
    near(workload.estimates[0].whole.bias, 2.0);
    let line = "16 pairs with a disturbed probe left out of shares and normalised values";
    assert!(analyzer::report::markdown(&analysis).contains(line));
    assert!(analyzer::tables::render(&analysis).contains(line));
}
