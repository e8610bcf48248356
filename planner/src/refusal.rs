//! Why something is not legal.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A target's no: which rule, with which numbers, and what would be legal instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Short name of the rule: `registers`, `empty-block`.
    pub rule: String,
    /// One sentence with the numbers that decide it.
    pub message: String,
    /// The nearest legal choice, as changes of attributes, where one was looked for and found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

impl Refusal {
    /// A refusal by `rule`.
    #[must_use]
    pub fn new(rule: &str, message: impl Into<String>) -> Self {
        Self {
            rule: rule.to_owned(),
            message: message.into(),
            nearest: None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused by rule `{}`: {}", self.rule, self.message)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; nearest legal: {nearest}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Refusal {}
