//! What every format is read into: configurations with what was measured of them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use planner::{Attributes, Value};
use target_api::Estimate;

/// How a configuration failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Failed {
    /// It can't be: a constraint, a limit.
    Rejected,
    /// It could not be built.
    BuildFailed,
    /// It ended without a result.
    RunFailed,
    /// It took too long.
    TimedOut,
    /// Its result was wrong.
    Incorrect,
}

/// What is known of a configuration.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// It was measured, and right.
    Measured {
        /// `(round, value)` in the objective's unit, by round, then in order of time; positive and finite, at least one.
        samples: Vec<(u32, f64)>,
    },
    /// It failed.
    Failed {
        /// How.
        how: Failed,
        /// Why, in the file's words.
        reason: String,
    },
}

/// One configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The workload; `None` for the table's own.
    pub workload: Option<String>,
    /// Its name; `None` for one made of its values.
    pub name: Option<String>,
    /// Group in plots and tables.
    pub family: Option<String>,
    /// What was tried: names and values, in the file's order.
    pub configuration: Attributes,
    /// What came of it.
    pub found: Found,
    /// Other numbers, with the unit in the name where it has one.
    pub extra: BTreeMap<String, f64>,
    /// Predictions.
    pub estimates: Vec<Estimate>,
    /// When it was measured, the last time.
    pub at: Option<Timestamp>,
    /// When each round was measured, where that is known.
    pub times: BTreeMap<u32, Timestamp>,
}

/// A file of configurations.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What was computed, where no row says otherwise.
    pub workload: String,
    /// What is compared.
    pub objective: String,
    /// Whether larger values of it are better.
    pub larger_is_better: bool,
    /// The unit of every sample.
    pub unit: String,
    /// What the file says of the machine and of everything else: `device` -> `NVIDIA A100`.
    pub facts: BTreeMap<String, String>,
    /// Configurations, in the file's order.
    pub rows: Vec<Row>,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Contents {
    /// Results.
    Table(Table),
    /// A space that is to be explored: the text of a sweep definition, in TOML.
    Definition(String),
}

/// What files write as the unit of numbers that have none.
pub(crate) const NO_UNIT: &str = "1";

impl Table {
    /// The objective with its unit between two words: `time in ms` or `time (ms)`; its name alone where it has no unit.
    #[must_use]
    pub fn described(&self, before: &str, after: &str) -> String {
        if self.unit == NO_UNIT {
            return self.objective.clone();
        }
        format!("{}{before}{}{after}", self.objective, self.unit)
    }
}

impl Row {
    /// A row without names, predictions and time.
    pub(crate) fn new(configuration: Attributes, found: Found) -> Self {
        Self {
            workload: None,
            name: None,
            family: None,
            configuration,
            found,
            extra: BTreeMap::new(),
            estimates: Vec::new(),
            at: None,
            times: BTreeMap::new(),
        }
    }
}

/// The values of a configuration, joined with commas: the key that Kernel Tuner's files have, too.
pub(crate) fn key(configuration: &Attributes) -> String {
    let values = configuration.iter().map(|(_, value)| value.to_string());
    values.collect::<Vec<String>>().join(",")
}

/// `name=value` for each attribute: the canonical text of an imported plan.
pub(crate) fn text(configuration: &Attributes) -> String {
    let each = configuration.iter().map(|(name, value)| match value {
        Value::Text(word) => format!("{name}={word:?}"),
        Value::Float(x) => format!("{name}={x:?}"),
        other => format!("{name}={other}"),
    });
    each.collect::<Vec<String>>().join(" ")
}
