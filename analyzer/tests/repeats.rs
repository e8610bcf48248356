//! Cohorts with one round of several repeats, as files of other tuners have them.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;

use analyzer::ceiling::Repeated;
use analyzer::page::{self, Input, Links};
use analyzer::report::markdown;
use cohort::RunOutcome;
use common::{Fixture, measurement};
use target_api::Of;

/// One round of so many unpaired repeats a case, the odd ones a little slower.
fn repeated(repeats: u32, controls: bool) -> Fixture {
    let mut it = Fixture::new(&[("mlp", "a")]);
    for (place, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
        it.case("mlp", name, "some", &[("proxy", place as f64, "score")]);
        it.built(name, 1);
        let times = (0..repeats).map(|repeat| 7.0 * (1.0 + 0.3 * place as f64) + 0.1 * f64::from(repeat % 2));
        let pairs: Vec<_> = times.map(|ns| (ns, 7.0, 1.0)).collect();
        let mut measurement = measurement(&pairs);
        measurement.probes.clear();
        measurement.samples.retain(|sample| controls || sample.of == Of::Case);
        it.run(name, 1, 0, RunOutcome::Correct { measurement });
    }
    it
}

#[test]
fn repeats_of_one_round_are_its_rounds_and_the_report_says_so() {
    let analysis = repeated(4, false).analysis();
    let workload = &analysis.workloads[0];
    let ceiling = workload.ceiling.as_ref().unwrap();
    assert_eq!((ceiling.ceiling_from, ceiling.ceiling_samples), (Repeated::Repeats, 4));
    assert_eq!(ceiling.ceiling, Some(1.0));
    assert!(
        ceiling.words().contains("repeats of one round, not paired"),
        "{}",
        ceiling.words()
    );
    let whole = &workload.estimates[0].whole;
    assert_eq!(
        (whole.ceiling.ceiling, whole.cross_fitted_regret),
        (Some(1.0), Some(1.0))
    );
    let text = markdown(&analysis);
    assert!(text.contains("repeats of one round, not paired"), "{text}");
    let json = serde_json::to_string(&analysis).unwrap();
    assert!(json.contains(r#""ceiling_from":"repeats""#), "{json}");
    // Times of some nanoseconds are shown as such.
    assert!(text.contains("- 7.050 ns (measured)"), "{text}");
}

#[test]
fn a_single_repeat_or_pairs_of_one_round_have_no_ceiling() {
    for (repeats, controls, from) in [(1, false, Repeated::Rounds), (4, true, Repeated::Rounds)] {
        let analysis = repeated(repeats, controls).analysis();
        let ceiling = analysis.workloads[0].ceiling.as_ref().unwrap();
        assert_eq!(
            (ceiling.ceiling_from, ceiling.ceiling),
            (from, None),
            "{repeats} {controls}"
        );
    }
}

#[test]
fn the_page_says_what_was_counted_and_what_orders_nothing() {
    let mut it = repeated(4, false);
    for case in &mut it.cases {
        case.estimates[0].value = 7.0;
    }
    // So many repeats that cases can be told apart.
    let mut rounds = repeated(12, false);
    rounds.cases = it.cases;
    let analysis = rounds.analysis();
    assert!(analysis.workloads[0].estimates[0].whole.comparable_pairs > 0);
    let page = page::render(&Input {
        analysis: &analysis,
        links: &Links::default(),
        parameters: &BTreeMap::new(),
        timelines: &BTreeMap::new(),
    });
    let page = String::from_utf8(page.unwrap()).unwrap();
    assert!(page.contains("it predicts all of them equal, which is no order."));
    assert!(page.contains("title=\"samples\"") && !page.contains("title=\"pairs\""));
}
