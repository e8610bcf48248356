//! Coefficients as numbers that stay whole where they are.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Largest magnitude up to which every whole number is an `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A finite number; whole ones are written without a point.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Number(f64);

impl Number {
    /// The number; `None` when it is not finite.
    #[must_use]
    pub fn new(value: f64) -> Option<Self> {
        // Adding zero makes a negative zero positive.
        value.is_finite().then_some(Self(value + 0.0))
    }

    /// Its value.
    #[must_use]
    pub fn value(self) -> f64 {
        self.0
    }

    /// Its value, if it is whole (and at most 2^53).
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole and at most 2^53: the conversion is exact"
    )]
    pub fn whole(self) -> Option<i64> {
        (self.0.fract() == 0.0 && self.0.abs() <= EXACT).then_some(self.0 as i64)
    }
}

// Finite: every number equals itself.
impl Eq for Number {}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.whole() {
            Some(whole) => write!(f, "{whole}"),
            None => write!(f, "{:?}", self.0),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.whole() {
            Some(whole) => serializer.serialize_i64(whole),
            None => serializer.serialize_f64(self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        Self::new(value).ok_or_else(|| serde::de::Error::custom(format!("expected a finite number, found {value}")))
    }
}
