//! Ranking by how far a number lies above another one.

use crate::error::ImportError;
use crate::source::Source;
use crate::table::{Found, Table};

/// Distances whose range is a smaller share of them than this are all the same: ratios agree in six digits.
const SAME: f64 = 1e-6;
/// Below this share ratios say little, which is told.
const LITTLE: f64 = 0.01;

/// Turns the samples of `table` into their distances above `above`.
///
/// Errors: a point so far below the samples that nothing of their differences is left, or next to nothing.
pub(crate) fn rank(table: &mut Table, above: f64, source: &Source, notes: &mut Vec<String>) -> Result<(), ImportError> {
    let samples = || {
        table.rows.iter().flat_map(|row| match &row.found {
            Found::Measured { samples } => samples.as_slice(),
            Found::Failed { .. } => &[],
        })
    };
    let (least, most) = samples().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), (_, x)| {
        (least.min(*x), most.max(*x))
    });
    let (range, distance) = (most - least, least - above);
    // Where X lies among the numbers or at zero, it is of their magnitude.
    if range > 0.0 && above.abs() > least.abs().max(most.abs()) {
        if range < SAME * distance {
            return Err(ImportError::TooFarAbove {
                file: source.name.clone(),
                above,
                least,
                most,
            });
        }
        if range < LITTLE * distance {
            notes.push(format!(
                "`--above {above}` lies far below the numbers, from {least} to {most}: no ratio of their distances is above \
                 {:.4}; one of their magnitude, such as {}, tells them further apart",
                (most - above) / distance,
                of_their_magnitude(least, most)
            ));
        }
    }
    for row in &mut table.rows {
        if let Found::Measured { samples } = &mut row.found {
            for (_, x) in samples {
                *x -= above;
            }
        }
    }
    Ok(())
}

/// A number as far below the least as that is below the most, written with two digits.
pub(crate) fn of_their_magnitude(least: f64, most: f64) -> String {
    let wanted = least - (most - least);
    let step = 10_f64.powf((most - least).log10().floor() - 1.0);
    let rounded = (wanted / step).floor() * step;
    // As many digits as the step has, not those that the division left.
    let written = format!("{rounded:.1e}").parse::<f64>().ok().filter(|x| *x < least);
    written.unwrap_or(rounded).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_lies_below_all() {
        for (least, most) in [
            (-1.315, 0.42),
            (0.0, 1.0),
            (-3e-9, 5e-9),
            (1e6, 1.000_001e6),
            (-2.0, -1.0),
        ] {
            let written = of_their_magnitude(least, most);
            let x: f64 = written.parse().unwrap();
            let distance = least - x;
            assert!(
                distance > 0.0 && distance < 10.0 * (most - least),
                "{least} {most}: {written}"
            );
        }
        assert_eq!(of_their_magnitude(-1.315, 0.42), "-3.1");
    }
}
