//! How far the medians of several cases may lie from what they should be, drawn again and again, and whom a case is behind
//! of by more than that.

use std::collections::BTreeMap;

use super::PairedRatios;
use super::pooled::PooledErrors;
use crate::interval::Bootstrap;
use crate::order::median_in_place;
use crate::random::SplitMix64;

/// Up to so many cases are compared one by one; beyond, those whose variances lie within [`ALIKE`] are looked at together.
const ONE_BY_ONE: usize = 256;
/// Largest ratio of variances within a group. What stands for a group is what makes the bounds wider, by less than 5 %.
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

/// Cases of about one variance: the best of them, and how far the luckiest comes in each draw.
struct Group {
    lowest: f64,
    least_variance: f64,
    most_variance: f64,
    largest: Vec<f64>,
}

/// The draws of one case.
#[derive(Default)]
struct Own {
    values: Vec<f64>,
    variance: f64,
    scratch: Vec<f64>,
}

impl Deviations<'_> {
    /// Those of the cases `of` that no other of them is ahead of by more than chance explains at `level`: the share of
    /// draws in which one comes out as far ahead by chance, the sample itself counted as one of them, is above
    /// `1 - level` (Davison and Hinkley 1997, section 4.2).
    pub(super) fn members(&self, of: &[usize], level: f64) -> Vec<usize> {
        let resamples = (DRAWS / of.len().max(1)).clamp(FEWEST, usize::MAX);
        let resamples = resamples.min(self.plan.resamples.get() as usize);
        let mut rng = self.generator(0);
        let scales: Vec<f64> = match self.errors {
            Some(errors) => (0..resamples).map(|_| errors.draw_scale(&mut rng)).collect(),
            None => vec![1.0; resamples],
        };
        let mut own = Own::default();
        let groups = self.groups(of, &scales, &mut own);
        let most = luckiest(&groups, resamples);
        let limit = (1.0 - level) * (resamples + 1) as f64;
        let stays = |case: &&usize| !self.is_beaten(**case, &groups, &most, &scales, limit, &mut own);
        of.iter().filter(stays).copied().collect()
    }

    /// A generator of its own for each case, so that its draws depend on no other case.
    fn generator(&self, number: u64) -> SplitMix64 {
        SplitMix64::new(SplitMix64::new(self.plan.seed.wrapping_add(number)).next_u64())
    }

    /// Draws the deviation of a case's log median once for each scale. A case whose interval reaches the level is drawn
    /// from its own ratios, with replacement; another one from the errors of all, over the scale.
    fn draw(&self, case: usize, scales: &[f64], own: &mut Own) {
        let mut rng = self.generator(1 + case as u64);
        let ratios = self.cases[case].ratios();
        let pooled = self
            .errors
            .filter(|_| !self.cases[case].interval(self.plan.level).reaches_level());
        let (mut sum, mut squares) = (0.0, 0.0);
        own.values.clear();
        for scale in scales {
            let (value, scale) = if let Some(errors) = pooled {
                (errors.draw_median(ratios.len(), &mut rng, &mut own.scratch), *scale)
            } else {
                own.scratch.clear();
                own.scratch
                    .extend((0..ratios.len()).map(|_| ratios[rng.scaled(ratios.len())]));
                // A case has ratios, so that there is a median.
                let median = median_in_place(&mut own.scratch);
                (median.map_or(0.0, |median| median.ln() - self.points[case]), 1.0)
            };
            sum += value;
            squares += value * value;
            own.values.push(value / scale);
        }
        let n = scales.len() as f64;
        own.variance = (squares / n - (sum / n).powi(2)).max(0.0);
    }

    fn groups(&self, of: &[usize], scales: &[f64], own: &mut Own) -> Vec<Group> {
        let mut groups: BTreeMap<i64, Group> = BTreeMap::new();
        for (number, case) in (0..).zip(of) {
            self.draw(*case, scales, own);
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
                largest: vec![f64::NEG_INFINITY; scales.len()],
            });
            group.lowest = group.lowest.min(self.points[*case]);
            group.least_variance = group.least_variance.min(own.variance);
            group.most_variance = group.most_variance.max(own.variance);
            for (largest, value) in group.largest.iter_mut().zip(&own.values) {
                *largest = largest.max(*value);
            }
        }
        groups.into_values().collect()
    }

    fn is_beaten(
        &self,
        case: usize,
        groups: &[Group],
        most: &[f64],
        scales: &[f64],
        limit: f64,
        own: &mut Own,
    ) -> bool {
        let point = self.points[case];
        // One that nobody is ahead of stays: a bound below zero would let it lose against a worse one.
        if groups.iter().all(|group| group.lowest >= point) {
            return false;
        }
        self.draw(case, scales, own);
        let spread = |variance: f64| (own.variance + variance).sqrt();
        // Without spread there is no chance to weigh against.
        let certain = |group: &Group| group.lowest < point && spread(group.most_variance) <= 0.0;
        if groups.iter().any(certain) {
            return true;
        }
        let mut as_far = 1.0;
        if as_far > limit {
            return false;
        }
        let with_spread = groups.iter().filter(|group| spread(group.most_variance) > 0.0);
        let lead = with_spread
            .map(|group| (point - group.lowest) / spread(group.most_variance))
            .fold(f64::NEG_INFINITY, f64::max);
        let least = groups
            .iter()
            .map(|group| group.least_variance)
            .filter(|variance| spread(*variance) > 0.0)
            .fold(f64::INFINITY, f64::min);
        let inverse: Vec<f64> = groups
            .iter()
            .map(|group| spread(group.least_variance).recip())
            .map(|inverse| if inverse.is_finite() { inverse } else { 0.0 })
            .collect();
        let quick = spread(least).recip();
        for (draw, value) in own.values.iter().enumerate() {
            // Whatever the spreads, no case can come further than the luckiest over the smallest spread.
            if (most[draw] - value) * quick < lead {
                continue;
            }
            let comes_as_far = |(group, inverse): (&Group, &f64)| (group.largest[draw] - value) * inverse >= lead;
            if groups.iter().zip(&inverse).any(comes_as_far) {
                as_far += 1.0;
                if as_far > limit {
                    return false;
                }
            }
        }
        true
    }
}

/// How far the luckiest case of all comes in each draw.
fn luckiest(groups: &[Group], resamples: usize) -> Vec<f64> {
    let mut most = vec![f64::NEG_INFINITY; resamples];
    for group in groups {
        for (most, largest) in most.iter_mut().zip(&group.largest) {
            *most = most.max(*largest);
        }
    }
    most
}
