//! Plans of the whole screened space: all of them, or some drawn by seed.

use super::board::{Board, Candidate};
use super::context::Context;
use super::screen::Screen;
use super::types::SelectError;
use crate::definition::{Exhaustive, Located, Random};
use crate::numbers::{counted, grouped};
use crate::space::Assignment;

/// Draws that are tried for each random plan that is wanted, where some drawn plans prove illegal.
const TRIES: u64 = 64;

/// Every legal plan of the screened space; more than the limit is an error.
pub(super) fn exhaustive(
    context: &Context<'_>,
    board: &mut Board,
    screen: &Screen,
    base: &Assignment,
    wanted: &Located<Exhaustive>,
) -> Result<(), SelectError> {
    let space = screen.whole_space(context, base)?;
    let size = space.count().map_err(|error| context.space_error(error))?;
    if size > u128::from(wanted.limit) {
        let message = format!(
            "the screened space of workload `{}` holds {}, more than the limit of {}",
            context.workload().name,
            counted(size, "plan"),
            grouped(wanted.limit)
        );
        return Err(context.definition.error(&wanted.span, message).into());
    }
    let mut index = 0_u64;
    for plan in space.walk().map_err(|error| context.space_error(error))? {
        if let Some(plan) = screen.whole(context, plan)? {
            let reason = told("every plan of the screened space", context, base, &plan);
            add(context, board, plan, format!("all-{index:05}"), "exhaustive", &reason);
            index += 1;
        }
    }
    Ok(())
}

/// Distinct plans drawn by seed; those that are cases already are not counted.
pub(super) fn random(
    context: &Context<'_>,
    board: &mut Board,
    screen: &Screen,
    base: &Assignment,
    wanted: &Random,
) -> Result<(), SelectError> {
    let space = screen.whole_space(context, base)?;
    let mut draws = wanted.count;
    loop {
        let sample = space
            .sample(wanted.seed, draws)
            .map_err(|error| context.space_error(error))?;
        let mut plans = Vec::new();
        for plan in sample.assignments {
            let drawn = screen.whole(context, plan)?.into_iter();
            plans.extend(drawn.filter(|plan| !board.has(&context.text(plan))));
        }
        let enough = plans.len() as u64 >= wanted.count;
        let last = draws >= wanted.count.saturating_mul(TRIES);
        if !(enough || sample.whole || last) {
            draws = draws.saturating_mul(2);
            continue;
        }
        if !enough {
            let found = plans.len();
            let message = if sample.whole {
                format!(
                    "random: {} wanted, the screened space holds {} that are no case yet: all are taken",
                    counted(wanted.count, "plan"),
                    grouped(found)
                )
            } else {
                format!(
                    "random: {} wanted, {} found in {}",
                    counted(wanted.count, "plan"),
                    grouped(found),
                    counted(draws, "draw")
                )
            };
            board.notes.push(message);
        }
        let reason = format!("drawn with seed {}", wanted.seed);
        for (index, plan) in plans
            .into_iter()
            .take(usize::try_from(wanted.count).unwrap_or(usize::MAX))
            .enumerate()
        {
            let reason = told(&reason, context, base, &plan);
            add(context, board, plan, format!("random-{index:03}"), "random", &reason);
        }
        return Ok(());
    }
}

/// A reason with what tells the plan from the base: its name does not.
fn told(reason: &str, context: &Context<'_>, base: &Assignment, plan: &Assignment) -> String {
    let changes = context.space.changes(base, plan);
    if changes.is_empty() {
        format!("{reason}: the base, {}", context.text(plan))
    } else {
        format!("{reason}: {changes}")
    }
}

fn add(context: &Context<'_>, board: &mut Board, plan: Assignment, name: String, family: &str, reason: &str) {
    let text = context.text(&plan);
    let name = board.free_name(name);
    let candidate = Candidate {
        name,
        family: family.to_owned(),
        reason: reason.to_owned(),
        assignment: plan,
    };
    board.add(candidate, text);
}
