//! The order of transfers: always the one that can start first, the hardest pressed among equals.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::job::Job;
use super::timeline::Timeline;
use crate::device::TILES;

/// Where a transfer may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// As soon as its own rules allow.
    Pipelined,
    /// Not before all its lanes are free (older compilers).
    Guarded,
}

/// Rank of a transfer, smaller comes first: its earliest start, its pressure, its place by what never changes.
type Rank = (i64, Reverse<i64>, usize);

struct Groups<'a> {
    jobs: &'a [Job],
    members: Vec<Vec<usize>>,
    next: Vec<usize>,
    load: Vec<i64>,
    /// Place of each transfer by receivers, length, source and position.
    fixed: Vec<usize>,
}

impl<'a> Groups<'a> {
    /// Transfers with the same source and receivers have the same rank but for their length: one entry serves them all.
    fn new(jobs: &'a [Job]) -> Self {
        let mut index: BTreeMap<(usize, bool, &[usize]), Vec<usize>> = BTreeMap::new();
        let mut load = vec![0; TILES];
        for (at, job) in jobs.iter().enumerate() {
            index
                .entry((job.source, job.paired, &job.destinations))
                .or_default()
                .push(at);
            for tile in endpoints(job) {
                load[tile] += job.items;
            }
        }
        let mut members: Vec<Vec<usize>> = index.into_values().collect();
        for group in &mut members {
            group.sort_by_key(|&at| (Reverse(jobs[at].items), at));
        }
        let mut sorted: Vec<usize> = (0..jobs.len()).collect();
        sorted.sort_by_key(|&at| {
            let job = &jobs[at];
            (Reverse(job.destinations.len()), Reverse(job.items), job.source, at)
        });
        let mut fixed = vec![0; jobs.len()];
        for (place, &at) in sorted.iter().enumerate() {
            fixed[at] = place;
        }
        Self {
            jobs,
            next: vec![0; members.len()],
            members,
            load,
            fixed,
        }
    }

    fn head(&self, group: usize) -> Option<usize> {
        self.members[group].get(self.next[group]).copied()
    }

    fn rank(&self, at: usize, timeline: &Timeline) -> Rank {
        let job = &self.jobs[at];
        let pressure: i64 = endpoints(job).map(|tile| self.load[tile]).sum();
        (timeline.available(at), Reverse(pressure), self.fixed[at])
    }
}

fn endpoints(job: &Job) -> impl Iterator<Item = usize> {
    [Some(job.source), job.partner()]
        .into_iter()
        .flatten()
        .chain(job.destinations.iter().copied())
}

/// Places all transfers of `timeline`; gives their order.
///
/// The pressure of a transfer is the sum of what its tiles send and receive: in the whole phase where every transfer
/// has one receiver, what remains of it otherwise.
pub fn greedy(jobs: &[Job], timeline: &mut Timeline, release: Release) -> Vec<usize> {
    let remaining = jobs.iter().any(|job| job.destinations.len() > 1);
    let mut groups = Groups::new(jobs);
    let mut heap = BinaryHeap::with_capacity(groups.members.len());
    for group in 0..groups.members.len() {
        if let Some(at) = groups.head(group) {
            heap.push(Reverse((groups.rank(at, timeline), group)));
        }
    }
    let mut order = Vec::with_capacity(jobs.len());
    while let Some(Reverse((rank, group))) = heap.pop() {
        let Some(at) = groups.head(group) else { continue };
        // Lanes only fill up and pressure only falls, so a rank only gets worse: one that is still right is the best.
        let now = groups.rank(at, timeline);
        if now != rank {
            heap.push(Reverse((now, group)));
            continue;
        }
        let least = match release {
            Release::Pipelined => 0,
            Release::Guarded => rank.0,
        };
        timeline.place(at, least);
        order.push(at);
        if remaining {
            for tile in endpoints(&jobs[at]) {
                groups.load[tile] -= jobs[at].items;
            }
        }
        groups.next[group] += 1;
        if let Some(at) = groups.head(group) {
            heap.push(Reverse((groups.rank(at, timeline), group)));
        }
    }
    order
}
