//! What it costs to trust a model: the case it would have chosen, against the best measured.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::error::{SampleError, all_finite, all_positive, same_length};

/// The outcome of choosing by predictions. Indices count from zero in the order of the cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Regret {
    /// The case with the smallest prediction (the first of equals).
    pub selected: usize,
    /// The case with the smallest measured value (the first of equals).
    pub best: usize,
    /// Measured value of `selected` over that of `best`: at least 1.
    pub ratio: f64,
    /// Measured value of `selected` minus that of `best`, in the unit of the measured values: at least 0.
    pub difference: f64,
    /// At which place, from 1, the model puts `best`: how many cases would have to be tried to find it.
    pub rank_of_best: usize,
}

/// Simple regret of the case with the smallest prediction (Bubeck, Munos and Stoltz 2009), as a ratio and as a
/// difference. Equal predictions keep the order of the cases, here and in [`regret_at_k`].
///
/// Same order in both lists. O(n). `Ok(None)` without cases. Errors: lists of different lengths, the first prediction
/// that is not finite, the first measured value that is not positive and finite, a ratio beyond double precision.
pub fn regret(predicted: &[f64], measured: &[f64]) -> Result<Option<Regret>, SampleError> {
    check(predicted, measured)?;
    let (Some(selected), Some(best)) = (first_smallest(predicted), first_smallest(measured)) else {
        return Ok(None);
    };
    let before_best = predicted
        .iter()
        .enumerate()
        .filter(|(index, value)| **value < predicted[best] || (**value <= predicted[best] && *index < best))
        .count();
    Ok(Some(Regret {
        selected,
        best,
        ratio: finite_ratio(measured[selected], measured[best])?,
        difference: measured[selected] - measured[best],
        rank_of_best: before_best + 1,
    }))
}

/// The best measured value among the `k` smallest predictions, over the best of all (the top-k form of simple regret):
/// what trying `k` cases would have cost. At least 1, never rises with `k`; `k` beyond the number of cases means all.
///
/// Same order in both lists. O(n log n). `Ok(None)` and errors as for [`regret`].
pub fn regret_at_k(predicted: &[f64], measured: &[f64], k: NonZeroUsize) -> Result<Option<f64>, SampleError> {
    check(predicted, measured)?;
    let mut order: Vec<usize> = (0..predicted.len()).collect();
    // A stable sort by `<`, in which the two zeros are equal, keeps the order of the cases among equals.
    order.sort_by(|i, j| (predicted[*i] + 0.0).total_cmp(&(predicted[*j] + 0.0)));
    let smallest = |values: &mut dyn Iterator<Item = f64>| values.min_by(f64::total_cmp);
    let tried = smallest(&mut order.iter().take(k.get()).map(|index| measured[*index]));
    let best = smallest(&mut measured.iter().copied());
    tried
        .zip(best)
        .map(|(tried, best)| finite_ratio(tried, best))
        .transpose()
}

fn finite_ratio(value: f64, least: f64) -> Result<f64, SampleError> {
    Some(value / least)
        .filter(|ratio| ratio.is_finite())
        .ok_or(SampleError::RatioOutOfRange)
}

fn check(predicted: &[f64], measured: &[f64]) -> Result<(), SampleError> {
    same_length(predicted.len(), measured.len())?;
    all_finite(predicted)?;
    all_positive(measured)
}

/// Index of the first smallest of finite values.
fn first_smallest(values: &[f64]) -> Option<usize> {
    (0..values.len()).reduce(|least, index| if values[index] < values[least] { index } else { least })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(predicted: &[f64], measured: &[f64], k: usize) -> f64 {
        regret_at_k(predicted, measured, NonZeroUsize::new(k).unwrap())
            .unwrap()
            .unwrap()
    }

    #[test]
    fn worked_by_hand() {
        // The model's order: case 2, 0, 3 (tied with 0, later), 1.
        let (predicted, measured) = ([3.0, 9.0, 1.0, 3.0], [6.0, 5.0, 8.0, 4.0]);
        let found = regret(&predicted, &measured).unwrap().unwrap();
        assert_eq!(
            found,
            Regret {
                selected: 2,
                best: 3,
                ratio: 2.0,
                difference: 4.0,
                rank_of_best: 3
            }
        );
        let by_k: Vec<f64> = (1..=5).map(|k| at(&predicted, &measured, k)).collect();
        assert_eq!(by_k, [2.0, 1.5, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn ties_take_the_first() {
        let found = regret(&[0.0, -0.0, 0.0], &[3.0, 2.0, 2.0]).unwrap().unwrap();
        assert_eq!(
            found,
            Regret {
                selected: 0,
                best: 1,
                ratio: 1.5,
                difference: 1.0,
                rank_of_best: 2
            }
        );
        assert!((at(&[0.0, -0.0, 0.0], &[3.0, 2.0, 2.0], 1) - 1.5).abs() < 1e-15);
    }

    #[test]
    fn empty_and_bad_input() {
        let apart = [f64::MAX, f64::MIN_POSITIVE];
        assert_eq!(regret(&[1.0, 2.0], &apart), Err(SampleError::RatioOutOfRange));
        assert_eq!(
            regret_at_k(&[1.0, 2.0], &apart, NonZeroUsize::MIN),
            Err(SampleError::RatioOutOfRange)
        );
        assert_eq!(regret(&[], &[]), Ok(None));
        assert_eq!(regret_at_k(&[], &[], NonZeroUsize::MIN), Ok(None));
        assert_eq!(
            regret(&[1.0, f64::NAN], &[1.0, 1.0]),
            Err(SampleError::NotFinite { index: 1 })
        );
        assert_eq!(
            regret(&[f64::NEG_INFINITY], &[1.0]),
            Err(SampleError::NotFinite { index: 0 })
        );
        assert_eq!(
            regret(&[1.0, 2.0], &[1.0, 0.0]),
            Err(SampleError::NotPositive { index: 1 })
        );
        assert_eq!(
            regret(&[1.0], &[1.0, 2.0]),
            Err(SampleError::LengthsDiffer { left: 1, right: 2 })
        );
    }
}
