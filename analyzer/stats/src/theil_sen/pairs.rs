//! The median slope from a list of all slopes.

use super::NoLine;
use crate::order::median_in_place;

/// The slope of two points with distinct x; infinite slopes still have an order, NaN comes from two infinite
/// differences and has none.
pub(super) fn slope(x: &[f64], y: &[f64], i: usize, j: usize) -> Result<f64, NoLine> {
    let slope = (y[j] - y[i]) / (x[j] - x[i]);
    if slope.is_nan() {
        Err(NoLine::OutOfRange)
    } else {
        Ok(slope)
    }
}

/// The median slope of finite points, O(n^2) time and memory.
pub(super) fn median_slope_of_all_pairs(x: &[f64], y: &[f64]) -> Result<f64, NoLine> {
    let points = x.len();
    let mut slopes = Vec::with_capacity(points * points.saturating_sub(1) / 2);
    for j in 1..points {
        for i in 0..j {
            // The two zeros are one x.
            if (x[j] + 0.0).total_cmp(&(x[i] + 0.0)).is_ne() {
                slopes.push(slope(x, y, i, j)?);
            }
        }
    }
    median_in_place(&mut slopes).ok_or(NoLine::Vertical)
}
