//! From a definition and a target's rules to cases.

use std::collections::BTreeMap;

use super::board::{Board, Candidate};
use super::context::Context;
use super::explicit::{Explicit, explicit};
use super::joint::joint;
use super::list::Lists;
use super::screen::Screen;
use super::types::{SelectError, SelectedWorkload, Selection};
use super::vary::Changes;
use super::whole::{exhaustive, random};
use crate::definition::{Definition, Located};
use crate::rules::Rules;
use crate::space::Assignment;

/// Chooses the cases of every workload. The same definition and rules give the same selection.
///
/// Cases stand in this order: explicit ones that the file has before `[explore]`; for each operation its strata, then
/// its changes; changes of the whole plan; joint cases; exhaustive and random ones; the other explicit cases. A plan
/// becomes one case only, and explicit cases come first in this; an explored entry that is a case already is skipped
/// but keeps its index in the operation's list.
pub fn select(definition: &Definition, rules: &dyn Rules) -> Result<Selection, SelectError> {
    let mut selection = Selection::default();
    for context in Context::all(definition, rules)? {
        let (workload, board) = one_workload(&context)?;
        selection.workloads.push(workload);
        selection.refused.extend(board.refused);
    }
    Ok(selection)
}

fn one_workload(context: &Context<'_>) -> Result<(SelectedWorkload, Board), SelectError> {
    let explicit = explicit(context)?;
    let control = control(context, &explicit)?;
    let (base_name, base) = base(context, &explicit, control.as_ref())?;
    let mut board = Board::new(context);
    for case in &explicit {
        board.reserve(&case.entry.name, case.text.as_ref().ok());
    }
    let explore = &context.definition.explore;
    let (before, after): (Vec<&Explicit<'_>>, Vec<&Explicit<'_>>) = explicit
        .iter()
        .partition(|case| case.entry.span.start < explore.span.start);

    for case in before {
        publish(&mut board, case);
    }
    let screened = explored(context, &mut board, &explicit, control.as_ref(), (&base_name, &base))?;
    for case in after {
        publish(&mut board, case);
    }
    let starts = !(explore.strata.is_empty() && explore.vary.is_empty() && explore.joint.is_empty());
    if starts && !context.rules.has_defaults() && explore.base.is_none() && control.is_none() {
        board.notes.push(format!(
            "explored cases start from the first legal plan, {}; `base` of `[explore]`, or a control, chooses another",
            context.text(&base)
        ));
    }

    let workload = context.workload();
    if board.cases.is_empty() {
        let why = match &board.refused[..] {
            [] => "expected `[[case]]` tables or `[explore]`".to_owned(),
            [first, ..] => format!(
                "all {} are refused, the first, `{}`: {}",
                board.refused.len(),
                first.name,
                first.reason
            ),
        };
        let message = format!("workload `{}` has no case: {why}", workload.name);
        return Err(context.definition.error(&context.choice.span, message).into());
    }
    let total = context.space.count().map_err(|error| context.space_error(error))?;
    let selected = SelectedWorkload {
        name: workload.name.clone(),
        control: control.map(|name| board.full(&name)),
        base,
        space: context.space.clone(),
        screened,
        total,
        cases: std::mem::take(&mut board.cases),
        notes: std::mem::take(&mut board.notes),
    };
    Ok((selected, board))
}

fn explored(
    context: &Context<'_>,
    board: &mut Board,
    explicit: &[Explicit<'_>],
    control: Option<&Located<String>>,
    base: (&str, &Assignment),
) -> Result<BTreeMap<String, BTreeMap<String, u64>>, SelectError> {
    let explore = &context.definition.explore;
    let mut screen = Screen::new(context)?;
    board.notes.append(&mut screen.notes);
    let whole = explore.exhaustive.as_ref().filter(|wanted| wanted.wanted);
    let wanted = !explore.strata.is_empty() || !explore.joint.is_empty() || whole.is_some() || explore.random.is_some();
    // A workload may lack every screened attribute; then there is nothing to explore in it.
    if wanted && explore.screen.is_empty() {
        let message = "nothing is screened: expected `screen` with the attributes that vary and their values";
        return Err(context.definition.error(&explore.span, message).into());
    }
    // Only strata and joint rules ask which geometries are best. Else a screen of millions, for each of many workloads, is
    // counted without looking at every one.
    let ranks = !explore.strata.is_empty() || !explore.joint.is_empty();
    let mut screened = BTreeMap::new();
    let mut counts = BTreeMap::new();
    for operation in context.operations.iter().filter(|_| !screen.is_empty()) {
        let counted = if ranks {
            None
        } else {
            screen.counts(context, base.1, operation)?
        };
        let own = if let Some(own) = counted {
            own
        } else {
            let own = screen.operation(context, base.1, operation)?;
            let counts = own.counts(context);
            screened.insert(operation.clone(), own);
            counts
        };
        counts.insert(operation.clone(), own);
    }
    let mut lists = Lists::new();
    for stratum in &explore.strata {
        lists.stratum(context, board, &screened, stratum)?;
    }
    let cases = explicit
        .iter()
        .filter(|case| case.text.is_ok())
        .map(|case| (case.entry.name.value.clone(), case.assignment.clone()))
        .collect();
    let control = control.map(|name| name.as_str());
    let mut changes = Changes {
        context,
        base,
        control,
        cases: &cases,
        lists: &mut lists,
        wide: Vec::new(),
    };
    for vary in &explore.vary {
        changes.add(vary)?;
    }
    let wide = changes.wide;
    lists.publish(context, board)?;
    for change in wide {
        change.publish(context, board)?;
    }
    for rule in &explore.joint {
        joint(context, board, &screened, base.1, rule)?;
    }
    if let Some(wanted) = whole {
        exhaustive(context, board, &screen, base.1, wanted)?;
    }
    if let Some(wanted) = &explore.random {
        random(context, board, &screen, base.1, wanted)?;
    }
    Ok(counts)
}

fn publish(board: &mut Board, case: &Explicit<'_>) {
    match &case.text {
        Err(refusal) => board.refuse(&case.entry.name, refusal.clone()),
        Ok(text) => {
            let candidate = Candidate {
                name: case.entry.name.value.clone(),
                family: case.entry.family.clone().unwrap_or_else(|| "explicit".to_owned()),
                reason: case.reason.clone(),
                assignment: case.assignment.clone(),
            };
            let repeat_of = case.entry.repeat_of.as_ref().map(|name| name.value.clone());
            board.add_explicit(candidate, text.clone(), repeat_of);
        }
    }
}

/// The workload's control: among the explicit cases, and legal.
pub(super) fn control(
    context: &Context<'_>,
    explicit: &[Explicit<'_>],
) -> Result<Option<Located<String>>, SelectError> {
    let definition = context.definition;
    let Some(control) = &context.choice.control else {
        if context.rules.needs_control() {
            let message = format!(
                "workload `{}` has no control: expected `control = \"NAME OF A CASE\"`",
                context.workload().name
            );
            return Err(definition.error(&context.choice.span, message).into());
        }
        return Ok(None);
    };
    named(context, explicit, control, "control")?;
    Ok(Some(control.clone()))
}

/// Name and plan of what exploration starts from.
pub(super) fn base(
    context: &Context<'_>,
    explicit: &[Explicit<'_>],
    control: Option<&Located<String>>,
) -> Result<(String, Assignment), SelectError> {
    match (&context.definition.explore.base, control) {
        (Some(base), _) => Ok((base.value.clone(), named(context, explicit, base, "base")?)),
        (None, Some(control)) => Ok((control.value.clone(), named(context, explicit, control, "control")?)),
        (None, None) => Ok(("the default plan".to_owned(), context.defaults.clone())),
    }
}

fn named(
    context: &Context<'_>,
    explicit: &[Explicit<'_>],
    name: &Located<String>,
    role: &str,
) -> Result<Assignment, SelectError> {
    let workload = &context.workload().name;
    let Some(case) = explicit.iter().find(|case| case.entry.name.value == name.value) else {
        let names: Vec<String> = explicit
            .iter()
            .map(|case| format!("`{}`", case.entry.name.value))
            .collect();
        let expected = if names.is_empty() {
            "a `[[case]]` table with this name".to_owned()
        } else {
            names.join(", ")
        };
        let message = format!(
            "the {role} `{}` is not among the explicit cases of workload `{workload}`: expected {expected}",
            name.value
        );
        return Err(context.definition.error(&name.span, message).into());
    };
    match &case.text {
        Ok(_) => Ok(case.assignment.clone()),
        Err(refusal) => {
            let message = format!("the {role} `{}` of workload `{workload}` is {refusal}", name.value);
            Err(context.definition.error(&case.entry.name.span, message).into())
        }
    }
}
