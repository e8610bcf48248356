//! The numbered list of each operation: strata first, then changes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::board::{Board, Candidate};
use super::context::{Context, admitted};
use super::screen::{Screened, conditions_for};
use super::types::SelectError;
use crate::definition::Stratum;
use crate::refusal::Refusal;
use crate::space::Assignment;

/// One entry of an operation's list.
struct Entry {
    assignment: Assignment,
    /// Canonical text, or why the target refuses.
    text: Result<String, Refusal>,
    reason: String,
}

/// The lists of all operations. An entry keeps its index even if its plan is a case already.
pub(super) struct Lists(BTreeMap<String, Vec<Entry>>);

impl Lists {
    pub(super) fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Appends a plan to an operation's list, unless it is in that list.
    pub(super) fn append(
        &mut self,
        operation: &str,
        assignment: Assignment,
        text: Result<String, Refusal>,
        reason: String,
    ) {
        let list = self.0.entry(operation.to_owned()).or_default();
        if list.iter().all(|entry| entry.assignment != assignment) {
            list.push(Entry {
                assignment,
                text,
                reason,
            });
        }
    }

    /// Appends the best screened geometries of a stratum for every operation that it names.
    pub(super) fn stratum(
        &mut self,
        context: &Context<'_>,
        board: &mut Board,
        screened: &BTreeMap<String, Screened>,
        stratum: &Stratum,
    ) -> Result<(), SelectError> {
        for attribute in context.attributes(&stratum.attribute)? {
            let Some((operation, _)) = attribute.split_once('.') else {
                let message = format!("`{attribute}` belongs to the whole plan: a stratum needs one of an operation");
                return Err(context.definition.error(&stratum.attribute.span, message).into());
            };
            let Some(screened) = screened.get(operation) else {
                continue;
            };
            let conditions = conditions_for(context, operation, &stratum.conditions)?;
            let mut missing = Vec::new();
            for value in stratum.values.values() {
                let value = match context.space.parameter(&attribute) {
                    Some(parameter) => admitted(&parameter.domain, value),
                    None => value.clone(),
                };
                let best = screened.best(context, &attribute, &value, &conditions, stratum.count);
                if best.is_empty() {
                    missing.push(value.to_string());
                }
                for (rank, plan) in best.into_iter().enumerate() {
                    // Writing to a string can't fail.
                    let mut reason = format!("best screened with {attribute} = {value}");
                    for (name, value) in &conditions {
                        _ = write!(reason, ", {name} = {value}");
                    }
                    if rank > 0 {
                        _ = write!(reason, ", rank {}", rank + 1);
                    }
                    let text = context.text(&plan);
                    self.append(operation, plan, Ok(text), reason);
                }
            }
            if !missing.is_empty() {
                board
                    .notes
                    .push(format!("no screened geometry has {attribute} = {}", missing.join(", ")));
            }
        }
        Ok(())
    }

    /// Turns the lists into cases, operation by operation.
    pub(super) fn publish(self, context: &Context<'_>, board: &mut Board) -> Result<(), SelectError> {
        let mut lists = self.0;
        for operation in &context.operations {
            for (index, entry) in lists.remove(operation).unwrap_or_default().into_iter().enumerate() {
                let name = format!("{operation}-{index:02}");
                if board.taken(&name) {
                    let explicit = context.definition.cases.iter().find(|case| case.name.value == name);
                    let span = explicit.map_or(&context.definition.explore.span, |case| &case.name.span);
                    let message = format!("exploration names a case `{name}` itself: this one needs another name");
                    return Err(context.definition.error(span, message).into());
                }
                let Entry {
                    assignment,
                    text,
                    reason,
                } = entry;
                board.offer(
                    Candidate {
                        name,
                        family: operation.clone(),
                        reason,
                        assignment,
                    },
                    text,
                );
            }
        }
        Ok(())
    }
}
