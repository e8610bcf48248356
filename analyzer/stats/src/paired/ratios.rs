//! Paired ratios of one case.

use crate::interval::{Level, MedianInterval, interval_of_sorted};
use crate::order::median;

/// Why pairs can't be used. Indices count from zero in the order given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PairError {
    /// There are no pairs.
    #[error("no pairs of case and control")]
    Empty,
    /// The case's value is not a positive finite number.
    #[error("pair {index}: the case's value is not a positive finite number")]
    Case {
        /// Position of the pair.
        index: usize,
    },
    /// The control's value is not a positive finite number.
    #[error("pair {index}: the control's value is not a positive finite number")]
    Control {
        /// Position of the pair.
        index: usize,
    },
    /// Both are positive and finite, but their ratio is zero or infinite in double precision.
    #[error("pair {index}: the ratio of case and control is out of range")]
    Ratio {
        /// Position of the pair.
        index: usize,
    },
}

/// The ratios case / control of pairs measured side by side; below 1 the case is faster. Never empty, every ratio is
/// positive and finite.
///
/// The ratio of neighbours in time cancels what disturbs both alike (clock, temperature, other guests); its median
/// ignores what hits one call only.
#[derive(Debug, Clone, PartialEq)]
pub struct PairedRatios {
    ratios: Vec<f64>,
    median: f64,
}

impl PairedRatios {
    /// Ratios of pairs `(case, control)` of times or other positive costs in one unit. O(n).
    ///
    /// Errors: no pairs, or the first value that is not positive and finite.
    pub fn new(pairs: &[(f64, f64)]) -> Result<Self, PairError> {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let ratio = |(index, &(case, control)): (usize, &(f64, f64))| match (positive(case), positive(control)) {
            (false, _) => Err(PairError::Case { index }),
            (true, false) => Err(PairError::Control { index }),
            (true, true) => Some(case / control)
                .filter(|r| positive(*r))
                .ok_or(PairError::Ratio { index }),
        };
        let ratios = pairs
            .iter()
            .enumerate()
            .map(ratio)
            .collect::<Result<Vec<f64>, PairError>>()?;
        let median = median(&ratios).ok_or(PairError::Empty)?;
        Ok(Self { ratios, median })
    }

    /// Number of pairs, at least 1.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.ratios.len()
    }

    /// The ratios in the order of the pairs.
    #[must_use]
    pub fn ratios(&self) -> &[f64] {
        &self.ratios
    }

    /// Median ratio case / control.
    #[must_use]
    pub fn median(&self) -> f64 {
        self.median
    }

    /// The median ratio with its interval by order statistics; see
    /// [`median_interval`](crate::interval::median_interval). The pairs are taken as
    /// independent: where pairs of one round resemble each other, build this from one pair per round. O(n log n).
    #[must_use]
    pub fn interval(&self, level: Level) -> MedianInterval {
        let mut sorted = self.ratios.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        interval_of_sorted(&sorted, self.median, level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_by_hand() {
        let ratios = PairedRatios::new(&[(2.0, 4.0), (3.0, 4.0), (8.0, 4.0), (4.0, 4.0)]).unwrap();
        assert_eq!(ratios.ratios(), [0.5, 0.75, 2.0, 1.0]);
        assert_eq!(ratios.pairs(), 4);
        assert!((ratios.median() - 0.875).abs() < 1e-15);
        let interval = ratios.interval(Level::P95);
        assert_eq!((interval.point, interval.lower, interval.upper), (0.875, 0.5, 2.0));
        assert!(!interval.reaches_level());
    }

    #[test]
    fn bad_pairs_are_named() {
        assert_eq!(PairedRatios::new(&[]), Err(PairError::Empty));
        assert_eq!(
            PairedRatios::new(&[(1.0, 1.0), (0.0, 1.0)]),
            Err(PairError::Case { index: 1 })
        );
        assert_eq!(PairedRatios::new(&[(f64::NAN, 1.0)]), Err(PairError::Case { index: 0 }));
        assert_eq!(PairedRatios::new(&[(1.0, -1.0)]), Err(PairError::Control { index: 0 }));
        assert_eq!(
            PairedRatios::new(&[(1.0, f64::INFINITY)]),
            Err(PairError::Control { index: 0 })
        );
        assert_eq!(
            PairedRatios::new(&[(f64::MAX, f64::MIN_POSITIVE)]),
            Err(PairError::Ratio { index: 0 })
        );
        assert_eq!(
            PairedRatios::new(&[(f64::MIN_POSITIVE, f64::MAX)]),
            Err(PairError::Ratio { index: 0 })
        );
    }
}
