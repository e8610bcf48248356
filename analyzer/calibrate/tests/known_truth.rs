//! What is known must be found: the constants of the unit model from its profiles, those of the hardware from published
//! measurements.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::collections::BTreeMap;

use calibrate::import::{ImportOptions, read};
use calibrate::{Database, Decision, FamilyFit, FitOptions, SampleSource, TableFit, fit};
use formats::{Part, Source};
use planner::costs::{CostTable, Kernels, Number};
use planner::workloads;
use target_api::KernelProfile;
use target_ipu21::costs::{self, Kernel};
use target_ipu21::exchange::Policy;
use target_ipu21::profile::{kernels, profile};
use target_ipu21::program::{Program, identity};
use target_ipu21::{text, unit};

fn source(path: &str) -> SampleSource {
    SampleSource {
        path: path.to_owned(),
        sha256: path.to_owned(),
        build: "one".to_owned(),
        label: "simulated".to_owned(),
    }
}

fn database(profiles: &[KernelProfile]) -> Database {
    let mut database = Database::new("ipu21", profiles[0].clock.clone());
    let source = source("here");
    database.begin(source.clone(), &BTreeMap::new()).unwrap();
    for profile in profiles {
        database.gather(&source, profile).unwrap();
    }
    database
}

/// The same terms with coefficients that nobody would guess.
fn unlearned(table: &CostTable) -> CostTable {
    let mut table = table.clone();
    for family in table.families.values_mut() {
        for term in family.terms.values_mut() {
            term.coefficient = Number::new(7.25).unwrap();
        }
    }
    table
}

fn family<'a>(fit: &'a TableFit, name: &str) -> &'a FamilyFit {
    fit.families.iter().find(|family| family.family == name).unwrap()
}

fn coefficients(fit: &FamilyFit) -> BTreeMap<&str, f64> {
    fit.terms.iter().map(|term| (term.term.as_str(), term.new)).collect()
}

/// Profiles of a small MLP in a few geometries, under one table.
fn profiles(table: &costs::CostTable) -> Vec<KernelProfile> {
    let kind = workloads::kind("mlp").unwrap();
    let extents = BTreeMap::from([("tokens", 150), ("features", 320), ("hidden", 640)]);
    let workload = planner::Workload {
        name: "small".to_owned(),
        operations: kind.operations(&extents, Some(planner::Elementwise::GeluTanh)).unwrap(),
    };
    let plans = [
        ("0:4x10x4:4x1:64", "2:4x5x10:10x1:64"),
        ("0:3x20x5:5x1:32", "2:2x10x8:8x1:32"),
        ("0:8x8x2:2x1:80", "2:3x4x20:20x1:80"),
        ("0:2x40x10:10x1:16", "2:6x5x5:5x1:64"),
    ];
    let profile_of = |(up, down): &(&str, &str)| {
        let geometries = [up, down].map(|own| {
            let whole = format!("{own}:interleaved:normal:complete:direct");
            text::parse(&whole).unwrap().1
        });
        let program = Program::new(&workload, &geometries, identity()).unwrap();
        let compiled = unit::compile(program, Policy::default()).unwrap();
        kernels(&profile(&compiled, table, "plan").unwrap())
    };
    plans.iter().map(profile_of).collect()
}

#[test]
fn the_constants_of_the_unit_model_come_back_exactly() {
    let reductions = [("before", 54.0, 36.0, 558.0), ("after", 66.0, 12.0, 366.0)];
    for (name, turns, additions, blocks) in reductions {
        let truth = costs::builtin(name).unwrap();
        let found = fit(
            &database(&profiles(&truth)),
            &unlearned(truth.families()),
            FitOptions::default(),
        )
        .unwrap();
        let expected = [
            ("gemm", vec![("launch", 294.0), ("panels", 160.0), ("rows", 4.0)]),
            (
                "reduction",
                vec![("launch", 282.0), ("turns", turns), ("additions", additions)],
            ),
            ("gelu", vec![("launch", 300.0), ("blocks", blocks)]),
            ("copy_executed", vec![("launch", 480.0), ("words", 1.0)]),
            ("barrier", vec![("barrier", 250.0)]),
        ];
        for (family_name, terms) in expected {
            let one = family(&found, family_name);
            println!("{name} {family_name}: {} keys, {} samples", one.keys, one.samples);
            assert!(one.undecided().next().is_none(), "{name}: {one:#?}");
            assert!(one.exact, "{name}: {family_name} is not called exact: {:#?}", one.terms);
            assert_eq!(coefficients(one), terms.into_iter().collect(), "{name}");
        }
        // What no profile can tell keeps its value: phases as planners price them.
        let kept = family(&found, Kernel::Phase.name());
        assert_eq!(kept.terms[0].decision, Decision::NoSamples);
        assert_eq!(
            found.table.family("exchange_phase").unwrap().terms["phase"].coefficient,
            Number::new(7.25).unwrap()
        );
        // The new table is one that the target takes, and it prices as the old one did.
        let mut complete = found.table.clone();
        for (name, family) in &truth.families().families {
            if complete.families[name]
                .terms
                .values()
                .any(|term| term.coefficient.value().total_cmp(&7.25).is_eq())
            {
                complete.families.insert(name.clone(), family.clone());
            }
        }
        let taken = costs::CostTable::try_from(complete).unwrap();
        assert_eq!(taken.gemm(184, 288, 48), truth.gemm(184, 288, 48));
        assert_eq!(taken.reduction(576, 15), truth.reduction(576, 15));
    }
}

#[test]
fn published_measurements_are_met_within_their_residuals() {
    let options = ImportOptions {
        clock: "tile cycles".to_owned(),
        unit: Some("cycles".to_owned()),
        hz: Some(1.5e9),
        kernel: None,
        ignore: vec!["version".to_owned()],
    };
    let name = "published-kernels.csv".to_owned();
    let source = Source {
        parts: vec![Part {
            path: name.clone(),
            text: include_str!("fixtures/published-kernels.csv").to_owned(),
        }],
        name,
        folder: false,
    };
    let published = read(&source, &options, &mut Vec::new()).unwrap();
    let mut table = unlearned(costs::builtin("after").unwrap().families());
    // Of products the old table is one tenth too dear.
    for term in table.families.get_mut("gemm").unwrap().terms.values_mut() {
        let dear = match term.of.as_str() {
            "1" => 294.0,
            own if own.contains("rows") => 4.0,
            _ => 160.0,
        };
        term.coefficient = Number::new(1.1 * dear).unwrap();
    }
    for (copy, of) in [
        ("reduction-before", "reduction"),
        ("gelu-clamped", "gelu"),
        ("gelu-paired", "gelu"),
    ] {
        table.families.insert(copy.to_owned(), table.families[of].clone());
    }
    let found = fit(&database(&[published]), &table, FitOptions::default()).unwrap();

    // Reductions after the upgrade, and GELU with clamps: more measurements than terms, all of them met.
    let reduction = family(&found, "reduction");
    assert!(reduction.exact);
    let expected = BTreeMap::from([("launch", 282.0), ("turns", 66.0), ("additions", 12.0)]);
    assert_eq!(coefficients(reduction), expected);
    let clamped = family(&found, "gelu-clamped");
    assert!(clamped.exact);
    assert_eq!(
        coefficients(clamped),
        BTreeMap::from([("launch", 330.0), ("blocks", 510.0)])
    );

    // As many measurements as terms: met, but nothing says that the formula holds elsewhere.
    assert!(!family(&found, "gelu-paired").exact && !family(&found, "reduction-before").exact);
    // One measurement can't tell launch and blocks apart.
    let once = family(&found, "gelu");
    let with = |other: &str| Decision::Collinear {
        with: vec![other.to_owned()],
    };
    assert_eq!(once.terms[0].decision, with("launch"));
    assert_eq!(once.terms[1].decision, with("blocks"));
    assert!(once.terms.iter().all(|term| term.new.total_cmp(&7.25).is_eq()));

    // Five products within about one percent of the formula: rows are decided, a launch of 294 in 50,000 is not.
    let gemm = family(&found, "gemm");
    println!("{:#?}", gemm.terms);
    assert!(!gemm.exact);
    let undecided: Vec<&str> = gemm.undecided().map(|term| term.term.as_str()).collect();
    assert!(undecided.contains(&"launch"), "{undecided:?}");
    let rows = gemm.terms.iter().find(|term| term.term == "rows").unwrap();
    assert!((rows.new / 4.0 - 1.0).abs() < 0.1, "{rows:?}");
    assert!(gemm.error_new.unwrap() < 0.012, "{:?}", gemm.error_new);
}
