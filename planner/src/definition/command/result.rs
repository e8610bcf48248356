//! `[command.result]`: what is read from the output of a case.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::ordered::Ordered;

/// Which values of the objective are better.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Smaller ones.
    #[default]
    Lower,
    /// Larger ones; the inverse is what is compared.
    Higher,
}

/// When a number is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// The build prints it: an estimate.
    Build,
    /// The run gives it.
    #[default]
    Run,
}

/// How the values that a pointer with `*` finds become one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reduce {
    /// Added up.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The first, in the order of the file.
    First,
}

/// Where a number comes from: `regex`, or `pointer` with `json` or `file`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as `{ regex = 'cycles=([0-9]+)', unit = \"cycles\" }`"
)]
pub struct Number {
    /// A regular expression with one group; its first match in the output counts (`^` and `$` are ends of lines).
    pub regex: Option<String>,
    /// Only the first line of the output that contains this text is searched by `regex`.
    pub line: Option<String>,
    /// The report that `pointer` looks into.
    pub json: Option<String>,
    /// The JSON file in the case's folder that `pointer` looks into.
    pub file: Option<String>,
    /// A JSON pointer (`/a/b/0`); `*` stands for every element or member, and then `reduce` says what becomes of them.
    pub pointer: Option<String>,
    /// What becomes of several values.
    pub reduce: Option<Reduce>,
    /// The unit: `cycles`, `ns`, `j`.
    pub unit: Option<String>,
    /// When it is known. Default "run".
    #[serde(default)]
    pub moment: When,
}

/// A regular expression over the output.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as `{ regex = 'PASS' }`")]
pub struct Pattern {
    /// The expression; `^` and `$` are ends of lines.
    pub regex: String,
}

/// `[command.result]`: patterns, the objective, and numbers under any other name.
#[derive(Debug, Clone, Default, PartialEq, Eq, JsonSchema)]
pub struct ResultTable {
    /// `{ regex = '...' }`, seen in the output: the result is right (if there is a check: unless that says no).
    pub pass: Option<Pattern>,
    /// `{ regex = '...' }`, seen but not passed: the device computed something wrong, and the sweep stops.
    pub loaded: Option<Pattern>,
    /// `{ regex = '...' }`, seen in a build or run that failed: the target says no, which is a result. Its group, if it
    /// has one, is why.
    pub rejected: Option<Pattern>,
    /// Name of the number that decides.
    #[schemars(required)]
    pub objective: Option<String>,
    /// Which values of it are better: "lower" (default) or "higher", of which the inverse is compared.
    #[schemars(default)]
    pub direction: Direction,
    /// Everything else that is read, in the order of the file.
    #[schemars(flatten)]
    pub numbers: Ordered<Number>,
}

impl<'de> Deserialize<'de> for ResultTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = ResultTable;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table with `objective`, `pass`, and numbers such as `cycles = { regex = '...' }`")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ResultTable, A::Error> {
                let mut table = ResultTable::default();
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "pass" => table.pass = Some(map.next_value()?),
                        "loaded" => table.loaded = Some(map.next_value()?),
                        "rejected" => table.rejected = Some(map.next_value()?),
                        "objective" => table.objective = Some(map.next_value()?),
                        "direction" => table.direction = map.next_value()?,
                        _ => table.numbers.0.push((key, map.next_value()?)),
                    }
                }
                Ok(table)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}
