//! The nearest legal plan to one that is not.

use super::types::{Assignment, Constraint, Domain, Space};
use crate::refusal::Refusal;
use crate::value::Value;

/// Values of one parameter that are tried where one change may be enough.
const VALUES: usize = 1_024;
/// Values of each of two parameters that are tried together.
const FEW: usize = 48;
/// Pairs of values that are tried when one change is not enough.
const PAIRS: usize = 200_000;

/// One change: the parameter, the new value, and how far it lies from the old one, in values of the domain.
struct Change {
    parameter: usize,
    value: Value,
    steps: u64,
}

impl Space {
    /// Like [`Space::check`], and the refusal names the nearest legal plan where there is one.
    pub fn judge(&self, assignment: &Assignment) -> Result<(), Refusal> {
        self.check(assignment).map_err(|mut refusal| {
            if refusal.nearest.is_none() {
                refusal.nearest = self
                    .nearest_legal(assignment)
                    .map(|near| self.changes(assignment, &near));
            }
            refusal
        })
    }

    /// The legal plan that differs from this one in the fewest attributes (one or two are tried), by the fewest steps
    /// in their domains; among equals the one whose change comes first in the order of the parameters. Attributes that
    /// are missing or unknown make it `None`.
    #[must_use]
    pub fn nearest_legal(&self, assignment: &Assignment) -> Option<Assignment> {
        let values: Vec<Value> = self
            .parameters
            .iter()
            .map(|parameter| assignment.get(&parameter.name).cloned())
            .collect::<Option<_>>()?;
        if assignment.len() != self.parameters.len() {
            return None;
        }
        let outside: Vec<usize> = (0..values.len())
            .filter(|&p| self.parameters[p].domain.position(&values[p]).is_none())
            .collect();
        // Rules are only asked about values that their domains have.
        let view: Vec<&Value> = values.iter().collect();
        let broken: Vec<&Constraint> = self
            .constraints
            .iter()
            .filter(|constraint| constraint.scope.iter().all(|p| !outside.contains(p)))
            .filter(|constraint| constraint.holds(&view).is_err())
            .collect();
        if outside.is_empty() && broken.is_empty() {
            return Some(self.named(&values));
        }
        self.one_change(&values, &outside, &broken)
            .or_else(|| self.two_changes(&values, &outside, &broken))
            .map(|values| self.named(&values))
    }

    /// The changes that turn one plan into another, in words: `` `up.height` = 6, `up.width` = 16 ``.
    #[must_use]
    pub fn changes(&self, from: &Assignment, to: &Assignment) -> String {
        let changed: Vec<String> = to
            .iter()
            .filter(|(name, value)| from.get(name) != Some(*value))
            .map(|(name, value)| format!("`{name}` = {value}"))
            .collect();
        changed.join(", ")
    }

    fn one_change(&self, values: &[Value], outside: &[usize], broken: &[&Constraint]) -> Option<Vec<Value>> {
        // A single change must touch everything that is wrong.
        let touches_all =
            |p: usize| outside.iter().all(|&q| q == p) && broken.iter().all(|constraint| constraint.scope.contains(&p));
        let mut changes: Vec<Change> = (0..values.len())
            .filter(|&p| touches_all(p))
            .flat_map(|p| self.changes_of(p, &values[p], VALUES))
            .collect();
        changes.sort_by_key(|change| (change.steps, change.parameter));
        changes.iter().find_map(|change| self.with(values, broken, [change]))
    }

    fn two_changes(&self, values: &[Value], outside: &[usize], broken: &[&Constraint]) -> Option<Vec<Value>> {
        let firsts: Vec<usize> = match (outside, broken) {
            ([], [constraint, ..]) => constraint.scope.clone(),
            ([p, ..], _) => vec![*p],
            ([], []) => Vec::new(),
        };
        let mut pairs: Vec<(u64, usize, usize, usize, usize)> = Vec::new();
        let all: Vec<Vec<Change>> = (0..values.len()).map(|p| self.changes_of(p, &values[p], FEW)).collect();
        for &p in &firsts {
            for q in (0..values.len()).filter(|&q| q != p) {
                let touched = |r: usize| r == p || r == q;
                if !outside.iter().all(|&r| touched(r))
                    || !broken
                        .iter()
                        .all(|constraint| constraint.scope.iter().any(|&r| touched(r)))
                {
                    continue;
                }
                for (i, first) in all[p].iter().enumerate() {
                    for (j, second) in all[q].iter().enumerate() {
                        pairs.push((first.steps + second.steps, p, q, i, j));
                    }
                }
            }
        }
        pairs.sort_unstable();
        pairs
            .into_iter()
            .take(PAIRS)
            .find_map(|(_, p, q, i, j)| self.with(values, broken, [&all[p][i], &all[q][j]]))
    }

    fn changes_of(&self, parameter: usize, now: &Value, most: usize) -> Vec<Change> {
        let domain = &self.parameters[parameter].domain;
        nearest_values(domain, now, most)
            .into_iter()
            .map(|(steps, value)| Change {
                parameter,
                value,
                steps,
            })
            .collect()
    }

    /// The values after the changes, if they are legal. What was broken is asked first: most changes fail there.
    fn with<const N: usize>(
        &self,
        values: &[Value],
        broken: &[&Constraint],
        changes: [&Change; N],
    ) -> Option<Vec<Value>> {
        let mut view: Vec<&Value> = values.iter().collect();
        for change in changes {
            view[change.parameter] = &change.value;
        }
        let legal = broken
            .iter()
            .copied()
            .chain(&self.constraints)
            .all(|constraint| constraint.holds(&view).is_ok());
        legal.then(|| view.into_iter().cloned().collect())
    }

    fn named(&self, values: &[Value]) -> Assignment {
        self.parameters
            .iter()
            .zip(values)
            .map(|(parameter, value)| (parameter.name.clone(), value.clone()))
            .collect()
    }
}

/// At most so many other values of a domain with their distance in steps, nearest first. A number outside the domain counts from the
/// number next to it; a word counts every other word as one step.
fn nearest_values(domain: &Domain, now: &Value, most: usize) -> Vec<(u64, Value)> {
    let mut near: Vec<(u64, Value)> = match domain {
        Domain::Range { start, stop } => {
            let Some(n) = now.as_integer().map(|n| n.clamp(*start, *stop)) else {
                return domain.at(0).map(|value| (1, value)).into_iter().collect();
            };
            let reach = most.try_into().unwrap_or(i64::MAX);
            let low = n.saturating_sub(reach).max(*start);
            let high = n.saturating_add(reach).min(*stop);
            (low..=high).map(|m| (m.abs_diff(n), Value::Integer(m))).collect()
        }
        Domain::List(values) if values.iter().chain([now]).all(|value| value.as_float().is_some()) => {
            let distance = |value: &Value| match (value.as_float(), now.as_float()) {
                (Some(a), Some(b)) => (a - b).abs(),
                _ => f64::INFINITY,
            };
            let mut sorted: Vec<&Value> = values.iter().collect();
            sorted.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
            sorted
                .into_iter()
                .enumerate()
                .map(|(at, value)| (at as u64, value.clone()))
                .collect()
        }
        Domain::List(values) => values
            .iter()
            .map(|value| (u64::from(value != now), value.clone()))
            .collect(),
    };
    near.retain(|(_, value)| value != now);
    near.sort_by_key(|(steps, _)| *steps);
    near.truncate(most);
    near
}
