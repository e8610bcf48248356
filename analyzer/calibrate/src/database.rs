//! What was measured of kernels, as one file per target.

use std::collections::BTreeMap;

use planner::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use target_api::Clock;

use crate::error::CalibrateError;

/// What tells calls apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// The kernel.
    pub kernel: String,
    /// Its scalar arguments; empty where the profile did not tell them, or the kernel has none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, Value>,
    /// Extents without padding.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub logical: BTreeMap<String, u64>,
    /// Extents with padding.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub physical: BTreeMap<String, u64>,
    /// Which build of the kernels was measured: a cohort's frozen sources, or what whoever imported it said.
    pub build: String,
}

impl Key {
    /// The value of an argument: a scalar argument, else a physical extent, else a logical one.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<Value> {
        let extent = |n: &u64| Value::Integer(i64::try_from(*n).unwrap_or(i64::MAX));
        let own = self.arguments.get(name).cloned();
        own.or_else(|| self.physical.get(name).map(extent))
            .or_else(|| self.logical.get(name).map(extent))
    }

    /// Whether only extents without padding are known: they undercount the waves of a kernel that pads.
    #[must_use]
    pub fn is_logical_only(&self) -> bool {
        self.arguments.is_empty() && self.physical.is_empty() && !self.logical.is_empty()
    }
}

/// Values of one call of one key, in the clock's unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// What was called.
    #[serde(flatten)]
    pub key: Key,
    /// How many samples there are.
    pub samples: u64,
    /// The smallest.
    pub min: f64,
    /// Their median (the lower one of two).
    pub median: f64,
    /// 95 % of them are no larger.
    pub p95: f64,
    /// The largest.
    pub max: f64,
    /// Distinct values, ascending, each with how often it was seen: what the figures above are made of.
    pub values: Vec<(f64, u64)>,
}

impl Measured {
    /// From distinct values, ascending; `None` without any.
    #[must_use]
    pub(crate) fn new(key: Key, values: Vec<(f64, u64)>) -> Option<Self> {
        let samples = values.iter().map(|(_, times)| times).sum();
        let at = |share: f64| {
            // The smallest value that at least this share of the samples does not exceed.
            let mut seen = 0;
            let found = values.iter().find(|(_, times)| {
                seen += times;
                seen as f64 >= share * samples as f64
            });
            found.or(values.last()).map(|(value, _)| *value)
        };
        Some(Self {
            samples,
            min: values.first()?.0,
            median: at(0.5)?,
            p95: at(0.95)?,
            max: values.last()?.0,
            key,
            values,
        })
    }
}

/// Where samples come from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SampleSource {
    /// The cohort's folder or the file, as it was given.
    pub path: String,
    /// SHA-256: of a cohort its manifest's, of a file its content's.
    pub sha256: String,
    /// Which build of the kernels it measured.
    pub build: String,
    /// How its figures came about: `measured`, `simulated`, `published`.
    pub label: String,
}

/// Kernel samples of one target. Databases of one target and clock can be [merged](Database::merge).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// Version of the format: [`Database::FORMAT`].
    pub format: u32,
    /// The target.
    pub target: String,
    /// What counted all of it.
    pub clock: Clock,
    /// Where samples come from, sorted.
    pub sources: Vec<SampleSource>,
    /// The machine's class, where it is known: name -> values of all sources, `; ` between them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machine: BTreeMap<String, String>,
    /// What was left out: why -> how many samples.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub excluded: BTreeMap<String, u64>,
    /// What was measured, sorted by key.
    pub keys: Vec<Measured>,
}

impl Database {
    /// The format that this version writes, and the only one it reads.
    pub const FORMAT: u32 = 1;

    /// A database without samples.
    #[must_use]
    pub fn new(target: &str, clock: Clock) -> Self {
        Self {
            format: Self::FORMAT,
            target: target.to_owned(),
            clock,
            sources: Vec::new(),
            machine: BTreeMap::new(),
            excluded: BTreeMap::new(),
            keys: Vec::new(),
        }
    }

    /// Reads a database. `path` is only shown in messages.
    pub fn parse(path: &str, text: &str) -> Result<Self, CalibrateError> {
        let wrong = |message: String| CalibrateError::Database {
            path: path.to_owned(),
            message,
        };
        let database: Self = serde_json::from_str(text).map_err(|error| wrong(error.to_string()))?;
        if database.format != Self::FORMAT {
            let message = format!("its format is {}, expected {}", database.format, Self::FORMAT);
            return Err(wrong(message));
        }
        // What follows from the values is not believed, but made again.
        let mut again = Self {
            keys: Vec::new(),
            ..database.clone()
        };
        for measured in database.keys {
            for (value, times) in &measured.values {
                if !(value.is_finite() && *value > 0.0 && *times > 0) {
                    let message = format!(
                        "`{}` has the value {value}: expected a positive number",
                        measured.key.kernel
                    );
                    return Err(wrong(message));
                }
            }
            again.add(measured.key, &measured.values);
        }
        Ok(again)
    }

    /// Its JSON text.
    pub fn text(&self) -> Result<String, CalibrateError> {
        serde_json::to_string_pretty(self).map_err(|error| CalibrateError::Database {
            path: self.target.clone(),
            message: error.to_string(),
        })
    }

    /// The JSON schema of the file.
    #[must_use]
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Self).to_value()
    }

    /// Adds samples of one key: values with how often each was seen.
    pub(crate) fn add(&mut self, key: Key, values: &[(f64, u64)]) {
        let place = self.keys.binary_search_by(|measured| measured.key.cmp(&key));
        let mut all = match place {
            Ok(at) => std::mem::take(&mut self.keys[at].values),
            Err(_) => Vec::new(),
        };
        for (value, times) in values {
            match all.binary_search_by(|(other, _)| other.total_cmp(value)) {
                Ok(at) => all[at].1 += times,
                Err(at) => all.insert(at, (*value, *times)),
            }
        }
        if let Some(measured) = Measured::new(key, all) {
            match place {
                Ok(at) => self.keys[at] = measured,
                Err(at) => self.keys.insert(at, measured),
            }
        }
    }

    /// Counts samples that were left out.
    pub(crate) fn exclude(&mut self, why: &str, times: u64) {
        *self.excluded.entry(why.to_owned()).or_default() += times;
    }

    /// Whether samples with this clock may be added; `source` is whose they are.
    pub(crate) fn same_clock(&self, source: &str, clock: &Clock) -> Result<(), CalibrateError> {
        if self.clock == *clock {
            return Ok(());
        }
        Err(CalibrateError::Clocks {
            source_name: source.to_owned(),
            found: words(clock),
            expected: words(&self.clock),
        })
    }

    /// Adds all of another database.
    pub fn merge(&mut self, other: Self) -> Result<(), CalibrateError> {
        if self.target != other.target {
            return Err(CalibrateError::Targets {
                found: other.target,
                expected: self.target.clone(),
            });
        }
        let name = other
            .sources
            .first()
            .map_or("the other database", |source| &source.path);
        self.same_clock(name, &other.clock)?;
        if let Some(twice) = other.sources.iter().find(|source| self.has(&source.sha256)) {
            return Err(CalibrateError::SourceTwice {
                path: twice.path.clone(),
            });
        }
        self.sources.extend(other.sources);
        self.sources.sort();
        for (why, times) in other.excluded {
            self.exclude(&why, times);
        }
        for (name, value) in other.machine {
            self.machine_fact(&name, &value);
        }
        for measured in other.keys {
            self.add(measured.key, &measured.values);
        }
        Ok(())
    }

    /// Records a fact of the machine beside those of other sources.
    pub(crate) fn machine_fact(&mut self, name: &str, value: &str) {
        let known = self.machine.entry(name.to_owned()).or_default();
        let mut all: Vec<&str> = known
            .split("; ")
            .chain(value.split("; "))
            .filter(|word| !word.is_empty())
            .collect();
        all.sort_unstable();
        all.dedup();
        *known = all.join("; ");
    }

    /// Whether a source with this digest is in it.
    #[must_use]
    pub fn has(&self, sha256: &str) -> bool {
        self.sources.iter().any(|source| source.sha256 == sha256)
    }

    /// Kernels that it has samples of.
    #[must_use]
    pub fn kernels(&self) -> Vec<&str> {
        let mut kernels: Vec<&str> = self.keys.iter().map(|measured| measured.key.kernel.as_str()).collect();
        kernels.dedup();
        kernels
    }
}

fn words(clock: &Clock) -> String {
    let rate = clock.hz.map_or(String::new(), |hz| format!(" at {hz} Hz"));
    format!("`{}` in {}{rate}", clock.name, clock.unit)
}
