//! Parameters by name, and checks that read typed values.

use std::sync::Arc;

use planner::{Constraint, Domain, Parameter, Refusal, Space, Value};

use crate::attributes::{CARRY_ABOUT, about};
use crate::rules::Verdict;

/// A space that grows.
#[derive(Default)]
pub(crate) struct Builder {
    space: Space,
}

/// The values of a constraint's scope.
pub(crate) struct Scope<'a> {
    names: &'a [String],
    values: &'a [&'a Value],
}

impl Scope<'_> {
    fn wrong(&self, at: usize, expected: &str) -> Refusal {
        let name = self.names.get(at).map_or("?", String::as_str);
        Refusal::new("attribute-value", format!("`{name}` must be {expected}"))
    }

    /// The count at a place of the scope.
    pub(crate) fn count(&self, at: usize) -> Result<u32, Refusal> {
        let value = self.values.get(at).and_then(|value| value.as_integer());
        value
            .and_then(|n| u32::try_from(n).ok())
            .ok_or_else(|| self.wrong(at, "a whole number"))
    }

    /// The word at a place of the scope.
    pub(crate) fn word<T>(&self, at: usize, parse: fn(&str) -> Option<T>) -> Result<T, Refusal> {
        let value = self.values.get(at).and_then(|value| value.as_text());
        value
            .and_then(parse)
            .ok_or_else(|| self.wrong(at, "a word of its domain"))
    }

    /// The truth value at a place of the scope.
    pub(crate) fn truth(&self, at: usize) -> Result<bool, Refusal> {
        let value = self.values.get(at).and_then(|value| value.as_boolean());
        value.ok_or_else(|| self.wrong(at, "true or false"))
    }
}

/// Name of an attribute: of an operation, or of the whole plan.
pub(crate) fn full(operation: Option<&str>, name: &str) -> String {
    operation.map_or_else(|| name.to_owned(), |operation| format!("{operation}.{name}"))
}

impl Builder {
    /// Adds a parameter of a product, or of the whole plan.
    pub(crate) fn parameter(&mut self, operation: Option<&str>, name: &str, domain: Domain) {
        let about = if operation.is_some() { about(name) } else { CARRY_ABOUT };
        self.described(operation, name, domain, about);
    }

    /// Adds a parameter with the sentence that people read.
    pub(crate) fn described(&mut self, operation: Option<&str>, name: &str, domain: Domain, about: &str) {
        self.space.parameters.push(Parameter {
            name: full(operation, name),
            domain,
            about: about.to_owned(),
        });
    }

    /// Adds a rule over parameters that were added before, by their full names. Names that don't exist leave the rule
    /// out; the tests of the space would see it.
    pub(crate) fn rule(
        &mut self,
        rule: &'static str,
        names: Vec<String>,
        check: impl Fn(&Scope<'_>) -> Result<Verdict, Refusal> + Send + Sync + 'static,
    ) {
        let position = |name: &String| self.space.parameters.iter().position(|own| own.name == *name);
        let Some(scope) = names.iter().map(position).collect::<Option<Vec<usize>>>() else {
            debug_assert!(false, "a rule about parameters that don't exist: {names:?}");
            return;
        };
        // Messages say whose rule it is: the operation of the last parameter of the scope.
        let owner = names
            .last()
            .and_then(|name| name.split_once('.'))
            .map(|(operation, _)| operation.to_owned());
        let check = move |values: &[&Value]| match check(&Scope { names: &names, values })? {
            None => Ok(()),
            Some(refused) => {
                let whose = owner.as_ref().map_or_else(String::new, |owner| format!("`{owner}`: "));
                Err(Refusal::new(refused.rule, format!("{whose}{}", refused.message)))
            }
        };
        self.space.constraints.push(Constraint {
            rule,
            scope,
            check: Arc::new(check),
        });
    }

    /// The finished space.
    pub(crate) fn finish(self) -> Space {
        self.space
    }
}
