//! Counting without enumerating, and the plan at a position.

use super::error::SpaceError;
use super::group::Group;
use super::order::{components, small_frontier};
use super::table::Table;
use super::types::{Assignment, Space};

/// A space prepared for counting: independent groups apart, each in an order with a small frontier.
pub(super) struct Counter<'a> {
    space: &'a Space,
    table: Table<'a>,
    groups: Vec<Group>,
    choice: Vec<u64>,
    /// Whether the constraints that have no choice hold, and no domain is empty.
    possible: bool,
}

impl<'a> Counter<'a> {
    /// In the order that counts fastest.
    pub(super) fn fast(space: &'a Space) -> Result<Self, SpaceError> {
        Self::new(space, true)
    }

    /// In the order of the parameters.
    fn ordered(space: &'a Space) -> Result<Self, SpaceError> {
        Self::new(space, false)
    }

    fn new(space: &'a Space, reorder: bool) -> Result<Self, SpaceError> {
        space.well_formed()?;
        let mut table = Table::new(space);
        let choice = vec![0; space.parameters.len()];
        let (components, decided) = components(space);
        let possible = space.parameters.iter().all(|parameter| parameter.domain.size() > 0)
            && decided.iter().all(|&constraint| table.holds(constraint, &choice));
        let groups = components
            .iter()
            .map(|component| {
                let order = if reorder {
                    small_frontier(space, component)
                } else {
                    component.members.clone()
                };
                Group::new(space, &component.constraints, order)
            })
            .collect();
        Ok(Self {
            space,
            table,
            groups,
            choice,
            possible,
        })
    }

    /// The number of legal plans.
    pub(super) fn total(&mut self) -> Result<u128, SpaceError> {
        if !self.possible {
            return Ok(0);
        }
        let mut counts = Vec::new();
        for group in &mut self.groups {
            counts.push(group.completions(0, &mut self.choice, &mut self.table)?);
        }
        if counts.contains(&0) {
            return Ok(0);
        }
        counts
            .iter()
            .try_fold(1_u128, |product, &n| product.checked_mul(n))
            .ok_or(SpaceError::Overflow)
    }

    /// The plan at a position in this counter's own order: a bijection from `0..total` to the legal plans.
    pub(super) fn pick(&mut self, mut index: u128) -> Result<Assignment, SpaceError> {
        for group in &mut self.groups {
            let size = group.completions(0, &mut self.choice, &mut self.table)?;
            let mut inside = index % size;
            index /= size;
            for depth in 0..group.order.len() {
                inside = group.descend(depth, inside, &mut self.choice, &mut self.table)?;
            }
        }
        Ok(self.space.assignment(&self.choice))
    }

    /// The plan at a position in the order of enumeration.
    fn nth(&mut self, mut index: u128) -> Result<Assignment, SpaceError> {
        let mut steps: Vec<(usize, usize, usize)> = Vec::new();
        for (at, group) in self.groups.iter().enumerate() {
            steps.extend(group.order.iter().enumerate().map(|(depth, &p)| (p, at, depth)));
        }
        steps.sort_unstable();
        let mut rest = Vec::new();
        for group in &mut self.groups {
            rest.push(group.completions(0, &mut self.choice, &mut self.table)?);
        }
        for (_, at, depth) in steps {
            let others: u128 = rest
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .map(|(_, n)| n)
                .product();
            // Under one value of this parameter lie (ways in its own group) x (ways in all others) plans.
            let (inside, outside) = (index / others, index % others);
            let group = &mut self.groups[at];
            let below = group.descend(depth, inside, &mut self.choice, &mut self.table)?;
            rest[at] = group.completions(depth + 1, &mut self.choice.clone(), &mut self.table)?;
            index = below * others + outside;
        }
        Ok(self.space.assignment(&self.choice))
    }
}

impl Space {
    /// The number of legal plans. Nothing is enumerated: constraints prune as soon as they are bound, groups that no
    /// constraint joins are counted apart, and inside a group states that later constraints can't tell apart are
    /// counted once.
    pub fn count(&self) -> Result<u128, SpaceError> {
        Counter::fast(self)?.total()
    }

    /// The plan at a position (from 0) in the order of [`Space::walk`]; `None` past the end. Takes longest where
    /// parameters that stand far from each other are joined by constraints.
    pub fn nth(&self, index: u128) -> Result<Option<Assignment>, SpaceError> {
        let mut counter = Counter::ordered(self)?;
        if index >= counter.total()? {
            return Ok(None);
        }
        counter.nth(index).map(Some)
    }

    /// Values for positions in the domains.
    pub(crate) fn assignment(&self, choice: &[u64]) -> Assignment {
        self.parameters
            .iter()
            .zip(choice)
            .filter_map(|(parameter, &at)| Some((parameter.name.clone(), parameter.domain.at(at)?)))
            .collect()
    }
}
