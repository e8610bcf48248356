//! Databases whose law is known: noise, outliers, terms that can't be told, samples that don't count.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::collections::BTreeMap;

use calibrate::{CalibrateError, Database, Decision, FamilyFit, FitOptions, SampleSource, fit, overlap};
use planner::costs::CostTable;
use proptest::prelude::*;
use stats::random::SplitMix64;
use target_api::{Clock, KernelProfile, KernelSample};

const TABLE: &str = r#"
    name = "old"
    [pack]
    arguments = ["rows", "columns"]
    [pack.terms]
    launch = { of = "1", ns = 10 }
    rows = { of = "rows", ns = 10 }
    blocks = { of = "rows * ceil_div(columns, 16)", ns = 10 }
"#;

/// Launch, rows, blocks.
const LAW: [f64; 3] = [5_000.0, 40.0, 7.5];

fn clock(unit: &str) -> Clock {
    Clock {
        name: "wall".to_owned(),
        unit: unit.to_owned(),
        hz: None,
    }
}

fn source(path: &str, build: &str) -> SampleSource {
    SampleSource {
        path: path.to_owned(),
        sha256: path.to_owned(),
        build: build.to_owned(),
        label: "measured".to_owned(),
    }
}

fn database(path: &str, samples: Vec<KernelSample>) -> Database {
    let mut database = Database::new("cpu", clock("ns"));
    let from = source(path, "build");
    database.begin(from.clone(), &BTreeMap::new()).unwrap();
    let profile = KernelProfile {
        clock: clock("ns"),
        samples,
    };
    database.gather(&from, &profile).unwrap();
    database
}

fn law(rows: u64, columns: u64) -> f64 {
    LAW[0] + LAW[1] * rows as f64 + LAW[2] * (rows * columns.div_ceil(16)) as f64
}

fn sample(rows: u64, columns: u64, factor: f64) -> KernelSample {
    KernelSample::call(
        "pack",
        [("rows", rows), ("columns", columns)],
        law(rows, columns) * factor,
    )
}

fn uniform(rng: &mut SplitMix64) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

fn quick() -> FitOptions {
    FitOptions {
        resamples: std::num::NonZeroU32::new(200).unwrap(),
        seed: 1,
    }
}

/// Keys over three orders of magnitude, each with a few samples.
fn keys(
    rng: &mut SplitMix64,
    count: usize,
    mut factor: impl FnMut(usize, &mut SplitMix64) -> f64,
) -> Vec<KernelSample> {
    let mut samples = Vec::new();
    for at in 0..count {
        let rows = 1 + rng.below(std::num::NonZeroU64::new(2_000).unwrap());
        let columns = 1 + rng.below(std::num::NonZeroU64::new(400).unwrap());
        for _ in 0..3 {
            let factor = factor(at, rng);
            samples.push(sample(rows, columns, factor));
        }
    }
    samples
}

fn fitted(samples: Vec<KernelSample>) -> FamilyFit {
    let table = CostTable::parse(TABLE).unwrap();
    let mut found = fit(&database("here", samples), &table, quick()).unwrap();
    found.families.remove(0)
}

fn term<'a>(fit: &'a FamilyFit, name: &str) -> &'a calibrate::fit::TermFit {
    fit.terms.iter().find(|term| term.term == name).unwrap()
}

#[test]
fn noise_leaves_the_law_inside_the_intervals() {
    let mut inside = 0;
    for seed in 0..20 {
        let mut rng = SplitMix64::new(seed);
        let found = fitted(keys(&mut rng, 60, |_, rng| 1.0 + 0.04 * (uniform(rng) - 0.5)));
        assert!(!found.exact);
        assert!(
            found.error_new.unwrap() < 0.02 && found.error_old.unwrap() > 0.05,
            "{found:?}"
        );
        // What was left out is predicted nearly as well as what was seen.
        assert!(found.left_out.unwrap() < 0.02, "{:?}", found.left_out);
        for (name, law) in ["launch", "rows", "blocks"].iter().zip(LAW) {
            let term = term(&found, name);
            assert_eq!(term.decision, Decision::Fitted, "{name} {term:?}");
            assert!((term.new / law - 1.0).abs() < 0.25, "{name} {term:?}");
            inside += usize::from(term.lower.unwrap() <= law && law <= term.upper.unwrap());
        }
    }
    // Of 60 intervals of 95 % at least 80 % hold the law; percentile intervals are a little narrow.
    assert!(inside >= 48, "{inside} of 60");
}

#[test]
fn a_quarter_of_wild_keys_is_left_out() {
    let mut rng = SplitMix64::new(3);
    let found = fitted(keys(&mut rng, 80, |at, rng| {
        let wild = if at % 4 == 0 { 1.5 + 3.0 * uniform(rng) } else { 1.0 };
        wild * (1.0 + 0.01 * (uniform(rng) - 0.5))
    }));
    assert!((18..=24).contains(&found.outliers), "{}", found.outliers);
    for (name, law) in ["launch", "rows", "blocks"].iter().zip(LAW) {
        let term = term(&found, name);
        assert!((term.new / law - 1.0).abs() < 0.1, "{name} {term:?}");
    }
}

#[test]
fn terms_that_can_not_be_told_apart_keep_their_value_and_are_named() {
    // Always 16 columns: rows and blocks are the same.
    let samples = (1..40).map(|n| sample(25 * n, 16, 1.0)).collect();
    let found = fitted(samples);
    assert_eq!((found.rank, found.condition), (2, None));
    let with = |other: &str| Decision::Collinear {
        with: vec![other.to_owned()],
    };
    assert_eq!(term(&found, "rows").decision, with("blocks"));
    assert_eq!(term(&found, "blocks").decision, with("rows"));
    assert!(term(&found, "rows").new.total_cmp(&10.0).is_eq());
    // The launch is told, beside what the kept terms give: 20 for each row, 27.5 less than it takes.
    let launch = term(&found, "launch");
    assert_eq!(launch.decision, Decision::Fitted);
    assert!(launch.new > LAW[0], "{launch:?}");
    assert!(launch.lower.unwrap() <= launch.new && launch.new <= launch.upper.unwrap());
    assert!(found.error_new.unwrap() < found.error_old.unwrap(), "{found:?}");
    // Nothing is said of what a fit would give terms that it can't tell.
    for kept in ["rows", "blocks"] {
        assert_eq!((term(&found, kept).found, term(&found, kept).lower), (None, None));
    }
    assert!(!found.exact, "a fit with open terms is never exact");
}

/// Of `n` exactly ten for each; `b` and `c` can't be told apart.
fn ten_each(a: f64, b: f64, c: f64) -> FamilyFit {
    let table = format!(
        r#"
        name = "old"
        [pack]
        arguments = ["n"]
        [pack.terms]
        a = {{ of = "1", ns = {a} }}
        b = {{ of = "n", ns = {b} }}
        c = {{ of = "2 * n", ns = {c} }}
        "#
    );
    let samples = (1..=4).map(|n| KernelSample::call("pack", [("n", n)], 10.0 * n as f64));
    let table = CostTable::parse(&table).unwrap();
    let mut found = fit(&database("here", samples.collect()), &table, quick()).unwrap();
    for (term, of) in found.families[0]
        .terms
        .iter()
        .zip(found.table.families["pack"].terms.values())
    {
        assert!(of.coefficient.value().total_cmp(&term.new).is_eq());
    }
    found.families.remove(0)
}

#[test]
fn what_is_told_is_fitted_to_what_kept_terms_leave() {
    // Kept at 1 and 3, `b` and `c` give seven for each `n`: three are left for a term that the samples alone say is zero.
    let found = ten_each(1.0, 1.0, 3.0);
    let a = term(&found, "a");
    assert_eq!(a.decision, Decision::Fitted);
    // The constant nearest to 3 n by relative squares of 10 n, all four of them: 3 (sum of 1 / n) / (sum of 1 / n^2).
    let nearest = 3.0 * (25.0 / 12.0) / (205.0 / 144.0);
    assert!((a.new - nearest).abs() < 0.5, "{a:?}");
    assert!(a.lower.unwrap() <= a.new && a.new <= a.upper.unwrap(), "{a:?}");
    assert!(found.error_new.unwrap() < found.error_old.unwrap(), "{found:#?}");
    assert!(!found.exact && found.notes.is_empty());
    for (name, kept) in [("b", 1.0), ("c", 3.0)] {
        let own = term(&found, name);
        assert!(own.new.total_cmp(&kept).is_eq() && own.interval().is_none(), "{own:?}");
    }
    // Where kept terms give more than was measured, nothing is left, and nothing below zero comes out.
    let found = ten_each(1.0, 1.0, 6.0);
    assert!(term(&found, "a").new.total_cmp(&0.0).is_eq(), "{found:#?}");
    assert!(found.error_new.unwrap() < found.error_old.unwrap());
}

#[test]
fn a_family_that_a_fit_beside_kept_terms_would_make_worse_is_kept() {
    // The old table is right of two of three sizes, and far off the third: squares give way to that, the median does not.
    let table = CostTable::parse(
        r#"
        name = "old"
        [pack]
        arguments = ["n"]
        [pack.terms]
        a = { of = "1", ns = 100 }
        b = { of = "n", ns = 1 }
        c = { of = "2 * n", ns = 2 }
        "#,
    )
    .unwrap();
    let value = |n: u64| {
        if n.is_multiple_of(3) {
            40.0 + n as f64
        } else {
            100.0 + 5.0 * n as f64
        }
    };
    let samples = (1..=30).map(|n| KernelSample::call("pack", [("n", n)], value(n)));
    let found = fit(&database("here", samples.collect()), &table, quick()).unwrap();
    let family = &found.families[0];
    println!("{family:#?}");
    assert_eq!(term(family, "a").decision, Decision::Worse);
    assert_eq!(found.table.families, table.families);
    assert_eq!(
        (family.error_new, family.left_out, family.exact),
        (family.error_old, None, false)
    );
    assert!(
        family.notes.iter().any(|note| note.contains("whole family is kept")),
        "{:?}",
        family.notes
    );
    // What the samples allow is told as that.
    let words = term(family, "a").interval_words(|end| end.to_string()).unwrap();
    assert!(words.starts_with("samples allow ["), "{words}");
}

#[test]
fn samples_and_prices_have_one_unit() {
    let cycles = CostTable::parse(&TABLE.replace("ns = 10", "cycles = 10")).unwrap();
    let samples: Vec<KernelSample> = (1..9).map(|n| sample(n, 16 * n, 1.0)).collect();
    let samples = database("here", samples);
    let held_out = calibrate::judge::held_out_families(&samples, &cycles, &cycles);
    for error in [fit(&samples, &cycles, quick()).unwrap_err(), held_out.unwrap_err()] {
        assert!(matches!(error, CalibrateError::Units { .. }), "{error}");
        let words = error.to_string();
        assert!(
            words.contains("`pack` are in ns") && words.contains("`pack` in cycles"),
            "{words}"
        );
    }
    // A family without samples may have any unit.
    let mut two = CostTable::parse(TABLE).unwrap();
    two.families
        .insert("unpack".to_owned(), cycles.families["pack"].clone());
    assert!(fit(&samples, &two, quick()).is_ok());
}

#[test]
fn a_term_that_never_occurs_and_one_that_drowns_keep_their_value() {
    let table = TABLE.replace(
        "blocks = { of = \"rows * ceil_div(columns, 16)\"",
        "blocks = { of = \"max(rows - 5000, 0)\"",
    );
    let table = CostTable::parse(&table).unwrap();
    // Long calls with 3 % of noise: 5 microseconds of launch drown in 10 milliseconds.
    let mut rng = SplitMix64::new(8);
    let samples = (1..60).map(|n| {
        let rows = 4_000 + 10 * n;
        let value = (LAW[0] + 3_000.0 * rows as f64) * (1.0 + 0.03 * (uniform(&mut rng) - 0.5));
        KernelSample::call("pack", [("rows", rows), ("columns", 3)], value)
    });
    let found = fit(&database("here", samples.collect()), &table, quick()).unwrap();
    let family = &found.families[0];
    assert_eq!(term(family, "blocks").decision, Decision::Absent);
    assert_eq!(term(family, "launch").decision, Decision::Imprecise, "{family:#?}");
    assert!(term(family, "launch").new.total_cmp(&10.0).is_eq() && term(family, "launch").found.is_some());
    assert_eq!(term(family, "rows").decision, Decision::Fitted);
    assert!((term(family, "rows").new / 3_000.0 - 1.0).abs() < 0.01);
    // The table that comes out holds what was decided, and the rest as it was.
    let coefficient = |name: &str| found.table.family("pack").unwrap().terms[name].coefficient.value();
    assert!(coefficient("launch").total_cmp(&10.0).is_eq());
    assert!(coefficient("rows").total_cmp(&term(family, "rows").new).is_eq());
}

#[test]
fn one_sample_that_disagrees_takes_exactness_away() {
    let mut samples: Vec<KernelSample> = (1..30).map(|n| sample(7 * n, 13 * n, 1.0)).collect();
    let found = fitted(samples.clone());
    assert!(found.exact);
    assert_eq!(
        found.terms.iter().map(|term| term.new).collect::<Vec<_>>(),
        [7.5, 5_000.0, 40.0]
    );
    samples.push(sample(7, 13, 1.000_1));
    let found = fitted(samples);
    assert!(!found.exact, "the median still agrees, one sample does not");
    assert!((term(&found, "rows").new - 40.0).abs() < 0.1);
}

#[test]
fn a_known_coefficient_is_not_fitted() {
    let table = CostTable::parse(&TABLE.replace(
        "launch = { of = \"1\", ns = 10",
        "launch = { of = \"1\", ns = 5000, known = true",
    ))
    .unwrap();
    let samples = (1..30).map(|n| sample(7 * n, 13 * n, 1.0)).collect();
    let found = fit(&database("here", samples), &table, quick()).unwrap();
    let family = &found.families[0];
    assert_eq!(term(family, "launch").decision, Decision::Known);
    assert!(family.exact && (term(family, "rows").new - 40.0).abs() < 1e-9);
}

#[test]
fn what_does_not_count_is_counted() {
    let merged = |calls: u64, certified: bool| KernelSample {
        value: calls as f64 * law(32, 64),
        calls,
        certified,
        times: 2,
        ..sample(32, 64, 1.0)
    };
    let unnamed = |calls: u64, certified: bool| KernelSample {
        arguments: None,
        ..merged(calls, certified)
    };
    let disturbed = KernelSample {
        disturbed: true,
        ..sample(5, 5, 1.0)
    };
    let nothing = KernelSample {
        value: 0.0,
        ..sample(5, 5, 1.0)
    };
    let found = database(
        "here",
        vec![
            merged(4, true),
            merged(4, false),
            unnamed(3, false),
            unnamed(3, true),
            unnamed(1, false),
            disturbed,
            nothing,
        ],
    );
    let excluded: Vec<(&str, u64)> = found.excluded.iter().map(|(why, n)| (why.as_str(), *n)).collect();
    assert_eq!(
        excluded,
        [
            ("during a disturbance", 1),
            ("merged without a certificate of identical symbols and arguments", 2),
            ("merged without arguments", 4),
            ("not a positive number", 1),
        ]
    );
    // Four certified calls are four equal ones; the call without arguments counts, but tells no family anything.
    assert_eq!(found.keys.len(), 2);
    let certified = found.keys.iter().find(|own| !own.key.arguments.is_empty()).unwrap();
    assert!((certified.median / law(32, 64) - 1.0).abs() < 1e-12 && certified.samples == 2);
}

#[test]
fn databases_are_merged_once_and_share_a_clock() {
    let one = database("one", (1..9).map(|n| sample(n, 16 * n, 1.0)).collect());
    let two = database("two", (1..9).map(|n| sample(n, 16 * n, 1.1)).collect());
    let mut both = one.clone();
    both.merge(two.clone()).unwrap();
    let mut other = two.clone();
    other.merge(one.clone()).unwrap();
    assert_eq!(both, other, "in any order");
    assert_eq!((both.keys.len(), both.keys[0].samples), (8, 2));
    assert!(matches!(both.merge(two), Err(CalibrateError::SourceTwice { .. })));
    let mut slow = Database::new("cpu", clock("cycles"));
    assert!(matches!(slow.merge(one.clone()), Err(CalibrateError::Clocks { .. })));
    assert!(matches!(
        Database::new("ipu21", clock("ns")).merge(one.clone()),
        Err(CalibrateError::Targets { .. })
    ));
    let text = one.text().unwrap();
    assert_eq!(Database::parse("one.json", &text).unwrap(), one);
    let edited = text.replace("\"format\": 1", "\"format\": 2");
    assert!(Database::parse("one.json", &edited).is_err());
    // Figures that follow from the values can't be edited apart from them.
    let edited = text.replacen("\"median\": ", "\"median\": 9", 1);
    assert_eq!(Database::parse("one.json", &edited).unwrap(), one);
    let schema = Database::schema().to_string();
    for field in ["\"clock\"", "\"keys\"", "\"p95\"", "\"physical\"", "\"excluded\""] {
        assert!(schema.contains(field), "{field}");
    }
}

#[test]
fn overlaps_are_found_and_taken_out() {
    let mut fitted = database("one", (1..9).map(|n| sample(n, 16 * n, 1.0)).collect());
    let held_out = database("two", (7..20).map(|n| sample(n, 16 * n, 1.0)).collect());
    let both = overlap(&fitted, &held_out);
    assert_eq!((both.keys.len(), both.sources.len()), (2, 0));
    assert!(
        both.words().contains("2 keys") && both.words().contains("rows 7"),
        "{}",
        both.words()
    );
    assert_eq!(fitted.without(&both.keys), 2);
    assert!(overlap(&fitted, &held_out).is_empty());
    assert_eq!(fitted.excluded["measured on the held-out side too"], 2);
    assert_eq!(overlap(&held_out, &held_out).sources, ["two"]);
}

#[test]
fn samples_of_no_family_are_told() {
    let table = CostTable::parse(TABLE).unwrap();
    let other = KernelSample::call("unpack", [("rows", 3)], 5.0);
    let error = fit(&database("here", vec![other.clone()]), &table, quick()).unwrap_err();
    assert!(
        error.to_string().contains("`pack`") && error.to_string().contains("`unpack`"),
        "{error}"
    );
    let mut samples: Vec<KernelSample> = (1..9).map(|n| sample(n, 16 * n, 1.0)).collect();
    samples.push(other);
    samples.push(KernelSample::call("pack", [("rows", 3)], 5.0));
    let found = fit(&database("here", samples), &table, quick()).unwrap();
    assert_eq!(found.unpriced, [("unpack".to_owned(), 1)]);
    assert_eq!(found.families[0].excluded["argument `columns` is not told"], 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the whole coefficients are, clean samples give them back exactly, and say so.
    #[test]
    fn whole_laws_come_back(launch in 0_u32..5_000, rows in 0_u32..500, blocks in 1_u32..300, seed in any::<u64>()) {
        let mut rng = SplitMix64::new(seed);
        let table = CostTable::parse(TABLE).unwrap();
        let mut samples = Vec::new();
        for _ in 0..25 {
            let m = 1 + rng.below(std::num::NonZeroU64::new(3_000).unwrap());
            let n = 1 + rng.below(std::num::NonZeroU64::new(700).unwrap());
            let value = f64::from(launch) + f64::from(rows) * m as f64 + f64::from(blocks) * (m * n.div_ceil(16)) as f64;
            samples.push(KernelSample::call("pack", [("rows", m), ("columns", n)], value));
        }
        let found = fit(&database("here", samples), &table, quick()).unwrap();
        let family = &found.families[0];
        prop_assert!(family.exact, "{:?}", family.terms);
        for (name, law) in [("launch", launch), ("rows", rows), ("blocks", blocks)] {
            prop_assert!(term(family, name).new.total_cmp(&f64::from(law)).is_eq(), "{name} {:?}", family.terms);
        }
    }
}
