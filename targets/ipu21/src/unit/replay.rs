//! What really arrives: tiles select sources and set pointers at scheduled cycles, and get what is on the lane then.

use crate::device::WORD_BYTES;
use crate::exchange::{ControlKind, Schedule, lead, sites};
use crate::traffic::{Place, Transfer};

/// Words that a tile receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// Tile that sends.
    pub source: usize,
    /// Where the words come from.
    pub from: Place,
    /// Tile that receives.
    pub destination: usize,
    /// Where they go to.
    pub to: Place,
    /// How many there are.
    pub words: usize,
}

/// All deliveries of a phase.
///
/// A word travels a fixed time, so what a receiver gets is decided by the cycle in which it selects its source, not by
/// the transfer that the planner had in mind. Where nothing is sent in that cycle nothing arrives.
#[must_use]
pub fn replay(transfers: &[Transfer], schedule: &Schedule) -> Vec<Delivery> {
    let sites = sites();
    let mut sends: Vec<Vec<(i64, usize)>> = vec![Vec::new(); sites.len()];
    let mut arrivals: Vec<Vec<(i64, usize, usize)>> = vec![Vec::new(); sites.len()];
    for (at, (job, timing)) in schedule.jobs.iter().zip(&schedule.timings).enumerate() {
        let offset = schedule.offsets[at];
        sends[job.source].push((offset + timing.send, at));
        for (i, (&tile, arrival)) in job.destinations.iter().zip(&timing.arrivals).enumerate() {
            arrivals[tile].push((offset + arrival.write, at, i));
        }
    }
    for lane in &mut sends {
        lane.sort_unstable();
    }
    let mut deliveries = Vec::new();
    for (tile, arrivals) in arrivals.iter_mut().enumerate() {
        arrivals.sort_unstable();
        let mut pointer: Option<Place> = None;
        let controls = &schedule.tiles[tile].controls;
        for &(write, at, i) in arrivals.iter() {
            let (job, timing) = (&schedule.jobs[at], &schedule.timings[at]);
            let sets = controls.iter().any(|c| c.at == write && c.kind == ControlKind::Pointer);
            let Some(to) = (if sets { Some(transfers[at].to) } else { pointer }) else {
                continue;
            };
            let words = transfers[at].words;
            pointer = Some(Place {
                buffer: to.buffer,
                offset: to.offset + words * WORD_BYTES,
            });
            let listen = schedule.offsets[at] + timing.arrivals[i].listen;
            let sent = if job.paired {
                // Both lanes of a pair carry the words; the member that is nearer selects for both.
                schedule.offsets[at] + timing.send
            } else {
                listen - lead(sites[job.source], sites[tile]) - 1
            };
            let lane = &sends[job.source];
            let Ok(found) = lane.binary_search_by_key(&sent, |send| send.0) else {
                continue;
            };
            let source = lane[found].1;
            deliveries.push(Delivery {
                source: job.source,
                from: transfers[source].from,
                destination: tile,
                to,
                words: words.min(transfers[source].words),
            });
        }
    }
    deliveries
}
