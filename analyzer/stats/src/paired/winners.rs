//! The best case and those that can't be told from it.

use serde::{Deserialize, Serialize};

use super::PairedRatios;
use super::pooled::of_median;
use crate::interval::{Bootstrap, Level};
use crate::order::{median_in_place, quantile_of_sorted};
use crate::random::SplitMix64;

/// The cases that may be the best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WinnerSet {
    /// The case with the smallest median ratio (the first of equals).
    pub best: usize,
    /// The best case and every case that can't be told from it, ascending.
    pub members: Vec<usize>,
    /// The level: with about this probability the truly best case is a member.
    pub level: Level,
}

/// Why no winner set can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WinnerError {
    /// There are no cases.
    #[error("no cases to choose a winner from")]
    NoCases,
    /// A case has so few pairs that no interval of its median reaches the level (below 6 at 95 %), so nothing can be
    /// said about it.
    #[error("case {case} has {pairs} pairs, too few for the level")]
    TooFewPairs {
        /// Position of the case.
        case: usize,
        /// Its number of pairs.
        pairs: usize,
    },
}

/// Confidence set for the best of several cases that share a control, by a simultaneous bootstrap of their median
/// ratios (smaller is better).
///
/// Method: multiple comparisons with the best (Hsu 1981) in the bootstrapped max-statistic form of Mogstad, Romano,
/// Shaikh and Wilhelm ("Inference for ranks", 2024). With `t_i` the log of case `i`'s median ratio and `s_ij` the
/// bootstrap standard error of `t_i - t_j`, case `i` is a member unless some `j` beats it by
/// `(t_i - t_j) / s_ij > c_i`. The bound `c_i` is the `level` quantile (at least 0), over resamples, of the largest
/// `((t_i - t_j) - (t_i - t_j)*) / s_ij` over all `j`: one bound for all comparisons of a case, so the level holds for
/// the set and not for each pair. Each case's pairs are resampled with replacement on their own, since every case is
/// measured beside its own calls of the control. Two cases without any spread are told apart by any difference.
///
/// The resampled deviation enters with its sign turned, as in a percentile interval: for medians that comes much nearer
/// to the level than the basic form, which misses twice as often.
///
/// The same seed gives the same set, and the best is always a member. The level is approximate: in simulations of 2 to
/// 20 equally good cases with 6 to 41 independent pairs each (uniform, normal and exponential noise), a given one was
/// left out in at most 7 % of the runs at 95 %. O(resamples (pairs of all cases + cases^2)) time, O(resamples x cases)
/// memory.
///
/// A case with too few pairs for an interval of its own (below 6 at 95 %) is drawn from a normal distribution instead, with the
/// deviation that `noise`, that of all cases together ([`pooled_noise`](super::pooled_noise)), gives a median of so many
/// pairs: resampling a few values would make it look certain.
///
/// Errors: no cases, or a case with too few pairs where no noise is given.
pub fn winner_set(cases: &[PairedRatios], noise: Option<f64>, plan: Bootstrap) -> Result<WinnerSet, WinnerError> {
    let level = plan.level.get();
    for (case, ratios) in cases.iter().enumerate() {
        if noise.is_none() && !ratios.interval(plan.level).reaches_level() {
            return Err(WinnerError::TooFewPairs {
                case,
                pairs: ratios.pairs(),
            });
        }
    }
    let points: Vec<f64> = cases.iter().map(|case| case.median().ln()).collect();
    let best = (0..points.len())
        .min_by(|i, j| points[*i].total_cmp(&points[*j]))
        .ok_or(WinnerError::NoCases)?;

    let deviations = Deviations::draw(cases, &points, noise, plan);
    let members = (0..cases.len())
        .filter(|i| !deviations.is_beaten(*i, &points, level))
        .collect();
    Ok(WinnerSet {
        best,
        members,
        level: plan.level,
    })
}

/// The bootstrap distributions of the cases' log medians, each centred on its point.
struct Deviations {
    /// Draw by draw, the cases side by side: every draw is read once for each case.
    values: Vec<f64>,
    variances: Vec<f64>,
}

impl Deviations {
    /// Draws case after case, so that a case's draws do not depend on those that follow.
    fn draw(cases: &[PairedRatios], points: &[f64], noise: Option<f64>, plan: Bootstrap) -> Self {
        let resamples = plan.resamples.get() as usize;
        let mut rng = SplitMix64::new(plan.seed);
        let mut values = vec![0.0; resamples * cases.len()];
        let mut variances = Vec::with_capacity(cases.len());
        let mut drawn = Vec::new();
        for (at, (case, point)) in cases.iter().zip(points).enumerate() {
            let ratios = case.ratios();
            let own = values.iter_mut().skip(at).step_by(cases.len());
            let (mut sum, mut squares) = (0.0, Vec::with_capacity(resamples));
            // A few values drawn again and again would hardly vary.
            let shared = noise.filter(|_| !case.interval(plan.level).reaches_level());
            let spread = shared.map(|noise| of_median(noise, case.pairs()));
            for value in own {
                if let Some(spread) = spread {
                    *value = spread * rng.normal();
                    sum += *value;
                    squares.push(*value);
                    continue;
                }
                drawn.clear();
                drawn.extend(
                    (0..ratios.len())
                        .filter_map(|_| rng.index(ratios.len()))
                        .map(|index| ratios[index]),
                );
                // A case has ratios, so that there is a median.
                *value = median_in_place(&mut drawn).map_or(0.0, |median| median.ln() - point);
                sum += *value;
                squares.push(*value);
            }
            let n = resamples as f64;
            let mean = sum / n;
            variances.push(squares.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / n);
        }
        Self { values, variances }
    }

    /// Whether some case is better than case `i` by more than chance explains.
    fn is_beaten(&self, i: usize, points: &[f64], level: f64) -> bool {
        let spreads: Vec<f64> = self
            .variances
            .iter()
            .map(|variance| (self.variances[i] + variance).sqrt())
            .collect();
        let others = || (0..points.len()).filter(move |j| *j != i);
        // Without spread there is no chance to weigh against.
        if others().any(|j| spreads[j] <= 0.0 && points[j] < points[i]) {
            return true;
        }
        let worst = others()
            .filter(|j| spreads[*j] > 0.0)
            .map(|j| (points[i] - points[j]) / spreads[j])
            .max_by(f64::total_cmp);
        // A bound below zero would let a case lose against a worse one, so that one that nobody is ahead of stays.
        let Some(worst) = worst.filter(|worst| *worst > 0.0) else {
            return false;
        };
        let largest_of = |draw: &[f64]| {
            let own = draw[i];
            let each = draw.iter().zip(&spreads).enumerate();
            each.filter(|(j, (_, spread))| *j != i && **spread > 0.0)
                .fold(f64::NEG_INFINITY, |most, (_, (value, spread))| {
                    most.max((value - own) / spread)
                })
        };
        let mut largest: Vec<f64> = self.values.chunks(points.len()).map(largest_of).collect();
        largest.sort_unstable_by(f64::total_cmp);
        quantile_of_sorted(&largest, level).is_some_and(|bound| worst > bound.max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    fn plan(seed: u64) -> Bootstrap {
        Bootstrap {
            level: Level::P95,
            resamples: NonZeroU32::new(1_000).unwrap(),
            seed,
        }
    }

    fn case(ratios: impl IntoIterator<Item = f64>) -> PairedRatios {
        let pairs: Vec<(f64, f64)> = ratios.into_iter().map(|ratio| (ratio, 1.0)).collect();
        PairedRatios::new(&pairs).unwrap()
    }

    /// `n` ratios around `centre`, uniform within one percent.
    fn noisy(centre: f64, n: usize, rng: &mut SplitMix64) -> PairedRatios {
        case((0..n).map(|_| centre * (0.99 + 0.02 * (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64)))
    }

    #[test]
    fn near_cases_tie_and_far_ones_do_not() {
        let mut rng = SplitMix64::new(1);
        let cases: Vec<PairedRatios> = [0.9, 0.801, 0.80, 0.95, 0.82]
            .iter()
            .map(|centre| noisy(*centre, 40, &mut rng))
            .collect();
        let winners = winner_set(&cases, None, plan(3)).unwrap();
        assert_eq!(winners.members, [1, 2]);
        assert!(winners.members.contains(&winners.best));
        assert_eq!(winner_set(&cases, None, plan(3)).unwrap(), winners);
    }

    #[test]
    fn the_truly_best_is_rarely_left_out() {
        // Equal cases are all truly best, so each is left out in about 5 % of the runs: 15 of 300, deviation 3.8. The
        // basic form of the bootstrap would leave it out about 30 times; a set of everything, never.
        let mut rng = SplitMix64::new(2);
        let mut missing = 0;
        for seed in 0..300 {
            let cases: Vec<PairedRatios> = (0..4).map(|_| noisy(0.8, 15, &mut rng)).collect();
            let quick = Bootstrap {
                resamples: NonZeroU32::new(200).unwrap(),
                ..plan(seed)
            };
            missing += u32::from(!winner_set(&cases, None, quick).unwrap().members.contains(&0));
        }
        assert!((4..=24).contains(&missing), "{missing}");
    }

    #[test]
    fn without_spread_any_difference_decides() {
        let winners = winner_set(&[case([0.5; 6]), case([0.4; 6]), case([0.4; 6])], None, plan(1)).unwrap();
        assert_eq!(
            winners,
            WinnerSet {
                best: 1,
                members: vec![1, 2],
                level: Level::P95
            }
        );
        let alone = winner_set(&[case([0.5; 6])], None, plan(1)).unwrap();
        assert_eq!(alone.members, [0]);
    }

    #[test]
    fn few_pairs_are_held_against_the_noise_of_all() {
        // Two pairs that happen to agree say nothing: with a noise of 5 % a case 3 % behind stays in, one 40 % behind is out.
        let few = [case([0.80; 2]), case([0.824; 2]), case([1.12; 2])];
        assert_eq!(winner_set(&few, Some(0.05), plan(1)).unwrap().members, [0, 1]);
        // With hardly any noise the same difference decides.
        assert_eq!(winner_set(&few, Some(0.001), plan(1)).unwrap().members, [0]);
        // The truly best of equal cases with 3 pairs each is left out about as rarely as the level says.
        let mut rng = SplitMix64::new(3);
        let mut missing = 0;
        for seed in 0..300 {
            let cases: Vec<PairedRatios> = (0..4)
                .map(|_| case((0..3).map(|_| (0.05 * rng.normal()).exp())))
                .collect();
            let quick = Bootstrap {
                resamples: NonZeroU32::new(200).unwrap(),
                ..plan(seed)
            };
            missing += u32::from(!winner_set(&cases, Some(0.05), quick).unwrap().members.contains(&0));
        }
        assert!(missing <= 24, "{missing}");
    }

    #[test]
    fn too_little_is_said() {
        assert_eq!(winner_set(&[], None, plan(1)), Err(WinnerError::NoCases));
        let few = winner_set(&[case([0.5; 6]), case([0.4; 5])], None, plan(1));
        assert_eq!(few, Err(WinnerError::TooFewPairs { case: 1, pairs: 5 }));
    }
}
