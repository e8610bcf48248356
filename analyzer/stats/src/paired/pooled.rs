//! The noise that all cases share, for those with too few pairs to tell their own.

use crate::interval::MedianInterval;
use crate::order::median;

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
pub(crate) fn of_median(noise: f64, n: usize) -> f64 {
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
