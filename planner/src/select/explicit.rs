//! Explicit cases: what they start from, what they change, and whether the target allows it.

use std::collections::{BTreeMap, BTreeSet};

use super::context::Context;
use super::types::SelectError;
use crate::definition::{CaseEntry, Located};
use crate::expression::literal;
use crate::refusal::Refusal;
use crate::space::{Assignment, Domain, Space};

/// So many values of a parameter are named in a message.
const SHOWN: usize = 12;

/// An explicit case of one workload.
pub(super) struct Explicit<'a> {
    pub(super) entry: &'a Located<CaseEntry>,
    pub(super) assignment: Assignment,
    /// Canonical text, or why the target refuses.
    pub(super) text: Result<String, Refusal>,
    pub(super) reason: String,
}

/// All explicit cases of a workload, in the order of the file. The same plan twice is an error, unless it is wanted.
pub(super) fn explicit<'a>(context: &Context<'a>) -> Result<Vec<Explicit<'a>>, SelectError> {
    let entries: Vec<&Located<CaseEntry>> = context
        .definition
        .cases
        .iter()
        .filter(|case| case.applies_to(&context.workload().name))
        .collect();
    let by_name: BTreeMap<&str, &Located<CaseEntry>> = entries.iter().map(|case| (case.name.as_str(), *case)).collect();
    let mut cases: Vec<Explicit<'_>> = Vec::new();
    for entry in entries {
        let assignment = resolve(context, &by_name, entry, &mut Vec::new())?;
        let text = context.space.judge(&assignment).map(|()| context.text(&assignment));
        if let Ok(text) = &text {
            repeated(context, &cases, entry, text)?;
        }
        if let Some(wanted) = &entry.repeat_of {
            let repeated = resolve(context, &by_name, find(context, &by_name, wanted)?, &mut Vec::new())?;
            if repeated != assignment {
                let changes = context.space.changes(&repeated, &assignment);
                let message = format!(
                    "`{}` is no repetition of `{}`: {changes}",
                    entry.name.value, wanted.value
                );
                return Err(context.definition.error(&wanted.span, message).into());
            }
        }
        let reason = entry
            .reason
            .clone()
            .unwrap_or_else(|| match (&entry.repeat_of, &entry.like) {
                (Some(wanted), _) => format!("repeats {}", wanted.value),
                (None, Some(like)) => format!("explicit, like {}", like.value),
                (None, None) => "explicit".to_owned(),
            });
        cases.push(Explicit {
            entry,
            assignment,
            text,
            reason,
        });
    }
    Ok(cases)
}

fn repeated(
    context: &Context<'_>,
    before: &[Explicit<'_>],
    entry: &CaseEntry,
    text: &String,
) -> Result<(), SelectError> {
    let first = before.iter().find(|case| case.text.as_ref() == Ok(text));
    match first {
        Some(first) if entry.repeat_of.is_none() => {
            let (line, _) = context.definition.source.position(first.entry.name.span.start);
            let message = format!(
                "`{}` is the same plan as `{}` in line {line}, for workload `{}`",
                entry.name.value,
                first.entry.name.value,
                context.workload().name
            );
            let help = format!("if this is wanted, add `repeat_of = \"{}\"`", first.entry.name.value);
            Err(context.definition.error(&entry.name.span, message).help(help).into())
        }
        _ => Ok(()),
    }
}

fn find<'a>(
    context: &Context<'_>,
    by_name: &BTreeMap<&str, &'a Located<CaseEntry>>,
    name: &Located<String>,
) -> Result<&'a Located<CaseEntry>, SelectError> {
    by_name.get(name.as_str()).copied().ok_or_else(|| {
        let names: Vec<String> = by_name.keys().map(|name| format!("`{name}`")).collect();
        let message = format!(
            "no case of workload `{}` is called `{}`: expected {}",
            context.workload().name,
            name.value,
            names.join(", ")
        );
        context.definition.error(&name.span, message).into()
    })
}

/// A plan that starts from nothing must say every parameter, unless the target has values of its own for the others.
fn whole(context: &Context<'_>, entry: &Located<CaseEntry>) -> Result<(), SelectError> {
    if context.rules.has_defaults() {
        return Ok(());
    }
    let mut given = BTreeSet::new();
    for (name, _) in entry.plan.iter() {
        given.extend(context.parameters(name)?);
    }
    let missing = unsaid(&context.space, |at| given.contains(&at));
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!(
        "the plan of case `{}` leaves out {}",
        entry.name.value,
        missing.join(" and ")
    );
    let help = "add them to `plan`; `like = \"NAME\"` takes what is left out from another case";
    Err(context.definition.error(&entry.name.span, message).help(help).into())
}

/// Parameters with a choice that were not given, each with its values.
pub(super) fn unsaid(space: &Space, given: impl Fn(usize) -> bool) -> Vec<String> {
    let left = space.parameters.iter().enumerate().filter(|(at, _)| !given(*at));
    left.filter_map(|(_, parameter)| {
        let values = match &parameter.domain {
            Domain::List(values) if values.len() < 2 => return None,
            Domain::Range { start, stop } if start == stop => return None,
            Domain::Range { start, stop } => format!("{start} to {stop}"),
            Domain::List(values) => {
                let shown: Vec<String> = values.iter().take(SHOWN).map(literal).collect();
                let more = if values.len() > SHOWN { ", ..." } else { "" };
                format!("{}{more}", shown.join(", "))
            }
        };
        Some(format!("`{}` (expected one of {values})", parameter.name))
    })
    .collect()
}

fn resolve(
    context: &Context<'_>,
    by_name: &BTreeMap<&str, &Located<CaseEntry>>,
    entry: &Located<CaseEntry>,
    path: &mut Vec<String>,
) -> Result<Assignment, SelectError> {
    path.push(entry.name.value.clone());
    let mut assignment = match entry.like.as_ref().or(entry.repeat_of.as_ref()) {
        None => {
            whole(context, entry)?;
            context.defaults.clone()
        }
        Some(like) if path.contains(&like.value) => {
            let message = format!(
                "`{}` starts from itself: {} -> {}",
                like.value,
                path.join(" -> "),
                like.value
            );
            return Err(context.definition.error(&like.span, message).into());
        }
        Some(like) => resolve(context, by_name, find(context, by_name, like)?, path)?,
    };
    context.apply(&mut assignment, &entry.plan, true)?;
    Ok(assignment)
}
