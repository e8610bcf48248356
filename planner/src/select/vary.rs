//! Changes of a case, one at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::board::{Board, Candidate};
use super::context::{Context, admitted};
use super::list::Lists;
use super::types::SelectError;
use crate::definition::{Located, Named, Vary};
use crate::refusal::Refusal;
use crate::space::{Assignment, Domain};
use crate::value::Value;

/// A change of the whole plan: it is named by itself.
pub(super) struct Wide {
    name: String,
    family: String,
    reason: String,
    assignment: Assignment,
    text: Result<String, Refusal>,
    /// Where the definition names it, if it does.
    span: Option<Range<usize>>,
}

impl Wide {
    /// Makes it a case, or a refusal; a name that a person gave must be free.
    pub(super) fn publish(self, context: &Context<'_>, board: &mut Board) -> Result<(), SelectError> {
        if let Some(span) = &self.span
            && board.taken(&self.name)
        {
            let message = format!("a case called `{}` is there already", self.name);
            return Err(context.definition.error(span, message).into());
        }
        let name = board.free_name(self.name);

        let Self {
            family,
            reason,
            assignment,
            text,
            ..
        } = self;
        board.offer(
            Candidate {
                name,
                family,
                reason,
                assignment,
            },
            text,
        );
        Ok(())
    }
}

/// Collects changes into the operations' lists and, where they concern the whole plan, beside them.
pub(super) struct Changes<'c, 'a> {
    pub(super) context: &'c Context<'a>,
    /// Name and plan of the base.
    pub(super) base: (&'c str, &'c Assignment),
    /// The name of the workload's control, if it has one.
    pub(super) control: Option<&'c str>,
    /// The plans of legal explicit cases.
    pub(super) cases: &'c BTreeMap<String, Assignment>,
    pub(super) lists: &'c mut Lists,
    pub(super) wide: Vec<Wide>,
}

impl Changes<'_, '_> {
    pub(super) fn add(&mut self, vary: &Located<Vary>) -> Result<(), SelectError> {
        match &vary.value {
            Vary::Everything(from) => {
                let name = Located {
                    value: from.clone(),
                    span: vary.span.clone(),
                };
                if let Some((from, plan)) = self.from(Some(&name))? {
                    self.everything(&from, &plan);
                }
                Ok(())
            }
            Vary::Attribute {
                from,
                attribute,
                values,
            } => match self.from(from.as_ref())? {
                Some((from, plan)) => self.attribute(&from, &plan, attribute, values.values()),
                None => Ok(()),
            },
            Vary::Set { from, set, name } => match self.from(from.as_ref())? {
                Some((from, plan)) => self.set(&from, &plan, set, name.as_ref()),
                None => Ok(()),
            },
        }
    }

    /// The case that a change starts from; none when only another workload has it.
    fn from(&self, name: Option<&Located<String>>) -> Result<Option<(String, Assignment)>, SelectError> {
        let Some(name) = name else {
            return Ok(Some((self.base.0.to_owned(), self.base.1.clone())));
        };
        let wanted = match self.control {
            Some(control) if name.value == "control" && !self.cases.contains_key("control") => control,
            _ => name.as_str(),
        };
        if let Some(plan) = self.cases.get(wanted) {
            return Ok(Some((wanted.to_owned(), plan.clone())));
        }
        let definition = self.context.definition;
        if definition
            .cases
            .iter()
            .any(|case| case.name.value == wanted && case.applies_to(&self.context.workload().name))
        {
            let message = format!("the target refuses `{wanted}`: nothing can start from it");
            return Err(definition.error(&name.span, message).into());
        }
        if definition.cases.iter().any(|case| case.name.value == wanted) {
            return Ok(None);
        }
        let names: BTreeSet<String> = definition
            .cases
            .iter()
            .map(|case| format!("`{}`", case.name.value))
            .collect();
        let names: Vec<String> = names.into_iter().collect();
        let message = format!("no explicit case is called `{wanted}`: expected {}", names.join(", "));
        Err(definition.error(&name.span, message).into())
    }

    fn everything(&mut self, from: &str, plan: &Assignment) {
        for at in 0..self.context.space.parameters.len() {
            let parameter = &self.context.space.parameters[at];
            let Domain::List(values) = &parameter.domain else {
                continue;
            };
            for value in values.iter().filter(|value| plan.get(&parameter.name) != Some(*value)) {
                let mut changed = plan.clone();
                changed.set(&parameter.name, value.clone());
                // The neighbourhood of a plan has edges: what lies beyond them was not asked for.
                if self.context.space.check(&changed).is_ok() {
                    self.one(from, at, changed, value);
                }
            }
        }
    }

    fn attribute(
        &mut self,
        from: &str,
        plan: &Assignment,
        attribute: &Located<String>,
        values: &[Value],
    ) -> Result<(), SelectError> {
        for at in self.context.parameters(attribute)? {
            let parameter = &self.context.space.parameters[at];
            for value in values {
                let value = admitted(&parameter.domain, value);
                let mut changed = plan.clone();
                changed.set(&parameter.name, value.clone());
                self.one(from, at, changed, &value);
            }
        }
        Ok(())
    }

    fn set(
        &mut self,
        from: &str,
        plan: &Assignment,
        set: &Located<Named<Value>>,
        name: Option<&Located<String>>,
    ) -> Result<(), SelectError> {
        let context = self.context;
        if set.is_empty() {
            return Err(context
                .definition
                .error(&set.span, "nothing changes: expected at least one attribute")
                .into());
        }
        if name.is_none() && set.iter().all(|(name, _)| name.starts_with("*.")) {
            return self.each(from, plan, set);
        }
        let mut changed = plan.clone();
        context.apply(&mut changed, set, false)?;
        let mut touched: Vec<usize> = Vec::new();
        for (attribute, _) in set.iter() {
            touched.extend(context.parameters(attribute)?);
        }
        if touched.is_empty() {
            return Ok(());
        }
        let families: BTreeSet<Option<&str>> = touched.iter().map(|&at| context.operation_at(at)).collect();
        let operation = match families.first() {
            Some(Some(operation)) if families.len() == 1 => Some((*operation).to_owned()),
            _ => None,
        };
        let reason = reason(from, plan, &changed);
        match (name, operation, &touched[..]) {
            (Some(name), operation, _) => {
                let text = self.judged(&changed);
                let family = operation.unwrap_or_else(|| "joint".to_owned());
                self.wide.push(Wide {
                    name: name.value.clone(),
                    family,
                    reason,
                    assignment: changed,
                    text,
                    span: Some(name.span.clone()),
                });
            }
            (None, Some(operation), _) => {
                let text = self.judged(&changed);
                self.lists.append(&operation, changed, text, reason);
            }
            (None, None, [at]) => {
                let name = &context.space.parameters[*at].name;
                let value = changed.get(name).cloned();
                if let Some(value) = value {
                    self.one(from, *at, changed, &value);
                }
            }
            (None, None, _) => {
                let message = "this changes more than one operation: expected a `name` for the case";
                return Err(context.definition.error(&set.span, message).into());
            }
        }
        Ok(())
    }

    /// Changes each operation by itself.
    fn each(&mut self, from: &str, plan: &Assignment, set: &Named<Value>) -> Result<(), SelectError> {
        let context = self.context;
        for operation in &context.operations {
            let mut changed = plan.clone();
            for (attribute, value) in set.iter() {
                for at in context.parameters(attribute)? {
                    if context.operation_at(at) == Some(operation) {
                        let parameter = &context.space.parameters[at];
                        changed.set(&parameter.name, admitted(&parameter.domain, value));
                    }
                }
            }
            let text = self.judged(&changed);
            let reason = reason(from, plan, &changed);
            self.lists.append(operation, changed, text, reason);
        }
        Ok(())
    }

    /// A change of one parameter: into its operation's list, or a case of its own.
    fn one(&mut self, from: &str, at: usize, changed: Assignment, value: &Value) {
        let context = self.context;
        let attribute = &context.space.parameters[at].name;
        let reason = format!("{from} with {attribute} = {value}");
        let text = self.judged(&changed);
        if let Some(operation) = context.operation_at(at) {
            self.lists.append(operation, changed, text, reason);
            return;
        }
        let mut name = format!("joint-{attribute}-{value}");
        if from != self.base.0 {
            name = format!("{name}-from-{from}");
        }
        let known = self.wide.iter().any(|wide| wide.assignment == changed);
        if !known {
            self.wide.push(Wide {
                name,
                family: "joint".to_owned(),
                reason,
                assignment: changed,
                text,
                span: None,
            });
        }
    }

    fn judged(&self, plan: &Assignment) -> Result<String, Refusal> {
        self.context.space.judge(plan).map(|()| self.context.text(plan))
    }
}

fn reason(from: &str, plan: &Assignment, changed: &Assignment) -> String {
    let changes: Vec<String> = changed
        .iter()
        .filter(|(name, value)| plan.get(name) != Some(*value))
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    if changes.is_empty() {
        format!("{from}, unchanged")
    } else {
        format!("{from} with {}", changes.join(", "))
    }
}
