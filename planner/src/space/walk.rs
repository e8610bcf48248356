//! Enumeration in the order of the parameters, lazily and without dead ends.

use super::error::SpaceError;
use super::group::Group;
use super::order::components;
use super::table::Table;
use super::types::{Assignment, Space};

/// The legal plans of a space in the order of its parameters, the last one changing fastest.
///
/// A value is only bound if its group can be completed, so that the walk never backs out of a branch it entered.
pub struct Walk<'a> {
    space: &'a Space,
    table: Table<'a>,
    groups: Vec<Group>,
    /// Group and depth of each parameter that has a choice, ascending by parameter.
    steps: Vec<(usize, usize, usize)>,
    choice: Vec<u64>,
    state: State,
}

#[derive(PartialEq)]
enum State {
    Fresh,
    Running,
    Done,
}

impl<'a> Walk<'a> {
    fn new(space: &'a Space) -> Result<Self, SpaceError> {
        space.well_formed()?;
        let mut table = Table::new(space);
        let mut choice = vec![0; space.parameters.len()];
        let (components, decided) = components(space);
        let mut groups: Vec<Group> = components
            .iter()
            .map(|component| Group::new(space, &component.constraints, component.members.clone()))
            .collect();
        let mut steps = Vec::new();
        for (at, group) in groups.iter().enumerate() {
            steps.extend(group.order.iter().enumerate().map(|(depth, &p)| (p, at, depth)));
        }
        steps.sort_unstable();
        let possible = space.parameters.iter().all(|parameter| parameter.domain.size() > 0)
            && decided.iter().all(|&constraint| table.holds(constraint, &choice))
            && groups.iter_mut().all(|group| group.alive(0, &mut choice, &mut table));
        let state = if possible { State::Fresh } else { State::Done };
        Ok(Self {
            space,
            table,
            groups,
            steps,
            choice,
            state,
        })
    }

    /// Steps to the next plan; its positions in the domains, `None` at the end.
    pub fn advance(&mut self) -> Option<&[u64]> {
        let mut at = match self.state {
            State::Done => return None,
            State::Fresh => 0,
            // Past the last plan it is done.
            State::Running => {
                self.state = State::Done;
                self.step_back()?
            }
        };
        while at < self.steps.len() {
            let (_, group, depth) = self.steps[at];
            if !self.groups[group].advance(depth, 0, &mut self.choice, &mut self.table) {
                // Can't happen: what was bound before was checked to be completable.
                self.state = State::Done;
                return None;
            }
            at += 1;
        }
        self.state = State::Running;
        Some(&self.choice)
    }

    /// Moves the last parameter that can move; gives the step after it.
    fn step_back(&mut self) -> Option<usize> {
        for at in (0..self.steps.len()).rev() {
            let (p, group, depth) = self.steps[at];
            let next = self.choice[p] + 1;
            if self.groups[group].advance(depth, next, &mut self.choice, &mut self.table) {
                return Some(at + 1);
            }
        }
        None
    }
}

impl Iterator for Walk<'_> {
    type Item = Assignment;

    fn next(&mut self) -> Option<Assignment> {
        let space = self.space;
        self.advance().map(|choice| space.assignment(choice))
    }
}

impl Space {
    /// All legal plans, lazily, in the order of the parameters, the last one changing fastest.
    pub fn walk(&self) -> Result<Walk<'_>, SpaceError> {
        Walk::new(self)
    }
}
