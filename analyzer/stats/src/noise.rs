//! How well any model could do against measurements that are noisy themselves, and whether two halves of a run agree.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::interval::{Bootstrap, BootstrapError};
use crate::order::median;
use crate::rank::{Draws, mid_ranks, spearman, spearman_interval};

/// The bound that the noise of the measurements sets to a rank correlation. Approximate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NoiseCeiling {
    /// Spearman's correlation of the two halves of the rounds, in `0..=1` without 0.
    pub half_correlation: f64,
    /// Reliability of all rounds together, `2 r / (1 + r)`.
    pub reliability: f64,
    /// Square root of the reliability: about the highest correlation that a perfect model would reach.
    pub ceiling: f64,
}

/// The noise ceiling of the ranking of cases, from their values round by round (`rounds[case][round]`).
///
/// Per case the median of rounds 0, 2, 4, ... and that of rounds 1, 3, 5, ...; Spearman's `r` between these halves over
/// the cases; `2 r / (1 + r)` for twice the rounds (Spearman 1910, Brown 1910); the square root, because only one side
/// of model against measurement is noisy (correction for attenuation, Spearman 1904).
///
/// Approximate: the formulas are for means and Pearson's correlation, and a drift that lasts over rounds is common to
/// both halves and taken for truth. O(cases log cases + rounds of all cases). Undefined, `None`: fewer than 3 cases, a
/// case with fewer than 2 rounds, a value that is not finite, constant halves, or `r <= 0` (noise hides the order).
#[must_use]
pub fn noise_ceiling<R: AsRef<[f64]>>(rounds: &[R]) -> Option<NoiseCeiling> {
    let (even, odd) = halves(rounds)?;
    let half_correlation = spearman(&even, &odd).filter(|r| *r > 0.0)?;
    let reliability = reliability(half_correlation);
    Some(NoiseCeiling {
        half_correlation,
        reliability,
        ceiling: reliability.sqrt(),
    })
}

/// Medians of rounds 0, 2, 4, ... and of rounds 1, 3, 5, ..., case by case; `None` where a case has fewer than 2 rounds
/// or a value that is not finite.
#[must_use]
pub fn halves<R: AsRef<[f64]>>(rounds: &[R]) -> Option<(Vec<f64>, Vec<f64>)> {
    let half = |start: usize| -> Option<Vec<f64>> {
        let every_other = |case: &R| {
            case.as_ref()
                .iter()
                .skip(start)
                .step_by(2)
                .copied()
                .collect::<Vec<f64>>()
        };
        rounds.iter().map(|case| median(&every_other(case))).collect()
    };
    half(0).zip(half(1))
}

/// The interval of [`noise_ceiling`], by drawing whole cases with replacement: the ends of the interval of the halves'
/// correlation ([`spearman_interval`], which `draws` is for), put through the same formulas, which rise with
/// it. A correlation that is not positive gives 0. Approximate, as the ceiling itself.
///
/// Errors: [`BootstrapError::Undefined`] where the ceiling is undefined, or too many undefined resamples.
pub fn noise_ceiling_interval<R: AsRef<[f64]>>(
    rounds: &[R],
    plan: Bootstrap,
    draws: Draws,
) -> Result<(f64, f64), BootstrapError> {
    let (even, odd) = halves(rounds).ok_or(BootstrapError::Undefined)?;
    if spearman(&even, &odd).is_none_or(|r| r <= 0.0) {
        return Err(BootstrapError::Undefined);
    }
    let found = spearman_interval(&even, &odd, plan, draws)?;
    let ceiling = |r: f64| reliability(r.max(0.0)).sqrt();
    Ok((ceiling(found.lower), ceiling(found.upper)))
}

/// What twice the rounds correlate with themselves (Spearman-Brown).
fn reliability(half_correlation: f64) -> f64 {
    2.0 * half_correlation / (1.0 + half_correlation)
}

/// A comparison of two samples by ranks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MannWhitney {
    /// U of the first sample: pairs in which its value is the larger one, ties counting a half.
    pub u: f64,
    /// Standard score of U, corrected for continuity; positive if the first sample tends to be larger.
    pub z: f64,
    /// Two-sided p value, in `0..=1`: small if the two samples differ in location.
    pub p_two_sided: f64,
}

/// The Mann-Whitney test (Wilcoxon 1945, Mann and Whitney 1947), normal approximation with corrections for ties and for
/// continuity (Lehmann, "Nonparametrics", 1975, section 1.4). For drift: first half of a run against the second.
///
/// The approximation is good from about 8 samples a side. O(n log n). Undefined, `None`: an empty side, a value that is
/// not finite, or all values equal.
#[must_use]
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Option<MannWhitney> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let both: Vec<f64> = a.iter().chain(b).copied().collect();
    let mut ranks = mid_ranks(&both)?;
    let (n_a, n_b, n) = (a.len() as f64, b.len() as f64, both.len() as f64);
    let u = ranks.iter().take(a.len()).sum::<f64>() - n_a * (n_a + 1.0) / 2.0;
    ranks.sort_unstable_by(f64::total_cmp);
    let ties: f64 = ranks
        .chunk_by(|p, q| p.total_cmp(q).is_eq())
        .map(|group| group.len() as f64)
        .map(|size| size * (size * size - 1.0))
        .sum();
    let variance = n_a * n_b / 12.0 * ((n + 1.0) - ties / (n * (n - 1.0)));
    // All equal: the corrected variance is zero but for rounding, so it is the ranks that are asked.
    if ranks.first() == ranks.last() {
        return None;
    }
    let excess = u - n_a * n_b / 2.0;
    let z = ((excess.abs() - 0.5).max(0.0) / variance.sqrt()).copysign(excess) + 0.0;
    let p_two_sided = (2.0 * Normal::standard().sf(z.abs())).min(1.0);
    Some(MannWhitney { u, z, p_two_sided })
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 12] = [12.5, 11.0, 13.0, 11.0, 19.5, 12.5, 12.5, 8.0, 15.0, 17.25, 8.0, 30.0];
    const B: [f64; 12] = [3.0, 2.0, 4.0, 3.0, 7.0, 3.0, 5.0, 1.0, 4.0, 9.0, 2.0, 6.0];
    const C: [f64; 8] = [8.5, 11.0, 14.0, 9.0, 12.5, 13.0, 10.0, 16.0];

    #[test]
    fn ceiling_agrees_with_numpy_and_scipy() {
        // numpy 2.4.6 medians of `x[0::2]` and `x[1::2]`, scipy 1.17.1 `spearmanr` of these, then the two formulas.
        let rounds = [
            [1.0, 1.2, 1.1, 1.05],
            [2.0, 1.9, 2.4, 2.1],
            [1.9, 2.0, 2.3, 2.2],
            [3.0, 3.3, 3.1, 2.9],
            [2.05, 1.95, 2.0, 2.5],
            [4.0, 3.9, 4.2, 4.1],
        ];
        let found = noise_ceiling(&rounds).unwrap();
        assert!((found.half_correlation - 0.771_428_571_428_571_5).abs() < 1e-12);
        assert!((found.reliability - 0.870_967_741_935_484).abs() < 1e-12);
        assert!((found.ceiling - 0.933_256_525_257_382_8).abs() < 1e-12);
    }

    #[test]
    fn ceiling_is_one_without_noise_and_undefined_when_the_halves_disagree() {
        let quiet = [vec![1.0, 1.0], vec![2.0, 2.0, 2.0], vec![3.0, 3.0]];
        let found = noise_ceiling(&quiet).unwrap();
        assert_eq!(
            found,
            NoiseCeiling {
                half_correlation: 1.0,
                reliability: 1.0,
                ceiling: 1.0
            }
        );
        assert_eq!(noise_ceiling(&[[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]]), None);
        assert_eq!(noise_ceiling(&[[1.0, 3.0], [2.0, 2.0]]), None);
        assert_eq!(noise_ceiling(&[vec![1.0, 3.0], vec![2.0, 2.0], vec![3.0]]), None);
        assert_eq!(noise_ceiling(&[[1.0, 3.0], [2.0, f64::NAN], [3.0, 1.0]]), None);
    }

    #[test]
    fn the_ceilings_interval_encloses_it() {
        let plan = Bootstrap {
            level: crate::interval::Level::P95,
            resamples: std::num::NonZeroU32::new(1_000).unwrap(),
            seed: 1,
        };
        let draws = Draws {
            all_up_to: 100,
            then: 100,
        };
        let rounds: Vec<[f64; 2]> = A.iter().zip(B).map(|(a, b)| [*a, *a + b]).collect();
        let point = noise_ceiling(&rounds).unwrap().ceiling;
        let (lower, upper) = noise_ceiling_interval(&rounds, plan, draws).unwrap();
        assert!(
            0.0 < lower && lower < point && point < upper && upper <= 1.0,
            "{lower} {point} {upper}"
        );
        let disagree = noise_ceiling_interval(&[[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]], plan, draws);
        assert_eq!(disagree, Err(BootstrapError::Undefined));
    }

    #[test]
    fn mann_whitney_agrees_with_scipy() {
        // scipy 1.17.1, `scipy.stats.mannwhitneyu(method="asymptotic")`, continuity correction on.
        // The p value is compared less strictly: the library's error function is good to a few 1e-12.
        for (a, b, u, p) in [
            (&A[..], &B[..], 142.0, 5.743_877_257_620_769_4e-5),
            (&A[..], &C[..], 57.0, 0.509_401_575_761_118_7),
            (&C[..], &A[..], 39.0, 0.509_401_575_761_118_7),
            (
                &[1.0, 2.0, 3.0][..],
                &[4.0, 5.0, 6.0][..],
                0.0,
                0.080_855_598_370_052_24,
            ),
        ] {
            let found = mann_whitney(a, b).unwrap();
            assert!((found.u - u).abs() < 1e-12, "{found:?}");
            assert!((found.p_two_sided - p).abs() < 1e-11, "{found:?}");
        }
        // By hand: (4.5 - 0.5) / sqrt(9 * 7 / 12), with the sign of the side that is larger.
        let z = mann_whitney(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]).unwrap().z;
        assert!((z + 4.0 / 5.25_f64.sqrt()).abs() < 1e-12);
        let turned = mann_whitney(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0]).unwrap().z;
        assert!((turned - 4.0 / 5.25_f64.sqrt()).abs() < 1e-12);
        // Ties, by hand: ranks 1, 2.5, 2.5, 4; variance 4 / 12 (5 - 6 / 12) = 1.5; U = 0.5, two is its mean.
        let tied = mann_whitney(&[1.0, 2.0], &[2.0, 3.0]).unwrap();
        assert!((tied.u - 0.5).abs() < 1e-12 && (tied.z + 1.0 / 1.5_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn mann_whitney_at_the_centre_and_undefined() {
        // U equals its mean: no evidence at all, and a plain zero.
        let same = mann_whitney(&[1.0, 4.0], &[2.0, 3.0]).unwrap();
        assert_eq!((same.u, same.z.to_bits(), same.p_two_sided), (2.0, 0, 1.0));
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(mann_whitney(&[1.0], &[f64::NAN]), None);
        assert_eq!(mann_whitney(&[7.0; 5], &[7.0; 6]), None);
    }
}
