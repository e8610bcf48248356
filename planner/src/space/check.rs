//! Is an assignment legal, and narrower spaces.

use super::error::SpaceError;
use super::types::{Assignment, Constraint, Domain, Space};
use crate::refusal::Refusal;
use crate::value::Value;

/// A kind of value in a sentence.
fn with_article(kind: &str) -> String {
    let article = if kind.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {kind}")
}

impl Domain {
    /// What kind all values are of; `None` where there are none, or several kinds.
    fn kind(&self) -> Option<&'static str> {
        match self {
            Self::Range { .. } => Some(Value::Integer(0).kind()),
            Self::List(values) => {
                let first = values.first()?.kind();
                values.iter().all(|value| value.kind() == first).then_some(first)
            }
        }
    }
}

impl Space {
    /// Whether every parameter has a value of its domain, nothing else is named, and every constraint holds. The first
    /// thing that is wrong is the refusal.
    pub fn check(&self, assignment: &Assignment) -> Result<(), Refusal> {
        let values = self.values(assignment)?;
        self.constraints
            .iter()
            .try_for_each(|constraint| constraint.holds(&values))
    }

    /// The same values in the order of the parameters; fails like [`Space::check`], but constraints are not asked.
    pub fn ordered(&self, assignment: &Assignment) -> Result<Assignment, Refusal> {
        let values = self.values(assignment)?;
        Ok(self
            .parameters
            .iter()
            .zip(values)
            .map(|(parameter, value)| (parameter.name.clone(), value.clone()))
            .collect())
    }

    /// The value of each parameter, in order.
    pub(super) fn values<'a>(&self, assignment: &'a Assignment) -> Result<Vec<&'a Value>, Refusal> {
        if let Some((name, _)) = assignment.iter().find(|(name, _)| self.position(name).is_none()) {
            let message = format!("no attribute is called `{name}`: expected {}", self.names());
            return Err(Refusal::new("unknown-attribute", message));
        }
        self.parameters
            .iter()
            .map(|parameter| {
                let name = &parameter.name;
                let Some(value) = assignment.get(name) else {
                    return Err(Refusal::new("missing-attribute", format!("`{name}` has no value")));
                };
                if parameter.domain.position(value).is_none() {
                    let domain = &parameter.domain;
                    let message = match domain.kind() {
                        Some(expected) if expected != value.kind() => format!(
                            "`{name}` is the {} `{value}`, expected {}: {}",
                            value.kind(),
                            with_article(expected),
                            domain.words()
                        ),
                        _ => format!("`{name}` = {value} is not among {}", domain.words()),
                    };
                    return Err(Refusal::new("domain", message));
                }
                Ok(value)
            })
            .collect()
    }

    /// The names of all parameters, for messages.
    #[must_use]
    pub fn names(&self) -> String {
        let names: Vec<String> = self
            .parameters
            .iter()
            .map(|parameter| format!("`{}`", parameter.name))
            .collect();
        names.join(", ")
    }

    /// A narrower space: each named parameter takes only the given values, in the given order.
    pub fn restrict(&self, to: &[(&str, &[Value])]) -> Result<Self, SpaceError> {
        let mut narrow = self.clone();
        for (name, values) in to {
            let Some(at) = self.position(name) else {
                return Err(SpaceError::UnknownParameter {
                    name: (*name).to_owned(),
                    allowed: self.names(),
                });
            };
            let domain = &self.parameters[at].domain;
            if let Some(value) = values.iter().find(|value| domain.position(value).is_none()) {
                return Err(SpaceError::OutsideDomain {
                    name: (*name).to_owned(),
                    value: value.to_string(),
                    allowed: domain.words(),
                });
            }
            narrow.parameters[at].domain = Domain::List(values.to_vec());
        }
        Ok(narrow)
    }

    /// Fails if a constraint looks at a parameter that is not there, or a list of values holds one twice.
    pub(super) fn well_formed(&self) -> Result<(), SpaceError> {
        let parameters = self.parameters.len();
        for constraint in &self.constraints {
            if constraint.scope.iter().any(|&at| at >= parameters) {
                let message = format!("rule `{}` looks at a parameter that is not there", constraint.rule);
                return Err(SpaceError::Malformed(message));
            }
        }
        for (at, parameter) in self.parameters.iter().enumerate() {
            if self.position(&parameter.name) != Some(at) {
                return Err(SpaceError::Malformed(format!(
                    "two parameters are called `{}`",
                    parameter.name
                )));
            }
            if let Domain::List(values) = &parameter.domain {
                let mut sorted: Vec<&Value> = values.iter().collect();
                sorted.sort();
                if let Some((value, _)) = sorted.iter().zip(sorted.iter().skip(1)).find(|(a, b)| a == b) {
                    let message = format!("`{}` lists {value} twice", parameter.name);
                    return Err(SpaceError::Malformed(message));
                }
            }
        }
        Ok(())
    }
}

impl Constraint {
    /// Asks the rule; `values` are those of all parameters of the space.
    pub(super) fn holds(&self, values: &[&Value]) -> Result<(), Refusal> {
        let scoped: Vec<&Value> = self.scope.iter().map(|&at| values[at]).collect();
        (self.check)(&scoped)
    }
}
