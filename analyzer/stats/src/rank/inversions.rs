//! Pairs that an estimate puts in the wrong order.

use serde::{Deserialize, Serialize};

use crate::error::{SampleError, all_finite, same_length};
use crate::order::normal_zero;

/// Counts over unordered pairs of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inversions {
    /// Pairs whose measured values differ and that the caller called comparable.
    pub comparable_pairs: u64,
    /// Comparable pairs that were predicted in the opposite order.
    pub inversions: u64,
    /// Comparable pairs with equal predictions; these are not among the inversions.
    pub ties_predicted: u64,
}

impl Inversions {
    /// Inversions over comparable pairs, in `0..=1`; `None` if no pair was comparable.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        (self.comparable_pairs > 0).then(|| self.inversions as f64 / self.comparable_pairs as f64)
    }
}

/// Counts the pairs `i < j` that are predicted in the opposite order of what was measured, among those for which
/// `comparable(i, j)` holds (pairs that differ by more than the noise, say). It is the discordance count of Kendall
/// (1938), restricted. Pairs with equal measured values have no order and are never comparable.
///
/// Same order in both lists. O(n^2) comparisons and calls. Errors: lists of different lengths; the first value that is
/// not finite (predictions are looked at first).
pub fn inversions(
    predicted: &[f64],
    measured: &[f64],
    comparable: impl Fn(usize, usize) -> bool,
) -> Result<Inversions, SampleError> {
    same_length(predicted.len(), measured.len())?;
    all_finite(predicted)?;
    all_finite(measured)?;
    let mut counts = Inversions {
        comparable_pairs: 0,
        inversions: 0,
        ties_predicted: 0,
    };
    for j in 1..predicted.len() {
        for i in 0..j {
            // Comparisons, not differences: the difference of two huge values may overflow.
            let Some(truth) = measured[i].partial_cmp(&measured[j]).filter(|order| order.is_ne()) else {
                continue;
            };
            if !comparable(i, j) {
                continue;
            }
            counts.comparable_pairs += 1;
            match predicted[i].partial_cmp(&predicted[j]) {
                Some(order) if order.is_eq() => counts.ties_predicted += 1,
                Some(order) if order != truth => counts.inversions += 1,
                _ => {}
            }
        }
    }
    Ok(counts)
}

/// The same for pairs whose measured values differ by more than one `threshold` (in their unit, at least 0; at 0 every
/// difference counts), without looking at each pair: O(n log n).
///
/// Same order in both lists. Errors: lists of different lengths; the first value that is not finite; a threshold that
/// is negative or not finite, which is named as value 0.
pub fn inversions_beyond(predicted: &[f64], measured: &[f64], threshold: f64) -> Result<Inversions, SampleError> {
    same_length(predicted.len(), measured.len())?;
    all_finite(predicted)?;
    all_finite(measured)?;
    if !(threshold.is_finite() && threshold >= 0.0) {
        return Err(SampleError::NotFinite { index: 0 });
    }
    let places = dense_ranks(predicted);
    let mut order: Vec<usize> = (0..measured.len()).collect();
    order.sort_unstable_by(|i, j| measured[*i].total_cmp(&measured[*j]));
    let mut counts = Inversions {
        comparable_pairs: 0,
        inversions: 0,
        ties_predicted: 0,
    };
    // In order of the measured values, those far enough below the current one only grow.
    let mut below = Counter::new(places.len());
    let mut next = 0;
    for current in &order {
        while measured[*current] - measured[order[next]] > threshold {
            below.add(places[order[next]]);
            next += 1;
        }
        let place = places[*current];
        let up_to = below.up_to(place);
        counts.comparable_pairs += next as u64;
        counts.inversions += next as u64 - up_to;
        counts.ties_predicted += up_to - below.up_to(place - 1);
    }
    Ok(counts)
}

/// Ranks from 1 in which equal values share one and none is left out.
fn dense_ranks(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<(f64, usize)> = values.iter().map(|value| normal_zero(*value)).zip(0..).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut ranks = vec![0; values.len()];
    for (rank, group) in (1..).zip(order.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq())) {
        for (_, index) in group {
            ranks[*index] = rank;
        }
    }
    ranks
}

/// How many of some places from 1 lie up to a place (Fenwick 1994). Every operation is O(log n).
struct Counter {
    sums: Vec<u64>,
}

impl Counter {
    fn new(places: usize) -> Self {
        Self {
            sums: vec![0; places + 1],
        }
    }

    fn add(&mut self, mut place: usize) {
        while let Some(sum) = self.sums.get_mut(place) {
            *sum += 1;
            place += place & place.wrapping_neg();
        }
    }

    fn up_to(&self, mut place: usize) -> u64 {
        let mut sum = 0;
        while place > 0 {
            sum += self.sums[place];
            place &= place - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn worked_by_hand() {
        // Pairs: 01 right, 02 wrong, 03 right, 12 wrong, 13 tied prediction, 23 equal measured.
        let (predicted, measured) = ([2.0, 3.0, 1.0, 3.0], [5.0, 6.0, 7.0, 7.0]);
        let all = inversions(&predicted, &measured, |_, _| true).unwrap();
        assert_eq!(
            all,
            Inversions {
                comparable_pairs: 5,
                inversions: 2,
                ties_predicted: 1
            }
        );
        assert_eq!(all.share(), Some(0.4));
        // Only pairs that differ by more than one: 02 and 03.
        let far = inversions(&predicted, &measured, |i, j| (measured[i] - measured[j]).abs() > 1.0).unwrap();
        assert_eq!(
            far,
            Inversions {
                comparable_pairs: 2,
                inversions: 1,
                ties_predicted: 0
            }
        );
        let none = inversions(&predicted, &measured, |_, _| false).unwrap();
        assert_eq!(none.share(), None);
    }

    #[test]
    fn asks_about_each_pair_once_with_the_smaller_index_first() {
        let asked = std::cell::RefCell::new(Vec::new());
        let values = [1.0, 2.0, 3.0];
        inversions(&values, &values, |i, j| {
            asked.borrow_mut().push((i, j));
            true
        })
        .unwrap();
        assert_eq!(asked.into_inner(), [(0, 1), (0, 2), (1, 2)]);
    }

    #[test]
    fn bad_input_is_named() {
        assert_eq!(
            inversions(&[1.0], &[], |_, _| true),
            Err(SampleError::LengthsDiffer { left: 1, right: 0 })
        );
        assert_eq!(
            inversions(&[1.0, f64::NAN], &[1.0, 2.0], |_, _| true),
            Err(SampleError::NotFinite { index: 1 })
        );
        assert!(inversions(&[], &[], |_, _| true).unwrap().share().is_none());
    }

    #[test]
    fn one_threshold_counts_as_pair_by_pair() {
        let mut rng = SplitMix64::new(4);
        let mut draw = |steps| -> Vec<f64> { (0..200).map(|_| rng.index(steps).unwrap() as f64 / 4.0 - 3.0).collect() };
        let (predicted, measured) = (draw(30), draw(50));
        for threshold in [0.0, 0.25, 1.0, 2.3, 100.0] {
            let each = inversions(&predicted, &measured, |i, j| {
                (measured[i] - measured[j]).abs() > threshold
            })
            .unwrap();
            assert_eq!(
                inversions_beyond(&predicted, &measured, threshold),
                Ok(each),
                "{threshold}"
            );
        }
        assert_eq!(inversions_beyond(&[], &[], 0.0).unwrap().share(), None);
        let zeros = inversions_beyond(&[0.0, -0.0], &[1.0, 2.0], 0.0).unwrap();
        assert_eq!((zeros.comparable_pairs, zeros.ties_predicted), (1, 1));
        for bad in [-1.0, f64::NAN] {
            assert_eq!(
                inversions_beyond(&[], &[], bad),
                Err(SampleError::NotFinite { index: 0 })
            );
        }
    }
}
