//! The ratio of two medians that were measured apart.

use super::{Bootstrap, BootstrapError, Interval, ends};
use crate::error::{SampleError, all_positive};
use crate::order::{median, median_in_place};
use crate::random::SplitMix64;

/// Median of `a` over median of `b` with its percentile bootstrap interval: both are drawn with replacement on their own,
/// as many as there are (Efron and Tibshirani 1993, section 8.3, for two samples). Where calls were measured side by
/// side, the median of their ratios is the better figure.
///
/// The coverage is approximate, and too low for fewer than about 10 samples a side. O(resamples (n + m)). Errors: no
/// samples, the first that is not positive and finite (in `a`, then in `b`), a ratio out of range.
pub fn ratio_of_medians(a: &[f64], b: &[f64], plan: Bootstrap) -> Result<Interval, BootstrapError> {
    all_positive(a)?;
    all_positive(b)?;
    let (over, under) = median(a).zip(median(b)).ok_or(SampleError::Empty)?;
    let point = Some(over / under)
        .filter(|ratio| ratio.is_finite() && *ratio > 0.0)
        .ok_or(SampleError::RatioOutOfRange)?;
    let mut rng = SplitMix64::new(plan.seed);
    let mut drawn = Vec::with_capacity(a.len().max(b.len()));
    let mut resampled = |samples: &[f64]| {
        drawn.clear();
        drawn.extend((0..samples.len()).map(|_| samples[rng.scaled(samples.len())]));
        median_in_place(&mut drawn)
    };
    let values = (0..plan.resamples.get()).filter_map(|_| {
        let (over, under) = resampled(a).zip(resampled(b))?;
        Some(over / under).filter(|ratio| ratio.is_finite())
    });
    let values: Vec<f64> = values.collect();
    let undefined = plan.resamples.get() - u32::try_from(values.len()).unwrap_or(u32::MAX);
    let (lower, upper) = ends(values, undefined, plan)?;
    Ok(Interval {
        point,
        lower,
        upper,
        level: plan.level,
        undefined_resamples: undefined,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Level;
    use std::num::NonZeroU32;

    const PLAN: Bootstrap = Bootstrap {
        level: Level::P95,
        resamples: NonZeroU32::MIN.saturating_add(1_999),
        seed: 3,
    };

    #[test]
    fn the_true_ratio_lies_within() {
        let a: Vec<f64> = (0..40).map(|i| 10.0 + f64::from(i * 7 % 40) / 40.0).collect();
        let b: Vec<f64> = a.iter().map(|a| a / 2.0).collect();
        let found = ratio_of_medians(&a, &b, PLAN).unwrap();
        assert!((found.point - 2.0).abs() < 1e-12);
        assert!(
            found.lower < 2.0 && 2.0 < found.upper && found.upper - found.lower < 0.15,
            "{found:?}"
        );
        assert_eq!(found, ratio_of_medians(&a, &b, PLAN).unwrap());
        let exact = ratio_of_medians(&[3.0], &[2.0], PLAN).unwrap();
        assert_eq!((exact.point, exact.lower, exact.upper), (1.5, 1.5, 1.5));
    }

    #[test]
    fn bad_input_is_named() {
        assert_eq!(ratio_of_medians(&[], &[1.0], PLAN), Err(SampleError::Empty.into()));
        let zero = ratio_of_medians(&[1.0], &[1.0, 0.0], PLAN);
        assert_eq!(zero, Err(SampleError::NotPositive { index: 1 }.into()));
        let apart = ratio_of_medians(&[f64::MAX], &[f64::MIN_POSITIVE], PLAN);
        assert_eq!(apart, Err(SampleError::RatioOutOfRange.into()));
    }
}
