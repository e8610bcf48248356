//! Confidence levels.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

/// A confidence level, strictly between 0 and 1; 0.95 is the usual one. On disk it is the plain number.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Level(f64);

/// A number that is no confidence level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a confidence level lies strictly between 0 and 1")]
pub struct LevelError;

impl Level {
    /// 95 percent.
    pub const P95: Self = Self(0.95);

    /// The level `value`, as a share of 1.
    pub fn new(value: f64) -> Result<Self, LevelError> {
        // A NaN fails both comparisons.
        if value > 0.0 && value < 1.0 {
            Ok(Self(value))
        } else {
            Err(LevelError)
        }
    }

    /// So many standard deviations of a normal distribution lie on either side of its mean: 1.96 at 95 %.
    pub(crate) fn normal_quantile(self) -> f64 {
        // The only error is a deviation that is not positive.
        Normal::new(0.0, 1.0).map_or(f64::NAN, |normal| normal.inverse_cdf(f64::midpoint(1.0, self.0)))
    }

    /// The level as a share of 1.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Level {
    type Error = LevelError;

    fn try_from(value: f64) -> Result<Self, LevelError> {
        Self::new(value)
    }
}

impl From<Level> for f64 {
    fn from(level: Level) -> Self {
        level.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_shares_of_one() {
        assert_eq!(Level::new(0.95), Ok(Level::P95));
        for bad in [0.0, 1.0, -0.5, 95.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Level::new(bad), Err(LevelError), "{bad}");
        }
    }
}
