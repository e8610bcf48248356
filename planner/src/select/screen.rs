//! Screening: the legal geometries of one operation, all else at the base, sorted by the target's proxy.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::context::{Context, admitted};
use super::types::SelectError;
use crate::definition::{Choices, Located, Named};
use crate::numbers::grouped;
use crate::space::{Assignment, Space, SpaceError};
use crate::value::Value;

/// More geometries of one operation are not screened.
const SCREENED: u128 = 2_000_000;
/// What geometries are counted under where the operation has no orientation.
const ALL: &str = "all";

/// What a definition screens, for one workload.
pub(super) struct Screen {
    /// Parameter -> the values it takes.
    free: BTreeMap<usize, Vec<Value>>,
    /// Parameters that the target computes, and where the definition says so.
    derived: BTreeMap<usize, Range<usize>>,
    /// Values that only other workloads have, as notes.
    pub(super) notes: Vec<String>,
}

impl Screen {
    pub(super) fn new(context: &Context<'_>) -> Result<Self, SelectError> {
        let mut screen = Self {
            free: BTreeMap::new(),
            derived: BTreeMap::new(),
            notes: Vec::new(),
        };
        for starred in [true, false] {
            let entries = context.definition.explore.screen.iter();
            for (name, choices) in entries.filter(|(name, _)| name.starts_with("*.") == starred) {
                for at in context.parameters(name)? {
                    screen.add(context, at, choices)?;
                }
            }
        }
        Ok(screen)
    }

    fn add(&mut self, context: &Context<'_>, at: usize, choices: &Located<Choices>) -> Result<(), SelectError> {
        let parameter = &context.space.parameters[at];
        self.free.remove(&at);
        self.derived.remove(&at);
        let Choices::These(values) = &choices.value else {
            if context.operation_at(at).is_none() {
                let message = format!("`{}` belongs to the whole plan: it can't be derived", parameter.name);
                return Err(context.definition.error(&choices.span, message).into());
            }
            self.derived.insert(at, choices.span.clone());
            return Ok(());
        };
        let (values, others): (Vec<Value>, Vec<Value>) = values
            .iter()
            .map(|value| admitted(&parameter.domain, value))
            .partition(|value| parameter.domain.position(value).is_some());
        let foreign = others.iter().find(|value| !context.anywhere(&parameter.name, value));
        if let Some(value) = foreign.or_else(|| others.first().filter(|_| values.is_empty())) {
            let message = format!(
                "`{}` can't be {value}{}: expected {}",
                parameter.name,
                context.of_workload(),
                parameter.domain.words()
            );
            return Err(context.definition.error(&choices.span, message).into());
        }
        if !others.is_empty() {
            let words: Vec<String> = others.iter().map(ToString::to_string).collect();
            self.notes.push(format!(
                "`{}` can't be {} here, only in other workloads: not screened",
                parameter.name,
                words.join(", ")
            ));
        }
        self.free.insert(at, values);
        Ok(())
    }

    /// Whether nothing varies.
    pub(super) fn is_empty(&self) -> bool {
        self.free.is_empty()
    }

    /// The values that a parameter takes, if it is screened.
    pub(super) fn values(&self, at: usize) -> Option<&[Value]> {
        self.free.get(&at).map(Vec::as_slice)
    }

    /// Whether a parameter is derived.
    pub(super) fn derives(&self, at: usize) -> bool {
        self.derived.contains_key(&at)
    }

    /// A plan with the derived attributes of one operation set; `None` where screening passes over it.
    pub(super) fn complete(
        &self,
        context: &Context<'_>,
        operation: &str,
        plan: &Assignment,
    ) -> Result<Option<Assignment>, SelectError> {
        self.completed(context, &[operation.to_owned()], plan.clone())
    }

    /// The space in which only the screened parameters that `keep` accepts are free; rules that look at derived ones
    /// are left out, as their values are not known yet.
    fn narrowed(
        &self,
        context: &Context<'_>,
        base: &Assignment,
        keep: impl Fn(usize) -> bool,
    ) -> Result<Space, SelectError> {
        let mut to: Vec<(&str, &[Value])> = Vec::new();
        for (at, parameter) in context.space.parameters.iter().enumerate() {
            let values = match self.free.get(&at) {
                Some(values) if keep(at) => values.as_slice(),
                _ => base.get(&parameter.name).map(std::slice::from_ref).unwrap_or_default(),
            };
            to.push((&parameter.name, values));
        }
        let mut space = context
            .space
            .restrict(&to)
            .map_err(|error| context.space_error(error))?;
        let open: BTreeSet<usize> = self.derived.keys().copied().filter(|&at| keep(at)).collect();
        space
            .constraints
            .retain(|constraint| constraint.scope.iter().all(|at| !open.contains(at)));
        Ok(space)
    }

    /// The names of the derived attributes of an operation, and where the definition has the first.
    fn derived_of(&self, context: &Context<'_>, operation: &str) -> Option<(Vec<String>, &Range<usize>)> {
        let mut own = self
            .derived
            .iter()
            .filter(|(at, _)| context.operation_at(**at) == Some(operation))
            .peekable();
        let (_, span) = own.peek()?;
        let span = *span;
        Some((
            own.map(|(&at, _)| context.space.parameters[at].name.clone()).collect(),
            span,
        ))
    }

    /// Sets what is derived, for these operations; `None` where screening passes over it or it is not legal.
    fn completed(
        &self,
        context: &Context<'_>,
        operations: &[String],
        plan: Assignment,
    ) -> Result<Option<Assignment>, SelectError> {
        let mut completed = plan;
        let mut any = false;
        for operation in operations {
            let Some((derived, span)) = self.derived_of(context, operation) else {
                continue;
            };
            any = true;
            let done = context
                .rules
                .complete(context.workload(), operation, &derived, &completed);
            match done.map_err(|refusal| context.definition.error(span, refusal.message))? {
                Some(plan) => completed = plan,
                None => return Ok(None),
            }
        }
        if any && context.space.check(&completed).is_err() {
            return Ok(None);
        }
        Ok(context.space.ordered(&completed).ok())
    }

    /// The whole plan's screened space; [`Screen::whole`] makes plans of what it holds.
    pub(super) fn whole_space(&self, context: &Context<'_>, base: &Assignment) -> Result<Space, SelectError> {
        self.narrowed(context, base, |_| true)
    }

    /// A plan of [`Screen::whole_space`] with everything set; `None` if it is not legal after all.
    pub(super) fn whole(&self, context: &Context<'_>, plan: Assignment) -> Result<Option<Assignment>, SelectError> {
        self.completed(context, &context.operations, plan)
    }

    /// How many geometries of one operation the screen holds, by orientation (`all` where the operation has none), as
    /// [`Screened::counts`] gives them; nothing is enumerated. `None` where the target computes attributes: which
    /// geometries it passes over is known only when each was looked at.
    pub(super) fn counts(
        &self,
        context: &Context<'_>,
        base: &Assignment,
        operation: &str,
    ) -> Result<Option<BTreeMap<String, u64>>, SelectError> {
        if self.derived_of(context, operation).is_some() {
            return Ok(None);
        }
        let space = self.narrowed(context, base, |at| context.operation_at(at) == Some(operation))?;
        let name = format!("{operation}.orientation");
        let domain = space.parameter(&name).map(|parameter| &parameter.domain);
        let orientations: Vec<Value> = domain
            .map(|own| (0..own.size()).filter_map(|at| own.at(at)).collect())
            .unwrap_or_default();
        let mut counts = BTreeMap::new();
        let mut add = |label: String, space: &Space| -> Result<(), SelectError> {
            let count = space
                .count()
                .and_then(|n| u64::try_from(n).map_err(|_| SpaceError::Overflow));
            let count = count.map_err(|error| context.space_error(error))?;
            if count > 0 || label == ALL {
                counts.insert(label, count);
            }
            Ok(())
        };
        if orientations.is_empty() {
            add(ALL.to_owned(), &space)?;
        }
        for orientation in orientations {
            let only = [(name.as_str(), std::slice::from_ref(&orientation))];
            let one = space.restrict(&only).map_err(|error| context.space_error(error))?;
            add(orientation.to_string(), &one)?;
        }
        Ok(Some(counts))
    }

    /// Screens one operation.
    pub(super) fn operation(
        &self,
        context: &Context<'_>,
        base: &Assignment,
        operation: &str,
    ) -> Result<Screened, SelectError> {
        let space = self.narrowed(context, base, |at| context.operation_at(at) == Some(operation))?;
        let size = space.count().map_err(|error| context.space_error(error))?;
        if size > SCREENED {
            let message = format!(
                "the screen holds {} geometries of `{operation}`: expected at most {}",
                grouped(size),
                grouped(SCREENED)
            );
            return Err(context
                .definition
                .error(&context.definition.explore.span, message)
                .into());
        }
        let own = [operation.to_owned()];
        let mut walk = space.walk().map_err(|error| context.space_error(error))?;
        let mut geometries = Vec::new();
        while let Some(choice) = walk.advance() {
            let positions: Box<[u64]> = choice.into();
            let Some(plan) = self.completed(context, &own, space.assignment(&positions))? else {
                continue;
            };
            let proxy = context.rules.proxy(context.workload(), operation, &plan);
            if let Some(value) = proxy.filter(|proxy| !proxy.is_finite()) {
                let text = context.rules.operation_text(context.workload(), operation, &plan);
                return Err(SelectError::Proxy {
                    text,
                    value: value.to_string(),
                });
            }
            // Only what differs from the base is kept: there may be a million of them.
            let changed = plan.iter().enumerate().filter(|(at, (name, _))| {
                context.operation_at(*at) == Some(operation) && base.get(name) != plan.get(name)
            });
            let changed = changed.map(|(at, (_, value))| (at, value.clone())).collect();
            geometries.push(Geometry { proxy, changed });
        }
        geometries.sort_by(Geometry::order);
        let mut screened = Screened {
            operation: operation.to_owned(),
            base: base.clone(),
            geometries,
        };
        screened.break_ties(context);
        Ok(screened)
    }
}

struct Geometry {
    /// What screening thinks of it, if anything.
    proxy: Option<f64>,
    /// Parameters whose value is not the base's.
    changed: Box<[(usize, Value)]>,
}

impl Geometry {
    /// By proxy; those without one come last.
    fn order(&self, other: &Self) -> Ordering {
        match (self.proxy, other.proxy) {
            (Some(own), Some(other)) => own.total_cmp(&other),
            (own, other) => own.is_none().cmp(&other.is_none()),
        }
    }
}

/// The screened geometries of one operation, best first.
pub(super) struct Screened {
    pub(super) operation: String,
    base: Assignment,
    geometries: Vec<Geometry>,
}

impl Screened {
    /// Equal proxies are ordered by the geometry's text.
    fn break_ties(&mut self, context: &Context<'_>) {
        let mut from = 0;
        while from < self.geometries.len() {
            let first = &self.geometries[from];
            let run = self.geometries[from..]
                .iter()
                .take_while(|g| g.order(first).is_eq())
                .count();
            let base = &self.base;
            let operation = &self.operation;
            if run > 1 {
                self.geometries[from..from + run].sort_by_cached_key(|geometry| {
                    context
                        .rules
                        .operation_text(context.workload(), operation, &plan_of(context, base, geometry))
                });
            }
            from += run;
        }
    }

    /// Counts by orientation; `all` where the operation has none.
    pub(super) fn counts(&self, context: &Context<'_>) -> BTreeMap<String, u64> {
        let name = format!("{}.orientation", self.operation);
        let Some(at) = context.space.position(&name) else {
            return BTreeMap::from([(ALL.to_owned(), self.geometries.len() as u64)]);
        };
        let mut counts = BTreeMap::new();
        for geometry in &self.geometries {
            if let Some(orientation) = value_at(geometry, at).or_else(|| self.base.get(&name)) {
                *counts.entry(orientation.to_string()).or_insert(0) += 1;
            }
        }
        counts
    }

    /// The best plans in which `attribute` (a full name) has the value and the conditions hold.
    pub(super) fn best(
        &self,
        context: &Context<'_>,
        attribute: &str,
        value: &Value,
        conditions: &[(String, Value)],
        count: u32,
    ) -> Vec<Assignment> {
        let wanted: Vec<(&str, &Value)> = std::iter::once((attribute, value))
            .chain(conditions.iter().map(|(name, value)| (name.as_str(), value)))
            .collect();
        let best = self.with(context, &wanted).take(count as usize);
        best.map(|geometry| plan_of(context, &self.base, geometry)).collect()
    }

    /// The geometries in which attributes (full names) have these values, best first.
    fn with<'s>(
        &'s self,
        context: &'s Context<'_>,
        wanted: &[(&'s str, &'s Value)],
    ) -> impl Iterator<Item = &'s Geometry> {
        let wanted: Vec<(&str, &Value, Option<usize>)> = wanted
            .iter()
            .map(|&(name, value)| (name, value, context.space.position(name)))
            .collect();
        self.geometries.iter().filter(move |geometry| {
            wanted.iter().all(|(name, value, at)| match at {
                Some(at) => value_at(geometry, *at).or_else(|| self.base.get(name)) == Some(*value),
                None => context.derived(name, &plan_of(context, &self.base, geometry)).as_ref() == Some(*value),
            })
        })
    }

    /// Where a plan's geometry stands among those with these values, from 1, and how many there are; the rank is none
    /// when it is not among them.
    pub(super) fn rank(
        &self,
        context: &Context<'_>,
        wanted: &[(&str, &Value)],
        plan: &Assignment,
    ) -> (Option<usize>, usize) {
        let own: Vec<(usize, &str)> = context
            .space
            .parameters
            .iter()
            .enumerate()
            .filter(|(at, _)| context.operation_at(*at) == Some(self.operation.as_str()))
            .map(|(at, parameter)| (at, parameter.name.as_str()))
            .collect();
        let same = |geometry: &Geometry| {
            own.iter()
                .all(|&(at, name)| value_at(geometry, at).or_else(|| self.base.get(name)) == plan.get(name))
        };
        let (mut rank, mut of) = (None, 0);
        for geometry in self.with(context, wanted) {
            of += 1;
            if rank.is_none() && same(geometry) {
                rank = Some(of);
            }
        }
        (rank, of)
    }
}

fn value_at(geometry: &Geometry, parameter: usize) -> Option<&Value> {
    geometry
        .changed
        .iter()
        .find(|(at, _)| *at == parameter)
        .map(|(_, value)| value)
}

fn plan_of(context: &Context<'_>, base: &Assignment, geometry: &Geometry) -> Assignment {
    let mut plan = base.clone();
    for (at, value) in &geometry.changed {
        plan.set(&context.space.parameters[*at].name, value.clone());
    }
    plan
}

/// Conditions of a stratum for one operation, under full names.
pub(super) fn conditions_for(
    context: &Context<'_>,
    operation: &str,
    conditions: &Named<Value>,
) -> Result<Vec<(String, Value)>, SelectError> {
    let mut full = Vec::new();
    for (name, value) in conditions.iter() {
        let own = name.strip_prefix("*.").unwrap_or(name);
        let located = Located {
            value: format!("{operation}.{own}"),
            span: name.span.clone(),
        };
        for attribute in context.attributes(&located)? {
            let value = match context.space.parameter(&attribute) {
                Some(parameter) => admitted(&parameter.domain, value),
                None => value.value.clone(),
            };
            full.push((attribute, value));
        }
    }
    Ok(full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometries_without_a_proxy_come_last() {
        let of = |proxy| Geometry {
            proxy,
            changed: Box::default(),
        };
        let mut all = [of(None), of(Some(f64::MAX)), of(None), of(Some(-1.0))];
        all.sort_by(Geometry::order);
        assert_eq!(all.map(|g| g.proxy), [Some(-1.0), Some(f64::MAX), None, None]);
    }
}
