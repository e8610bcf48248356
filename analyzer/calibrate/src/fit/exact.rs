//! Whether coefficients are exact.

use super::rows::Rows;

/// Coefficients this near to a whole number are tried as that number.
const NEAR: f64 = 1e-5;
/// What two numbers that are written with 15 digits may differ by.
const ROUNDING: f64 = 1e-12;

/// The coefficients that every sample agrees with exactly, if there are any near `found`: whole ones where they are near.
/// Not the medians only: a key with two values agrees with nothing exactly. As many geometries as terms agree with
/// something whatever they are, so that it takes one more.
pub(super) fn exact(rows: &Rows<'_>, found: &[f64]) -> Option<Vec<f64>> {
    let snapped: Vec<f64> = found
        .iter()
        .map(|c| {
            if (c - c.round()).abs() <= NEAR * c.abs().max(1.0) {
                c.round()
            } else {
                *c
            }
        })
        .collect();
    let agree = rows.keys.iter().enumerate().all(|(row, measured)| {
        let predicted = rows.design.predict(row, &snapped);
        let near = |value: f64| (predicted - value).abs() <= ROUNDING * value.abs().max(predicted.abs());
        near(measured.min) && near(measured.max)
    });
    // What takes no arguments has one geometry only.
    let alone = rows.arguments.iter().all(Vec::is_empty);
    (agree && !rows.keys.is_empty() && (alone || rows.geometries() > found.len())).then_some(snapped)
}
