//! Spaces: parameters with domains, and constraints that each look at few of them.

use std::fmt;
use std::sync::Arc;

use crate::refusal::Refusal;
use crate::value::{Attributes, Value};

/// The values a parameter may take, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Domain {
    /// Exactly these, in this order.
    List(Vec<Value>),
    /// Whole numbers from `start` to `stop`, both included.
    Range {
        /// First value.
        start: i64,
        /// Last value.
        stop: i64,
    },
}

/// A named choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// `<operation>.<attribute>`, or one word for the whole plan.
    pub name: String,
    /// What it may be.
    pub domain: Domain,
    /// One sentence that says what it means.
    pub about: String,
}

/// The check of a [`Constraint`]: gets the values of its scope, in the scope's order.
pub type Check = Arc<dyn Fn(&[&Value]) -> Result<(), Refusal> + Send + Sync>;

/// A rule over a few parameters.
#[derive(Clone)]
pub struct Constraint {
    /// Short name of the rule.
    pub rule: &'static str,
    /// Indices into [`Space::parameters`]; the check sees their values in this order.
    pub scope: Vec<usize>,
    /// The rule itself.
    pub check: Check,
}

impl fmt::Debug for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Constraint")
            .field("rule", &self.rule)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

/// Parameters and the constraints between them.
#[derive(Debug, Clone, Default)]
pub struct Space {
    /// In the order of enumeration: the last one changes fastest.
    pub parameters: Vec<Parameter>,
    /// All must hold.
    pub constraints: Vec<Constraint>,
}

/// One value for each parameter of a space, in its order, with the names.
pub type Assignment = Attributes;

/// More values than this are shown in part.
const SHOWN: usize = 16;

impl Domain {
    /// How many values there are.
    #[must_use]
    pub fn size(&self) -> u64 {
        match self {
            Self::List(values) => values.len() as u64,
            Self::Range { start, stop } if stop < start => 0,
            Self::Range { start, stop } => stop.abs_diff(*start).saturating_add(1),
        }
    }

    /// The value at a position, from 0.
    #[must_use]
    pub fn at(&self, position: u64) -> Option<Value> {
        match self {
            Self::List(values) => values.get(usize::try_from(position).ok()?).cloned(),
            Self::Range { start, .. } if position < self.size() => {
                start.checked_add_unsigned(position).map(Value::Integer)
            }
            Self::Range { .. } => None,
        }
    }

    /// Where a value stands, from 0.
    #[must_use]
    pub fn position(&self, value: &Value) -> Option<u64> {
        match self {
            Self::List(values) => values.iter().position(|v| v == value).map(|at| at as u64),
            Self::Range { start, stop } => match value {
                Value::Integer(n) if start <= n && n <= stop => Some(n.abs_diff(*start)),
                _ => None,
            },
        }
    }

    /// The domain in words, for messages: `1, 2, 4` or `whole numbers from 1 to 12`.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Range { start, stop } => format!("whole numbers from {start} to {stop}"),
            Self::List(values) if values.is_empty() => "nothing".to_owned(),
            Self::List(values) => {
                let shown: Vec<String> = values.iter().take(SHOWN).map(Value::to_string).collect();
                let shown = shown.join(", ");
                if values.len() > SHOWN {
                    format!("{shown}, ... ({} values)", values.len())
                } else {
                    shown
                }
            }
        }
    }
}

impl Space {
    /// Where the parameter of this name stands.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.name == name)
    }

    /// The parameter of this name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}
