//! The noise that all cases share, for those with too few pairs to tell their own.

use crate::interval::MedianInterval;
use crate::order::{median, median_in_place};
use crate::random::SplitMix64;

/// Errors of single pairs, on the log scale, pooled over the cases of a sweep.
///
/// One value for each pair after the first of its case: the logarithm of its ratio less that of the pair before it, over
/// the root of 2, so that it varies as a single pair does (von Neumann 1941), whatever the case's own level and drift.
/// They have the tails that pairs of this machine have. Either sign of a value is as good as the other.
#[derive(Debug, Clone, PartialEq)]
pub struct PooledErrors {
    values: Vec<f64>,
}

impl PooledErrors {
    /// The errors of these cases, each given by its ratios in the order in which they were measured, positive and finite.
    /// `None` without a case that has two. O(ratios).
    pub fn new<'a>(cases: impl IntoIterator<Item = &'a [f64]>) -> Option<Self> {
        let steps = |own: &'a [f64]| {
            let each = own
                .windows(2)
                .map(|pair| (pair[1].ln() - pair[0].ln()) / std::f64::consts::SQRT_2);
            each.collect::<Vec<f64>>()
        };
        let values: Vec<f64> = cases.into_iter().flat_map(steps).collect();
        (!values.is_empty()).then_some(Self { values })
    }

    /// How many there are: degrees of freedom, `n - 1` of each case.
    #[must_use]
    pub fn freedom(&self) -> usize {
        self.values.len()
    }

    /// The median of `n` errors, drawn with replacement and with either sign. `drawn` is scratch.
    pub(crate) fn draw_median(&self, n: usize, rng: &mut SplitMix64, drawn: &mut Vec<f64>) -> f64 {
        drawn.clear();
        drawn.extend((0..n).map(|_| {
            let at = rng.scaled(2 * self.values.len());
            let value = self.values[at / 2];
            if at.is_multiple_of(2) { value } else { -value }
        }));
        median_in_place(drawn).unwrap_or_default()
    }

    /// What a scale that was estimated from so many degrees of freedom may be over the true one: the root of a draw from
    /// `chi^2 / freedom`. Beyond 64 degrees the approximation of Wilson and Hilferty (1931).
    pub(crate) fn draw_scale(&self, rng: &mut SplitMix64) -> f64 {
        if self.freedom() <= 64 {
            let sum: f64 = (0..self.freedom()).map(|_| rng.normal().powi(2)).sum();
            return (sum / self.freedom() as f64).sqrt();
        }
        draw_scale(self.freedom(), rng)
    }
}

/// The root of a draw from `chi^2 / freedom` in the approximation of Wilson and Hilferty (1931); for 5 degrees or more.
pub(super) fn draw_scale(freedom: usize, rng: &mut SplitMix64) -> f64 {
    let spread = 2.0 / (9.0 * freedom as f64);
    (1.0 - spread + rng.normal() * spread.sqrt()).max(1e-3).powi(3).sqrt()
}

/// Robust standard deviation of the logarithm of one pair's ratio, pooled over cases: 1.4826 times the median of
/// `|ln r_i - ln r_j| / sqrt(2)` over all pairs of ratios of the same case (the scale of Rousseeuw and Croux 1993, section
/// 1, for differences). `None` without a case that has two pairs.
///
/// Of a case with many ratios only those within 32 places of one another are paired, and once there are a million
/// differences only every 64th further case counts: so many say no more, and memory stays small.
pub fn pooled_noise<'a>(cases: impl IntoIterator<Item = &'a [f64]>) -> Option<f64> {
    let mut differences: Vec<f64> = Vec::new();
    for (at, own) in cases.into_iter().enumerate() {
        if differences.len() > MOST && !at.is_multiple_of(64) {
            continue;
        }
        for (i, a) in own.iter().enumerate() {
            let others = own[i + 1..].iter().take(WINDOW);
            differences.extend(others.map(|b| (a.ln() - b.ln()).abs() / std::f64::consts::SQRT_2));
        }
    }
    median(&differences).map(|middle| 1.4826 * middle)
}

/// Ratios that are at most so far apart in order are paired.
const WINDOW: usize = 32;

/// Differences beyond which few cases count.
const MOST: usize = 1 << 20;

/// Standard deviation of the logarithm of a median of `n` pairs, each with the standard deviation `noise`:
/// `noise sqrt(pi / (2 n))`, exact for many normal values.
fn of_median(noise: f64, n: usize) -> f64 {
    noise * (std::f64::consts::FRAC_PI_2 / n as f64).sqrt()
}

impl MedianInterval {
    /// Where the median of a case's ratios may lie, lower and upper end: its own interval where there are samples enough for
    /// one at its level, else the median give or take what the noise of all cases allows ([`pooled_noise`]). Four pairs span
    /// from almost anything to almost anything on a noisy machine; that all cases share the noise says more. Without any
    /// noise known, the range of the samples.
    ///
    /// Half-width for n samples, on the log scale: `z noise sqrt(pi / (2 n))`, with `z` the normal quantile of the level.
    #[must_use]
    pub fn reach(&self, noise: Option<f64>) -> (f64, f64) {
        match noise {
            Some(noise) if !self.reaches_level() => {
                let half = self.level.normal_quantile() * of_median(noise, self.samples);
                (self.point * (-half).exp(), self.point * half.exp())
            }
            _ => (self.lower, self.upper),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::{Level, median_interval};

    #[test]
    fn noise_is_what_all_cases_share() {
        // Two cases with different medians and the same steps of 2 %: one outlier does not matter.
        let steps = |at: f64| vec![at, at * 1.02, at / 1.02, at * 1.02];
        let cases = [steps(0.8), steps(1.3), vec![1.0, 1.02, 3.0]];
        let noise = pooled_noise(cases.iter().map(Vec::as_slice)).unwrap();
        assert!((0.01..0.04).contains(&noise), "{noise}");
        assert_eq!(pooled_noise([&[1.0][..], &[]]), None);
    }

    #[test]
    fn errors_are_steps_of_the_same_case() {
        let cases = [vec![0.5, 1.0, 2.0], vec![7.0], vec![3.0, 3.0]];
        let errors = PooledErrors::new(cases.iter().map(Vec::as_slice)).unwrap();
        let step = 2.0_f64.ln() / std::f64::consts::SQRT_2;
        assert_eq!(
            (errors.freedom(), errors.values.as_slice()),
            (3, &[step, step, 0.0][..])
        );
        assert_eq!(PooledErrors::new([&[1.0][..], &[]]), None);
        // Medians of one draw are the errors with either sign: mean 0, variance two thirds of the step's square.
        let (mut rng, mut scratch) = (SplitMix64::new(1), Vec::new());
        let draws: Vec<f64> = (0..20_000)
            .map(|_| errors.draw_median(1, &mut rng, &mut scratch))
            .collect();
        let n = draws.len() as f64;
        let (mean, square) = (
            draws.iter().sum::<f64>() / n,
            draws.iter().map(|x| x * x).sum::<f64>() / n,
        );
        assert!(
            mean.abs() < 0.01 && (square / (step * step) - 2.0 / 3.0).abs() < 0.02,
            "{mean} {square}"
        );
    }

    #[test]
    fn scales_have_the_moments_of_their_freedom() {
        // The mean of chi^2 / n is 1, its variance 2 / n.
        for freedom in [1_usize, 5, 64, 65, 400] {
            let errors = PooledErrors {
                values: vec![1.0; freedom],
            };
            let mut rng = SplitMix64::new(9);
            let squares: Vec<f64> = (0..20_000).map(|_| errors.draw_scale(&mut rng).powi(2)).collect();
            let n = squares.len() as f64;
            let mean = squares.iter().sum::<f64>() / n;
            let variance = squares.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            assert!((mean - 1.0).abs() < 0.05, "{freedom}: {mean}");
            assert!(
                (variance * freedom as f64 / 2.0 - 1.0).abs() < 0.1,
                "{freedom}: {variance}"
            );
        }
    }

    #[test]
    fn very_many_cases_say_the_same() {
        let case = [1.0, 1.02, 0.99, 1.01];
        let few = pooled_noise(std::iter::repeat_n(&case[..], 10)).unwrap();
        let many = pooled_noise(std::iter::repeat_n(&case[..], 300_000)).unwrap();
        assert!((few - many).abs() < 1e-12 * few, "{few} {many}");
    }

    #[test]
    fn few_pairs_reach_as_far_as_the_noise() {
        let two = median_interval(&[0.8, 0.8], Level::P95).unwrap();
        // Their own range is a point, which says nothing.
        let (lower, upper) = two.reach(Some(0.05));
        let half = 1.96 * 0.05 * (std::f64::consts::PI / 4.0).sqrt();
        assert!((lower.ln() - (0.8_f64.ln() - half)).abs() < 1e-4 && (upper.ln() - (0.8_f64.ln() + half)).abs() < 1e-4);
        assert_eq!(two.reach(None), (0.8, 0.8));
        let many = median_interval(&[0.8; 6], Level::P95).unwrap();
        assert_eq!(many.reach(Some(0.05)), (0.8, 0.8));
    }
}
