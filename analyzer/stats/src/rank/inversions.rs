//! Pairs that an estimate puts in the wrong order.

use serde::{Deserialize, Serialize};

use crate::error::{SampleError, all_finite, same_length};

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
