//! How far a rank correlation can be trusted: bootstrap over the cases.

use serde::{Deserialize, Serialize};

use super::kendall_tau_b;
use super::spearman;
use crate::interval::{Bootstrap, BootstrapError, ends};
use crate::order::normal_zero;
use crate::random::SplitMix64;

/// A rank correlation with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RankInterval {
    /// The correlation of all cases.
    pub point: f64,
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// How many cases each resample drew: all of them, unless a smaller number is stated.
    pub drawn: usize,
    /// Resamples in which the correlation was undefined (one side constant). They are left out.
    pub undefined_resamples: u32,
}

/// How many cases a resample draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draws {
    /// Up to so many cases: as many as there are.
    pub all_up_to: usize,
    /// Beyond: so many, at most all.
    pub then: usize,
}

impl Draws {
    /// Cases drawn of `cases`.
    #[must_use]
    pub fn of(self, cases: usize) -> usize {
        if cases <= self.all_up_to {
            cases
        } else {
            cases.min(self.then)
        }
    }
}

/// Percentile interval of Spearman's rho over the cases (Efron 1979): whole cases, prediction with measurement, are
/// drawn with replacement.
///
/// Up to `draws.all_up_to` cases each resample draws as many as there are, as weights on cases that are sorted once: O(n) per
/// resample, and the same as sorting each resample anew. Beyond, m out of n (Bickel, Goetze and van Zwet 1997):
/// `draws.then` cases are drawn, and deviations from the point shrink by the root of their share, as those of a mean do;
/// the result says so.
///
/// Same order in both lists. Errors: [`BootstrapError::Undefined`] where [`spearman`] is, or a correlation that is
/// undefined for too many resamples.
pub fn spearman_interval(a: &[f64], b: &[f64], plan: Bootstrap, draws: Draws) -> Result<RankInterval, BootstrapError> {
    let point = spearman(a, b).ok_or(BootstrapError::Undefined)?;
    if a.len() > draws.all_up_to {
        return out_of(a, b, point, plan, draws, spearman);
    }
    let mut weighted = Weighted::new(a, b);
    let mut rng = SplitMix64::new(plan.seed);
    let values = (0..plan.resamples.get()).map(|_| weighted.resampled(&mut rng));
    interval(&values.collect::<Vec<_>>(), point, a.len(), 1.0, plan)
}

/// The same for Kendall's tau-b, O(n log n) per resample: choose `draws` accordingly.
///
/// Errors: [`BootstrapError::Undefined`] where [`kendall_tau_b`] is, or too many undefined resamples.
pub fn kendall_interval(a: &[f64], b: &[f64], plan: Bootstrap, draws: Draws) -> Result<RankInterval, BootstrapError> {
    let point = kendall_tau_b(a, b).ok_or(BootstrapError::Undefined)?;
    out_of(a, b, point, plan, draws, kendall_tau_b)
}

/// Resamples that are put together, for any correlation.
fn out_of(
    a: &[f64],
    b: &[f64],
    point: f64,
    plan: Bootstrap,
    draws: Draws,
    correlation: impl Fn(&[f64], &[f64]) -> Option<f64>,
) -> Result<RankInterval, BootstrapError> {
    let drawn = draws.of(a.len());
    let mut rng = SplitMix64::new(plan.seed);
    let (mut some_a, mut some_b) = (vec![0.0; drawn], vec![0.0; drawn]);
    let values = (0..plan.resamples.get()).map(|_| {
        for (to_a, to_b) in some_a.iter_mut().zip(&mut some_b) {
            let index = rng.scaled(a.len());
            (*to_a, *to_b) = (a[index], b[index]);
        }
        correlation(&some_a, &some_b)
    });
    let shrink = (drawn as f64 / a.len() as f64).sqrt();
    interval(&values.collect::<Vec<_>>(), point, drawn, shrink, plan)
}

fn interval(
    values: &[Option<f64>],
    point: f64,
    drawn: usize,
    shrink: f64,
    plan: Bootstrap,
) -> Result<RankInterval, BootstrapError> {
    let defined: Vec<f64> = values.iter().copied().flatten().collect();
    let undefined = u32::try_from(values.len() - defined.len()).unwrap_or(u32::MAX);
    let (lower, upper) = ends(defined, undefined, plan)?;
    // Without shrinking the ends are those of the resamples, to the last bit.
    let end = |end: f64| {
        if shrink < 1.0 {
            point + (end - point) * shrink
        } else {
            end
        }
    };
    Ok(RankInterval {
        point,
        lower: normal_zero(end(lower).clamp(-1.0, 1.0)),
        upper: normal_zero(end(upper).clamp(-1.0, 1.0)),
        drawn,
        undefined_resamples: undefined,
    })
}

/// Cases in order of `a`, and their order by `b`: what every resample shares.
struct Weighted {
    /// Ends of groups of equal values of `a`, in order.
    ends_a: Vec<usize>,
    /// Cases (their places by `a`) in order of `b`.
    by_b: Vec<u32>,
    /// Ends of groups of equal values of `b` in `by_b`.
    ends_b: Vec<usize>,
    /// How often each case was drawn.
    weights: Vec<u32>,
    /// Twice the rank by `a`, less its mean.
    ranks: Vec<i64>,
}

impl Weighted {
    fn new(a: &[f64], b: &[f64]) -> Self {
        let mut pairs: Vec<(f64, f64)> = a
            .iter()
            .zip(b)
            .map(|(a, b)| (normal_zero(*a), normal_zero(*b)))
            .collect();
        pairs.sort_unstable_by(|p, q| p.0.total_cmp(&q.0).then(p.1.total_cmp(&q.1)));
        let mut by_b: Vec<(f64, u32)> = pairs.iter().map(|pair| pair.1).zip(0..).collect();
        by_b.sort_unstable_by(|p, q| p.0.total_cmp(&q.0).then(p.1.cmp(&q.1)));
        Self {
            ends_a: group_ends(pairs.iter().map(|pair| pair.0)),
            ends_b: group_ends(by_b.iter().map(|pair| pair.0)),
            by_b: by_b.into_iter().map(|(_, case)| case).collect(),
            weights: vec![0; pairs.len()],
            ranks: vec![0; pairs.len()],
        }
    }

    /// Spearman's rho of one resample; sums run over whole numbers, as in [`spearman`].
    fn resampled(&mut self, rng: &mut SplitMix64) -> Option<f64> {
        let n = self.weights.len();
        let all = i64::try_from(n).unwrap_or(i64::MAX);
        self.weights.fill(0);
        for _ in 0..n {
            self.weights[rng.scaled(n)] += 1;
        }
        // Twice the mid-rank of a group is twice those before it, plus its own weight, plus one; the mean is n + 1.
        let (mut aa, mut bb, mut ab) = (0_i128, 0_i128, 0_i128);
        let (mut before, mut start) = (0_i64, 0);
        for end in &self.ends_a {
            let own: i64 = self.weights[start..*end].iter().map(|weight| i64::from(*weight)).sum();
            let rank = 2 * before + own - all;
            self.ranks[start..*end].fill(rank);
            aa += i128::from(own) * i128::from(rank) * i128::from(rank);
            (before, start) = (before + own, *end);
        }
        (before, start) = (0, 0);
        for end in &self.ends_b {
            let (mut own, mut sum) = (0_i64, 0_i64);
            for case in &self.by_b[start..*end] {
                let weight = i64::from(self.weights[*case as usize]);
                own += weight;
                sum += weight * self.ranks[*case as usize];
            }
            let rank = i128::from(2 * before + own - all);
            bb += i128::from(own) * rank * rank;
            ab += i128::from(sum) * rank;
            (before, start) = (before + own, *end);
        }
        if aa == 0 || bb == 0 {
            return None;
        }
        Some(normal_zero(
            (ab as f64 / (aa as f64 * bb as f64).sqrt()).clamp(-1.0, 1.0),
        ))
    }
}

/// Where each run of equal values ends.
fn group_ends(sorted: impl Iterator<Item = f64>) -> Vec<usize> {
    let sorted: Vec<f64> = sorted.collect();
    let groups = sorted.chunk_by(|p, q| p.total_cmp(q).is_eq());
    groups
        .scan(0, |end, group| {
            *end += group.len();
            Some(*end)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Level;
    use std::num::NonZeroU32;

    const A: [f64; 12] = [12.5, 11.0, 13.0, 11.0, 19.5, 12.5, 12.5, 8.0, 15.0, 17.25, 8.0, 30.0];
    const B: [f64; 12] = [3.0, 2.0, 4.0, 3.0, 7.0, 3.0, 5.0, 1.0, 4.0, 9.0, 2.0, 6.0];

    const ALL: Draws = Draws {
        all_up_to: 4_000,
        then: 10,
    };

    fn plan(seed: u64) -> Bootstrap {
        Bootstrap {
            level: Level::P95,
            resamples: NonZeroU32::new(2_000).unwrap(),
            seed,
        }
    }

    #[test]
    fn weights_give_what_sorting_each_resample_gives() {
        // The same draws, put together and ranked anew, to the last bit.
        let mut weighted = Weighted::new(&A, &B);
        let mut sorted: Vec<(f64, f64)> = A.iter().copied().zip(B).collect();
        sorted.sort_by(|p, q| p.partial_cmp(q).unwrap());
        let mut rng = SplitMix64::new(8);
        for _ in 0..300 {
            let mut again = rng.clone();
            let found = weighted.resampled(&mut rng);
            let (a, b): (Vec<f64>, Vec<f64>) = (0..12).map(|_| sorted[again.scaled(12)]).unzip();
            assert_eq!(found, spearman(&a, &b));
        }
    }

    #[test]
    fn ends_enclose_the_point_and_repeat() {
        let rho = spearman_interval(&A, &B, plan(1), ALL).unwrap();
        assert_eq!(rho, spearman_interval(&A, &B, plan(1), ALL).unwrap());
        assert_ne!(rho, spearman_interval(&A, &B, plan(2), ALL).unwrap());
        assert!((rho.point - 0.907_142_857_142_857_1).abs() < 1e-12 && rho.drawn == 12);
        assert!(
            rho.lower < rho.point && rho.point < rho.upper && rho.upper <= 1.0,
            "{rho:?}"
        );
        let tau = kendall_interval(&A, &B, plan(1), ALL).unwrap();
        assert!(tau.lower < tau.point && tau.point < tau.upper, "{tau:?}");
    }

    #[test]
    fn fewer_draws_give_about_the_same_interval() {
        // 4,000 cases with much noise; the interval of 500 drawn cases, shrunk, is near that of all.
        let mut rng = SplitMix64::new(3);
        let mut noise = || (0..4_000).map(|_| rng.scaled(1_000) as f64).collect::<Vec<f64>>();
        let (a, e) = (noise(), noise());
        let b: Vec<f64> = a.iter().zip(&e).map(|(a, e)| a + e).collect();
        let plan = Bootstrap {
            resamples: NonZeroU32::new(400).unwrap(),
            ..plan(1)
        };
        let all = spearman_interval(&a, &b, plan, ALL).unwrap();
        let some = spearman_interval(
            &a,
            &b,
            plan,
            Draws {
                all_up_to: 100,
                then: 500,
            },
        )
        .unwrap();
        assert_eq!((all.drawn, some.drawn), (4_000, 500));
        let widths = (all.upper - all.lower, some.upper - some.lower);
        assert!(widths.0 > 0.0 && (widths.1 / widths.0 - 1.0).abs() < 0.25, "{widths:?}");
        assert!((all.lower - some.lower).abs() < widths.0 / 2.0);
    }

    #[test]
    fn a_perfect_order_has_no_width_and_a_constant_none() {
        let rho = spearman_interval(&A[2..6], &[3.0, 1.0, 9.0, 2.0], plan(1), ALL);
        assert_eq!(rho.map(|rho| (rho.lower, rho.upper)), Ok((1.0, 1.0)));
        assert_eq!(
            spearman_interval(&[1.0; 5], &A[..5], plan(1), ALL),
            Err(BootstrapError::Undefined)
        );
        assert_eq!(
            kendall_interval(&A[..2], &B[..2], plan(1), ALL),
            Err(BootstrapError::Undefined)
        );
    }
}
