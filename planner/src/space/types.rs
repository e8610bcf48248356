//! Spaces: parameters with domains, and constraints that each look at few of them.

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

/// Parameters and the constraints between them.
#[derive(Clone, Default)]
pub struct Space {
    /// In the order of enumeration: the last one changes fastest.
    pub parameters: Vec<Parameter>,
    /// All must hold.
    pub constraints: Vec<Constraint>,
}

/// One value for each parameter of a space, in its order, with the names.
pub type Assignment = Attributes;
