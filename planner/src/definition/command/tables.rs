//! `[command]`, `[derived]`, `[estimates.NAME]` as they are written.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::arguments::Argument;
use super::ordered::Ordered;
use super::result::ResultTable;
use crate::definition::measure::TimeLimit;
use crate::parameters::ParameterTable;

/// Who takes the device lock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LockBy {
    /// The guard, before the program starts.
    #[default]
    Guard,
    /// The program itself, after what it builds inside: it gets the lock's path as `{device_lock}`.
    Child,
}

/// Limits of time; waiting for the device does not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as `{ build = \"10m\", run = \"60s\" }`"
)]
pub struct CommandTimeouts {
    /// Longest time for a build: "10m", "60s". Default: `build_timeout` of `[measure]`.
    pub build: Option<TimeLimit>,
    /// Longest time for a run. Default: `run_timeout` of `[measure]`.
    pub run: Option<TimeLimit>,
    /// Longest time for a check, a report and a hook. Default "10s".
    pub check: Option<TimeLimit>,
}

/// `[[command.report]]`: run after a pass; what it prints is kept as JSON beside the log.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// What `json` of a number refers to, and the stem of the file.
    pub name: String,
    /// The command.
    pub run: Vec<Argument>,
}

/// `[command]`: how one case of anything is built and run. Argument lists, never a shell; `{name}` is a placeholder and
/// `{{` a brace.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with `run`, `result` and what else is needed"
)]
pub struct Command {
    /// Files beside the definition that are frozen and digested; commands run among them. `*`, `?` and `**` as usual.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Variables that are set for every command; may hold parameters.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Inherited variables whose values are recorded.
    #[serde(default)]
    pub pass_env: Vec<String>,
    /// Commands that print what toolchain and driver are: `compiler = ["gcc", "--version"]`.
    #[serde(default)]
    pub probe: BTreeMap<String, Vec<String>>,
    /// Makes `{artifact}` of a case. Default: nothing is built.
    pub build: Option<Vec<Argument>>,
    /// Measures a case once.
    pub run: Vec<Argument>,
    /// Exit code 0: the result is right.
    pub check: Option<Vec<Argument>>,
    /// Run before each run, under the same lock (to lock clocks, say).
    pub before_run: Option<Vec<Argument>>,
    /// Undoes `before_run`, whatever happens in between.
    pub after_run: Option<Vec<Argument>>,
    /// One lock and one worker each. Default: the host's own CPU; `[]` lets runs lie side by side.
    pub devices: Option<Vec<String>>,
    /// Who takes the device lock. Default "guard".
    #[serde(default)]
    pub lock: LockBy,
    /// How long anything may take.
    #[serde(default)]
    pub timeout: CommandTimeouts,
    /// Lines of a POSIX shell that prepare the environment of every command; they see no parameters.
    #[serde(default)]
    pub setup: Vec<String>,
    /// What every command is put behind: `["apptainer", "exec", "image.sif"]`.
    #[serde(default)]
    pub launcher: Vec<String>,
    /// How many tiles `{mapping}` permutes.
    pub tiles: Option<u32>,
    /// What is asked after a pass.
    #[serde(default)]
    pub report: Vec<Report>,
    /// What is read from the output.
    pub result: ResultTable,
}

/// An entry of `[derived]`: a formula, alone or with its unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derived {
    /// An expression over numbers, parameters and earlier derived numbers.
    pub formula: String,
    /// The unit of its value.
    pub unit: Option<String>,
    /// Whether it was written as a table.
    pub table: bool,
}

/// The table form of [`Derived`].
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DerivedTable")]
pub(super) struct DerivedTable {
    /// An expression over numbers, parameters and earlier derived numbers.
    formula: String,
    /// The unit of its value.
    unit: Option<String>,
}

impl<'de> Deserialize<'de> for Derived {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextOrTable;
        impl<'de> Visitor<'de> for TextOrTable {
            type Value = Derived;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an expression, or `{ formula = \"...\", unit = \"...\" }`")
            }
            fn visit_str<E>(self, text: &str) -> Result<Derived, E> {
                Ok(Derived {
                    formula: text.to_owned(),
                    unit: None,
                    table: false,
                })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Derived, A::Error> {
                let DerivedTable { formula, unit } = DerivedTable::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Derived {
                    formula,
                    unit,
                    table: true,
                })
            }
        }
        deserializer.deserialize_any(TextOrTable)
    }
}

impl JsonSchema for Derived {
    fn schema_name() -> Cow<'static, str> {
        "Derived".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<DerivedTable>();
        schemars::json_schema!({ "anyOf": [{ "type": "string" }, table] })
    }
}

/// `[estimates.NAME]`: a model that is a sum of terms times coefficients.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table with `terms` and `coefficients`")]
pub struct EstimateTable {
    /// What it looks at, in one sentence.
    pub about: Option<String>,
    /// Expressions over the parameters.
    pub terms: Ordered<String>,
    /// One number for each term.
    pub coefficients: Ordered<f64>,
}

/// Everything that a definition says for `target = "command"`, as its target gets it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandTables {
    /// `[command]`.
    pub command: Command,
    /// `[parameters]`.
    pub parameters: ParameterTable,
    /// `[derived]`.
    #[serde(default)]
    pub derived: Ordered<Derived>,
    /// `[estimates]`.
    #[serde(default)]
    pub estimates: Ordered<EstimateTable>,
    /// Whether some workload has a control.
    #[serde(default)]
    pub control: bool,
}
