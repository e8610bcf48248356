//! Which visit is next.

use std::collections::{HashMap, HashSet, VecDeque};

use cohort::Frozen;

use super::rounds::Visit;

/// Visits that are left, and who works on which case.
pub(super) struct Queue<'r> {
    left: VecDeque<&'r Visit<'r>>,
    /// Cases that a worker has now: one round of a case at a time, since all use its folder.
    pub(super) busy: HashSet<&'r str>,
    pub(super) failed: HashSet<&'r str>,
    pub(super) stop: bool,
    /// Workloads without a control of which nothing is measured yet. What is measured of them first is what ratios are
    /// relative to, so these take their cases in the order of the cohort: then a run that is cut off and goes on has the
    /// same reference as one that was not.
    unreferenced: HashSet<String>,
    /// Places of the cases in the cohort; empty where nobody asks.
    order: HashMap<&'r str, usize>,
}

/// What a worker should do.
pub(super) enum Next<'r> {
    Visit(&'r Visit<'r>),
    /// Everything that is left belongs to cases that others work on.
    Wait,
    End,
}

impl<'r> Queue<'r> {
    pub(super) fn new(frozen: &'r Frozen, visits: &'r [Visit<'r>], unreferenced: &[&str]) -> Self {
        let order = if unreferenced.is_empty() {
            HashMap::new()
        } else {
            frozen.cases().map(|case| case.name.as_str()).zip(0..).collect()
        };
        Self {
            left: visits.iter().collect(),
            busy: HashSet::new(),
            failed: HashSet::new(),
            stop: false,
            unreferenced: unreferenced.iter().map(|&name| name.to_owned()).collect(),
            order,
        }
    }

    pub(super) fn next(&mut self) -> Next<'r> {
        if self.stop || self.left.is_empty() {
            return Next::End;
        }
        let Some(visit) = self.place().and_then(|at| self.left.remove(at)) else {
            return Next::Wait;
        };
        self.busy.insert(&visit.case.name);
        Next::Visit(visit)
    }

    /// A visit gave a right result.
    pub(super) fn measured(&mut self, visit: &Visit<'_>) {
        self.unreferenced.remove(&visit.case.workload);
    }

    fn place(&self) -> Option<usize> {
        let free = |visit: &Visit<'_>| !self.busy.contains(visit.case.name.as_str());
        let wanted = |visit: &Visit<'_>| {
            let name = visit.case.name.as_str();
            free(visit) && self.unreferenced.contains(&visit.case.workload) && !self.failed.contains(name)
        };
        if !self.unreferenced.is_empty() {
            let candidates = self.left.iter().enumerate().filter(|(_, visit)| wanted(visit));
            let first = candidates.min_by_key(|(_, visit)| (self.order.get(visit.case.name.as_str()), visit.round));
            if let Some((at, _)) = first {
                return Some(at);
            }
        }
        self.left.iter().position(|visit| free(visit))
    }
}
