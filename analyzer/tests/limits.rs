//! What no plan can beat, and what is said of it.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;

use analyzer::report::{markdown, summary};
use analyzer::rows::evaluate_with;
use analyzer::{Analysis, Known, tables};
use common::Fixture;
use target_api::{Amounts, Limit, PlanAmounts, Quantity, Traffic};

/// A control of 1 ms and a case of half of it, whose products have 2 x 10^8 operations.
fn two() -> Fixture {
    let mut it = Fixture::new(&[("mlp", "row-major")]);
    for (name, ratio) in [("row-major", 1.0), ("up-00", 0.5)] {
        it.case("mlp", name, name, &[]);
        it.built(name, 1);
        for round in 0..4 {
            it.round(name, 1, round, &[(1e6 * ratio, 1e6, 500.0); 3]);
        }
    }
    it
}

fn bytes(resource: &str, amount: f64, rate: f64) -> Limit {
    Limit {
        resource: resource.to_owned(),
        quantity: Quantity::Bytes,
        amount,
        rate,
        label: "measured",
        about: "what one worker reads".to_owned(),
    }
}

/// Two phases that move bytes out of the third level, one out of the second.
fn amounts(case: &str) -> Option<PlanAmounts> {
    let traffic = |level: &str, bytes: f64, gb_per_s: f64| Traffic {
        level: level.to_owned(),
        bytes,
        gb_per_s,
    };
    let phase = |traffic: Vec<Traffic>| Amounts {
        phase: "up".to_owned(),
        flops: None,
        calls: None,
        traffic,
    };
    let phases = vec![
        phase(vec![traffic("L2 from L3", 1e6, 20.0), traffic("L1 from L2", 4e6, 40.0)]),
        phase(vec![traffic("L2 from L3", 2e6, 20.0)]),
    ];
    (case == "up-00").then_some(PlanAmounts { clock_ghz: 3.0, phases })
}

fn analysed(it: &Fixture, limits: Vec<Limit>) -> Analysis {
    let known = Known {
        limits: BTreeMap::from([("mlp".to_owned(), limits)]),
        amounts: &amounts,
        ..Known::default()
    };
    evaluate_with(&it.dataset().unwrap(), &known).unwrap()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 * b.abs()
}

#[test]
fn operations_bind_where_bytes_take_less() {
    let analysis = analysed(&two(), vec![bytes("L2 from L3", 2e6, 20.0)]);
    let workload = &analysis.workloads[0];
    let roofline = workload.roofline.as_ref().unwrap();
    // 2 x 10^8 operations at 500 a nanosecond are 0.4 ms, 2 MB at 20 bytes a nanosecond 0.1 ms.
    assert_eq!(roofline.binds.as_deref(), Some("operations"));
    assert!(near(roofline.least.unwrap(), 4e5), "{roofline:?}");
    let [operations, memory] = roofline.limits.as_slice() else {
        panic!("{roofline:?}")
    };
    assert!(near(memory.least, 1e5) && (operations.label.as_str(), memory.label.as_str()) == ("measured", "measured"));
    let reached = |limit: &analyzer::analysis::LimitRow| limit.reached.clone();
    let [winner, control] = reached(memory).try_into().unwrap();
    assert_eq!((winner.case.as_str(), control.case.as_str()), ("up-00", "row-major"));
    assert!(near(winner.share.unwrap(), 0.2) && near(control.share.unwrap(), 0.1));
    // Both phases together, by one worker.
    assert!(near(winner.moved_bytes.unwrap(), 3e6) && near(winner.moved_time.unwrap(), 1.5e5));
    assert_eq!((control.moved_bytes, control.moved_time), (None, None));
    let of = |name: &str| workload.case(name).unwrap().share_of_limit.unwrap();
    assert!(near(of("up-00"), 0.8) && near(of("row-major"), 0.4));
    assert_eq!(workload.case("up-00").unwrap().share_of_peak, Some(of("up-00")));

    let report = markdown(&analysis);
    for words in [
        "no plan takes less than 400.0 µs (derived); operations of matrix products bind, 200.0 MFLOP (derived) at 500.0 \
         GFLOP/s (measured: the median peak probed beside the calls).",
        "Of that `up-00` reaches 80.0 %, and the control, `row-major`, reaches 40.0 % (derived, each from its own calls).",
        "| L2 from L3 | 2.000 MB | 20.00 GB/s (measured) | 100.0 µs | 20.0 % | 3.000 MB in 150.0 µs | 10.0 % |",
    ] {
        assert!(report.contains(words), "{words}\n{report}");
    }
    let csv = String::from_utf8(summary(&analysis).unwrap()).unwrap();
    assert!(csv.lines().next().unwrap().contains(",share_of_limit,"), "{csv}");
}

#[test]
fn bytes_bind_where_they_take_longest() {
    let limits = vec![bytes("L2 from L3", 2e6, 20.0), bytes("L3 from DRAM", 4.5e6, 10.0)];
    let analysis = analysed(&two(), limits);
    let workload = &analysis.workloads[0];
    let roofline = workload.roofline.as_ref().unwrap();
    assert_eq!(
        (roofline.binds.as_deref(), roofline.limits.len()),
        (Some("L3 from DRAM"), 3)
    );
    assert!(near(workload.case("up-00").unwrap().share_of_limit.unwrap(), 0.9));
    let shown = tables::render(&analysis).replace("\n  ", " ");
    let words =
        "no plan takes less than 450.0 µs (derived); reading L3 from DRAM binds, 4.500 MB (derived) at 10.00 GB/s";
    assert!(shown.contains(words), "{shown}");
}

#[test]
fn a_published_peak_is_called_so_and_what_is_not_known_has_no_number() {
    let mut it = two();
    it.manifest.objective.1 = "cycles".to_owned();
    let peak = Limit {
        quantity: Quantity::Operations,
        label: "published",
        about: "4 tiles".to_owned(),
        ..bytes("operations", 2e8, 2e3)
    };
    let analysis = analysed(&it, vec![peak]);
    let words = "no plan takes less than 100000 cycles (derived); operations of matrix products bind, 200.0 MFLOP (derived) \
                 at 2000 FLOP/cycle (published: 4 tiles). Of that `up-00` reaches 20.0 %, and the control, `row-major`, \
                 reaches 10.0 % (derived, each from its own calls). Only operations are counted";
    let plain = |text: String| text.replace(',', "");
    assert!(
        plain(markdown(&analysis)).contains(&plain(words.to_owned())),
        "{}",
        markdown(&analysis)
    );

    let analysis = analysed(&it, Vec::new());
    assert_eq!(analysis.workloads[0].roofline, None);
    assert!(
        analysis.workloads[0]
            .cases
            .iter()
            .all(|case| case.share_of_limit.is_none())
    );
    let report = markdown(&analysis);
    let words = "- How far from the limit (roofline): not known, since what its machine gives at most is not told.";
    assert!(report.contains(words) && !report.contains("share_of_limit"), "{report}");
    // Without operations memory alone is no limit.
    assert_eq!(
        analysed(&it, vec![bytes("L3 from DRAM", 4.5e6, 10.0)]).workloads[0].roofline,
        None
    );
}

#[test]
fn what_a_case_beats_is_no_limit() {
    // 6 MB at 10 bytes a nanosecond are 0.6 ms; the case takes 0.5. Beyond the operations there is nothing else.
    let analysis = analysed(&two(), vec![bytes("L3 from DRAM", 6e6, 10.0)]);
    let roofline = analysis.workloads[0].roofline.as_ref().unwrap();
    assert_eq!(roofline.binds.as_deref(), Some("operations"));
    assert_eq!(roofline.limits[1].beaten_by.as_deref(), Some("up-00"));
    let report = markdown(&analysis);
    for words in [
        "no plan takes less than 400.0 µs (derived); operations of matrix products bind",
        "L3 from DRAM at 10.00 GB/s (measured) is no limit: `up-00` takes less than that allows; a busy machine gives less",
        "| L3 from DRAM, beaten | 6.000 MB |",
    ] {
        assert!(report.contains(words), "{words}\n{report}");
    }
    // By less than 5 % it may be what the probe missed.
    let analysis = analysed(&two(), vec![bytes("L3 from DRAM", 5.1e6, 10.0)]);
    let report = markdown(&analysis);
    let words = "`up-00` reaches 102.0 %";
    assert!(
        report.contains(words) && report.contains("More than 100 % says"),
        "{report}"
    );

    let mut it = two();
    it.manifest.objective.1 = "cycles".to_owned();
    let peak = Limit {
        quantity: Quantity::Operations,
        label: "published",
        ..bytes("operations", 2e8, 300.0)
    };
    let analysis = analysed(&it, vec![peak]);
    let workload = &analysis.workloads[0];
    assert_eq!(workload.roofline.as_ref().unwrap().least, None);
    assert!(workload.cases.iter().all(|case| case.share_of_limit.is_none()));
    let report = markdown(&analysis);
    for words in [
        "(roofline): not known, since a case beats what was known of the machine.",
        "operations at 300.0 FLOP/cycle (published) is no limit: `up-00` takes less than that allows; what is published of it is \
         not its most.",
    ] {
        assert!(report.contains(words), "{words}\n{report}");
    }
}
