//! One case against another, and one cohort against another: worked by hand.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use analyzer::compare::{CompareError, Verdict, compare};
use analyzer::explain::{ExplainError, explain};
use analyzer::{compared, explained};
use cohort::{BuildOutcome, RunOutcome};
use common::{Fixture, measurement};
use planner::OperationKind;
use target_api::{Of, Phase};

/// A round of three pairs with given phases, in ms; each phase of the case, then of the control. They take all the time.
fn phased(it: &mut Fixture, case: &str, round: u32, phases: [&[(&str, f64)]; 2]) {
    let total = |phases: &[(&str, f64)]| phases.iter().map(|phase| phase.1).sum::<f64>();
    phased_within(it, case, round, phases.map(total), phases);
}

/// The same within calls that take this long in all, in ms.
fn phased_within(it: &mut Fixture, case: &str, round: u32, all: [f64; 2], phases: [&[(&str, f64)]; 2]) {
    let pair = (all[0] * 1e6, all[1] * 1e6, 100.0);
    let mut measurement = measurement(&[pair; 3]);
    for sample in &mut measurement.samples {
        let own = if sample.of == Of::Case { phases[0] } else { phases[1] };
        let phase = |(name, ms): &(&str, f64)| Phase {
            name: (*name).to_owned(),
            kind: name.split('.').next_back().unwrap().to_owned(),
            value: ms * 1e6,
        };
        sample.phases = own.iter().map(phase).collect();
    }
    it.run(case, 1, round, RunOutcome::Correct { measurement });
}

/// The control: up 6 ms, gather 3 ms, wait 1 ms. The case: up 5.5 ms, gather 1 ms, pack 0.5 ms, wait 1 ms.
fn pair() -> Fixture {
    let mut it = Fixture::new(&[("mlp", "control")]);
    let control: &[(&str, f64)] = &[("up", 6.0), ("up.gather", 3.0), ("wait", 1.0)];
    let fast: &[(&str, f64)] = &[("up.pack", 0.5), ("up", 5.5), ("up.gather", 1.0), ("wait", 1.0)];
    for (name, estimate, rows, phases) in [("control", 9.0, 1_u32, control), ("fast", 9.9, 4, fast)] {
        it.case(
            "mlp",
            name,
            name,
            &[("model", estimate * 1e6, "ns"), ("proxy", 10.0 - estimate, "score")],
        );
        let attributes = &mut it.cases.last_mut().unwrap().plan.attributes;
        attributes.set("up.rows", rows.into());
        attributes.set("up.width", 16_u32.into());
        it.built(name, 1);
        for round in 0..4 {
            phased(&mut it, name, round, [phases, control]);
        }
    }
    it
}

#[test]
fn the_gain_goes_to_the_phases_that_carry_it() {
    let dataset = pair().dataset().unwrap();
    let found = explain(&dataset, "fast", None).unwrap();
    assert_eq!(
        (found.b.case.as_str(), found.a.value, found.b.value),
        ("control", Some(8e6), Some(1e7))
    );
    assert_eq!((found.difference, found.differs), (Some(-2e6), Some(true)));
    let phases: Vec<(&str, f64, Option<f64>)> = found
        .phases
        .iter()
        .map(|phase| (phase.phase.as_str(), phase.difference.unwrap(), phase.share))
        .collect();
    assert_eq!(
        phases,
        [
            ("up.gather", -2e6, Some(1.0)),
            ("up.pack", 5e5, Some(-0.25)),
            ("up", -5e5, Some(0.25)),
            ("wait", 0.0, Some(0.0))
        ]
    );
    assert_eq!(found.outside_phases, Some(0.0));
    assert_eq!((found.changes.len(), found.unchanged), (1, 1));
    assert_eq!(found.changes[0].attribute, "up.rows");
    // The model says that the case is slower; the proxy is right.
    let right: Vec<Option<bool>> = found.estimates.iter().map(|seen| seen.right).collect();
    assert_eq!(right, [Some(false), Some(true)]);
    let shown = explained::render(&found);
    assert!(
        shown.contains("100 % of the gain is up.gather (gather), 3.000 -> 1.000"),
        "{shown}"
    );
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    // The ratio was measured; the times are made of it, in the sentence and in the table.
    let said = shown.split_whitespace().collect::<Vec<&str>>().join(" ");
    let label = "(derived: of the control's time, by the median of paired ratios)";
    assert!(said.contains("of the time of control (measured): "), "{shown}");
    assert!(said.contains(&format!("2.000 ms less {label}.")), "{shown}");
    assert!(said.contains(&format!("Phases in ms {label}:")), "{shown}");
    assert_eq!(found.values, "derived");
    let csv = String::from_utf8(explained::csv(&found).unwrap()).unwrap();
    assert!(
        csv.contains("phase,up.gather,gather,1000000,3000000,-2000000,1,derived\n"),
        "{csv}"
    );
    assert!(csv.contains("attribute,up.rows,,4,1,,,\n"), "{csv}");
}

/// `case` and its control with these phases within calls that take this long in all, in ms.
fn within(all: [f64; 2], phases: [&[(&'static str, f64)]; 2]) -> Fixture {
    let mut it = Fixture::new(&[("mlp", "control")]);
    for (name, at) in [("control", 1), ("case", 0)] {
        it.case("mlp", name, name, &[("model", all[at] * 1e6, "ns")]);
        it.built(name, 1);
        let control = (all[1], phases[1]);
        for round in 0..4 {
            phased_within(&mut it, name, round, [all[at], control.0], [phases[at], control.1]);
        }
    }
    it
}

#[test]
fn the_parts_in_words_are_all_of_the_difference() {
    let control: &[(&str, f64)] = &[
        ("init", 10.0),
        ("gemm", 40.0),
        ("pack", 5.0),
        ("wait", 2.0),
        ("store", 1.0),
    ];
    let case: &[(&str, f64)] = &[
        ("init", 10.0),
        ("gemm", 32.0),
        ("pack", 8.0),
        ("wait", 1.4),
        ("store", 0.6),
    ];
    let it = within([80.0, 100.0], [case, control]);
    let said = explained::words(&explain(&it.dataset().unwrap(), "case", None).unwrap()).join(" ");
    // What no phase carries is 42 - 28 = 14 ms of 20; `init` carries nothing.
    let parts = "70 % of the gain is outside all phases; 40 % of the gain is gemm (gemm), 40.00 -> 32.00; \
                 pack (pack), 5.000 -> 8.000, works against it by 15 %; 5 % of the gain is the rest (derived";
    assert!(said.contains(parts), "{said}");
    // A rest of one part has that one's name.
    let it = within([80.4, 100.0], [&case[..4], &control[..4]]);
    let said = explained::words(&explain(&it.dataset().unwrap(), "case", None).unwrap()).join(" ");
    assert!(
        said.contains("3 % of the gain is wait (wait), 2.000 -> 1.400 ("),
        "{said}"
    );
    assert!(!said.contains("the rest") && !said.contains("init"), "{said}");
}

#[test]
fn what_rounding_leaves_is_no_part() {
    let mut dusty = 0;
    for n in 1..40_u32 {
        let step = 0.1 * f64::from(n + 100);
        let case: &[(&str, f64)] = &[("a", 0.1 + step), ("b", 0.2 * step), ("c", 7.7)];
        let control: &[(&str, f64)] = &[("a", 0.3), ("b", 0.6 * step), ("c", 7.7)];
        let mut it = Fixture::new(&[("mlp", "control")]);
        for (name, phases) in [("control", control), ("case", case)] {
            it.case("mlp", name, name, &[]);
            it.built(name, 1);
            (0..4).for_each(|round| phased(&mut it, name, round, [phases, control]));
        }
        let found = explain(&it.dataset().unwrap(), "case", None).unwrap();
        let sum: f64 = found.phases.iter().filter_map(|phase| phase.difference).sum();
        dusty += u32::from(found.difference.is_some_and(|whole| whole.total_cmp(&sum).is_ne()));
        assert_eq!(found.outside_phases, Some(0.0), "{n}: {:?} - {sum}", found.difference);
        let still = found.phases.iter().find(|phase| phase.phase == "c").unwrap();
        assert_eq!(still.difference, Some(0.0), "{n}");
    }
    assert!(dusty > 0, "some of these sums round");
}

#[test]
fn ratios_of_a_unit_model_are_simulated() {
    let mut it = within([80.0, 100.0], [&[("gemm", 80.0)], &[("gemm", 100.0)]]);
    let head = |it: &Fixture| {
        let shown = explained::render(&explain(&it.dataset().unwrap(), "case", None).unwrap());
        shown
            .lines()
            .find(|line| line.contains("estimate (modelled)"))
            .unwrap()
            .to_owned()
    };
    assert!(head(&it).contains("measured"), "{}", head(&it));
    it.manifest
        .machine
        .class
        .insert("unit-model".to_owned(), common::zeros());
    assert!(
        head(&it).contains("simulated") && !head(&it).contains("measured"),
        "{}",
        head(&it)
    );
}

#[test]
fn the_other_way_round_is_a_loss_and_drift_cancels() {
    let mut it = pair();
    // A case whose rounds were measured while everything took twice as long: up 12 ms, gather 4 ms, wait 2 ms.
    let slow = |phases: &[(&'static str, f64)]| phases.iter().map(|p| (p.0, 2.0 * p.1)).collect::<Vec<_>>();
    let control = slow(&[("up", 6.0), ("up.gather", 3.0), ("wait", 1.0)]);
    it.case("mlp", "late", "late", &[]);
    it.built("late", 1);
    for round in 0..4 {
        let own = [("up", 12.0), ("up.gather", 4.0), ("wait", 2.0)];
        phased(&mut it, "late", round, [&own, &control]);
    }
    let found = explain(&it.dataset().unwrap(), "late", Some("fast")).unwrap();
    // 9 ms of the usual control's time, 1 ms more than the fast one; gather 2 ms against 1, up 6 against 5.5.
    assert!((found.difference.unwrap() - 1e6).abs() < 1e-3, "{:?}", found.difference);
    assert!((found.ratio.unwrap().median - 9.0 / 8.0).abs() < 1e-12);
    assert_eq!(found.phases[0].phase, "up.gather");
    assert!((found.phases[0].share.unwrap() - 1.0).abs() < 1e-9);
    assert!(explained::render(&found).contains("of the loss"));
    assert_eq!(found.estimates[0].right, None, "one of them has no estimate");
}

#[test]
fn what_cannot_be_explained_is_said() {
    let mut it = pair();
    it.case("mlp", "broken", "broken", &[]);
    let reason = "rule `x`".to_owned();
    it.build("broken", 1, BuildOutcome::Rejected { reason });
    let dataset = it.dataset().unwrap();
    let shown = explained::render(&explain(&dataset, "broken", None).unwrap());
    assert!(
        shown.contains("broken was not measured: it is rejected: rule `x`."),
        "{shown}"
    );
    let error = explain(&dataset, "fats", None).unwrap_err();
    assert!(matches!(&error, ExplainError::NoCase { .. }), "{error}");
    assert!(
        explain(&dataset, "FAST", None)
            .is_err_and(|e| matches!(e, ExplainError::NoCase { near, .. } if near == ["fast"]))
    );
    for b in [None, Some("control")] {
        let error = explain(&dataset, "control", b).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`control` is compared with itself, the control of its workload: there is nothing to explain"
        );
    }
    let error = explain(&dataset, "fast", Some("fast")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`fast` is compared with itself: there is nothing to explain"
    );
}

#[test]
fn nothing_is_subtracted_from_a_case_without_a_measurement() {
    let mut it = pair();
    it.case("mlp", "broken", "broken", &[]);
    let reason = "rule `x`".to_owned();
    it.build("broken", 1, BuildOutcome::Rejected { reason });
    // Measured, but by a program that tells no phases.
    it.case("mlp", "plain", "plain", &[]);
    it.built("plain", 1);
    for round in 0..4 {
        let mut measurement = measurement(&[(9e6, 1e7, 100.0); 3]);
        for sample in &mut measurement.samples {
            sample.phases.clear();
        }
        it.run("plain", 1, round, RunOutcome::Correct { measurement });
    }
    let dataset = it.dataset().unwrap();
    for (a, b, whole) in [
        ("broken", "fast", None),
        ("fast", "broken", None),
        ("plain", "fast", Some(1e6)),
    ] {
        let found = explain(&dataset, a, Some(b)).unwrap();
        let near = |found: f64| whole.is_some_and(|whole: f64| (found - whole).abs() < 1e-3);
        assert!(
            found.difference.map_or(whole.is_none(), near),
            "{a} {b}: {:?}",
            found.difference
        );
        assert_eq!((found.phases.len(), found.outside_phases), (4, None), "{a} {b}");
        let parts = found.phases.iter().map(|phase| (phase.difference, phase.share));
        assert!(parts.clone().all(|part| part == (None, None)), "{a} {b}");
        let text = explained::render(&found);
        assert_eq!(
            text.contains("No phases of plain were measured."),
            a == "plain",
            "{text}"
        );
        let gather = text.lines().find(|line| line.contains("up.gather")).unwrap();
        assert_eq!(
            gather.split_whitespace().filter(|cell| *cell == "-").count(),
            3,
            "{gather}"
        );
        let csv = String::from_utf8(explained::csv(&found).unwrap()).unwrap();
        assert!(
            csv.lines()
                .any(|line| line.starts_with("phase,up.gather,") && line.ends_with(",,,derived")),
            "{csv}"
        );
    }
}

#[test]
fn two_workloads_are_not_compared() {
    let mut it = Fixture::new(&[("one", "c1"), ("two", "c2")]);
    for (workload, name) in [("one", "c1"), ("two", "c2")] {
        it.case(workload, name, name, &[]);
    }
    let error = explain(&it.dataset().unwrap(), "c1", Some("c2")).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`c1` belongs to workload `one`, `c2` to `two`"),
        "{error}"
    );
}

/// Cases with these times in ms, 4 rounds of 3 calls with a percent of noise; 0 is a build that failed.
fn cohort(cases: &[(&str, f64)]) -> Fixture {
    let mut it = Fixture::new(&[("mlp", "control")]);
    for (name, ratio) in cases {
        it.case("mlp", name, name, &[]);
        if *ratio > 0.0 {
            it.measure(name, *ratio);
        } else {
            let reason = "cc says no".to_owned();
            it.build(name, 1, BuildOutcome::BuildFailed { reason });
        }
    }
    it
}

#[test]
fn regressions_beyond_noise_break_the_gate() {
    let first = cohort(&[
        ("control", 1.0),
        ("a", 0.5),
        ("b", 0.6),
        ("c", 0.7),
        ("gone", 0.8),
        ("old", 0.9),
    ]);
    let mut second = cohort(&[
        ("control", 1.0),
        ("a", 0.75),
        ("b", 0.6),
        ("c", 0.35),
        ("gone", 0.0),
        ("new", 0.9),
    ]);
    second
        .manifest
        .machine
        .class
        .insert("isa".to_owned(), "avx512".to_owned());
    let (first, second) = (first.dataset().unwrap(), second.dataset().unwrap());
    let found = compare(&first, &second, Some(1.03)).unwrap();
    let verdicts: Vec<(&str, Verdict, bool)> = found
        .cases
        .iter()
        .map(|case| (case.case.as_str(), case.verdict, case.exceeds))
        .collect();
    assert_eq!(
        verdicts,
        [
            ("control", Verdict::NoDifference, false),
            ("a", Verdict::Slower, true),
            ("b", Verdict::NoDifference, false),
            ("c", Verdict::Faster, false),
            ("gone", Verdict::Broken, true)
        ]
    );
    assert_eq!(
        (found.only_first.as_slice(), found.only_second.as_slice()),
        (&["old".to_owned()][..], &["new".to_owned()][..])
    );
    assert_eq!(found.setup.len(), 1);
    assert_eq!(found.setup[0].what, "machine.isa");
    // By time: a, b, c, control before; c, b, a, control after.
    let places: Vec<_> = found
        .cases
        .iter()
        .map(|case| (case.first_rank, case.second_rank))
        .collect();
    assert_eq!(
        places[1..4],
        [(Some(1), Some(3)), (Some(2), Some(2)), (Some(3), Some(1))]
    );
    let mean = found.geometric_mean.unwrap();
    assert!(
        (mean.mean - (1.5_f64 * 0.5).powf(0.25)).abs() < 0.02 && mean.cases == 4,
        "{mean:?}"
    );
    let shown = compared::render(&found);
    assert!(
        shown.contains("Broken, or slower by more than 1.03 beyond noise: a, gone."),
        "{shown}"
    );
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    let csv = String::from_utf8(compared::csv(&found).unwrap()).unwrap();
    assert_eq!(csv.lines().count(), 6);
    assert!(
        compare(&first, &second, Some(2.0))
            .unwrap()
            .exceeding()
            .map(|case| &case.case)
            .eq(["gone"])
    );
    assert_eq!(compare(&first, &second, None).unwrap().exceeding().count(), 0);
    let same = compare(&first, &first, Some(1.0)).unwrap();
    assert_eq!(same.exceeding().count(), 0);
    assert!(
        same.cases
            .iter()
            .filter_map(|case| case.ratio)
            .all(|ratio| ratio.median.total_cmp(&1.0).is_eq())
    );
}

#[test]
fn what_cannot_be_compared_is_said() {
    let first = cohort(&[("control", 1.0), ("a", 0.5)]);
    let mut second = cohort(&[("control", 1.0), ("a", 0.5)]);
    for case in &mut second.cases {
        case.plan.text = "another plan".to_owned();
    }
    let found = compare(&first.dataset().unwrap(), &second.dataset().unwrap(), None);
    assert!(matches!(found, Err(CompareError::NothingInCommon)));
    second.manifest.objective.1 = "cycles".to_owned();
    let error = compare(&first.dataset().unwrap(), &second.dataset().unwrap(), None).unwrap_err();
    assert!(
        error.to_string().contains("time in ns, the second time in cycles"),
        "{error}"
    );
}

#[test]
fn a_case_has_the_same_place_everywhere() {
    let it = common::typical();
    let (dataset, analysis) = (it.dataset().unwrap(), it.analysis());
    let workload = &analysis.workloads[0];
    let compared = compare(&dataset, &dataset, None).unwrap();
    let csv = analyzer::report::summary(&analysis).unwrap();
    let mut reader = csv::Reader::from_reader(csv.as_slice());
    let column = reader
        .headers()
        .unwrap()
        .iter()
        .position(|name| name == "rank")
        .unwrap();
    let ranks: Vec<String> = reader.records().map(|line| line.unwrap()[column].to_owned()).collect();
    assert_eq!(ranks.len(), workload.cases.len());
    for (row, rank) in workload.cases.iter().zip(ranks) {
        assert_eq!(row.rank.map(|rank| rank.to_string()).unwrap_or_default(), rank);
        let beside = if row.name == workload.control {
            "up-00"
        } else {
            &workload.control
        };
        assert_eq!(
            explain(&dataset, &row.name, Some(beside)).unwrap().a.place,
            row.rank,
            "{}",
            row.name
        );
        if let Some(change) = compared.cases.iter().find(|change| change.case == row.name) {
            assert_eq!(
                (change.first_rank, change.second_rank),
                (row.rank, row.rank),
                "{}",
                row.name
            );
        }
    }
    // The winner is the first, and the list of the best goes by place.
    let best: Vec<Option<usize>> = workload.best().iter().map(|(case, _)| case.rank).collect();
    assert_eq!(best, (1..=best.len()).map(Some).collect::<Vec<_>>());
    assert_eq!(workload.winner.as_ref().unwrap().case, workload.best()[0].0.name);
}

/// The MLP's first product with so many columns.
fn widen(it: &mut Fixture, workload: usize, columns: u64) {
    let own = &mut it.manifest.workloads[workload].workload;
    let Some(OperationKind::Gemm(extents)) = own.operations.first_mut().map(|operation| &mut operation.kind) else {
        panic!("{own:?}")
    };
    extents.columns = columns;
}

#[test]
fn workloads_that_differ_are_not_compared() {
    let cases = [("control", 1.0), ("a", 0.5)];
    let (first, mut second) = (cohort(&cases), cohort(&cases));
    widen(&mut second, 0, 77);
    let first = first.dataset().unwrap();
    let error = compare(&first, &second.dataset().unwrap(), Some(1.03)).unwrap_err();
    let said = error.to_string();
    let wide = &second.dataset().unwrap().workloads[0].extents;
    assert!(
        said.contains("workload `mlp`") && said.contains(&first.workloads[0].extents) && said.contains(wide.as_str()),
        "{said}"
    );

    // Beside a workload that is the same, they are in one cohort only, whatever their names are.
    let both = || {
        let mut it = Fixture::new(&[("mlp", "control"), ("other", "c2")]);
        for (workload, name, ratio) in [("mlp", "control", 1.0), ("mlp", "a", 0.5), ("other", "c2", 1.0)] {
            it.case(workload, name, name, &[]);
            it.measure(name, ratio);
        }
        it
    };
    let mut second = both();
    widen(&mut second, 0, 77);
    let found = compare(&both().dataset().unwrap(), &second.dataset().unwrap(), Some(1.03)).unwrap();
    assert!(found.cases.iter().map(|case| case.case.as_str()).eq(["c2"]));
    assert_eq!(found.only_first, ["control", "a"]);
    assert_eq!(found.only_second, ["control", "a"]);
    let [change] = found.setup.as_slice() else {
        panic!("{:?}", found.setup)
    };
    assert_eq!(
        (change.what.as_str(), change.second.as_ref()),
        ("workload.mlp", Some(wide))
    );
    let shown = compared::render(&found);
    assert!(shown.contains("workload.mlp") && shown.contains("77"), "{shown}");
    assert!(!shown.contains("are the same"), "{shown}");
}

/// Cases with these times in ns beside a control of 8 ns, the same at each of `rounds` rounds of one pair.
fn counted(cases: &[(&str, f64)], rounds: u32) -> Fixture {
    let mut it = Fixture::new(&[("mlp", "control")]);
    for (name, value) in cases {
        it.case("mlp", name, name, &[]);
        it.built(name, 1);
        for round in 0..rounds {
            it.round(name, 1, round, &[(*value, 8.0, 100.0)]);
        }
    }
    it
}

#[test]
fn a_gate_that_judged_nothing_is_not_met() {
    let cases = [("control", 8.0), ("a", 4.0), ("b", 2.0)];
    let worse = [("control", 8.0), ("a", 40.0), ("b", 2.0)];
    let single = |cases| counted(cases, 1).dataset().unwrap();
    let found = compare(&single(&cases), &single(&worse), Some(1.03)).unwrap();
    assert!(found.cases.iter().all(|case| case.verdict == Verdict::TooFewCalls));
    assert_eq!((found.exceeding().count(), found.judges_nothing()), (0, true));
    let shown = compared::words(&found).join(" ");
    assert!(
        shown.contains("The gate is not met, since no case can be judged: 3 cases with fewer than 6 calls on a side"),
        "{shown}"
    );
    // Without a gate there is nothing to meet.
    assert!(
        !compare(&single(&cases), &single(&worse), None)
            .unwrap()
            .judges_nothing()
    );
    // Nothing measured on either side.
    let failed = cohort(&[("control", 0.0), ("a", 0.0)]).dataset().unwrap();
    let found = compare(&failed, &failed, Some(1.03)).unwrap();
    assert!(found.judges_nothing() && found.cases.iter().all(|case| case.verdict == Verdict::NotMeasured));
    // A case that failed before shows no regression, whatever it takes now.
    let mended = cohort(&[("control", 1.0), ("a", 1.0)]).dataset().unwrap();
    assert!(compare(&failed, &mended, Some(1.03)).unwrap().judges_nothing());
    // What is the same at each of several calls does not vary: any difference is one.
    let several = |cases| counted(cases, 3).dataset().unwrap();
    let found = compare(&several(&cases), &several(&worse), Some(1.03)).unwrap();
    assert!(!found.judges_nothing() && found.exceeding().map(|case| &case.case).eq(["a"]));
}
