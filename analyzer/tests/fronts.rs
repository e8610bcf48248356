//! A second number of which less is better stands beside the objective.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use analyzer::report::markdown;
use analyzer::tables;
use cohort::RunOutcome;
use common::{Fixture, measurement};

/// Ratio to the control, words and a clock of each case.
fn analysed(cases: &[(&str, f64, f64)]) -> analyzer::Analysis {
    let mut it = Fixture::new(&[("mlp", "control")]);
    for (name, time, words) in cases {
        it.case("mlp", name, name, &[]);
        it.built(name, 1);
        for round in 0..4 {
            let pairs = [1.0, 1.001, 0.999].map(|noise| (100.0 * time * noise, 100.0 * noise, 1.0));
            let mut measurement = measurement(&pairs);
            for sample in &mut measurement.samples {
                sample.extra.insert("dram_words".to_owned(), *words);
                sample.extra.insert("clock_MHz".to_owned(), 1e3 * time);
            }
            it.run(name, 1, round, RunOutcome::Correct { measurement });
        }
    }
    it.analysis()
}

#[test]
fn who_can_t_be_beaten_in_both_is_told() {
    let analysis = analysed(&[
        ("control", 1.0, 500.0),
        ("fast", 0.5, 900.0),
        ("beaten", 0.75, 950.0),
        ("between", 0.8, 600.0),
    ]);
    let line = "3 of 4 cases can't be beaten in both, the ratio and `dram_words`: `fast` (0.500, 900.0), `between` (0.800, \
                600.0), `control` (1.000, 500.0).";
    let report = markdown(&analysis);
    assert!(report.contains(line), "{report}");
    // Nobody said which way a clock is better.
    assert!(!report.contains("`clock_MHz`: "), "{report}");
    assert!(tables::render(&analysis).contains("beside the objective: 3 of 4 cases"));
    // The same as a picture, with the names of those on the line.
    let folder = tempfile::tempdir().unwrap();
    let mut analysis = analysis;
    analyzer::report::write(&mut analysis, folder.path()).unwrap();
    assert!(
        analysis.files.contains(&"pareto-dram-words.svg".to_owned()),
        "{:?}",
        analysis.files
    );
    let svg = std::fs::read_to_string(folder.path().join("pareto-dram-words.svg")).unwrap();
    for words in ["3 of 4 cases can't be beaten in both", "between", "fast", "dram_words"] {
        assert!(
            svg.contains(words) || svg.contains(&words.replace('\'', "&apos;")),
            "{words}: {svg}"
        );
    }
    assert!(!svg.contains("beaten<"), "only those on the line are named");
}

#[test]
fn a_number_that_all_cases_share_tells_nothing() {
    let analysis = analysed(&[("control", 1.0, 500.0), ("fast", 0.5, 500.0)]);
    assert!(!markdown(&analysis).contains("can't be beaten"));
}
