//! `[measure]`: how often and how long.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize};

use super::values::{at_least_one, at_least_zero, not_negative};

/// A limit of time in milliseconds; written `500ms`, `60s`, `10m`, `2h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct TimeLimit {
    /// The limit in milliseconds, at least 1.
    pub milliseconds: u64,
}

impl TimeLimit {
    /// Reads `500ms`, `60s`, `10m` or `2h`; the error says what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("expected a time in whole ms, s, m or h, such as \"500ms\" or \"10m\", found \"{text}\"");
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        if number.is_empty() {
            return Err(wrong());
        }
        let scale: u64 = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return Err(wrong()),
        };
        // Only of digits: one that can't be read is too large.
        match number.parse().ok().and_then(|number: u64| number.checked_mul(scale)) {
            Some(0) => Err(format!("expected a time above zero, found \"{text}\"")),
            Some(milliseconds) => Ok(Self { milliseconds }),
            None => Err(format!("\"{text}\" is too long")),
        }
    }

    /// As the standard library has it.
    #[must_use]
    pub fn duration(self) -> std::time::Duration {
        std::time::Duration::from_millis(self.milliseconds)
    }
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.milliseconds {
            n if n % 3_600_000 == 0 => write!(f, "{}h", n / 3_600_000),
            n if n % 60_000 == 0 => write!(f, "{}m", n / 60_000),
            n if n % 1_000 == 0 => write!(f, "{}s", n / 1_000),
            n => write!(f, "{n}ms"),
        }
    }
}

impl<'de> Deserialize<'de> for TimeLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for TimeLimit {
    fn schema_name() -> Cow<'static, str> {
        "TimeLimit".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[0-9]+(ms|s|m|h)$" })
    }
}

/// `[measure]`: how often each case is measured, and how long anything may take.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Measure {
    /// Rounds for every case, each with the control beside it. Default 4.
    #[serde(deserialize_with = "at_least_one")]
    #[schemars(range(min = 1))]
    pub rounds: u32,
    /// Calls of case and control, in turn, in one round. Default 1.
    #[serde(deserialize_with = "at_least_one")]
    #[schemars(range(min = 1))]
    pub pairs: u32,
    /// Further pairs at most for cases whose interval still reaches the best. Default 24; 0 measures no further.
    #[serde(deserialize_with = "at_least_zero")]
    pub finalists: u32,
    /// Fresh builds of winner and control, without any cache, measured again at the end: the headline gain comes from
    /// them. Default 0.
    #[serde(deserialize_with = "at_least_zero")]
    pub confirm: u32,
    /// Cases whose values differ by no more than this, in the objective's unit (nanoseconds, cycles), are tied where
    /// estimates are judged. Default: what the measured noise says.
    #[serde(deserialize_with = "not_negative")]
    #[schemars(with = "Option<f64>", range(min = 0))]
    pub tie: Option<f64>,
    /// Seed of inputs and of the order of cases in a round. Default 1.
    #[serde(deserialize_with = "at_least_zero")]
    pub seed: u64,
    /// Longest time for one build. Default "120s".
    pub build_timeout: TimeLimit,
    /// Longest time for one run; waiting for the device does not count. Default "60s".
    pub run_timeout: TimeLimit,
}

impl Default for Measure {
    fn default() -> Self {
        Self {
            rounds: 4,
            pairs: 1,
            finalists: 24,
            confirm: 0,
            tie: None,
            seed: 1,
            build_timeout: TimeLimit { milliseconds: 120_000 },
            run_timeout: TimeLimit { milliseconds: 60_000 },
        }
    }
}
