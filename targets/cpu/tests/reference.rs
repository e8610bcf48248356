//! The reference result: against a naive one, for any number of threads, and the same bytes for ever.

#![allow(
    clippy::disallowed_methods,
    reason = "a test may read files, clocks and run programs"
)]
#![allow(
    clippy::unwrap_used,
    clippy::float_cmp,
    clippy::print_stdout,
    reason = "tests compare exactly and stop at the first surprise"
)]

use planner::{Elementwise, GemmExtents, Operation, OperationKind, Workload};
use proptest::prelude::*;
use target_cpu::inputs::{arrays, inputs};
use target_cpu::reference::{gelu_tanh, reference};

fn gemm(name: &str, rows: u64, inner: u64, columns: u64) -> Operation {
    Operation {
        name: name.to_owned(),
        kind: OperationKind::Gemm(GemmExtents { rows, inner, columns }),
    }
}

fn mlp(rows: u64, inner: u64, hidden: u64) -> Workload {
    let gelu = OperationKind::Elementwise {
        function: Elementwise::GeluTanh,
        rows,
        columns: hidden,
    };
    Workload {
        name: "mlp".to_owned(),
        operations: vec![
            gemm("up", rows, inner, hidden),
            Operation {
                name: "gelu".to_owned(),
                kind: gelu,
            },
            gemm("down", rows, hidden, inner),
        ],
    }
}

fn naive(a: &[f64], b: &[f32], rows: usize, inner: usize, columns: usize) -> Vec<f64> {
    let element = |i: usize, j: usize| {
        (0..inner)
            .map(|k| a[i * inner + k] * f64::from(b[k * columns + j]))
            .sum()
    };
    (0..rows * columns)
        .map(|at| element(at / columns, at % columns))
        .collect()
}

#[test]
fn gelu_is_the_published_formula() {
    for step in -600..=600 {
        let x = f64::from(step) / 100.0;
        let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
        let expected = 0.5 * x * (1.0 + inner.tanh());
        assert!(
            (gelu_tanh(x) - expected).abs() < 1e-14,
            "{x}: {} against {expected}",
            gelu_tanh(x)
        );
    }
    assert!(gelu_tanh(-30.0).abs() < 1e-300 && gelu_tanh(1e9) == 1e9);
}

/// FNV-1a over names and bytes: enough to notice that a single bit moved.
fn digest(workload: &Workload, seed: u64) -> u64 {
    let set = inputs(workload, seed, 2).unwrap();
    let bytes = set
        .files
        .iter()
        .flat_map(|file| file.name.bytes().chain(file.bytes.iter().copied()));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn bytes_never_change() {
    assert_eq!(digest(&mlp(7, 19, 33), 1), 15_973_557_737_143_029_140);
    assert_ne!(digest(&mlp(7, 19, 33), 1), digest(&mlp(7, 19, 33), 2));
}

#[test]
fn files_are_named_and_sized_as_documented() {
    let set = inputs(&mlp(3, 5, 7), 11, 1).unwrap();
    let listed: Vec<(&str, usize)> = set.files.iter().map(|f| (f.name.as_str(), f.bytes.len())).collect();
    let expected = [
        ("down.weights.f32", 140),
        ("reference.f64", 120),
        ("up.weights.f32", 140),
        ("x.f32", 60),
    ];
    assert_eq!(listed, expected);
}

#[test]
fn weights_keep_the_variance_of_activations() {
    let workload = Workload {
        name: "gemm".to_owned(),
        operations: vec![gemm("only", 64, 300, 64)],
    };
    let result = reference(&workload, &arrays(&workload, 5).unwrap(), 2).unwrap();
    let variance = result.iter().map(|v| v * v).sum::<f64>() / result.len() as f64;
    assert!((variance - 1.0).abs() < 0.1, "{variance}");
}

/// The same data are timed and checked, so they must be such as change no speed: bits that can't be compressed, nothing
/// that is zero (work that could be skipped) or denormal (work that takes a hundred times as long).
#[test]
fn operands_are_as_hard_as_real_ones() {
    let data = arrays(&mlp(64, 96, 128), 7).unwrap();
    for values in std::iter::once(&data.x).chain(&data.weights) {
        assert!(values.iter().all(|value| value.is_normal()));
        // The low 16 bits of a float32 are mantissa: their entropy per byte, of at most 8 bits.
        let mut counts = [0_u32; 256];
        for byte in values.iter().flat_map(|value| value.to_le_bytes().into_iter().take(2)) {
            counts[usize::from(byte)] += 1;
        }
        let all = f64::from(counts.iter().sum::<u32>());
        let shares = counts
            .iter()
            .filter(|count| **count > 0)
            .map(|count| f64::from(*count) / all);
        let entropy: f64 = -shares.map(|share| share * share.log2()).sum::<f64>();
        assert!(entropy > 7.9, "{entropy} bits per byte");
    }
}

#[test]
fn impossible_extents_are_refused() {
    let huge = Workload {
        name: "huge".to_owned(),
        operations: vec![gemm("only", 1 << 40, 1 << 40, 1)],
    };
    assert_eq!(arrays(&huge, 1).unwrap_err().rule, "array-too-large");
    let empty = Workload {
        name: "empty".to_owned(),
        operations: vec![],
    };
    assert_eq!(arrays(&empty, 1).unwrap_err().rule, "empty-workload");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn equals_a_naive_product_and_does_not_depend_on_threads(
        rows in 1_usize..20, inner in 1_usize..600, hidden in 1_usize..30, seed: u64, threads in 1_usize..9,
    ) {
        let workload = mlp(rows as u64, inner as u64, hidden as u64);
        let data = arrays(&workload, seed).unwrap();
        let x: Vec<f64> = data.x.iter().map(|v| f64::from(*v)).collect();
        let mut middle = naive(&x, &data.weights[0], rows, inner, hidden);
        for v in &mut middle {
            *v = gelu_tanh(*v);
        }
        let expected = naive(&middle, &data.weights[1], rows, hidden, inner);
        let one = reference(&workload, &data, 1).unwrap();
        // The same order of additions: equal to the last bit.
        prop_assert_eq!(&one, &expected);
        prop_assert_eq!(&reference(&workload, &data, threads).unwrap(), &one);
    }
}

/// `cargo test --release -p layout-sweep-target-cpu --test reference -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn time_of_the_siglip_reference() {
    let workload = mlp(729, 1152, 4304);
    let start = std::time::Instant::now();
    let data = arrays(&workload, 1).unwrap();
    println!("arrays {:?}", start.elapsed());
    let start = std::time::Instant::now();
    let result = reference(&workload, &data, 2).unwrap();
    println!("reference {:?}, {} elements", start.elapsed(), result.len());
}
