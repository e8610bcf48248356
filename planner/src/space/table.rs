//! Constraints over positions in domains, remembered: a rule is asked once for each combination of its scope.

use super::types::Space;
use crate::value::Value;

/// Combinations of a scope that are remembered, in bytes per constraint; wider rules are asked each time.
const REMEMBERED: u64 = 1 << 22;

const UNKNOWN: u8 = 0;
const HOLDS: u8 = 1;
const FAILS: u8 = 2;

/// All constraints of a space.
pub(super) struct Table<'a> {
    space: &'a Space,
    rules: Vec<Remembered>,
}

struct Remembered {
    /// Step of each member of the scope in `known`; empty when the scope is too wide.
    strides: Vec<u64>,
    known: Vec<u8>,
    combinations: usize,
}

impl<'a> Table<'a> {
    pub(super) fn new(space: &'a Space) -> Self {
        let rules = space
            .constraints
            .iter()
            .map(|constraint| {
                let mut strides = Vec::new();
                let mut combinations = 1_u64;
                for &at in &constraint.scope {
                    strides.push(combinations);
                    combinations = combinations.saturating_mul(space.parameters[at].domain.size());
                }
                match usize::try_from(combinations) {
                    Ok(n) if combinations <= REMEMBERED => Remembered {
                        strides,
                        known: Vec::new(),
                        combinations: n,
                    },
                    _ => Remembered {
                        strides: Vec::new(),
                        known: Vec::new(),
                        combinations: 0,
                    },
                }
            })
            .collect();
        Self { space, rules }
    }

    /// Whether the constraint holds for these positions; only those of its scope are looked at.
    pub(super) fn holds(&mut self, constraint: usize, choice: &[u64]) -> bool {
        let scope = &self.space.constraints[constraint].scope;
        let remembered = &mut self.rules[constraint];
        if remembered.combinations == 0 {
            return self.ask(constraint, choice);
        }
        if remembered.known.is_empty() {
            remembered.known = vec![UNKNOWN; remembered.combinations];
        }
        let at: u64 = scope
            .iter()
            .zip(&remembered.strides)
            .map(|(&p, stride)| choice[p] * stride)
            .sum();
        // `at` is below `combinations`, which is a usize.
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        match remembered.known[at] {
            UNKNOWN => {
                let holds = self.ask(constraint, choice);
                self.rules[constraint].known[at] = if holds { HOLDS } else { FAILS };
                holds
            }
            known => known == HOLDS,
        }
    }

    fn ask(&self, constraint: usize, choice: &[u64]) -> bool {
        let constraint = &self.space.constraints[constraint];
        let values: Option<Vec<Value>> = constraint
            .scope
            .iter()
            .map(|&p| self.space.parameters[p].domain.at(choice[p]))
            .collect();
        values.is_some_and(|values| (constraint.check)(&values.iter().collect::<Vec<_>>()).is_ok())
    }
}
