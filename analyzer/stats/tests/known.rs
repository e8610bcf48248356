//! Agreement with independent values on data with many ties, to 1e-12.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use stats::rank::{kendall_tau_b, spearman};
use stats::theil_sen::theil_sen;

/// 101 whole numbers below 41, from a rule that both sides can follow.
fn x() -> Vec<f64> {
    (0..101_u32).map(|i| f64::from((7 * i * i + 3 * i) % 41)).collect()
}

/// Loosely related to `x`.
fn y() -> Vec<f64> {
    (0..101_u32)
        .zip(x())
        .map(|(i, x)| (f64::from((13 * i + 5) % 29) + x / 2.0).floor())
        .collect()
}

/// Closely related to `x`.
fn z() -> Vec<f64> {
    (0..101_u32)
        .zip(x())
        .map(|(i, x)| (1.75 * x + f64::from((11 * i * i) % 23)).floor())
        .collect()
}

fn logs(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| (value + 1.0).ln()).collect()
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
}

/// scipy 1.17.1: `spearmanr`, `kendalltau` (variant b), slope of `theilslopes(b, a)`; numpy 2.4.6: intercept
/// `median(b - slope * a)`; then slope and intercept of the same for the logarithms of one more.
#[test]
fn scipy_agrees() {
    let expected = [
        (
            x(),
            y(),
            [
                0.475_306_298_392_205_45,
                0.340_282_097_853_822_4,
                0.416_666_666_666_666_7,
                15.083_333_333_333_332,
            ],
        ),
        (
            x(),
            z(),
            [0.944_102_673_022_617_2, 0.816_766_950_657_013_7, 1.75, 14.25],
        ),
        (
            y(),
            z(),
            [
                0.409_535_178_405_015_35,
                0.285_897_207_790_348_7,
                0.944_444_444_444_444_4,
                29.944_444_444_444_446,
            ],
        ),
    ];
    let expected_logs = [
        (0.267_749_441_415_242_15, 2.430_471_647_743_993_4),
        (0.669_467_385_744_798_2, 1.913_909_350_068_038_4),
        (0.405_665_622_477_897_8, 2.697_788_590_903_545_3),
    ];
    for ((a, b, [rho, tau, slope, intercept]), (log_slope, log_intercept)) in expected.into_iter().zip(expected_logs) {
        near(spearman(&a, &b).unwrap(), rho);
        near(kendall_tau_b(&a, &b).unwrap(), tau);
        let line = theil_sen(&a, &b).unwrap();
        near(line.slope, slope);
        near(line.intercept, intercept);
        let line = theil_sen(&logs(&a), &logs(&b)).unwrap();
        near(line.slope, log_slope);
        near(line.intercept, log_intercept);
    }
}
