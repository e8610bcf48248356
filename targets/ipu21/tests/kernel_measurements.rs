//! Every kernel formula against the published measurements that it covers.

use std::collections::BTreeMap;

#[path = "common/kernels.rs"]
mod kernels;
use kernels::formula;
use target_ipu21::costs;

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

#[test]
fn the_planner_of_the_sweep_priced_gelu_by_the_element() {
    assert_eq!(costs::builtin("sweep").unwrap().gelu(2208), Ok(22_091));
}
