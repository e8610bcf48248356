//! A second order for phases in which every transfer has one receiver: waves in which no tile sends or receives twice.

use std::collections::{BTreeMap, VecDeque};

use super::job::Job;
use crate::device::TILES;

/// The order by waves; none when some tile has more than twice the mean number of transfers, rounded up.
///
/// Each wave is a largest matching of sources and receivers (Hopcroft and Karp), with the earliest transfer of each
/// pair of tiles, sources and edges in the order of `ranked`.
pub(super) fn waves(jobs: &[Job], ranked: &[usize]) -> Option<Vec<usize>> {
    let (mut sent, mut received) = (vec![0usize; TILES], vec![0usize; TILES]);
    let mut queues: BTreeMap<(usize, usize), VecDeque<usize>> = BTreeMap::new();
    for (rank, &at) in ranked.iter().enumerate() {
        let [destination] = jobs[at].destinations[..] else {
            return None;
        };
        sent[jobs[at].source] += 1;
        received[destination] += 1;
        queues
            .entry((jobs[at].source, destination))
            .or_default()
            .push_back(rank);
    }
    let active = |counts: &[usize]| counts.iter().filter(|count| **count > 0).count();
    let mean = jobs.len().div_ceil(active(&sent).min(active(&received)).max(1));
    if sent.iter().chain(&received).any(|&count| count > 2 * mean) {
        return None;
    }
    let mut order = Vec::with_capacity(jobs.len());
    while !queues.is_empty() {
        let mut edges: Vec<(usize, usize, usize)> = queues
            .iter()
            .filter_map(|(&(source, to), ranks)| Some((*ranks.front()?, source, to)))
            .collect();
        edges.sort_unstable();
        let mut wave = matching(&edges);
        wave.sort_unstable();
        for (rank, source, to) in wave {
            order.push(ranked[rank]);
            if let Some(queue) = queues.get_mut(&(source, to)) {
                queue.pop_front();
                if queue.is_empty() {
                    queues.remove(&(source, to));
                }
            }
        }
    }
    Some(order)
}

type Edge = (usize, usize, usize);

struct Matching {
    /// Edges of each source, best first.
    edges: Vec<Vec<Edge>>,
    /// Edge that a receiver is matched by.
    taken: Vec<Option<Edge>>,
    matched: Vec<bool>,
    level: Vec<usize>,
    next: Vec<usize>,
}

const FAR: usize = usize::MAX;

fn matching(edges: &[Edge]) -> Vec<Edge> {
    let mut sources = Vec::new();
    let mut m = Matching {
        edges: vec![Vec::new(); TILES],
        taken: vec![None; TILES],
        matched: vec![false; TILES],
        level: vec![FAR; TILES],
        next: vec![0; TILES],
    };
    for &edge in edges {
        if m.edges[edge.1].is_empty() {
            sources.push(edge.1);
        }
        m.edges[edge.1].push(edge);
    }
    while m.layers(&sources) {
        m.next.fill(0);
        for &source in &sources {
            if !m.matched[source] {
                m.matched[source] = m.augment(source);
            }
        }
    }
    m.taken.into_iter().flatten().collect()
}

impl Matching {
    /// Numbers sources by the length of the shortest alternating path to them; whether some path ends in a free
    /// receiver.
    fn layers(&mut self, sources: &[usize]) -> bool {
        self.level.fill(FAR);
        let mut queue: VecDeque<usize> = sources.iter().copied().filter(|&s| !self.matched[s]).collect();
        for &source in &queue {
            self.level[source] = 0;
        }
        let mut found = false;
        while let Some(source) = queue.pop_front() {
            for &(_, _, to) in &self.edges[source] {
                match self.taken[to] {
                    None => found = true,
                    Some((_, other, _)) if self.level[other] == FAR => {
                        self.level[other] = self.level[source] + 1;
                        queue.push_back(other);
                    }
                    Some(_) => {}
                }
            }
        }
        found
    }

    /// Looks for a path from `source` to a free receiver along the layers, and turns it over.
    fn augment(&mut self, source: usize) -> bool {
        while let Some(&edge) = self.edges[source].get(self.next[source]) {
            self.next[source] += 1;
            let free = match self.taken[edge.2] {
                None => true,
                Some((_, other, _)) => self.level[other] == self.level[source] + 1 && self.augment(other),
            };
            if free {
                self.taken[edge.2] = Some(edge);
                return true;
            }
        }
        self.level[source] = FAR;
        false
    }
}
