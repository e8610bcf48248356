//! `[[case]]`: plans that a person wants.

use schemars::JsonSchema;
use serde::Deserialize;

use super::located::{Located, Named};
use crate::value::Value;

/// `[[case]]`: one plan that is wanted in any event.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaseEntry {
    /// Unique among the cases of a workload.
    pub name: Located<String>,
    /// The only workload it applies to. Default: every workload.
    pub workload: Option<Located<String>>,
    /// What it is shown and counted with. Default "explicit".
    pub family: Option<String>,
    /// Why it is there.
    pub reason: Option<String>,
    /// Another case to start from. Default: the target's default plan.
    pub like: Option<Located<String>>,
    /// Attributes and their values; `*.name` stands for every operation that has it. What is not given is taken from
    /// `like`.
    #[serde(default)]
    pub plan: Named<Value>,
    /// The case whose plan this one repeats on purpose. Without it the same plan twice is an error.
    pub repeat_of: Option<Located<String>>,
}
