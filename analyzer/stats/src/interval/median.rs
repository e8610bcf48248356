//! The interval of a median from the order statistics alone.

use serde::{Deserialize, Serialize};

use super::Level;
use crate::error::{SampleError, all_finite};
use crate::order::{median_in_place, normal_zero};

/// A median with its distribution-free interval, in the unit of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MedianInterval {
    /// The median of the samples.
    pub point: f64,
    /// Lower end: one of the samples.
    pub lower: f64,
    /// Upper end: one of the samples.
    pub upper: f64,
    /// The level that was asked for.
    pub level: Level,
    /// The coverage that the interval has, in `0..1`. At least `level`, unless the samples are too few.
    pub coverage: f64,
    /// How many samples there were.
    pub samples: usize,
}

impl MedianInterval {
    /// Whether the samples sufficed. If not, the interval is the whole range of the samples and covers less than asked:
    /// at 95 % this is so below 6 samples.
    #[must_use]
    pub fn reaches_level(&self) -> bool {
        self.coverage >= self.level.get()
    }
}

/// The interval between the `k`-th smallest and the `k`-th largest sample, with the largest `k` (narrowest interval)
/// whose coverage reaches `level` (Thompson 1936; David and Nagaraja, "Order Statistics", 2003, section 7.1).
///
/// The coverage is `P(k <= B <= n - k)` for `B` binomial with `n` trials of probability 1/2: exact for independent
/// samples of any continuous distribution, a lower bound where values can repeat. When even `k = 1` falls short, the
/// result is the range of the samples with the coverage `1 - 2^(1-n)` that it has (none for a single sample).
///
/// O(n log n). Errors: no samples, or the first sample that is not finite.
pub fn median_interval(samples: &[f64], level: Level) -> Result<MedianInterval, SampleError> {
    all_finite(samples)?;
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let point = median_in_place(&mut sorted.clone()).ok_or(SampleError::Empty)?;
    Ok(interval_of_sorted(&sorted, point, level))
}

/// [`median_interval`] of finite samples that are sorted already, at least one, with their median.
pub(crate) fn interval_of_sorted(sorted: &[f64], point: f64, level: Level) -> MedianInterval {
    let n = sorted.len();
    let (k, coverage) = narrowest(n, level.get());
    MedianInterval {
        point,
        lower: normal_zero(sorted[k - 1]),
        upper: normal_zero(sorted[n - k]),
        level,
        coverage,
        samples: n,
    }
}

/// The largest `k >= 1` that reaches `level` and its coverage, or 1 and the coverage of the whole range.
fn narrowest(n: usize, level: f64) -> (usize, f64) {
    // Start in the middle and widen: the terms near the middle never underflow, however many samples there are.
    // With half = n / 2, term = C(n, half) / 2^n, from C(2h, h) / 4^h = product of (2i - 1) / 2i.
    let half = n / 2;
    let mut term: f64 = (1..=half).map(|i| (2 * i - 1) as f64 / (2 * i) as f64).product();
    let odd = !n.is_multiple_of(2);
    if odd {
        term *= n as f64 / (n + 1) as f64;
    }
    let mut k = half;
    let mut coverage = match (half, odd) {
        (0, _) => return (1, 0.0),
        (_, true) => 2.0 * term,
        (_, false) => term,
    };
    while k > 1 && coverage < level {
        // C(n, k - 1) = C(n, k) k / (n - k + 1); the lower and the upper tail give one such term each.
        term *= k as f64 / (n - k + 1) as f64;
        k -= 1;
        coverage += 2.0 * term;
    }
    (k, coverage.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_coverage_agree_with_exact_binomials() {
        // Python 3, largest k with 1 - 2 * Fraction(sum(comb(n, j) for j in range(k)), 2**n) >= 0.95, else k = 1.
        let expected = [
            (1, 1, 0.0),
            (2, 1, 0.5),
            (5, 1, 0.9375),
            (6, 1, 0.968_75),
            (7, 1, 0.984_375),
            (10, 2, 0.978_515_625),
            (11, 2, 0.988_281_25),
            (20, 6, 0.958_610_534_667_968_8),
            (25, 8, 0.956_714_749_336_242_7),
            (100, 40, 0.964_799_799_782_295_1),
            (1001, 470, 0.950_015_476_497_245_8),
        ];
        for (n, k, coverage) in expected {
            let (found, reached) = narrowest(n, 0.95);
            assert_eq!(found, k, "k for {n}");
            assert!((reached - coverage).abs() < 1e-12, "coverage for {n}: {reached}");
        }
    }

    #[test]
    fn ends_are_samples() {
        let samples = [9.0, 3.0, 7.0, 1.0, 5.0, 10.0, 2.0, 8.0, 4.0, 6.0];
        let interval = median_interval(&samples, Level::P95).unwrap();
        assert_eq!((interval.point, interval.lower, interval.upper), (5.5, 2.0, 9.0));
        assert_eq!(interval.samples, 10);
        assert!(interval.reaches_level());
    }

    #[test]
    fn too_few_samples_are_visible() {
        let four = median_interval(&[1.0, 4.0, 2.0, 3.0], Level::P95).unwrap();
        assert_eq!(
            (four.point, four.lower, four.upper, four.coverage),
            (2.5, 1.0, 4.0, 0.875)
        );
        assert!(!four.reaches_level());
        assert!(
            median_interval(&[1.0, 4.0, 2.0, 3.0], Level::new(0.8).unwrap())
                .unwrap()
                .reaches_level()
        );
        let one = median_interval(&[3.0], Level::P95).unwrap();
        assert_eq!((one.point, one.lower, one.upper, one.coverage), (3.0, 3.0, 3.0, 0.0));
        assert_eq!(median_interval(&[], Level::P95), Err(SampleError::Empty));
        assert_eq!(
            median_interval(&[1.0, f64::NAN], Level::P95),
            Err(SampleError::NotFinite { index: 1 })
        );
    }

    #[test]
    fn many_samples_do_not_underflow() {
        // Normal approximation: half width 0.98 sqrt(n), here 980 of a million.
        let (k, coverage) = narrowest(1_000_000, 0.95);
        assert!((500_000 - k).abs_diff(980) <= 1, "{k}");
        assert!((0.95..0.951).contains(&coverage), "{coverage}");
    }
}
