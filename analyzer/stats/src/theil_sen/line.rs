//! The Theil-Sen line.

use serde::{Deserialize, Serialize};

use super::pairs::median_slope_of_all_pairs;
use super::select::median_slope_by_selection;
use crate::error::{SampleError, all_finite, same_length};
use crate::order::median_in_place;

/// Up to so many points every slope is kept: two million, 16 MB.
const ALL_PAIRS: usize = 2_000;

/// The line `y = slope x + intercept`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Units of y per unit of x.
    pub slope: f64,
    /// Units of y.
    pub intercept: f64,
}

/// Why there is no line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoLine {
    /// The points can't be used; an index points into x, or into y if all of x is finite.
    #[error(transparent)]
    Samples(#[from] SampleError),
    /// A line through fewer than 3 points says nothing about its fit.
    #[error("{points} points are too few for a line, at least 3 are needed")]
    TooFewPoints {
        /// Number of points.
        points: usize,
    },
    /// More points than the selection can count the pairs of.
    #[error("{points} points are too many for a line")]
    TooManyPoints {
        /// Number of points.
        points: usize,
    },
    /// All x are equal.
    #[error("all points have the same x")]
    Vertical,
    /// Slope or intercept leave the range of double precision.
    #[error("slope or intercept are out of range")]
    OutOfRange,
}

/// The Theil-Sen line (Theil 1950; with equal x left out, Sen 1968): the slope is the median of the slopes of all pairs
/// of points with distinct x, the intercept the median of `y - slope x` (the form of Conover 1980, which halves the
/// residuals). Up to 29 % of the points may be arbitrarily wrong.
///
/// Every pair counts. Up to 2,000 points all slopes are kept, O(n^2); beyond, the median slope is selected without
/// listing them, by randomised narrowing (after Matousek 1991, with a fixed seed: the same points give the same bits),
/// O(n log n) expected time and memory for about twenty million slopes. Where so many slopes are equal that narrowing
/// can't part them, it is within 1e-9 of the median, relative to it.
///
/// Undefined, a typed reason: fewer than 3 points, all x equal, a value that is not finite.
pub fn theil_sen(x: &[f64], y: &[f64]) -> Result<Line, NoLine> {
    same_length(x.len(), y.len())?;
    all_finite(x)?;
    all_finite(y)?;
    let points = x.len();
    if points < 3 {
        return Err(NoLine::TooFewPoints { points });
    }
    if u32::try_from(points).is_err() {
        return Err(NoLine::TooManyPoints { points });
    }
    let slope = if points <= ALL_PAIRS {
        median_slope_of_all_pairs(x, y)?
    } else {
        median_slope_by_selection(x, y)?
    };
    let mut rests: Vec<f64> = x.iter().zip(y).map(|(x, y)| y - slope * x).collect();
    let intercept = median_in_place(&mut rests).ok_or(NoLine::TooFewPoints { points })?;
    if slope.is_finite() && intercept.is_finite() {
        Ok(Line { slope, intercept })
    } else {
        Err(NoLine::OutOfRange)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_line_with_one_outlier() {
        let x = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let y = [1.0, 3.0, 5.0, 7.0, 900.0, 11.0, 13.0];
        assert_eq!(
            theil_sen(&x, &y),
            Ok(Line {
                slope: 2.0,
                intercept: 1.0
            })
        );
    }

    #[test]
    fn worked_by_hand_with_equal_x() {
        // Slopes of the pairs with distinct x: 02: 2, 03: 1, 12: 0, 13: 0, 23: 0; median 0. Rests 0, 2, 2, 2.
        let line = theil_sen(&[0.0, 0.0, 1.0, 2.0], &[0.0, 2.0, 2.0, 2.0]).unwrap();
        assert_eq!(
            line,
            Line {
                slope: 0.0,
                intercept: 2.0
            }
        );
    }

    #[test]
    fn agrees_with_scipy_on_ties() {
        // scipy 1.17.1, `scipy.stats.theilslopes(y, x)` for the slope; intercept `np.median(y - slope * x)`.
        let x = [12.5, 11.0, 13.0, 11.0, 19.5, 12.5, 12.5, 8.0, 15.0, 17.25, 8.0, 30.0];
        let y = [3.0, 2.0, 4.0, 3.0, 7.0, 3.0, 5.0, 1.0, 4.0, 9.0, 2.0, 6.0];
        let line = theil_sen(&x, &y).unwrap();
        assert!((line.slope - 0.444_444_444_444_444_4).abs() < 1e-12);
        assert!((line.intercept + 2.222_222_222_222_222).abs() < 1e-12);
    }

    #[test]
    fn undefined() {
        assert_eq!(
            theil_sen(&[1.0, 2.0], &[1.0, 2.0]),
            Err(NoLine::TooFewPoints { points: 2 })
        );
        assert_eq!(theil_sen(&[0.0, -0.0, 0.0], &[1.0, 2.0, 3.0]), Err(NoLine::Vertical));
        assert_eq!(
            theil_sen(&[1.0, 2.0, 3.0], &[1.0, f64::NAN, 3.0]),
            Err(SampleError::NotFinite { index: 1 }.into())
        );
        assert_eq!(
            theil_sen(&[1.0], &[]),
            Err(SampleError::LengthsDiffer { left: 1, right: 0 }.into())
        );
        let steep = theil_sen(&[0.0, 1e-300, 2e-300], &[0.0, 1e300, 2e300]);
        assert_eq!(steep, Err(NoLine::OutOfRange));
        let wide = theil_sen(&[f64::MIN, f64::MAX, 0.0], &[f64::MIN, f64::MAX, 0.0]);
        assert_eq!(wide, Err(NoLine::OutOfRange));
        let many = vec![1.0; ALL_PAIRS + 1];
        assert_eq!(theil_sen(&many, &many), Err(NoLine::Vertical));
    }
}
