//! How far the medians of several cases may lie from what they should be, drawn again and again, and which cases are behind
//! others by more than that.

use std::collections::BTreeMap;

use super::PairedRatios;
use super::pooled::{PooledErrors, draw_scale};
use crate::interval::Bootstrap;
use crate::order::median_in_place;
use crate::random::SplitMix64;

/// Up to so many cases are compared one by one; beyond, those whose variances lie within [`ALIKE`] are looked at together.
const ONE_BY_ONE: usize = 256;
/// Largest ratio of variances within a group. What stands for a group is what makes the bound wider, by less than 5 %.
const ALIKE: f64 = 1.1;
/// Draws of all cases together; where that allows fewer than [`FEWEST`] of each, still so many.
const DRAWS: usize = 2_000_000;
const FEWEST: usize = 200;

/// The cases, on the log scale.
pub(super) struct Deviations<'a> {
    pub(super) cases: &'a [PairedRatios],
    /// Logarithms of their medians.
    pub(super) points: &'a [f64],
    /// Errors of single pairs, for cases with too few pairs to be drawn from themselves.
    pub(super) errors: Option<&'a PooledErrors>,
    pub(super) plan: Bootstrap,
}

/// Cases of about one variance: the best of them, and how far any of them comes in each draw.
struct Group {
    lowest: f64,
    least_variance: f64,
    most_variance: f64,
    largest: Vec<f64>,
    smallest: Vec<f64>,
}

/// The draws of one case.
#[derive(Default)]
struct Own {
    values: Vec<f64>,
    variance: f64,
    scratch: Vec<f64>,
}

impl Deviations<'_> {
    /// Those of the cases `of` that no other of them is ahead of by more than chance explains between any two of them.
    pub(super) fn members(&self, of: &[usize]) -> Vec<usize> {
        let resamples = (DRAWS / of.len().max(1)).max(FEWEST);
        let resamples = resamples.min(self.plan.resamples.get() as usize);
        let (groups, variances) = self.groups(of, resamples);
        let bound = self.bound(&groups, resamples);
        let stays =
            |(case, variance): (&usize, f64)| (!self.is_beaten(*case, variance, &groups, bound)).then_some(*case);
        of.iter().zip(variances).filter_map(stays).collect()
    }

    /// A generator of its own for each case, so that its draws depend on no other case.
    fn generator(&self, number: u64) -> SplitMix64 {
        SplitMix64::new(SplitMix64::new(self.plan.seed.wrapping_add(number)).next_u64())
    }

    /// Draws the deviation of a case's log median once for each scale. A case whose interval reaches the level is drawn
    /// from its own ratios, with replacement, over a scale of its own; another one from the errors of all, over the scale
    /// that these share.
    fn draw(&self, case: usize, scales: &[f64], own: &mut Own) {
        let mut rng = self.generator(1 + case as u64);
        let ratios = self.cases[case].ratios();
        let reaches_level = self.cases[case].interval(self.plan.level).reaches_level();
        let pooled = self.errors.filter(|_| !reaches_level);
        let (mut sum, mut squares) = (0.0, 0.0);
        own.values.clear();
        for scale in scales {
            let (value, scale) = if let Some(errors) = pooled {
                (errors.draw_median(ratios.len(), &mut rng, &mut own.scratch), *scale)
            } else {
                own.scratch.clear();
                let drawn = (0..ratios.len()).map(|_| ratios[rng.scaled(ratios.len())]);
                own.scratch.extend(drawn);
                // A case has ratios, so that there is a median.
                let median = median_in_place(&mut own.scratch);
                let deviation = median.map_or(0.0, |median| median.ln() - self.points[case]);
                (deviation, draw_scale(ratios.len() - 1, &mut rng))
            };
            sum += value;
            squares += value * value;
            own.values.push(value / scale);
        }
        let n = scales.len() as f64;
        own.variance = (squares / n - (sum / n).powi(2)).max(0.0);
    }

    /// The draws, group by group, and the variance of each case.
    fn groups(&self, of: &[usize], resamples: usize) -> (Vec<Group>, Vec<f64>) {
        let mut rng = self.generator(0);
        let scales: Vec<f64> = match self.errors {
            Some(errors) => (0..resamples).map(|_| errors.draw_scale(&mut rng)).collect(),
            None => vec![1.0; resamples],
        };
        let mut groups: BTreeMap<i64, Group> = BTreeMap::new();
        let mut variances = Vec::with_capacity(of.len());
        let mut own = Own::default();
        for (number, case) in (0..).zip(of) {
            self.draw(*case, &scales, &mut own);
            variances.push(own.variance);
            #[expect(clippy::cast_possible_truncation, reason = "the logarithm of a double is small")]
            let key = if of.len() <= ONE_BY_ONE {
                number
            } else if own.variance > 0.0 {
                (own.variance.ln() / ALIKE.ln()).floor() as i64
            } else {
                i64::MIN
            };
            let group = groups.entry(key).or_insert_with(|| Group {
                lowest: f64::INFINITY,
                least_variance: f64::INFINITY,
                most_variance: 0.0,
                largest: vec![f64::NEG_INFINITY; resamples],
                smallest: vec![f64::INFINITY; resamples],
            });
            group.lowest = group.lowest.min(self.points[*case]);
            group.least_variance = group.least_variance.min(own.variance);
            group.most_variance = group.most_variance.max(own.variance);
            for ((largest, smallest), value) in group.largest.iter_mut().zip(&mut group.smallest).zip(&own.values) {
                *largest = largest.max(*value);
                *smallest = smallest.min(*value);
            }
        }
        (groups.into_values().collect(), variances)
    }

    /// How far apart two of the cases come by chance alone, in their standard errors, at the level of the plan: the
    /// `level (n + 1)`-th smallest of `n` draws, each with the largest difference between any two.
    fn bound(&self, groups: &[Group], resamples: usize) -> f64 {
        let mut apart = vec![0.0_f64; resamples];
        for ahead in groups {
            for behind in groups {
                let over = (ahead.least_variance + behind.least_variance).sqrt().recip();
                // Between two cases without spread there is no chance.
                if !over.is_finite() {
                    continue;
                }
                for ((apart, largest), smallest) in apart.iter_mut().zip(&ahead.largest).zip(&behind.smallest) {
                    *apart = apart.max((largest - smallest) * over);
                }
            }
        }
        apart.sort_unstable_by(f64::total_cmp);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between one and a number of draws"
        )]
        let place = (self.plan.level.get() * (resamples + 1) as f64).ceil() as usize;
        // With too few draws for the level nothing is beyond it.
        apart.get(place - 1).copied().unwrap_or(f64::INFINITY)
    }

    fn is_beaten(&self, case: usize, variance: f64, groups: &[Group], bound: f64) -> bool {
        let ahead = groups.iter().filter(|group| group.lowest < self.points[case]);
        ahead.into_iter().any(|group| {
            let spread = (variance + group.most_variance).sqrt();
            // Without spread any difference counts.
            spread <= 0.0 || (self.points[case] - group.lowest) / spread > bound
        })
    }
}
