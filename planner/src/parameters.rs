//! Free parameters of a definition: values, ranges, and constraints between them, as a [`Space`].
//!
//! ```toml
//! [parameters]
//! tile = [8, 16, 32, 64]
//! unroll = "1:8:1"              # start:stop:step, stop included
//! layout = ["rows", "columns"]
//! prefetch = [true, false]
//! constraints = ["tile % unroll == 0", "layout == 'rows' or tile * unroll <= 256"]
//! ```
//!
//! The space has the parameters in the order of the table. A constraint is taken apart at its outermost `and`s, so that
//! each part prunes as soon as the names it has are bound.

mod error;
mod range;
mod table;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

pub use error::{ParameterError, RangeError};
pub use table::{Choices, ParameterTable};

use crate::expression::{Condition, EvaluationError, Expression, Kind, is_name};
use crate::refusal::Refusal;
use crate::space::{Check, Constraint, Domain, Parameter, Space};
use crate::value::Value;

/// Most values that one parameter may have.
pub const MAX_VALUES: usize = 1_000_000;

/// Rule of a refusal by a constraint that is false.
pub const RULE_CONSTRAINT: &str = "constraint";

/// Rule of a refusal by a constraint that has no result (a division by zero, say).
pub const RULE_EVALUATION: &str = "evaluation";

/// Checked parameters and constraints.
#[derive(Debug, Clone)]
pub struct Parameters {
    listed: Vec<Parameter>,
    kinds: Vec<Kind>,
    parts: Vec<Part>,
}

/// One conjunct of a constraint.
#[derive(Debug, Clone)]
struct Part {
    scope: Vec<usize>,
    /// Earlier conjuncts that protect it, and then itself; each with the number of its constraint, from 0.
    conditions: Arc<[(usize, Condition)]>,
}

impl Parameters {
    /// Expands ranges, and checks names, values and constraints.
    ///
    /// # Errors
    /// The first thing that is wrong, by the name of its parameter or the number of its constraint.
    pub fn new(table: &ParameterTable) -> Result<Self, ParameterError> {
        let (mut listed, mut kinds): (Vec<Parameter>, Vec<Kind>) = (Vec::new(), Vec::new());
        for (name, choices) in &table.parameters {
            if !is_name(name) {
                return Err(ParameterError::Name { name: name.clone() });
            }
            if listed.iter().any(|parameter| parameter.name == *name) {
                return Err(ParameterError::Twice { name: name.clone() });
            }
            let domain = domain(name, choices)?;
            let (kind, about) = summary(&domain);
            listed.push(Parameter {
                name: name.clone(),
                domain,
                about,
            });
            kinds.push(kind);
        }
        let mut parameters = Self {
            listed,
            kinds,
            parts: Vec::new(),
        };
        parameters.parts = parts(&parameters.declared(), &table.constraints)?;
        Ok(parameters)
    }

    /// Names with their kinds, in order: what other expressions over the parameters are checked against.
    #[must_use]
    pub fn declared(&self) -> Vec<(&str, Kind)> {
        self.listed
            .iter()
            .zip(&self.kinds)
            .map(|(parameter, kind)| (parameter.name.as_str(), *kind))
            .collect()
    }

    /// The space, and where its constraints put the first evaluation that fails.
    ///
    /// An assignment for which a constraint has no result is refused (rule [`RULE_EVALUATION`]); whoever counts or lists
    /// asks [`Faults::first`] afterwards, as such a space is not what its author meant. An earlier constraint protects a
    /// later one when the later one has all of its names: `["unroll != 0", "tile % unroll == 0"]` never fails, and
    /// neither does `unroll != 0 and tile % unroll == 0`.
    #[must_use]
    pub fn space(&self) -> (Space, Faults) {
        let faults = Faults::default();
        let constraint = |part: &Part| Constraint {
            rule: RULE_CONSTRAINT,
            scope: part.scope.clone(),
            check: check(Arc::clone(&part.conditions), faults.clone()),
        };
        let constraints = self.parts.iter().map(constraint).collect();
        (
            Space {
                parameters: self.listed.clone(),
                constraints,
            },
            faults,
        )
    }
}

/// The conjuncts of all constraints, in order.
fn parts(declared: &[(&str, Kind)], constraints: &[String]) -> Result<Vec<Part>, ParameterError> {
    let mut earlier: Vec<(usize, Expression)> = Vec::new();
    let mut parts = Vec::new();
    for (index, text) in constraints.iter().enumerate() {
        let number = index + 1;
        let wrong = |error| ParameterError::Constraint { number, error };
        let expression = Expression::parse(text).map_err(wrong)?;
        for part in expression.conjuncts() {
            let names = part.names();
            let within = |(_, guard): &&(usize, Expression)| guard.names().iter().all(|name| names.contains(name));
            let guards = earlier.iter().filter(within).filter(|_| part.may_fail());
            let own = (index, part.clone());
            let conditions: Result<Vec<(usize, Condition)>, _> = guards
                .chain([&own])
                .map(|(index, part)| Ok((*index, part.condition(declared, &names)?)))
                .collect();
            let conditions = conditions.map_err(wrong)?.into();
            if names.is_empty() {
                return Err(ParameterError::Constant {
                    number,
                    text: part.text().to_owned(),
                });
            }
            let place = |name: &&str| declared.iter().position(|(declared, _)| declared == name);
            parts.push(Part {
                scope: names.iter().filter_map(place).collect(),
                conditions,
            });
            earlier.push(own);
        }
    }
    Ok(parts)
}

/// A constraint that has no result for some plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoResult {
    /// Its path in a definition: `parameters.constraints[1]`.
    pub key: String,
    /// Why, and for which values.
    pub message: String,
}

/// Collects the first evaluation that failed while a space was walked: plans were left out that nobody excluded.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<OnceLock<NoResult>>);

impl Faults {
    /// The first failure that was met so far, if any.
    #[must_use]
    pub fn first(&self) -> Option<&NoResult> {
        self.0.get()
    }

    fn refuse(&self, constraint: usize, error: &EvaluationError) -> Refusal {
        let message = error.to_string();
        self.0.get_or_init(|| NoResult {
            key: format!("parameters.constraints[{constraint}]"),
            message: message.clone(),
        });
        Refusal::new(RULE_EVALUATION, message)
    }
}

/// All conditions in order; the first that is false or fails refuses.
fn check(conditions: Arc<[(usize, Condition)]>, faults: Faults) -> Check {
    Arc::new(move |values: &[&Value]| {
        for (number, condition) in conditions.iter() {
            let fault = |error| faults.refuse(*number, &error);
            if !condition.holds(values).map_err(fault)? {
                let message = condition.refusal(values).map_err(fault)?;
                return Err(Refusal::new(RULE_CONSTRAINT, message));
            }
        }
        Ok(())
    })
}

fn domain(name: &str, choices: &Choices) -> Result<Domain, ParameterError> {
    let name = || name.to_owned();
    let domain = match choices {
        Choices::List(values) => Domain::List(values.clone()),
        Choices::Range(text) => range::parse(text).map_err(|error| ParameterError::Range {
            name: name(),
            text: text.clone(),
            error,
        })?,
        Choices::Single(value) => {
            return Err(ParameterError::Single {
                name: name(),
                value: value.clone(),
            });
        }
    };
    let Domain::List(values) = &domain else {
        return Ok(domain);
    };
    let Some(first) = values.first() else {
        return Err(ParameterError::NoValues { name: name() });
    };
    if values.len() > MAX_VALUES {
        return Err(ParameterError::TooMany {
            name: name(),
            count: values.len(),
        });
    }
    let mut seen = BTreeSet::new();
    for value in values {
        if value.kind() != first.kind() {
            return Err(ParameterError::Mixed {
                name: name(),
                first: first.clone(),
                other: value.clone(),
            });
        }
        if value.as_float().is_some_and(|x| !x.is_finite()) {
            return Err(ParameterError::NotFinite { name: name() });
        }
        if !seen.insert(value) {
            return Err(ParameterError::Repeated {
                name: name(),
                value: value.clone(),
            });
        }
    }
    Ok(domain)
}

/// The kind of a domain that has values, and a sentence about it.
fn summary(domain: &Domain) -> (Kind, String) {
    let (kind, count, first, last) = match domain {
        Domain::Range { start, stop } => (
            Kind::Integer,
            stop.abs_diff(*start).saturating_add(1),
            start.to_string(),
            stop.to_string(),
        ),
        Domain::List(values) => {
            let kind = match values.first() {
                Some(Value::Boolean(_)) => Kind::Boolean,
                Some(Value::Float(_)) => Kind::Float,
                Some(Value::Text(_)) => Kind::Text,
                Some(Value::Integer(_)) | None => Kind::Integer,
            };
            let show = |value: Option<&Value>| value.map(ToString::to_string).unwrap_or_default();
            (kind, values.len() as u64, show(values.first()), show(values.last()))
        }
    };
    let about = match count {
        1 => format!("free parameter, {kind}: always {first}"),
        _ => format!("free parameter, {kind}: {count} values from {first} to {last}"),
    };
    (kind, about)
}

#[cfg(test)]
mod tests;
