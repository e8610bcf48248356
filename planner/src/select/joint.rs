//! The best screened geometry of each operation with a value, together in one plan.

use std::collections::BTreeMap;

use super::board::{Board, Candidate};
use super::context::{Context, admitted};
use super::names::operation_of;
use super::screen::{Screened, conditions_for};
use super::types::SelectError;
use crate::definition::Joint;
use crate::space::Assignment;
use crate::value::Value;

/// Adds one case for each value of a joint rule; a value that some operation does not have is noted.
pub(super) fn joint(
    context: &Context<'_>,
    board: &mut Board,
    screened: &BTreeMap<String, Screened>,
    base: &Assignment,
    joint: &Joint,
) -> Result<(), SelectError> {
    let attributes = context.attributes(&joint.attribute)?;
    let own = joint
        .attribute
        .rsplit_once('.')
        .map_or(joint.attribute.as_str(), |(_, own)| own);
    for value in joint.values.values() {
        match together(context, screened, base, joint, &attributes, value)? {
            Err(operation) => {
                let message = format!("no screened geometry of {operation} has {own} = {value}: no joint case");
                board.notes.push(message);
            }
            Ok(plan) => {
                let name = board.free_name(format!("joint-{own}-{value}"));
                let reason = format!("best screened of each operation with {own} = {value}");
                let text = context.space.judge(&plan).map(|()| context.text(&plan));
                let family = "joint".to_owned();
                board.offer(
                    Candidate {
                        name,
                        family,
                        reason,
                        assignment: plan,
                    },
                    text,
                );
            }
        }
    }
    Ok(())
}

/// The plan, or the operation that has no such geometry.
fn together(
    context: &Context<'_>,
    screened: &BTreeMap<String, Screened>,
    base: &Assignment,
    joint: &Joint,
    attributes: &[String],
    value: &Value,
) -> Result<Result<Assignment, String>, SelectError> {
    let mut plan = base.clone();
    for attribute in attributes {
        let Some(operation) = operation_of(attribute) else {
            let message = format!("`{attribute}` belongs to the whole plan: a joint rule needs one of an operation");
            return Err(context.definition.error(&joint.attribute.span, message).into());
        };
        let value = match context.space.parameter(attribute) {
            Some(parameter) => admitted(&parameter.domain, value),
            None => value.clone(),
        };
        let conditions = conditions_for(context, operation, &joint.conditions)?;
        let best = screened
            .get(operation)
            .map(|screened| screened.best(context, attribute, &value, &conditions, 1));
        let Some(best) = best.and_then(|best| best.into_iter().next()) else {
            return Ok(Err(operation.to_owned()));
        };
        for (name, value) in best.iter().filter(|(name, _)| operation_of(name) == Some(operation)) {
            plan.set(name, value.clone());
        }
    }
    Ok(Ok(plan))
}
