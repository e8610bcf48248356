//! What an analysis makes of cohorts that are empty, tied, constant, odd or wrong.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use analyzer::report::{markdown, summary};
use analyzer::{Analysis, AnalyzeError, Known, analyze, tables};
use cohort::{AdditionKind, BuildOutcome, CohortDir, Draft, Header, RecordWriter, Snapshot, WriterName};
use common::{Fixture, measurement};
use jiff::Timestamp;
use target_api::Of;

fn written(analysis: &mut Analysis) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    analyzer::report::write(analysis, folder.path()).unwrap();
    files(folder.path())
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            (
                entry.file_name().into_string().unwrap(),
                std::fs::read(entry.path()).unwrap(),
            )
        })
        .collect()
}

/// Everything that can be shown of it is shown, and no undefined figure comes out as one.
fn check(mut analysis: Analysis) -> (Analysis, BTreeMap<String, Vec<u8>>) {
    let files = written(&mut analysis);
    let shown = tables::render(&analysis);
    assert!(
        shown
            .lines()
            .all(|line| line.chars().count() <= usize::from(tables::WIDTH)),
        "{shown}"
    );
    for text in [
        shown,
        text(&files, "report.md"),
        text(&files, "summary.csv"),
        text(&files, "statistics.json"),
    ] {
        assert!(
            !text.contains("NaN") && !text.contains("inf,") && !text.contains(" inf"),
            "{text}"
        );
    }
    for (name, bytes) in &files {
        let is_picture = Path::new(name).extension().is_some_and(|e| e == "png" || e == "svg");
        assert!(!is_picture || bytes.len() > 1000, "{name}");
    }
    (analysis, files)
}

fn text(files: &BTreeMap<String, Vec<u8>>, name: &str) -> String {
    String::from_utf8(files[name].clone()).unwrap()
}

/// The fixture as a cohort on disk.
fn freeze(it: &Fixture, folder: &Path) -> Snapshot {
    let binary = folder.join("program");
    std::fs::write(&binary, "a program").unwrap();
    let manifest = it.manifest.clone();
    let header = Header {
        target: manifest.target,
        objective: manifest.objective,
        inverse_of: manifest.inverse_of,
        definition: manifest.definition,
        options: manifest.options,
        workloads: manifest.workloads,
        measure: manifest.measure,
        screened: manifest.screened,
        chosen_from: manifest.chosen_from,
        machine: manifest.machine,
        origin: manifest.origin,
    };
    let mut draft = Draft::new(header, binary);
    it.cases.iter().for_each(|case| draft.add_case(case.clone()));
    let dir = CohortDir::new(folder.join("cohort"));
    draft.freeze(&dir, 1).unwrap();
    let name = WriterName::new(Timestamp::UNIX_EPOCH, 1, "host");
    let mut writer = RecordWriter::create(&dir, &name).unwrap();
    for record in &it.records {
        writer
            .append(record.at, &record.case, record.attempt, record.kind.clone())
            .unwrap();
    }
    drop(writer);
    Snapshot::read(&dir).unwrap()
}

#[test]
fn no_correct_case_is_an_error_that_leaves_an_overview() {
    let mut it = Fixture::new(&[("mlp", "control")]);
    it.case("mlp", "control", "control", &[("model", 1.0, "ns")]);
    let reason = "no compiler".to_owned();
    it.build("control", 1, BuildOutcome::BuildFailed { reason });
    it.case("mlp", "other", "some", &[("model", 1.0, "ns")]);
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("reports/it");
    match analyze(&freeze(&it, folder.path()), &report, &Known::default()) {
        Err(AnalyzeError::NoCorrectCase {
            report: at,
            mut analyses,
        }) => {
            let analysis = analyses.remove(0);
            assert_eq!(at, report);
            assert_eq!(analysis.workloads[0].failures[0].reason, "no compiler");
            check(analysis);
        }
        other => panic!("{other:?}"),
    }
    let files = files(&report);
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        ["report.html", "report.md", "statistics.json", "summary.csv"]
    );
    let report = text(&files, "report.md");
    assert!(report.contains("No plan can be recommended"));
    // One was not built, the other has not been tried.
    assert!(
        report.contains("Not run to the end yet: 1 of 2 cases; `layout-sweep run COHORT` goes on. See [what failed]"),
        "{report}"
    );
    assert!(text(&files, "summary.csv").contains("no compiler"));
}

#[test]
fn the_same_cohort_gives_the_same_bytes() {
    let mut it = common::typical();
    // Additions and their cases are left out: the fixture on disk has none.
    it.additions.clear();
    it.records.retain(|record| !record.case.contains("cross"));
    let folder = tempfile::tempdir().unwrap();
    let snapshot = freeze(&it, folder.path());
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    analyze(&snapshot, &a, &Known::default()).unwrap();
    analyze(&snapshot, &b, &Known::default()).unwrap();
    // A second time into the same folder: everything is replaced, nothing else is left.
    analyze(&snapshot, &b, &Known::default()).unwrap();
    let (a, b) = (files(&a), files(&b));
    assert_eq!(a.len(), 12);
    for (name, bytes) in &a {
        assert!(Some(bytes) == b.get(name), "{name} differs");
    }
    assert_eq!(a.len(), b.len());
}

#[test]
fn the_order_of_records_does_not_matter() {
    let mut it = common::typical();
    let before = it.analysis();
    it.records.reverse();
    assert_eq!(it.analysis(), before);
}

#[test]
fn one_case() {
    let mut it = Fixture::new(&[("mlp", "control")]);
    it.case("mlp", "control", "control", &[("model", 1e6, "ns")]);
    it.measure("control", 1.0);
    let (analysis, files) = check(it.analysis());
    let workload = &analysis.workloads[0];
    let winner = workload.winner.as_ref().unwrap();
    assert_eq!(
        (winner.case.as_str(), winner.ties.as_deref()),
        ("control", Some(&[][..]))
    );
    let model = &workload.estimates[0];
    assert_eq!(
        (
            model.whole.samples,
            model.whole.spearman,
            model.whole.kendall,
            model.whole.ceiling.ceiling
        ),
        (1, None, None, None)
    );
    assert_eq!((model.whole.regret_ratio, model.whole.comparable_pairs), (Some(1.0), 0));
    let report = text(&files, "report.md");
    assert!(report.contains("Keep the control"));
    assert!(report.contains("- 1 case: 1 chosen beforehand"));
    assert!(report.contains("the ceiling is undefined: 1 case with at least 2 rounds, 3 are needed"));
}

#[test]
fn all_tied() {
    let mut it = Fixture::new(&[("mlp", "a")]);
    for (name, predicted) in [("a", 3.0), ("b", 2.0), ("c", 1.0)] {
        it.case("mlp", name, "some", &[("proxy", predicted, "score")]);
        it.built(name, 1);
        (0..4).for_each(|round| it.round(name, 1, round, &[(1e6, 1e6, 100.0); 3]));
    }
    let (analysis, _) = check(it.analysis());
    let winner = analysis.workloads[0].winner.as_ref().unwrap();
    assert_eq!(winner.case, "a");
    assert_eq!(winner.ties, Some(vec!["b".to_owned(), "c".to_owned()]));
    let proxy = &analysis.workloads[0].estimates[0];
    assert_eq!(
        (
            proxy.whole.spearman,
            proxy.whole.kendall,
            proxy.whole.ceiling.ceiling,
            proxy.whole.comparable_pairs
        ),
        (None, None, None, 0)
    );
}

#[test]
fn no_estimates() {
    let mut it = Fixture::new(&[("mlp", "a")]);
    for (name, ratio) in [("a", 1.0), ("b", 0.9)] {
        it.case("mlp", name, "some", &[]);
        it.measure(name, ratio);
    }
    let (analysis, files) = check(it.analysis());
    assert!(analysis.workloads[0].estimates.is_empty());
    let report = text(&files, "report.md");
    assert!(
        !report.contains("## Models") && !report.contains("## Rejected"),
        "{report}"
    );
    assert_eq!(analysis.files.len(), 7);
}

#[test]
fn constant_predictions() {
    let mut it = Fixture::new(&[("mlp", "a")]);
    for (name, ratio) in [("a", 1.0), ("b", 0.9), ("c", 1.2)] {
        it.case("mlp", name, "some", &[("proxy", 0.0, "score"), ("model", 1e6, "ns")]);
        it.measure(name, ratio);
    }
    let (analysis, _) = check(it.analysis());
    for estimate in &analysis.workloads[0].estimates {
        assert_eq!((estimate.whole.spearman, estimate.whole.kendall), (None, None));
        assert_eq!(
            (
                estimate.whole.comparable_pairs,
                estimate.whole.inversions,
                estimate.whole.ties_predicted
            ),
            (3, 0, 3)
        );
        assert_eq!(estimate.whole.selected.as_deref(), Some("a"));
    }
}

/// Cases with so many pairs each, in turn 4 % above, at and 4 % below their ratio.
fn with_pairs(cases: &[(&str, f64, usize)]) -> Fixture {
    let mut it = Fixture::new(&[("mlp", "a")]);
    for (name, ratio, pairs) in cases {
        it.case("mlp", name, "some", &[("proxy", *ratio, "score")]);
        it.built(name, 1);
        let steps = [1.04, 1.0, 0.96].into_iter().cycle().take(*pairs);
        let pairs: Vec<_> = steps.map(|step| (1e6 * ratio * step, 1e6, 100.0)).collect();
        it.round(name, 1, 0, &pairs);
    }
    it
}

#[test]
fn few_pairs_are_held_against_the_noise_of_all_cases() {
    let it = with_pairs(&[
        ("a", 1.0, 6),
        ("b", 0.5, 3),
        ("c", 0.8, 6),
        ("d", 0.52, 2),
        ("e", 0.7, 2),
        ("f", 0.3, 1),
        ("g", 0.9, 1),
    ]);
    let (analysis, files) = check(it.analysis());
    let winner = analysis.workloads[0].winner.as_ref().unwrap();
    // Two pairs 8 % behind the best three are no worse for all that is known of the noise; 45 % behind they are. One pair
    // says nothing, however fast it was.
    assert_eq!(
        (winner.case.as_str(), winner.ties.as_deref()),
        ("b", Some(&["d".to_owned()][..]))
    );
    assert_eq!(
        (winner.undecided.as_slice(), winner.ratio.lower),
        (&["f".to_owned(), "g".to_owned()][..], None)
    );
    // Only `a` and `c` have intervals of their own.
    assert_eq!(analysis.workloads[0].estimates[0].whole.comparable_pairs, 1);
    let report = text(&files, "report.md");
    for line in [
        "Ties with it (can't be told apart at 95 %): `d`.",
        "3 pairs are too few for an interval of its own: what ties follows from the noise of all cases together.",
        "Too few pairs to be told from anything: `f`, `g`.",
    ] {
        assert!(report.contains(line), "{line}: {report}");
    }
}

#[test]
fn single_pairs_decide_nothing() {
    let it = with_pairs(&[("a", 1.0, 1), ("b", 0.5, 1), ("c", 0.8, 1)]);
    let (analysis, files) = check(it.analysis());
    let winner = analysis.workloads[0].winner.as_ref().unwrap();
    assert_eq!((winner.case.as_str(), winner.ties.as_ref()), ("b", None));
    assert_eq!(winner.undecided, ["c"]);
    assert!(text(&files, "report.md").contains("1 pair is too few for an interval"));
}

#[test]
fn only_adaptive_cases() {
    let mut it = Fixture::new(&[("mlp", "control")]);
    it.case("mlp", "control", "control", &[("model", 1.0, "ns")]);
    let reason = "too long".to_owned();
    it.build("control", 1, BuildOutcome::TimedOut { reason });
    let cross = |name| Fixture::make_case("mlp", name, "cross", &[("model", 1e6, "ns")]);
    let cases = vec![cross("x"), cross("y"), cross("z")];
    let units = Vec::new();
    it.add(AdditionKind::Crosses { cases, units });
    for (name, ratio) in [("x", 0.9), ("y", 0.8), ("z", 0.7)] {
        it.measure(name, ratio);
    }
    let (analysis, _) = check(it.analysis());
    let model = &analysis.workloads[0].estimates[0];
    assert_eq!(
        (model.whole.samples, model.whole.regret_ratio, model.whole.bias),
        (0, None, None)
    );
    assert_eq!((model.whole.selected.as_ref(), model.whole.rank_of_best), (None, None));
    assert_eq!(analysis.workloads[0].winner.as_ref().unwrap().case, "z");
    assert!(analysis.files.contains(&"calibration-model.svg".to_owned()));
}

#[test]
fn three_workloads() {
    let names = [("small", "s0"), ("mid", "m0"), ("large", "l0")];
    let mut it = Fixture::new(&names);
    for (workload, control) in names {
        let other = format!("{control}-other");
        it.case(workload, control, "control", &[("model", 1e6, "ns")]);
        it.case(workload, &other, "some", &[("model", 2e6, "ns")]);
        if workload != "mid" {
            it.measure(control, 1.0);
            it.measure(&other, 0.8);
        }
    }
    let (analysis, files) = check(it.analysis());
    let winners: Vec<Option<&str>> = analysis
        .workloads
        .iter()
        .map(|w| w.winner.as_ref().map(|winner| winner.case.as_str()))
        .collect();
    assert_eq!(winners, [Some("s0-other"), None, Some("l0-other")]);
    assert!(analysis.has_winner());
    assert!(files.contains_key("ranking-small.svg") && files.contains_key("calibration-model-large.png"));
    assert!(!files.contains_key("ranking-mid.svg"));
}

#[test]
fn odd_names() {
    let long = "long".repeat(50);
    let names = [
        "pipe|and `tick`",
        "comma, \"quote\"",
        "größe ≤ 模型 <b>&amp;",
        "line\nbreak\u{1b}[31m",
        &long,
    ];
    let mut it = Fixture::new(&[("mlp | <x>", names[0])]);
    for (index, name) in names.into_iter().enumerate() {
        let family = format!("family | {name}");
        it.case(
            "mlp | <x>",
            name,
            &family,
            &[("model, \"v2\" | <y>", 1e6, "ns"), ("模型", 1.0, "score")],
        );
        it.measure(name, 1.0 + index as f64 / 10.0);
    }
    let (analysis, files) = check(it.analysis());

    // Every table row has as many cells as its head.
    for table in text(&files, "report.md")
        .split("\n\n")
        .filter(|part| part.starts_with('|'))
    {
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let head = table.lines().next().map(cells).unwrap();
        assert!(table.lines().all(|line| cells(line) == head), "{table}");
    }
    let report = markdown(&analysis);
    assert!(report.contains("pipe\\|and \\`tick\\`") && report.contains(&long) && !report.contains("<b>"));

    let mut reader = csv::Reader::from_reader(files["summary.csv"].as_slice());
    let read: Vec<String> = reader.records().map(|row| row.unwrap()[1].to_owned()).collect();
    assert_eq!(read, names);

    for (name, _) in files
        .iter()
        .filter(|(name, _)| Path::new(name).extension().is_some_and(|e| e == "svg"))
    {
        let svg = text(&files, name);
        assert!(
            !svg.contains("<b>") && !svg.contains("<x>") && !svg.contains("<y>"),
            "{name}"
        );
        assert!(!svg.chars().any(|c| c.is_control() && c != '\n'), "{name}");
    }
    let shown = tables::render(&analysis);
    assert!(!shown.contains('\u{1b}'));
    // A long name is broken over lines, never cut.
    let pieces = shown
        .split_whitespace()
        .filter(|word| word.chars().all(|c| "long".contains(c)));
    assert!(pieces.collect::<String>().contains(&long), "{shown}");
    let pictures = ["calibration-model-v2-y", "calibration-unnamed", "ranking"];
    assert!(
        pictures.iter().all(|stem| files.contains_key(&format!("{stem}.png"))),
        "{:?}",
        files.keys()
    );
}

#[test]
fn values_that_do_not_vary() {
    let mut it = Fixture::new(&[("mlp", "control")]);
    it.manifest.objective = ("cycles".to_owned(), "cycles".to_owned());
    for (name, cycles) in [("control", 1_000.0), ("a", 800.0), ("b", 800.0), ("c", 1_200.0)] {
        it.case("mlp", name, "some", &[("model", cycles * 1.1, "cycles")]);
        it.built(name, 1);
        let mut outcome = measurement(&[(cycles, 1.0, 1.0)]);
        outcome.samples.retain(|sample| sample.of == Of::Case);
        outcome.probes.clear();
        (0..4).for_each(|round| {
            let measurement = outcome.clone();
            it.run(name, 1, round, cohort::RunOutcome::Correct { measurement });
        });
    }
    let (analysis, _) = check(it.analysis());
    let workload = &analysis.workloads[0];
    assert!(!workload.paired && workload.noise.is_none());
    let winner = workload.winner.as_ref().unwrap();
    assert_eq!((winner.case.as_str(), winner.ratio.median), ("a", 0.8));
    assert_eq!(
        (winner.ties.clone(), winner.undecided.len()),
        (Some(vec!["b".to_owned()]), 0)
    );
    let model = &workload.estimates[0];
    // a and b have no order; of the rest every pair counts.
    assert_eq!((model.whole.comparable_pairs, model.whole.inversions), (5, 0));
    assert!((model.whole.bias.unwrap() - 1.1).abs() < 1e-12);
    assert_eq!(
        (workload.cases[0].gflops, workload.cases[0].share_of_peak),
        (None, None)
    );
}

#[test]
fn unfinished_lost_and_waiting() {
    let mut it = Fixture::new(&[("mlp", "control")]);
    for name in ["control", "partial", "lost", "waiting"] {
        it.case("mlp", name, "some", &[]);
    }
    it.measure("control", 1.0);
    it.built("partial", 1);
    it.round("partial", 1, 0, &[(9e5, 1e6, 100.0); 3]);
    it.built("lost", 1);
    let began = cohort::RecordKind::Began {
        round: 0,
        device: "cpu".to_owned(),
    };
    it.record("lost", 1, began);
    it.built("waiting", 1);
    let (analysis, files) = check(it.analysis());
    let words: Vec<&str> = analysis.workloads[0]
        .cases
        .iter()
        .map(|case| case.outcome.word())
        .collect();
    assert_eq!(words, ["correct", "unfinished", "lost", "waiting"]);
    let coverage = &analysis.workloads[0].coverage;
    assert_eq!((coverage.measured, coverage.failed, coverage.waiting), (2, 1, 1));
    assert!(text(&files, "report.md").contains("Partial: cases that miss rounds: 1; not measured yet: 1."));
}

#[test]
fn numbers_that_no_statistic_can_use() {
    let collected = |predicted: f64, value: f64, probes: usize| {
        let mut it = Fixture::new(&[("mlp", "control")]);
        it.case("mlp", "control", "some", &[("model", predicted, "ns")]);
        it.built("control", 1);
        let mut measurement = measurement(&[(value, 1e6, 100.0); 3]);
        measurement.probes.truncate(probes);
        (0..4).for_each(|round| {
            let measurement = measurement.clone();
            it.run("control", 1, round, cohort::RunOutcome::Correct { measurement });
        });
        it.dataset().map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(collected(1.0, 1.0, 3), Ok(()));
    for (found, expected) in [
        (
            collected(f64::NAN, 1.0, 3),
            "case `control`: estimate `model` is NaN, expected a finite number",
        ),
        (
            collected(1.0, 1.0, 2),
            "case `control`, round 1: 2 peak probes for 4 pairs, of which 3 count",
        ),
    ] {
        assert_eq!(found, Err(expected.to_owned()));
    }
}

/// `control` as it should be, and `odd` with one pair less in each of four rounds: (case, control, probe).
fn with_one(bad: (f64, f64, f64)) -> Fixture {
    let mut it = Fixture::new(&[("mlp", "control")]);
    it.case("mlp", "control", "some", &[]);
    it.case("mlp", "odd", "some", &[]);
    it.measure("control", 1.0);
    it.built("odd", 1);
    (0..4).for_each(|round| it.round("odd", 1, round, &[(8e5, 1e6, 100.0), bad, (8e5, 1e6, 100.0)]));
    it
}

#[test]
fn a_time_that_is_none_is_left_out_and_counted() {
    for (bad, reason) in [
        ((0.0, 1e6, 100.0), "a call of zero, no positive number"),
        ((-1.0, 1e6, 100.0), "a call of less than zero, no positive number"),
        (
            (8e5, f64::NAN, 100.0),
            "a call of the control of NaN, no positive number",
        ),
        ((8e5, 1e6, 0.0), "a peak probe of zero, no positive number"),
        ((f64::INFINITY, 0.0, 0.0), "a call of infinity, no positive number"),
    ] {
        let analysis = with_one(bad).analysis();
        let odd = analysis.workloads[0].case("odd").unwrap();
        assert_eq!((odd.pairs, odd.rounds), (8, 4));
        assert_eq!((odd.left_out[reason], odd.left_out.len()), (4, 1), "{:?}", odd.left_out);
        assert!((odd.ratio.unwrap().median - 0.8).abs() < 1e-12 && odd.value == Some(8e5));
        let phases: Vec<f64> = odd.phases.iter().map(|phase| phase.median).collect();
        assert!(
            (phases.iter().sum::<f64>() - 8e5).abs() < 1e-6,
            "phases of the same calls: {phases:?}"
        );
        let said = format!("Left out of everything: 4 pairs of 1 case ({reason}).");
        assert!(markdown(&analysis).contains(&said));
    }
    // A case of which nothing is left has no ratio, and the rest goes on.
    let mut it = with_one((8e5, 1e6, 100.0));
    it.case("mlp", "nothing", "some", &[]);
    it.built("nothing", 1);
    it.round("nothing", 1, 0, &[(0.0, 1e6, 100.0); 3]);
    let analysis = it.analysis();
    let nothing = analysis.workloads[0].case("nothing").unwrap();
    assert_eq!((nothing.ratio, nothing.rank, nothing.left_out.len()), (None, None, 1));
    assert_eq!(analysis.workloads[0].winner.as_ref().unwrap().case, "odd");
}

#[test]
fn calls_that_cannot_be_paired() {
    let mut it = Fixture::new(&[("mlp", "control")]);
    for name in ["control", "single"] {
        it.case("mlp", name, "some", &[]);
    }
    it.measure("control", 1.0);
    it.built("single", 1);
    let mut measurement = measurement(&[(1e6, 1e6, 100.0); 3]);
    measurement.samples.retain(|sample| sample.of == Of::Case);
    it.run("single", 1, 0, cohort::RunOutcome::Correct { measurement });
    let error = it.dataset().unwrap_err().to_string();
    assert_eq!(
        error,
        "case `single`, round 1: 3 counted calls of the case but 0 of the control"
    );
}

#[test]
fn estimates_must_keep_their_unit_and_name() {
    let mut it = Fixture::new(&[("mlp", "control")]);
    it.case("mlp", "control", "some", &[("model", 1.0, "ns")]);
    it.case("mlp", "other", "some", &[("model", 1.0, "score")]);
    let error = it.dataset().unwrap_err().to_string();
    assert_eq!(
        error,
        "estimate `model` is in `score` for case `other`, in `ns` for others"
    );
    it.cases.truncate(1);
    it.case("mlp", "other", "some", &[("model", 1.0, "ns"), ("model", 2.0, "ns")]);
    assert_eq!(
        it.dataset().unwrap_err().to_string(),
        "case `other` has two estimates called `model`"
    );
}

#[test]
fn counts_beyond_64_bits() {
    let mut it = Fixture::new(&[("mlp", "control")]);
    it.case("mlp", "control", "some", &[]);
    let many = u64::MAX.to_string();
    for operation in ["up", "down"] {
        it.manifest
            .screened
            .insert(format!("mlp/{operation}/normal"), many.clone());
    }
    let coverage = it.analysis().workloads[0].coverage.clone();
    let product = u128::from(u64::MAX) * u128::from(u64::MAX);
    assert_eq!(coverage.combinations, Some(product.to_string()));
    it.manifest
        .screened
        .insert("mlp/up/swapped".to_owned(), u128::MAX.to_string());
    assert_eq!(it.analysis().workloads[0].coverage.combinations, None);
    it.manifest
        .screened
        .insert("mlp/up/swapped".to_owned(), "-1".to_owned());
    assert!(matches!(it.dataset(), Err(AnalyzeError::BadCount { .. })));
}

#[test]
fn every_line_of_the_summary_has_every_column() {
    let bytes = summary(&common::typical().analysis()).unwrap();
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let head = reader.headers().unwrap().clone();
    for (name, _) in analyzer::report::columns(&common::typical().analysis()) {
        assert!(head.iter().any(|column| column == *name), "{name}");
    }
    assert!(head.iter().any(|c| c == "phase.up") && head.iter().any(|c| c == "estimate.analytic"));
    // The reader refuses lines of other lengths.
    assert_eq!(reader.records().map(Result::unwrap).count(), 15);
}

#[test]
fn pictures_of_an_earlier_analysis_do_not_stay() {
    let folder = tempfile::tempdir().unwrap();
    let two = common::typical();
    analyzer::report::write(&mut two.analysis(), folder.path()).unwrap();
    std::fs::write(folder.path().join("calibration-mine.svg"), "a person's").unwrap();
    assert!(folder.path().join("calibration-proxy.png").is_file());
    // The same sweep without the second estimate.
    let mut one = common::typical();
    for case in &mut one.cases {
        case.estimates.retain(|estimate| estimate.name != "proxy");
    }
    analyzer::report::write(&mut one.analysis(), folder.path()).unwrap();
    assert!(
        !folder.path().join("calibration-proxy.png").exists() && !folder.path().join("calibration-proxy.svg").exists()
    );
    assert!(folder.path().join("calibration-analytic.png").is_file());
    assert!(
        folder.path().join("calibration-mine.svg").is_file(),
        "not in the list, so not ours"
    );
    // A list that is not ours removes nothing.
    std::fs::write(
        folder.path().join("statistics.json"),
        r#"{"files": ["calibration-mine.svg"]}"#,
    )
    .unwrap();
    analyzer::report::write(&mut one.analysis(), folder.path()).unwrap();
    assert!(folder.path().join("calibration-mine.svg").is_file());
}

#[test]
fn a_report_folder_has_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".lock");
    let file = std::fs::File::create(&path).unwrap();
    fs2::FileExt::lock_exclusive(&file).unwrap();
    let error = analyzer::report::write(&mut common::typical().analysis(), folder.path()).unwrap_err();
    assert!(matches!(error, AnalyzeError::InUse { .. }));
    assert!(error.to_string().contains("is in use by another `analyze`"), "{error}");
    fs2::FileExt::unlock(&file).unwrap();
    analyzer::report::write(&mut common::typical().analysis(), folder.path()).unwrap();
    assert!(!path.exists(), "the lock goes with its holder");
}
