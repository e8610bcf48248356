//! One workload of a definition with its space: what selection works on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::names::{operation_of, operations, unknown};
use super::types::SelectError;
use crate::definition::{Definition, Located, Named, WorkloadChoice};
use crate::rules::Rules;
use crate::space::{Assignment, Domain, Space, SpaceError};
use crate::value::Value;
use crate::workload::Workload;

/// One workload with its space.
pub(super) struct Context<'a> {
    pub(super) definition: &'a Definition,
    pub(super) rules: &'a dyn Rules,
    pub(super) choice: &'a WorkloadChoice,
    pub(super) space: Space,
    pub(super) defaults: Assignment,
    /// In the order of the space.
    pub(super) operations: Vec<String>,
    /// Attributes that the target derives.
    derived: BTreeSet<String>,
    /// Attributes of all workloads of the definition.
    known: BTreeSet<String>,
    /// Domains that parameters have in all workloads of the definition.
    domains: Arc<BTreeMap<String, Vec<Domain>>>,
}

impl<'a> Context<'a> {
    /// All workloads of a definition.
    pub(super) fn all(definition: &'a Definition, rules: &'a dyn Rules) -> Result<Vec<Self>, SelectError> {
        let mut contexts = Vec::new();
        let mut known = BTreeSet::new();
        let mut domains: BTreeMap<String, Vec<Domain>> = BTreeMap::new();
        for choice in &definition.workloads {
            let workload = &choice.workload;
            let refused = |refusal| SelectError::Workload {
                workload: workload.name.clone(),
                refusal,
            };
            let space = rules.space(workload).map_err(refused)?;
            let defaults = rules
                .defaults(workload)
                .and_then(|plan| space.ordered(&plan))
                .map_err(refused)?;
            let derived: BTreeSet<String> = rules
                .derived(workload, &defaults)
                .iter()
                .map(|(name, _)| name.to_owned())
                .collect();
            known.extend(derived.iter().cloned());
            known.extend(space.parameters.iter().map(|parameter| parameter.name.clone()));
            for parameter in &space.parameters {
                let all = domains.entry(parameter.name.clone()).or_default();
                all.push(parameter.domain.clone());
            }
            let operations = operations(&space);
            let known = BTreeSet::new();
            contexts.push(Self {
                definition,
                rules,
                choice,
                space,
                defaults,
                operations,
                derived,
                known,
                domains: Arc::default(),
            });
        }
        let domains = Arc::new(domains);
        for context in &mut contexts {
            context.known.clone_from(&known);
            context.domains = Arc::clone(&domains);
        }
        Ok(contexts)
    }

    pub(super) fn workload(&self) -> &'a Workload {
        &self.choice.workload
    }

    /// ` for workload ...`, where the definition has several.
    pub(super) fn of_workload(&self) -> String {
        if self.definition.workloads.len() > 1 {
            format!(" for workload `{}`", self.workload().name)
        } else {
            String::new()
        }
    }

    /// Whether a parameter can have a value in any workload of the definition.
    pub(super) fn anywhere(&self, parameter: &str, value: &Value) -> bool {
        let domains = self.domains.get(parameter).into_iter().flatten();
        domains
            .clone()
            .any(|domain| domain.position(&admitted(domain, value)).is_some())
    }

    pub(super) fn text(&self, assignment: &Assignment) -> String {
        self.rules.text(self.workload(), assignment)
    }

    pub(super) fn derived(&self, name: &str, assignment: &Assignment) -> Option<Value> {
        self.rules.derived(self.workload(), assignment).get(name).cloned()
    }

    pub(super) fn space_error(&self, error: SpaceError) -> SelectError {
        SelectError::Space {
            workload: self.workload().name.clone(),
            error,
        }
    }

    /// The parameters that a name stands for: one, or with `*.` one of each operation that has it. None when only
    /// another workload has it; an error when none has.
    pub(super) fn parameters(&self, name: &Located<String>) -> Result<Vec<usize>, SelectError> {
        let named = self.named(name, |full| self.space.position(full).is_some())?;
        Ok(named.iter().filter_map(|full| self.space.position(full)).collect())
    }

    /// Like [`Context::parameters`], as full names, and attributes that the target derives count too.
    pub(super) fn attributes(&self, name: &Located<String>) -> Result<Vec<String>, SelectError> {
        self.named(name, |full| {
            self.space.position(full).is_some() || self.derived.contains(full)
        })
    }

    fn named(&self, name: &Located<String>, has: impl Fn(&str) -> bool) -> Result<Vec<String>, SelectError> {
        let own = name.strip_prefix("*.");
        let full: Vec<String> = match own {
            Some(own) => self
                .operations
                .iter()
                .map(|operation| format!("{operation}.{own}"))
                .collect(),
            None => vec![name.value.clone()],
        };
        let there: Vec<String> = full.into_iter().filter(|full| has(full)).collect();
        let elsewhere = || {
            self.known.iter().any(|attribute| match own {
                Some(own) => attribute.split_once('.').is_some_and(|(_, theirs)| theirs == own),
                None => *attribute == name.value,
            })
        };
        if !there.is_empty() {
            return Ok(there);
        }
        if own.map_or(self.derived.contains(&name.value), |own| self.derives(own)) {
            let message = format!("`{}` follows from other attributes: it can't be set", name.value);
            return Err(self.definition.error(&name.span, message).into());
        }
        if elsewhere() {
            Ok(there)
        } else {
            Err(unknown(self.definition, &self.known, name).into())
        }
    }

    fn derives(&self, own: &str) -> bool {
        self.derived
            .iter()
            .any(|attribute| attribute.split_once('.').is_some_and(|(_, theirs)| theirs == own))
    }

    /// Sets attributes; a name with `*.` gives way to a full one. Values outside their domain are set all the same, so
    /// that the refusal can name the nearest legal plan. An attribute that only another workload has is an error if
    /// `strict`, else it is passed over.
    pub(super) fn apply(&self, to: &mut Assignment, settings: &Named<Value>, strict: bool) -> Result<(), SelectError> {
        for starred in [true, false] {
            for (name, value) in settings.iter().filter(|(name, _)| name.starts_with("*.") == starred) {
                let parameters = self.parameters(name)?;
                if strict && parameters.is_empty() {
                    let message = format!("workload `{}` has no attribute `{}`", self.workload().name, name.value);
                    let help = "`workload = \"...\"` limits a case to one workload";
                    return Err(self.definition.error(&name.span, message).help(help).into());
                }
                for at in parameters {
                    let parameter = &self.space.parameters[at];
                    to.set(&parameter.name, admitted(&parameter.domain, value));
                }
            }
        }
        Ok(())
    }

    /// The operation that a parameter belongs to; `None` for the whole plan.
    pub(super) fn operation_at(&self, parameter: usize) -> Option<&str> {
        operation_of(&self.space.parameters[parameter].name)
    }
}

/// The value as the domain has it: a whole number stands for the float of the same size.
pub(super) fn admitted(domain: &Domain, value: &Value) -> Value {
    if let (None, Some(n)) = (domain.position(value), value.as_integer()) {
        let float = Value::Float(n as f64);
        if domain.position(&float).is_some() {
            return float;
        }
    }
    value.clone()
}
