//! How far a result is from its float64 reference.

use serde::{Deserialize, Serialize};

/// Errors relative to the largest magnitude of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest.
    pub max: f64,
    /// Share of elements past 1 %.
    pub past_1: f64,
    /// Share of elements past 10 %.
    pub past_10: f64,
}

/// Grades a result; `None` if something is not finite, missing, or the reference is zero.
#[must_use]
pub fn grade(result: &[f32], reference: &[f64]) -> Option<Grade> {
    let peak = reference.iter().fold(0.0_f64, |peak, y| peak.max(y.abs()));
    if result.len() != reference.len() || peak <= 0.0 {
        return None;
    }
    let mut errors: Vec<f64> = result
        .iter()
        .zip(reference)
        .map(|(x, y)| (f64::from(*x) - y).abs() / peak)
        .collect();
    if errors.iter().any(|error| !error.is_finite()) {
        return None;
    }
    errors.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| {
        // Nearest rank.
        let rank = (share * errors.len() as f64).ceil();
        errors
            .iter()
            .copied()
            .nth((0..errors.len()).take_while(|i| ((i + 1) as f64) < rank).count())
    };
    let past =
        |limit: f64| errors.iter().rev().take_while(|error| **error > limit).count() as f64 / errors.len() as f64;
    Some(Grade {
        p50: at(0.5)?,
        p99: at(0.99)?,
        max: *errors.last()?,
        past_1: past(0.01),
        past_10: past(0.1),
    })
}
