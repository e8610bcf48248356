//! One connected component, walked in a fixed order and remembered by its frontier.

use std::collections::HashMap;

use super::error::SpaceError;
use super::order::frontiers;
use super::table::Table;
use super::types::Space;

/// Entries that are remembered per step; beyond it the walk is only slower.
const REMEMBERED: usize = 1 << 20;

/// Parameters of one component in the order of the walk. Maps are only looked up, never listed.
pub(super) struct Group {
    pub(super) order: Vec<usize>,
    sizes: Vec<u64>,
    /// Constraints that are decided when the step is bound.
    due: Vec<Vec<usize>>,
    /// Parameters of the frontier with their place value; none where the frontier is too wide to number.
    keys: Vec<Option<Vec<(usize, u128)>>>,
    counts: Vec<HashMap<u128, u128>>,
    alive: Vec<HashMap<u128, bool>>,
}

impl Group {
    pub(super) fn new(space: &Space, constraints: &[usize], order: Vec<usize>) -> Self {
        let size = |p: usize| space.parameters[p].domain.size();
        let mut due = vec![Vec::new(); order.len()];
        for &constraint in constraints {
            let scope = &space.constraints[constraint].scope;
            if let Some(step) = order.iter().rposition(|p| scope.contains(p)) {
                due[step].push(constraint);
            }
        }
        let keys = frontiers(space, constraints, &order)
            .into_iter()
            .map(|frontier| {
                let mut place = 1_u128;
                let mut key = Vec::new();
                for p in frontier {
                    key.push((p, place));
                    place = place.checked_mul(u128::from(size(p)))?;
                }
                Some(key)
            })
            .collect();
        Self {
            sizes: order.iter().map(|&p| size(p)).collect(),
            due,
            keys,
            counts: vec![HashMap::new(); order.len()],
            alive: vec![HashMap::new(); order.len()],
            order,
        }
    }

    fn key(&self, depth: usize, choice: &[u64]) -> Option<u128> {
        let key = self.keys[depth].as_ref()?;
        Some(key.iter().map(|&(p, place)| u128::from(choice[p]) * place).sum())
    }

    fn is_free(&self) -> bool {
        self.due.iter().all(Vec::is_empty)
    }

    fn holds(&self, depth: usize, choice: &[u64], table: &mut Table<'_>) -> bool {
        self.due[depth]
            .iter()
            .all(|&constraint| table.holds(constraint, choice))
    }

    /// How many ways there are to bind the steps from `depth` on; steps before it stand in `choice`.
    pub(super) fn completions(
        &mut self,
        depth: usize,
        choice: &mut [u64],
        table: &mut Table<'_>,
    ) -> Result<u128, SpaceError> {
        if depth == self.order.len() {
            return Ok(1);
        }
        if self.is_free() {
            let sizes = &self.sizes[depth..];
            return sizes
                .iter()
                .try_fold(1_u128, |product, &size| product.checked_mul(u128::from(size)))
                .ok_or(SpaceError::Overflow);
        }
        let key = self.key(depth, choice);
        if let Some(known) = key.and_then(|key| self.counts[depth].get(&key)) {
            return Ok(*known);
        }
        let mut sum = 0_u128;
        for value in 0..self.sizes[depth] {
            choice[self.order[depth]] = value;
            if self.holds(depth, choice, table) {
                let below = self.completions(depth + 1, choice, table)?;
                sum = sum.checked_add(below).ok_or(SpaceError::Overflow)?;
            }
        }
        if let Some(key) = key
            && self.counts[depth].len() < REMEMBERED
        {
            self.counts[depth].insert(key, sum);
        }
        Ok(sum)
    }

    /// Binds the step at `depth` to the value under which the `index`-th completion lies; gives the index below it.
    /// `index` must be less than the completions of `depth`.
    pub(super) fn descend(
        &mut self,
        depth: usize,
        mut index: u128,
        choice: &mut [u64],
        table: &mut Table<'_>,
    ) -> Result<u128, SpaceError> {
        let p = self.order[depth];
        if self.is_free() {
            let below = self.completions(depth + 1, choice, table)?;
            choice[p] = u64::try_from(index / below).map_err(|_| SpaceError::Overflow)?;
            return Ok(index % below);
        }
        for value in 0..self.sizes[depth] {
            choice[p] = value;
            if self.holds(depth, choice, table) {
                let below = self.completions(depth + 1, choice, table)?;
                // Deeper steps were overwritten, this one was not.
                if index < below {
                    return Ok(index);
                }
                index -= below;
            }
        }
        Err(SpaceError::Malformed(
            "a constraint does not give the same answer twice".to_owned(),
        ))
    }

    /// Whether the steps from `depth` on can be bound at all.
    pub(super) fn alive(&mut self, depth: usize, choice: &mut [u64], table: &mut Table<'_>) -> bool {
        if depth == self.order.len() || self.is_free() {
            return true;
        }
        let key = self.key(depth, choice);
        if let Some(known) = key.and_then(|key| self.alive[depth].get(&key)) {
            return *known;
        }
        let mut alive = false;
        for value in 0..self.sizes[depth] {
            choice[self.order[depth]] = value;
            if self.holds(depth, choice, table) && self.alive(depth + 1, choice, table) {
                alive = true;
                break;
            }
        }
        if let Some(key) = key
            && self.alive[depth].len() < REMEMBERED
        {
            self.alive[depth].insert(key, alive);
        }
        alive
    }

    /// Binds the step at `depth` to the first possible value from `from` on; false if there is none.
    pub(super) fn advance(&mut self, depth: usize, from: u64, choice: &mut [u64], table: &mut Table<'_>) -> bool {
        let p = self.order[depth];
        for value in from..self.sizes[depth] {
            choice[p] = value;
            if self.holds(depth, choice, table) && self.alive(depth + 1, choice, table) {
                choice[p] = value;
                return true;
            }
        }
        false
    }
}
