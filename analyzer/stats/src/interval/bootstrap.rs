//! Percentile bootstrap, seeded.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::Level;
use crate::error::{SampleError, all_finite};
use crate::order::{normal_zero, quantile_of_sorted};
use crate::random::SplitMix64;

/// How to resample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bootstrap {
    /// Level of the interval.
    pub level: Level,
    /// How many resamples; 2,000 put the ends of a 95 % interval within about half a percent of level.
    pub resamples: NonZeroU32,
    /// Seed of the generator; the same seed gives the same bits.
    pub seed: u64,
}

/// A statistic with an interval, in the unit of the statistic.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The statistic of the samples themselves.
    pub point: f64,
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// The level that was asked for.
    pub level: Level,
    /// Resamples for which the statistic was undefined (all drawn values equal, say). They are left out.
    pub undefined_resamples: u32,
}

/// Why there is no bootstrap interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BootstrapError {
    /// The samples can't be used.
    #[error(transparent)]
    Samples(#[from] SampleError),
    /// The statistic is undefined for the samples themselves.
    #[error("the statistic is undefined for these samples")]
    Undefined,
    /// The statistic was undefined for a larger share of the resamples than the level leaves outside the interval.
    #[error("the statistic is undefined for {undefined} of {resamples} resamples")]
    TooOftenUndefined {
        /// Resamples without a value.
        undefined: u32,
        /// All resamples.
        resamples: u32,
    },
}

/// Percentile interval of `statistic` over independent samples (Efron 1979; Efron and Tibshirani, "An Introduction to
/// the Bootstrap", 1993, chapter 13): samples are drawn with replacement, as many as there are, and the ends are the
/// type-7 quantiles at `(1 - level) / 2` and `(1 + level) / 2` of the statistic over the resamples.
///
/// The coverage is approximate, and too low for small samples: below about 10 prefer
/// [`median_interval`](super::median_interval). For a biased statistic the point may lie outside. `statistic` may
/// return `None` where it is undefined; values that are not finite count as undefined.
///
/// O(resamples (n + cost of the statistic)). Errors: no samples, a sample that is not finite, or a statistic that is
/// undefined for the samples or for too many resamples.
pub fn bootstrap(
    samples: &[f64],
    plan: Bootstrap,
    mut statistic: impl FnMut(&[f64]) -> Option<f64>,
) -> Result<Interval, BootstrapError> {
    all_finite(samples)?;
    let mut drawn = Vec::with_capacity(samples.len());
    bootstrap_indices(samples.len(), plan, |indices| {
        drawn.clear();
        drawn.extend(indices.iter().map(|index| samples[*index]));
        statistic(&drawn)
    })
}

/// The same for data that must be drawn together: `statistic` gets indices into `0..n` (first `0..n` itself, then the
/// resamples) and looks up its pairs, cases or rounds by them.
///
/// O(resamples (n + cost of the statistic)). Errors: `n` is zero, or a statistic that is undefined for all of `0..n` or
/// for too many resamples.
pub fn bootstrap_indices(
    n: usize,
    plan: Bootstrap,
    mut statistic: impl FnMut(&[usize]) -> Option<f64>,
) -> Result<Interval, BootstrapError> {
    if n == 0 {
        return Err(SampleError::Empty.into());
    }
    let mut defined = |indices: &[usize]| statistic(indices).filter(|value| value.is_finite());
    let mut indices: Vec<usize> = (0..n).collect();
    let point = defined(&indices).ok_or(BootstrapError::Undefined)?;

    let resamples = plan.resamples.get();
    let mut rng = SplitMix64::new(plan.seed);
    let mut values = Vec::new();
    let mut undefined = 0_u32;
    for _ in 0..resamples {
        for slot in &mut indices {
            *slot = rng.index(n).ok_or(SampleError::Empty)?;
        }
        match defined(&indices) {
            Some(value) => values.push(value),
            None => undefined += 1,
        }
    }
    ends(values, undefined, plan).map(|(lower, upper)| Interval {
        point: normal_zero(point),
        lower,
        upper,
        level: plan.level,
        undefined_resamples: undefined,
    })
}

/// Lower and upper end of the percentile interval of these values of a statistic, one of each resample in which it was
/// defined.
pub(crate) fn ends(mut values: Vec<f64>, undefined: u32, plan: Bootstrap) -> Result<(f64, f64), BootstrapError> {
    let (level, resamples) = (plan.level.get(), plan.resamples.get());
    let too_often = BootstrapError::TooOftenUndefined { undefined, resamples };
    if f64::from(undefined) > (1.0 - level) * f64::from(resamples) {
        return Err(too_often);
    }
    values.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0;
    let lower = quantile_of_sorted(&values, tail).ok_or(too_often)?;
    let upper = quantile_of_sorted(&values, 1.0 - tail).ok_or(too_often)?;
    Ok((lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::median;
    use crate::rank::spearman;

    fn plan(seed: u64) -> Bootstrap {
        Bootstrap {
            level: Level::P95,
            resamples: NonZeroU32::new(2_000).unwrap(),
            seed,
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "the form that the resampler takes")]
    fn mean(values: &[f64]) -> Option<f64> {
        Some(values.iter().sum::<f64>() / values.len() as f64)
    }

    #[test]
    fn mean_interval_is_near_the_normal_one() {
        // Samples 1..=100: standard error of the mean (plug-in) is sqrt((100^2 - 1) / 12 / 100) = 2.8866.
        let samples: Vec<f64> = (1..=100).map(f64::from).collect();
        let found = bootstrap(&samples, plan(1), mean).unwrap();
        assert!((found.point - 50.5).abs() < 1e-12);
        assert!((found.lower - (50.5 - 1.96 * 2.8866)).abs() < 0.5, "{found:?}");
        assert!((found.upper - (50.5 + 1.96 * 2.8866)).abs() < 0.5, "{found:?}");
        assert_eq!(found.undefined_resamples, 0);
    }

    #[test]
    fn the_seed_decides() {
        let samples = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.3, 5.8];
        assert_eq!(bootstrap(&samples, plan(5), mean), bootstrap(&samples, plan(5), mean));
        assert_ne!(bootstrap(&samples, plan(5), mean), bootstrap(&samples, plan(6), mean));
    }

    #[test]
    fn constant_samples_have_no_width() {
        let found = bootstrap(&[0.1; 7], plan(1), median).unwrap();
        assert_eq!((found.point, found.lower, found.upper), (0.1, 0.1, 0.1));
    }

    #[test]
    fn pairs_stay_together() {
        // Perfectly ordered pairs stay so in every resample in which both sides vary.
        let a = [1.0, 2.0, 3.0, 4.0, 5.0];
        let b = [10.0, 20.0, 30.0, 40.0, 50.0];
        let pick = |from: &[f64], by: &[usize]| -> Vec<f64> { by.iter().map(|index| from[*index]).collect() };
        let found = bootstrap_indices(5, plan(2), |by| spearman(&pick(&a, by), &pick(&b, by))).unwrap();
        assert_eq!((found.point, found.lower, found.upper), (1.0, 1.0, 1.0));
        // One index five times: 5 / 5^5 of the resamples, 3.2 expected of 2,000.
        assert!((1..15).contains(&found.undefined_resamples), "{found:?}");
    }

    #[test]
    fn undefined_is_said() {
        assert_eq!(bootstrap(&[], plan(1), mean), Err(SampleError::Empty.into()));
        assert_eq!(
            bootstrap(&[f64::NAN], plan(1), mean),
            Err(SampleError::NotFinite { index: 0 }.into())
        );
        assert_eq!(
            bootstrap(&[1.0], plan(1), |_| Some(f64::NAN)),
            Err(BootstrapError::Undefined)
        );
        let mut calls = 0;
        let once = bootstrap(&[1.0, 2.0], plan(1), |_| {
            calls += 1;
            (calls == 1).then_some(1.0)
        });
        assert_eq!(
            once,
            Err(BootstrapError::TooOftenUndefined {
                undefined: 2_000,
                resamples: 2_000
            })
        );
    }
}
