//! An objective of which more is better, on a target that knows no matrix products: people see their own number.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;

use analyzer::compare::{Verdict, compare};
use analyzer::explain::explain;
use analyzer::page::{self, Input, Links};
use analyzer::report::{markdown, summary};
use analyzer::{Analysis, compared, explained, tables};
use cohort::RunOutcome;
use common::{Fixture, measurement};

/// A command that prints its rate: the control gives 100 tokens/s, `fast` 125, `slow` 80, each with 1 % of noise; the model
/// predicts 110, 120 and 90, and a score puts them in order.
fn rates(factor: f64) -> Fixture {
    let mut it = Fixture::new(&[("command", "plain")]);
    "command".clone_into(&mut it.manifest.target);
    "cohorts/decoder.toml".clone_into(&mut it.manifest.origin.definition_path);
    it.manifest.objective = ("inverse throughput".to_owned(), "1/(tokens/s)".to_owned());
    it.manifest.inverse_of = Some(("throughput".to_owned(), "tokens/s".to_owned()));
    it.manifest.workloads[0].workload.operations.clear();
    for (name, rate, predicted, score) in [
        ("plain", 100.0, 110.0, 5.0),
        ("fast", 125.0 * factor, 120.0, 4.0),
        ("slow", 80.0, 90.0, 6.0),
    ] {
        let estimates = [("model", 1.0 / predicted, "1/(tokens/s)"), ("proxy", score, "score")];
        it.case("command", name, name, &estimates);
        it.built(name, 1);
        for round in 0..4 {
            let noisy = |step: f64| 1.0 / (rate * (1.0 + 0.01 * step));
            let pairs = [-1.0, 0.0, 1.0].map(|step| (noisy(step), 1.0 / (100.0 * (1.0 + 0.004 * step)), 1.0));
            let mut measurement = measurement(&pairs);
            measurement.probes.clear();
            measurement.error = None;
            measurement.samples.iter_mut().for_each(|sample| sample.phases.clear());
            it.run(name, 1, round, RunOutcome::Correct { measurement });
        }
    }
    it
}

fn page_of(analysis: &Analysis) -> String {
    let page = page::render(&Input {
        analysis,
        links: &Links::default(),
        parameters: &BTreeMap::new(),
        timelines: &BTreeMap::new(),
    });
    String::from_utf8(page.unwrap()).unwrap()
}

#[test]
fn figures_are_the_numbers_that_were_printed() {
    let analysis = rates(1.0).analysis();
    let objective = &analysis.setup.objective;
    assert_eq!(
        (
            objective.name.as_str(),
            objective.unit.as_str(),
            objective.larger_is_better
        ),
        ("throughput", "tokens/s", true)
    );
    let workload = &analysis.workloads[0];
    let row = |name: &str| workload.case(name).unwrap();
    assert_eq!(
        ["plain", "fast", "slow"].map(|name| row(name).value),
        [100.0, 125.0, 80.0].map(Some)
    );
    assert_eq!(
        (workload.control_value, row("fast").rank, row("slow").rank),
        (Some(100.0), Some(1), Some(3))
    );
    // Ratios say how much worse.
    assert!((row("fast").ratio.unwrap().median - 0.8).abs() < 1e-9);
    assert_eq!(row("fast").estimates.get("model"), Some(&120.0));
    let [model, proxy] = &workload.estimates[..] else {
        panic!("two estimates")
    };
    assert_eq!((model.unit.as_str(), proxy.unit.as_str()), ("tokens/s", "score"));
    // Predicted over measured: 1.1, 0.96 and 1.125.
    assert!((model.whole.bias.unwrap() - 1.1).abs() < 1e-9);
    assert!((model.whole.mdape_percent.unwrap() - 10.0).abs() < 1e-6);
    assert_eq!((model.whole.inversions, model.whole.regret_ratio), (0, Some(1.0)));
    assert_eq!(model.whole.spearman, Some(1.0));
    let drift = workload.drift.as_ref().unwrap();
    assert_eq!((drift.first_half, drift.second_half), (100.0, 100.0));
}

#[test]
fn a_wrong_choice_costs_so_many_of_them_and_a_tie_is_in_their_unit() {
    let mut it = rates(1.0);
    // Now the model likes the slow one best.
    it.cases[2].estimates[0].value = 1.0 / 200.0;
    let judged = it.analysis().workloads[0].estimates[0].whole.clone();
    assert_eq!(
        (judged.selected.as_deref(), judged.best.as_deref()),
        (Some("slow"), Some("fast"))
    );
    assert!((judged.regret_value.unwrap() - 45.0).abs() < 1e-9 && (judged.regret_ratio.unwrap() - 1.5625).abs() < 1e-9);
    assert_eq!((judged.comparable_pairs, judged.inversions), (3, 2));
    // Of 80, 100 and 125 two pairs differ by more than 22.
    it.manifest.definition = "[measure]\ntie = 22.0\n".to_owned();
    let judged = it.analysis().workloads[0].estimates[0].whole.clone();
    assert_eq!((judged.comparable_pairs, judged.tie_threshold), (2, Some(22.0)));
}

/// What a report of a command must not talk of: it multiplies no matrices, probes nothing, and shows no reciprocals.
const FOREIGN: [&str; 12] = [
    "matrix",
    "0 operations",
    "peak",
    "probe",
    "normalised",
    "screened",
    "on command",
    "inverse",
    "1/(",
    "faster",
    "slower",
    "GFLOP",
];

#[test]
fn every_text_speaks_of_them() {
    let it = rates(1.0);
    let mut analysis = it.analysis();
    let folder = tempfile::tempdir().unwrap();
    analyzer::report::write(&mut analysis, folder.path()).unwrap();
    let report = markdown(&analysis);
    assert!(report.starts_with("# `decoder`\n"), "{}", &report[..40]);
    assert!(report.contains("**Take `fast`: 1.250 [1.24"), "{report}");
    assert!(report.contains("times the control's throughput (12 pairs).**"));
    assert!(report.contains("- 125.0 tokens/s (measured); the control has 100.0 tokens/s (measured)"));
    assert!(report.contains("Objective: throughput in tokens/s, more is better"));
    let terminal = tables::render(&analysis).replace("\n  ", " ");
    assert!(terminal.contains("below 1 it is better"), "{terminal}");
    let csv = String::from_utf8(summary(&analysis).unwrap()).unwrap();
    let explained = explained::render(&explain(&it.dataset().unwrap(), "fast", None).unwrap()).replace("\n  ", " ");
    assert!(explained.contains("fast has 1.250 [1.24"), "{explained}");
    assert!(
        explained.contains("100.0 -> 125.0 tokens/s, 25.00 tokens/s more (derived: of the control's throughput,"),
        "{explained}"
    );
    let svg = std::fs::read_to_string(folder.path().join("calibration-model.svg")).unwrap();
    assert!(svg.contains("tokens/s"));
    let page = page_of(&analysis);
    let visible = &page[page.find("<body>").unwrap()..page.find("<script type=\"text/plain\"").unwrap()];
    for foreign in FOREIGN {
        for (what, text) in [
            ("report", report.as_str()),
            ("terminal", &terminal),
            ("csv", &csv),
            ("explain", &explained),
            ("svg", &svg),
        ] {
            let line = text.lines().find(|line| line.contains(foreign));
            assert!(line.is_none(), "{what} says `{foreign}`: {line:?}");
        }
        if !["probe", "normalised"].contains(&foreign) {
            // Columns of the data are called so.
            let at = visible.find(foreign).map(|at| &visible[at.saturating_sub(60)..at + 20]);
            assert!(at.is_none(), "page says `{foreign}`: {at:?}");
        }
    }
    // No column is empty from top to bottom, but reasons and repetitions, of which there are none.
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let head = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    for (at, name) in head.iter().enumerate() {
        let empty = rows.iter().all(|row| row[at].is_empty());
        assert!(!empty || ["reason", "repeat_of"].contains(&name), "{name}");
    }
    let column = |name: &str| head.iter().position(|head| head == name).unwrap();
    assert_eq!(
        (&rows[1][column("value")], &rows[1][column("direction")]),
        ("125", "higher")
    );
}

#[test]
fn a_lower_rate_is_a_regression() {
    let (before, now) = (rates(1.0).dataset().unwrap(), rates(0.9).dataset().unwrap());
    let found = compare(&before, &now, Some(1.03)).unwrap();
    let fast = found.cases.iter().find(|case| case.case == "fast").unwrap();
    assert_eq!((fast.first, fast.second), (Some(125.0), Some(112.5)));
    assert!((fast.ratio.unwrap().median - 1.0 / 0.9).abs() < 1e-9 && fast.exceeds && fast.verdict == Verdict::Slower);
    assert_eq!((fast.first_rank, fast.second_rank), (Some(1), Some(1)));
    let shown = compared::render(&found);
    assert!(
        shown.contains("first / second") && shown.contains("worse by more than 1.03"),
        "{shown}"
    );
    let csv = String::from_utf8(compared::csv(&found).unwrap()).unwrap();
    assert!(csv.contains("125,112.5,tokens/s,higher,1.11"), "{csv}");
}
