//! Ranking by how far a number lies above another one.

use crate::error::ImportError;
use crate::registry::Format;
use crate::source::{Options, Source};
use crate::table::{Contents, Found, NO_UNIT, Table};

/// Distances whose range is a smaller share of them than this are all the same: ratios agree in six digits.
const SAME: f64 = 1e-6;
/// Below this share ratios say little, which is told.
const LITTLE: f64 = 0.01;

/// The least and the largest sample.
fn ends(table: &Table) -> (f64, f64) {
    let samples = table.rows.iter().flat_map(|row| match &row.found {
        Found::Measured { samples } => samples.as_slice(),
        Found::Failed { .. } => &[],
    });
    samples.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), (_, x)| {
        (least.min(*x), most.max(*x))
    })
}

/// Why `above` does not lie below all numbers of `source`, of which some were found that do not lie above it: by the least.
/// `None` where the file can't be read whole.
pub(crate) fn least(format: &Format, source: &Source, options: &Options, above: f64) -> Option<ImportError> {
    let reading = |above| {
        let options = Options {
            above: Some(above),
            ..options.clone()
        };
        (format.read)(source, &options, &mut Vec::new())
    };
    let Ok(Contents::Table(table)) = reading(f64::MIN) else {
        return None;
    };
    let (least, most) = ends(&table);
    match reading(least) {
        Err(ImportError::NotBelowAll { file, place, least, .. }) => Some(ImportError::NotBelowAll {
            file,
            above,
            place,
            least,
            instead: (least < most).then(|| of_their_magnitude(least, most)),
        }),
        _ => None,
    }
}

/// Turns the samples of `table` into their distances above `above`; its unit says so.
///
/// Errors: a point so far below the samples that nothing of their differences is left, or next to nothing.
pub(crate) fn rank(table: &mut Table, above: f64, source: &Source, notes: &mut Vec<String>) -> Result<(), ImportError> {
    let (least, most) = ends(table);
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
    if table.unit != NO_UNIT {
        table.unit = format!("{} above {above}", table.unit);
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
