//! Errors on what was left out of the fit.

use stats::linear::{Design, Sign, robust};
use stats::order::median;

use super::rows::Rows;

/// Most fits that are made; more geometries are left out several at a time.
const MOST: usize = 64;

/// Median absolute relative error of keys, each predicted by a fit without any key of its geometry: the fixed part of each
/// row is subtracted by the caller. `None` where too few are left to fit on.
pub(super) fn left_out(rows: &Rows<'_>, design: &Design, fixed: &[f64], signs: &[Sign]) -> Option<f64> {
    let geometries = rows.geometries();
    let folds = geometries.min(MOST);
    if folds < 2 || geometries <= design.terms() {
        return None;
    }
    let mut errors = Vec::new();
    for fold in 0..folds {
        let (out, kept): (Vec<usize>, Vec<usize>) =
            (0..design.rows()).partition(|row| rows.geometry[*row] % folds == fold);
        let part = design.select(&kept);
        if part.rows() < design.terms() {
            continue;
        }
        let fit = robust(&part, signs);
        for row in out {
            let predicted = design.predict(row, &fit.coefficients) + fixed[row];
            let measured = rows.design.measured()[row];
            errors.push((predicted / measured - 1.0).abs());
        }
    }
    median(&errors)
}
