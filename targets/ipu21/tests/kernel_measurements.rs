//! Every kernel formula against the published measurements that it covers.

use std::collections::BTreeMap;

#[path = "common/kernels.rs"]
mod kernels;
use kernels::formula;
use target_ipu21::costs;
use target_ipu21::geometry::Memory;

/// Largest relative error that each family may have, in percent.
const LIMITS: &[(&str, f64)] = &[
    ("gemm", 1.2),
    ("gemm-later", 1.0),
    ("gemm-packed", 1.0),
    ("gemm-packed-standard", 0.0),
    ("reduction-before", 0.0),
    ("reduction-after", 0.0),
    ("reduction-full-model", 1.9),
    ("gelu-before", 0.0),
    ("gelu-after", 0.0),
    ("gelu-clamped", 0.0),
    ("gelu-paired", 0.0),
    ("softmax-47", 0.1),
    ("softmax-43", 0.1),
    ("merge-initial", 0.0),
    ("merge-next", 0.0),
    ("add", 0.0),
    ("layernorm-first", 0.1),
    ("add-layernorm-first", 0.0),
    ("moments-first", 0.0),
    ("apply-first", 0.0),
    ("layernorm-pipelined", 0.1),
    ("add-layernorm-pipelined", 0.0),
    ("apply-pipelined", 0.0),
    ("fused-reduction-gelu", 0.0),
];

#[test]
fn every_family_is_within_its_limit() {
    let mut errors: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for line in include_str!("fixtures/kernels.csv").lines().skip(1) {
        let [family, arguments, cycles] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let arguments: Vec<usize> = arguments.split('x').map(|n| n.parse().unwrap()).collect();
        let measured: f64 = cycles.parse().unwrap();
        let predicted = formula(family, &arguments).unwrap_or_else(|| panic!("no formula for {family}"));
        errors
            .entry(family)
            .or_default()
            .push(100.0 * (predicted as f64 / measured - 1.0).abs());
    }
    assert_eq!(errors.len(), LIMITS.len());
    for (family, errors) in &mut errors {
        errors.sort_by(f64::total_cmp);
        let (median, worst) = (errors[errors.len() / 2], errors[errors.len() - 1]);
        println!(
            "{family}: {} keys, median {median:.3} %, worst {worst:.3} %",
            errors.len()
        );
        let (_, limit) = LIMITS.iter().find(|(name, _)| name == family).unwrap();
        assert!(worst <= *limit, "{family}: {worst} % is over {limit} %");
    }
}

/// Families of the tables that price what no plan calls, the names of their published measurements, and the largest
/// relative error in percent.
const BESIDE: &[(&str, &str, f64)] = &[
    ("gemm_packed", "gemm-packed", 1.0),
    ("merge_next", "merge-next", 0.0),
    ("add", "add", 0.0),
    ("layernorm", "layernorm-pipelined", 0.1),
    ("add_layernorm", "add-layernorm-pipelined", 0.0),
    ("moments", "moments-first", 0.0),
    ("apply", "apply-pipelined", 0.0),
];

#[test]
fn families_that_no_plan_calls_agree_with_published_measurements() {
    let table = costs::builtin("after").unwrap();
    let price = |name: &str, arguments: &[i64]| -> f64 {
        let family = table.families().family(name).unwrap_or_else(|| panic!("no {name}"));
        let price = family.compile(name).unwrap().price(arguments);
        price.unwrap_or_else(|| panic!("{name} of {arguments:?}")).value()
    };
    let keys = || {
        include_str!("fixtures/kernels.csv").lines().skip(1).map(|line| {
            let [family, arguments, cycles] = line.split(',').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            let arguments: Vec<i64> = arguments.split('x').map(|n| n.parse().unwrap()).collect();
            (family, arguments, cycles.parse::<f64>().unwrap())
        })
    };
    let mut checked = 0;
    let mut check = |predicted: f64, measured: f64, limit: f64, what: &str| {
        let error = 100.0 * (predicted / measured - 1.0).abs();
        assert!(error <= limit, "{what}: {predicted} of {measured}");
        checked += 1;
    };
    for (family, name, limit) in BESIDE {
        for (_, arguments, measured) in keys().filter(|(own, ..)| own == name) {
            check(price(family, &arguments), measured, *limit, family);
        }
    }
    for (_, arguments, measured) in keys().filter(|(own, ..)| *own == "softmax-43") {
        let [rows, keys, padded] = arguments[..] else {
            panic!("{arguments:?}")
        };
        let whole = price("softmax_rows", &arguments);
        let split = price("softmax_split", &[rows, padded]);
        let called = if keys < 128 { whole } else { whole.min(split) };
        check(called, measured, 0.1, "softmax");
    }
    assert_eq!(checked, 23);
}

#[test]
fn packed_products_and_rows_of_softmax_are_priced_as_their_loops_run() {
    let table = costs::builtin("after").unwrap();
    let price = |name: &str, arguments: [usize; 3]| {
        let compiled = table.families().family(name).unwrap().compile(name).unwrap();
        compiled
            .price(&arguments.map(|n| i64::try_from(n).unwrap()))
            .unwrap()
            .rounded()
    };
    for rows in 1..200 {
        let packed = target_ipu21::kernels::gemm_packed(rows, 240, 64, Memory::Interleaved);
        assert_eq!(
            price("gemm_packed", [rows, 240, 64]),
            i64::try_from(packed).unwrap(),
            "{rows} rows"
        );
        for (keys, padded) in [(64, 64), (25, 64), (16, 32), (9, 16), (112, 128), (127, 128)] {
            let whole = target_ipu21::kernels::softmax(rows, keys, padded, 43);
            assert_eq!(
                price("softmax_rows", [rows, keys, padded]),
                i64::try_from(whole).unwrap(),
                "{rows} x {keys}"
            );
        }
    }
}

#[test]
fn the_planner_of_the_sweep_priced_gelu_by_the_element() {
    assert_eq!(costs::builtin("sweep").unwrap().gelu(2208), Ok(22_091));
}
