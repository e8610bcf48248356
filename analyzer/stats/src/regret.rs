//! What it costs to trust a model: the case it would have chosen, against the best measured.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::error::{SampleError, all_finite, all_positive, same_length};
use crate::order::normal_zero;

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
    let order = ascending(predicted);
    let smallest = |values: &mut dyn Iterator<Item = f64>| values.min_by(f64::total_cmp);
    let tried = smallest(&mut order.iter().take(k.get()).map(|index| measured[*index]));
    let best = smallest(&mut measured.iter().copied());
    tried
        .zip(best)
        .map(|(tried, best)| finite_ratio(tried, best))
        .transpose()
}

/// What trying the first few cases in a model's order gives.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TopK {
    /// How many cases are tried.
    pub k: usize,
    /// [`regret_at_k`] of that many.
    pub regret: f64,
    /// Share of the `k` best measured cases that are among the `k` best predicted ones, in `0..=1` (precision at k; Manning,
    /// Raghavan and Schuetze, "Introduction to Information Retrieval", 2008, section 8.4). Equal values keep the order of
    /// the cases on both sides.
    pub hit_rate: f64,
}

/// Regret and hit rate for each `k`, in the order given; those that are zero or beyond the number of cases are left out.
///
/// Same order in both lists. O(n log n) for all of them. Errors as for [`regret`].
pub fn top_k(predicted: &[f64], measured: &[f64], ks: &[usize]) -> Result<Vec<TopK>, SampleError> {
    check(predicted, measured)?;
    let (by_prediction, by_measurement) = (ascending(predicted), ascending(measured));
    let mut place = vec![0; measured.len()];
    for (at, index) in by_measurement.iter().enumerate() {
        place[*index] = at;
    }
    let usable = ks.iter().filter(|k| (1..=predicted.len()).contains(*k));
    let each = usable.map(|k| {
        let tried = &by_prediction[..*k];
        let reached = tried.iter().map(|index| measured[*index]).min_by(f64::total_cmp);
        let best = by_measurement.first().map(|index| measured[*index]);
        let (reached, best) = reached.zip(best).ok_or(SampleError::Empty)?;
        let hits = tried.iter().filter(|index| place[**index] < *k).count();
        Ok(TopK {
            k: *k,
            regret: finite_ratio(reached, best)?,
            hit_rate: hits as f64 / *k as f64,
        })
    });
    each.collect()
}

/// Regret of the case with the smallest prediction where the best case is chosen on one half of the rounds and both are
/// compared on the other half: the mean of the logs of both directions, as a ratio (cross-fitting, Chernozhukov et al.
/// 2018). The plain regret compares with the least of noisy values, which is too low; this one does not, and may fall
/// below 1.
///
/// `odd` and `even` are the measured values of the halves, in the same order as the predictions. O(n). `Ok(None)`
/// without cases. Errors as for [`regret`].
pub fn cross_fitted_regret(predicted: &[f64], odd: &[f64], even: &[f64]) -> Result<Option<f64>, SampleError> {
    check(predicted, odd)?;
    check(predicted, even)?;
    let Some(selected) = first_smallest(predicted) else {
        return Ok(None);
    };
    let direction = |chosen_on: &[f64], compared_on: &[f64]| -> Result<Option<f64>, SampleError> {
        first_smallest(chosen_on)
            .map(|best| finite_ratio(compared_on[selected], compared_on[best]))
            .transpose()
    };
    let both = direction(odd, even)?.zip(direction(even, odd)?);
    Ok(both.map(|(a, b)| a.sqrt() * b.sqrt()))
}

/// Indices by value; equal ones, the two zeros among them, keep their order.
fn ascending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|i, j| normal_zero(values[*i]).total_cmp(&normal_zero(values[*j])));
    order
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
    fn top_k_by_hand() {
        // The model's order: case 2, 0, 3, 1; the measured one: 3, 1, 0, 2.
        let (predicted, measured) = ([3.0, 9.0, 1.0, 3.0], [6.0, 5.0, 8.0, 4.0]);
        let found = top_k(&predicted, &measured, &[1, 0, 2, 3, 4, 5]).unwrap();
        let expected = [(1, 2.0, 0.0), (2, 1.5, 0.0), (3, 1.0, 2.0 / 3.0), (4, 1.0, 1.0)];
        assert_eq!(found.len(), 4);
        for (found, (k, regret, hit_rate)) in found.iter().zip(expected) {
            assert_eq!((found.k, found.regret), (k, regret));
            assert!((found.hit_rate - hit_rate).abs() < 1e-15, "at {k}");
        }
        assert_eq!(top_k(&[], &[], &[1]), Ok(Vec::new()));
        assert_eq!(top_k(&[1.0], &[0.0], &[1]), Err(SampleError::NotPositive { index: 0 }));
    }

    #[test]
    fn cross_fitting_by_hand() {
        // Chosen: case 0. Odd rounds call case 1 the best, which takes 4 on even ones: 5 / 4; even rounds call case 2
        // the best, which takes 5 on odd ones: 4 / 5.
        let (odd, even) = ([4.0, 2.0, 5.0], [5.0, 4.0, 3.0]);
        let found = cross_fitted_regret(&[1.0, 2.0, 3.0], &odd, &even).unwrap().unwrap();
        assert!((found - 1.0).abs() < 1e-15);
        // The plain one on all rounds would be at least 4.5 / 3.
        assert_eq!(cross_fitted_regret(&[2.0, 1.0, 3.0], &odd, &odd), Ok(Some(1.0)));
        assert_eq!(cross_fitted_regret(&[], &[], &[]), Ok(None));
        let wrong = cross_fitted_regret(&[1.0], &[1.0], &[0.0]);
        assert_eq!(wrong, Err(SampleError::NotPositive { index: 0 }));
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
