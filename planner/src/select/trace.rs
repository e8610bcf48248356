//! What became of one geometry of one operation in a definition's exploration.

use serde::Serialize;

use super::context::{Context, admitted};
use super::explicit::explicit;
use super::names::operation_of;
use super::run::{base, control};
use super::screen::{Screen, Screened, conditions_for};
use super::types::{SelectError, Selection};
use crate::definition::{Definition, Stratum};
use crate::refusal::Refusal;
use crate::rules::Rules;
use crate::space::Assignment;
use crate::value::Value;

/// How far a geometry came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// No parameters describe it, or a rule of the space says no.
    Space,
    /// It is legal, but the screen does not make it.
    Screen,
    /// It is screened, but no rule asks for the best of a group that it belongs to.
    Strata,
    /// It belongs to such groups, but others are better.
    Rank,
    /// It is in a case.
    Kept,
}

/// What became of one geometry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trace {
    /// How far it came.
    pub step: Step,
    /// Cases that have it.
    pub cases: Vec<String>,
    /// Its rank by the proxy among all screened geometries of its operation, from 1, and their number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screened: Option<(usize, usize)>,
    /// The reason, with its numbers.
    pub why: String,
}

/// What became of the geometry that `plan` has for `operation`, in the workload called `workload`. `selection` is that
/// of the same definition.
pub fn trace(
    definition: &Definition,
    rules: &dyn Rules,
    selection: &Selection,
    workload: &str,
    operation: &str,
    plan: &Assignment,
) -> Result<Trace, SelectError> {
    let contexts = Context::all(definition, rules)?;
    let Some(context) = contexts.iter().find(|context| context.workload().name == workload) else {
        let message = format!("the definition has no workload called `{workload}`");
        return Err(SelectError::Workload {
            workload: workload.to_owned(),
            refusal: Refusal::new("workload", message),
        });
    };
    let of = |name: &str| operation_of(name) == Some(operation);
    let mut trace = Trace {
        step: Step::Space,
        cases: cases(selection, workload, &of, plan),
        screened: None,
        why: String::new(),
    };
    let explicit = explicit(context)?;
    let control = control(context, &explicit)?;
    let (base_name, base) = base(context, &explicit, control.as_ref())?;
    let beyond = plan
        .iter()
        .find(|(name, _)| of(name) && context.space.position(name).is_none());
    if let Some((name, value)) = beyond {
        trace.why = format!("no parameter of the space describes `{name}` = {value}");
        return Ok(trace);
    }
    // The other operations are as in the base, so that what is refused is this geometry's own.
    let mut whole = base.clone();
    for (name, value) in plan.iter().filter(|(name, _)| of(name)) {
        whole.set(name, value.clone());
    }
    if let Err(refusal) = context.space.judge(&whole) {
        trace.why = refusal.to_string();
        return Ok(trace);
    }
    let screen = Screen::new(context)?;
    let screened = if screen.is_empty() {
        None
    } else {
        let screened = screen.operation(context, &base, operation)?;
        match screened.rank(context, &[], &whole) {
            (Some(rank), count) => {
                trace.screened = Some((rank, count));
                Some(screened)
            }
            (None, _) => None,
        }
    };
    if !trace.cases.is_empty() {
        trace.step = Step::Kept;
        trace.why = format!("it is in {}", named(&trace.cases));
        return Ok(trace);
    }
    let Some(screened) = screened else {
        trace.step = Step::Screen;
        trace.why = if screen.is_empty() {
            "the definition screens nothing, and no case names it".to_owned()
        } else {
            not_screened(context, &screen, &base, &base_name, operation, &whole)?
        };
        return Ok(trace);
    };
    groups(context, &screened, &whole, &mut trace)?;
    Ok(trace)
}

fn named(cases: &[String]) -> String {
    let shown: Vec<String> = cases.iter().take(3).map(|name| format!("`{name}`")).collect();
    match cases.len() {
        more @ 4.. => format!("{} and {} more cases", shown.join(", "), more - 3),
        _ => shown.join(", "),
    }
}

/// Cases with this geometry.
fn cases(selection: &Selection, workload: &str, of: &dyn Fn(&str) -> bool, plan: &Assignment) -> Vec<String> {
    let own = |assignment: &Assignment| -> Vec<(String, Value)> {
        let own = assignment.iter().filter(|(name, _)| of(name));
        let mut own: Vec<_> = own.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        own.sort();
        own
    };
    let wanted = own(plan);
    let workloads = selection.workloads.iter().filter(|selected| selected.name == workload);
    workloads
        .flat_map(|selected| &selected.cases)
        .filter(|case| own(&case.assignment) == wanted)
        .map(|case| case.name.clone())
        .collect()
}

/// Which attributes keep a legal geometry out of the screen.
fn not_screened(
    context: &Context<'_>,
    screen: &Screen,
    base: &Assignment,
    base_name: &str,
    operation: &str,
    plan: &Assignment,
) -> Result<String, SelectError> {
    let mut reasons = Vec::new();
    for (at, parameter) in context.space.parameters.iter().enumerate() {
        let name = &parameter.name;
        let (Some(value), Some(fixed)) = (plan.get(name), base.get(name)) else {
            continue;
        };
        if context.operation_at(at) != Some(operation) || screen.derives(at) {
            continue;
        }
        match screen.values(at) {
            Some(values) if !values.contains(value) => {
                reasons.push(format!("`{name}` = {value} is not among the screened values"));
            }
            None if value != fixed => {
                reasons.push(format!(
                    "`{name}` is not screened: it stays {fixed} as in `{base_name}`"
                ));
            }
            _ => {}
        }
    }
    if reasons.is_empty() {
        let made = screen.complete(context, operation, plan)?;
        let differs = made.map(|made| context.space.changes(plan, &made));
        reasons.push(match differs {
            Some(changes) => format!("derived attributes are others: {changes}"),
            None => "the target's screen passes over it (its own bounds of tiles and bytes)".to_owned(),
        });
    }
    Ok(reasons.join("; "))
}

/// The groups whose best geometries are chosen, and where this one stands in them.
fn groups(context: &Context<'_>, screened: &Screened, plan: &Assignment, trace: &mut Trace) -> Result<(), SelectError> {
    let operation = &screened.operation;
    let explore = &context.definition.explore;
    let joints = explore.joint.iter().map(|joint| Stratum {
        attribute: joint.attribute.clone(),
        values: joint.values.clone(),
        conditions: joint.conditions.clone(),
        count: 1,
    });
    let strata = explore.strata.iter().map(|stratum| stratum.value.clone());
    let mut best: Option<(usize, String)> = None;
    for stratum in strata.chain(joints) {
        for attribute in context.attributes(&stratum.attribute)? {
            if operation_of(&attribute) != Some(operation) {
                continue;
            }
            let conditions = conditions_for(context, operation, &stratum.conditions)?;
            for value in stratum.values.values() {
                let value = match context.space.parameter(&attribute) {
                    Some(parameter) => admitted(&parameter.domain, value),
                    None => value.clone(),
                };
                let mut wanted = vec![(attribute.as_str(), &value)];
                wanted.extend(conditions.iter().map(|(name, value)| (name.as_str(), value)));
                let (Some(rank), of) = screened.rank(context, &wanted, plan) else {
                    continue;
                };
                if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                    let group: Vec<String> = wanted.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                    let why = format!(
                        "rank {rank} of {of} with {}, where the best {} became cases",
                        group.join(", "),
                        stratum.count
                    );
                    best = Some((rank, why));
                }
            }
        }
    }
    (trace.step, trace.why) = match best {
        Some((_, why)) => (Step::Rank, why),
        None => (
            Step::Strata,
            "no rule asks for the best of a group that it belongs to".to_owned(),
        ),
    };
    Ok(())
}
