//! Sums over a profile: by kernel, by operation, by barrier.

use std::collections::BTreeMap;

use serde::Serialize;

use super::types::Profile;

/// Smallest, middle and largest of the values of all tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// The smallest.
    pub least: usize,
    /// The upper median.
    pub median: usize,
    /// The largest.
    pub most: usize,
}

/// The spread of values; zero when there are none.
#[must_use]
pub fn spread(values: &[usize]) -> Spread {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    let at = |place: usize| sorted.get(place).copied().unwrap_or(0);
    Spread {
        least: at(0),
        median: at(sorted.len() / 2),
        most: at(sorted.len().saturating_sub(1)),
    }
}

/// All calls of one kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KernelSummary {
    /// Its name.
    pub kernel: String,
    /// Calls on all tiles.
    pub calls: usize,
    /// Tiles that call it.
    pub tiles: usize,
    /// Cycles on all tiles.
    pub tile_cycles: usize,
    /// Cycles of the tile that spends most in it.
    pub busiest_tile: usize,
    /// Cycles of its longest call.
    pub longest_call: usize,
}

/// What one operation takes of the whole time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OperationSummary {
    /// Its name.
    pub operation: String,
    /// Cycles of its exchange phases, barriers included.
    pub exchange: usize,
    /// Cycles of the busiest tile in the work after each, added up.
    pub compute: usize,
}

/// One barrier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BarrierSummary {
    /// The phase that it begins.
    pub phase: String,
    /// Cycles of the schedule.
    pub scheduled: usize,
    /// Cycles from the last arrival to the end of the phase.
    pub after_arrival: usize,
    /// Cycles between the first and the last arrival.
    pub arrival_spread: usize,
}

/// All sums.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// By kernel, most tile cycles first.
    pub kernels: Vec<KernelSummary>,
    /// By operation; they add up to the whole time.
    pub operations: Vec<OperationSummary>,
    /// By barrier, in order of time.
    pub barriers: Vec<BarrierSummary>,
}

/// Sums over a profile.
#[must_use]
pub fn summary(profile: &Profile) -> Summary {
    let mut operations: Vec<OperationSummary> = Vec::new();
    for step in &profile.steps {
        let compute = step.segment.cycles.iter().copied().max().unwrap_or(0);
        match operations.last_mut() {
            Some(last) if last.operation == step.operation => {
                last.exchange += step.after_arrival;
                last.compute += compute;
            }
            _ => operations.push(OperationSummary {
                operation: step.operation.clone(),
                exchange: step.after_arrival,
                compute,
            }),
        }
    }
    let barriers = profile.steps.iter().map(|step| BarrierSummary {
        phase: step.name.clone(),
        scheduled: step.scheduled,
        after_arrival: step.after_arrival,
        arrival_spread: step.arrival_spread,
    });
    Summary {
        kernels: kernels(profile),
        operations,
        barriers: barriers.collect(),
    }
}

fn kernels(profile: &Profile) -> Vec<KernelSummary> {
    let mut sums: BTreeMap<&str, (usize, usize, BTreeMap<usize, usize>)> = BTreeMap::new();
    for step in &profile.steps {
        for (tile, calls) in step.segment.calls.iter().enumerate() {
            for call in calls.iter().filter_map(|&place| profile.calls.get(place)) {
                let (count, longest, tiles) = sums.entry(&call.kernel).or_default();
                *count += 1;
                *longest = call.cycles.max(*longest);
                *tiles.entry(tile).or_default() += call.cycles;
            }
        }
    }
    let mut kernels: Vec<KernelSummary> = sums
        .into_iter()
        .map(|(kernel, (calls, longest_call, tiles))| KernelSummary {
            kernel: kernel.to_owned(),
            calls,
            tiles: tiles.len(),
            tile_cycles: tiles.values().sum(),
            busiest_tile: tiles.values().copied().max().unwrap_or(0),
            longest_call,
        })
        .collect();
    kernels.sort_by(|a, b| (b.tile_cycles, &a.kernel).cmp(&(a.tile_cycles, &b.kernel)));
    kernels
}
