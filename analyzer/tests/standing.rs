//! What the answer says of a winner whose control lacks rounds, failed, or varies itself.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use analyzer::report::markdown;
use analyzer::{Analysis, tables};
use cohort::RunOutcome;
use common::Fixture;

/// A control of which nothing is known yet, and cases of so many rounds of three pairs at these ratios.
fn without_control(cases: &[(&str, f64, u32)]) -> Fixture {
    let mut it = Fixture::new(&[("mlp", "row-major")]);
    it.case("mlp", "row-major", "control", &[]);
    for (name, ratio, rounds) in cases {
        it.case("mlp", name, name, &[]);
        it.built(name, 1);
        for round in 0..*rounds {
            let pairs = [0.99, 1.0, 1.01].map(|noise| (1e6 * ratio * noise, 1e6, 400.0));
            it.round(name, 1, round, &pairs);
        }
    }
    it
}

fn winner(analysis: &Analysis) -> &str {
    &analysis.workloads[0].winner.as_ref().unwrap().case
}

fn said(analysis: &Analysis, words: &[&str], not: &[&str]) {
    let report = markdown(analysis);
    let shown = tables::render(analysis).replace("\n  ", " ");
    for words in words {
        assert!(
            report.contains(words) || shown.contains(words),
            "{words}\n{report}\n{shown}"
        );
    }
    for words in not {
        assert!(
            !report.contains(words) && !shown.contains(words),
            "{words}\n{report}\n{shown}"
        );
    }
}

#[test]
fn a_slower_case_is_no_winner_because_the_control_has_no_rounds_of_its_own() {
    let analysis = without_control(&[("slow", 1.2, 4), ("slower", 1.3, 4)]).analysis();
    assert_eq!(winner(&analysis), "row-major");
    said(
        &analysis,
        &[
            "**Keep the control, `row-major`: no case is shown to be faster than the control.**",
            "winner: row-major, the control.",
            "- The control has no round of its own yet, of 4: ratios come from its calls beside the cases",
            "The answer stands when the sweep has ended.",
        ],
        &["**Take", "best median"],
    );
}

#[test]
fn calls_beside_a_case_show_its_gain_and_what_is_missing_is_told() {
    let mut it = without_control(&[("fast", 0.8, 4)]);
    let analysis = it.analysis();
    assert_eq!(winner(&analysis), "fast");
    said(
        &analysis,
        &["**Take `fast`: 0.800 [0.7", "The control has no round of its own yet"],
        &[],
    );
    it.built("row-major", 1);
    it.round("row-major", 1, 0, &[(1e6, 1.01e6, 400.0); 3]);
    said(
        &it.analysis(),
        &["The control has only 1 round of its own yet, of 4"],
        &[],
    );
    it = common::typical();
    said(&it.analysis(), &["**Take `cross-0-0`"], &["of its own yet"]);
}

#[test]
fn a_control_that_failed_is_no_plan_to_keep_and_nothing_gains_over_it() {
    let mut it = without_control(&[("slow", 1.2, 4)]);
    it.built("row-major", 1);
    let reason = "signal 11".to_owned();
    it.run("row-major", 1, 0, RunOutcome::RunFailed { reason });
    let analysis = it.analysis();
    assert_eq!(
        (winner(&analysis), analysis.workloads[0].shows_a_gain()),
        ("slow", false)
    );
    said(
        &analysis,
        &[
            "**No gain can be stated: the control, `row-major`, failed (run-failed). The best median of the others is that of \
             `slow`: 1.200 [1.1",
            "No gain can be stated: the control failed (run-failed).",
        ],
        &["**Take", "Keep"],
    );
}

#[test]
fn the_plan_to_take_is_one_that_is_shown_to_be_better() {
    let mut it = without_control(&[("new", 0.7, 1), ("sure", 0.95, 4)]);
    it.measure("row-major", 1.0);
    let analysis = it.analysis();
    assert_eq!(winner(&analysis), "new");
    said(
        &analysis,
        &[
            "**Take `sure`, or measure more: 0.950 [0.9",
            "The best median is that of `new`, 0.700 [-] of the control's time (3 pairs), but it is not shown to be faster than \
             the control, `row-major`.**",
            "It is not shown to be faster than the control; sure is: 0.950 [0.9",
        ],
        &["**Take `new`"],
    );
}

/// Values by themselves, beside which no control runs: five per cent of noise for the control, hardly any for the case.
#[test]
fn a_control_that_varies_is_beaten_beyond_its_own_interval() {
    let shown = |case: f64| {
        let mut it = Fixture::new(&[("mlp", "control")]);
        for (name, at, noise) in [("control", 1.0, 0.05), ("case", case, 0.001)] {
            it.case("mlp", name, name, &[]);
            it.built(name, 1);
            for round in 0..4 {
                let values = [-1.0, 0.0, 1.0].map(|step| (1e6 * at * (1.0 + noise * step), 1.0, 1.0));
                let mut measurement = common::measurement(&values);
                measurement.samples.retain(|sample| sample.of == target_api::Of::Case);
                measurement.probes.clear();
                it.run(name, 1, round, RunOutcome::Correct { measurement });
            }
        }
        let analysis = it.analysis();
        let workload = &analysis.workloads[0];
        let upper = workload.case("case").unwrap().ratio.unwrap().upper.unwrap();
        assert!(!workload.paired && upper < 1.0, "{upper}");
        workload.shows_a_gain()
    };
    assert_eq!((shown(0.98), shown(0.9)), (false, true));
}

/// Of a dozen cases one lies wholly below the control by chance: over all of them at once that is no gain.
#[test]
fn what_one_of_many_shows_by_itself_is_no_gain() {
    let mut it = without_control(&[]);
    it.measure("row-major", 1.0);
    for number in 0..12_u32 {
        let name = format!("case-{number}");
        it.case("mlp", &name, "some", &[]);
        it.built(&name, 1);
        let middle = if number == 0 { 0.987 } else { 1.01 };
        for round in 0..2 {
            let pairs = [0, 1, 2].map(|pair| {
                let step = f64::from((5 * (3 * round + pair) + number) % 6) / 5.0 - 0.5;
                (1e6 * (middle + 0.024 * step), 1e6, 400.0)
            });
            it.round(&name, 1, round, &pairs);
        }
    }
    let analysis = it.analysis();
    let workload = &analysis.workloads[0];
    let lucky = workload.case("case-0").unwrap().ratio.unwrap();
    assert!(lucky.upper.unwrap() < 1.0 && winner(&analysis) == "case-0");
    said(
        &analysis,
        &[
            "**No case is shown to be faster than the control, `row-major`. The best median is that of `case-0`: 0.987 [0.975, 0.999]",
            "The control is among them: over all cases at once no gain is shown.",
        ],
        &["**Take"],
    );
}
