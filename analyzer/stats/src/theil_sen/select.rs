//! The median slope of many points, without a list of all slopes.

use super::NoLine;
use super::pairs::slope;
use crate::merge::merge_sort;
use crate::order::median_in_place;
use crate::random::SplitMix64;

/// So many slopes are listed and selected from: 160 MB.
const LISTED: u64 = 20_000_000;
/// Slopes drawn to guess where the median lies: at first, and inside bounds.
const FIRST_SAMPLE: usize = 1_000_000;
const LATER_SAMPLE: usize = 200_000;
/// Draws at most for one sample.
const MOST_DRAWS: u64 = 1 << 28;
/// Bounds lie so many standard errors of a sampled quantile around the median: one guess in 370 misses, and costs
/// another one.
const ERRORS: f64 = 3.0;
/// Guesses at most; 2 or 3 are usual.
const ROUNDS: usize = 64;
/// Equal slopes: bounds can't be nearer than this to them, relative to them, since `y - slope x` is rounded.
const NEAR: f64 = 1e-9;

/// A point's place in two orders.
type Place = (u32, u32);

/// The median slope of finite points, fewer than 2^32 and at least 2.
///
/// The slopes up to `s` are the pairs whose order by `y - s x` is not that by `x`: they are counted by a merge sort
/// (Knight 1966). Bounds around the median come from samples of slopes and are verified by counting; what lies between
/// them is listed once it is short.
pub(super) fn median_slope_by_selection(x: &[f64], y: &[f64]) -> Result<f64, NoLine> {
    let points = Points::new(x, y);
    let all = points.pairs();
    if all == 0 {
        return Err(NoLine::Vertical);
    }
    let middle = Middle {
        first: (all - 1) / 2,
        second: all / 2,
    };
    let mut rng = SplitMix64::new(all);
    let mut bounds = Bounds {
        lower: f64::NEG_INFINITY,
        upper: f64::INFINITY,
        before: 0,
        until: all,
    };
    for _ in 0..ROUNDS {
        let inside = bounds.until - bounds.before;
        if inside <= LISTED {
            return points.select(bounds, middle);
        }
        let mut sample = points.sample(bounds, &mut rng)?;
        if sample.len() < 100 {
            return Err(NoLine::TooManyPoints { points: x.len() });
        }
        sample.sort_unstable_by(f64::total_cmp);
        let share = (middle.first - bounds.before) as f64 / inside as f64;
        let margin = ERRORS * 0.5 / (sample.len() as f64).sqrt();
        let (low, high) = (at(&sample, share - margin), at(&sample, share + margin));
        if low < high {
            points.narrow(&mut bounds, middle, low);
            points.narrow(&mut bounds, middle, high);
        } else {
            // Most slopes between the bounds are equal.
            let near = NEAR * if low == 0.0 { points.scale() } else { low.abs() };
            let below = points.narrow(&mut bounds, middle, low - near);
            let above = points.narrow(&mut bounds, middle, low + near);
            if below && above && bounds.until - bounds.before > LISTED {
                return Ok(low);
            }
        }
    }
    Err(NoLine::TooManyPoints { points: x.len() })
}

/// Zero-based places of the median, or of the two that it is the mean of, among all slopes in order.
#[derive(Clone, Copy)]
struct Middle {
    first: u64,
    second: u64,
}

/// The median is above `lower` and not above `upper`; `before` slopes are not above `lower`, `until` not above `upper`.
#[derive(Clone, Copy)]
struct Bounds {
    lower: f64,
    upper: f64,
    before: u64,
    until: u64,
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the indices of the sample"
)]
fn at(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len() - 1;
    sorted[(share.clamp(0.0, 1.0) * last as f64).round() as usize]
}

/// Points in order of x, then y.
struct Points {
    x: Vec<f64>,
    y: Vec<f64>,
}

impl Points {
    fn new(x: &[f64], y: &[f64]) -> Self {
        // The two zeros are one x.
        let mut both: Vec<(f64, f64)> = x.iter().map(|x| x + 0.0).zip(y.iter().map(|y| y + 0.0)).collect();
        both.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let (x, y) = both.into_iter().unzip();
        Self { x, y }
    }

    /// Pairs with distinct x.
    fn pairs(&self) -> u64 {
        let among = |n: u64| n * n.saturating_sub(1) / 2;
        let equal = self.x.chunk_by(|a, b| a.total_cmp(b).is_eq());
        among(self.x.len() as u64) - equal.map(|group| among(group.len() as u64)).sum::<u64>()
    }

    /// The slope from corner to corner: what a slope of zero is small against.
    fn scale(&self) -> f64 {
        let range = |values: &[f64]| {
            let largest = values.iter().copied().max_by(f64::total_cmp).unwrap_or_default();
            let least = values.iter().copied().min_by(f64::total_cmp).unwrap_or_default();
            largest - least
        };
        range(&self.y) / range(&self.x)
    }

    /// Slopes in `bounds`, drawn with replacement.
    fn sample(&self, bounds: Bounds, rng: &mut SplitMix64) -> Result<Vec<f64>, NoLine> {
        let is_first = bounds.lower == f64::NEG_INFINITY && bounds.upper == f64::INFINITY;
        let wanted = if is_first { FIRST_SAMPLE } else { LATER_SAMPLE };
        let mut sample = Vec::with_capacity(wanted);
        for _ in 0..MOST_DRAWS {
            if sample.len() == wanted {
                break;
            }
            let (i, j) = (rng.scaled(self.x.len()), rng.scaled(self.x.len()));
            if self.x[i].total_cmp(&self.x[j]).is_ne() {
                let found = slope(&self.x, &self.y, i.min(j), i.max(j))?;
                if found > bounds.lower && found <= bounds.upper {
                    sample.push(found);
                }
            }
        }
        Ok(sample)
    }

    /// Takes `slope` as a bound, lower or upper as its count says. Whether it became one: not if it parts the two
    /// slopes that the median is the mean of.
    fn narrow(&self, bounds: &mut Bounds, middle: Middle, slope: f64) -> bool {
        let count = self.count(slope);
        if count <= middle.first && slope > bounds.lower {
            (bounds.lower, bounds.before) = (slope, count);
            true
        } else if count > middle.second && slope < bounds.upper {
            (bounds.upper, bounds.until) = (slope, count);
            true
        } else {
            false
        }
    }

    /// How many slopes are not above `slope`.
    fn count(&self, slope: f64) -> u64 {
        let order = self.order(slope);
        let mut places: Vec<Place> = vec![(0, 0); order.len()];
        for (place, index) in (0_u32..).zip(order) {
            places[index as usize] = (place, index);
        }
        let mut count = 0;
        merge(places, |rest, _| {
            count += rest.len() as u64;
            Ok(())
        })
        .map_or(0, |()| count)
    }

    /// Indices in order of `y - slope x`; of equal ones the larger x first, so that a pair on a line of just this slope
    /// counts as turned. Points with the same x keep their order under every slope.
    fn order(&self, slope: f64) -> Vec<u32> {
        let keys = self.x.iter().zip(&self.y).map(|(x, y)| match slope {
            f64::NEG_INFINITY => *x,
            f64::INFINITY => -*x,
            slope => y - slope * x,
        });
        let mut keyed: Vec<(f64, u32)> = keys.map(|key| key + 0.0).zip(0..).collect();
        let same_x = |a: u32, b: u32| self.x[a as usize].total_cmp(&self.x[b as usize]).is_eq();
        keyed.sort_unstable_by(|a, b| {
            a.0.total_cmp(&b.0)
                .then_with(|| if same_x(a.1, b.1) { a.1.cmp(&b.1) } else { b.1.cmp(&a.1) })
        });
        keyed.into_iter().map(|(_, index)| index).collect()
    }

    /// The median, from a list of the slopes in `bounds`: pairs that stand in another order at the upper bound than at
    /// the lower one.
    fn select(&self, bounds: Bounds, middle: Middle) -> Result<f64, NoLine> {
        let mut place_above = vec![0_u32; self.x.len()];
        for (place, index) in (0_u32..).zip(self.order(bounds.upper)) {
            place_above[index as usize] = place;
        }
        let below = self.order(bounds.lower);
        let places: Vec<Place> = below
            .iter()
            .map(|index| (place_above[*index as usize], *index))
            .collect();
        let mut slopes = Vec::new();
        merge(places, |rest, right| {
            for left in rest.iter().filter(|left| left.1 < right.1) {
                slopes.push(slope(&self.x, &self.y, left.1 as usize, right.1 as usize)?);
            }
            Ok(())
        })?;
        let wanted = |place: u64| usize::try_from(place - bounds.before).unwrap_or(usize::MAX);
        let (first, second) = (wanted(middle.first), wanted(middle.second));
        if second >= slopes.len() {
            return Err(NoLine::OutOfRange);
        }
        let upper = *slopes.select_nth_unstable_by(second, f64::total_cmp).1;
        let lower = if first == second {
            upper
        } else {
            *slopes.select_nth_unstable_by(first, f64::total_cmp).1
        };
        median_in_place(&mut [lower, upper]).ok_or(NoLine::OutOfRange)
    }
}

/// Sorts by the first number; `turned` as in [`merge_sort`].
fn merge(mut places: Vec<Place>, turned: impl FnMut(&[Place], Place) -> Result<(), NoLine>) -> Result<(), NoLine> {
    merge_sort(&mut places, |a, b| a.0 < b.0, turned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theil_sen::pairs::median_slope_of_all_pairs;

    fn noise(count: usize, steps: usize, seed: u64) -> Vec<f64> {
        let mut rng = SplitMix64::new(seed);
        (0..count).map(|_| rng.index(steps).unwrap() as f64).collect()
    }

    /// Small points through all the machinery of many ones.
    fn both(x: &[f64], y: &[f64]) -> (f64, f64) {
        let all = median_slope_of_all_pairs(x, y).unwrap();
        (all, median_slope_by_selection(x, y).unwrap())
    }

    #[test]
    fn counting_agrees_with_a_list() {
        let (x, y) = (noise(60, 12, 1), noise(60, 9, 2));
        let points = Points::new(&x, &y);
        let mut slopes = Vec::new();
        for j in 1..60 {
            slopes.extend(
                (0..j)
                    .filter(|i| points.x[*i] < points.x[j])
                    .map(|i| slope(&points.x, &points.y, i, j).unwrap()),
            );
        }
        assert_eq!(points.pairs(), slopes.len() as u64);
        for bound in [-9.0, -1.0, -0.3, 0.0, 0.5, 1.0, 8.0] {
            let expected = slopes.iter().filter(|slope| **slope <= bound).count() as u64;
            assert_eq!(points.count(bound), expected, "up to {bound}");
        }
        assert_eq!(points.count(f64::INFINITY), points.pairs());
        assert_eq!(points.count(f64::NEG_INFINITY), 0);
    }

    #[test]
    fn a_list_within_bounds_gives_the_same_bits() {
        for (steps, seed) in [(1_000_000, 1), (40, 2), (3, 3)] {
            let (x, e) = (noise(301, steps, seed), noise(301, steps, seed + 10));
            let y: Vec<f64> = x.iter().zip(&e).map(|(x, e)| 0.7 * x + e).collect();
            let (all, selected) = both(&x, &y);
            assert_eq!(all.to_bits(), selected.to_bits(), "{steps}");
            // The same within narrow bounds.
            let points = Points::new(&x, &y);
            let total = points.pairs();
            let middle = Middle {
                first: (total - 1) / 2,
                second: total / 2,
            };
            let mut bounds = Bounds {
                lower: f64::NEG_INFINITY,
                upper: f64::INFINITY,
                before: 0,
                until: total,
            };
            points.narrow(&mut bounds, middle, all - 0.1);
            points.narrow(&mut bounds, middle, all + 0.1);
            assert!(bounds.until - bounds.before < total && bounds.lower < all && all < bounds.upper);
            assert_eq!(
                points.select(bounds, middle).unwrap().to_bits(),
                all.to_bits(),
                "{steps}"
            );
        }
    }

    #[test]
    fn many_points_are_narrowed_to_the_same_slope() {
        // 6,400 points have 20.5 million slopes: more than are listed at once.
        let (x, e) = (noise(6_400, 1 << 40, 5), noise(6_400, 1 << 38, 6));
        let y: Vec<f64> = x.iter().zip(&e).map(|(x, e)| 2.5 * x + e).collect();
        let (all, selected) = both(&x, &y);
        assert_eq!(all.to_bits(), selected.to_bits());
        // Nearly all slopes are equal: they can't be parted, and need not be.
        let y: Vec<f64> = x
            .iter()
            .enumerate()
            .map(|(i, x)| if i % 50 == 0 { 0.0 } else { 0.25 * x })
            .collect();
        let (all, selected) = both(&x, &y);
        assert!((all - selected).abs() <= 1e-9 * all, "{all} {selected}");
    }
}
