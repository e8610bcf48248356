//! Finding the offset of a transfer among those that have one already.

use super::greedy::Release;
use super::job::{Job, Timing, timing};
use super::route::Site;
use super::tile::Tile;
use crate::device::TILES;

/// Horizon, offsets and tiles of a phase.
pub(super) type Finished = (i64, Vec<i64>, Vec<Tile>);

/// A phase that is being scheduled.
#[derive(Debug, Clone)]
pub struct Timeline<'a> {
    jobs: &'a [Job],
    timings: &'a [Timing],
    hazards: bool,
    /// What each tile does.
    pub tiles: Vec<Tile>,
    /// Offset of each transfer; 0 while it has none.
    pub offsets: Vec<i64>,
    /// End of the phase so far.
    pub horizon: i64,
}

/// Times of all transfers of a phase, relative to their offsets.
#[must_use]
pub fn timings(jobs: &[Job], sites: &[Site]) -> Vec<Timing> {
    let mut received = vec![0usize; TILES];
    for &tile in jobs.iter().flat_map(|job| job.destinations.iter()) {
        received[tile] += 1;
    }
    jobs.iter()
        .map(|job| {
            let lone = matches!(job.destinations[..], [tile] if received[tile] == 1);
            timing(job, lone, sites)
        })
        .collect()
}

impl<'a> Timeline<'a> {
    /// An empty phase. Without `hazards` reads and writes of one memory element may overlap.
    #[must_use]
    pub fn new(jobs: &'a [Job], timings: &'a [Timing], hazards: bool) -> Self {
        Self {
            jobs,
            timings,
            hazards,
            tiles: vec![Tile::default(); TILES],
            offsets: vec![0; jobs.len()],
            horizon: 0,
        }
    }

    /// Earliest start of a transfer as its rank counts it: when its lanes are free.
    #[must_use]
    pub fn available(&self, job: usize) -> i64 {
        let job = &self.jobs[job];
        let lanes = [Some(job.source), job.partner()];
        let lanes = lanes.into_iter().flatten().map(|tile| self.tiles[tile].lane_end());
        let receivers = job.destinations.iter().map(|&tile| self.tiles[tile].receive_end());
        lanes.chain(receivers).max().unwrap_or(0)
    }

    /// Gives a transfer the smallest legal offset that is at least `least`.
    pub fn place(&mut self, at: usize, least: i64) {
        let offset = self.earliest(at, least);
        let (job, timing) = (&self.jobs[at], &self.timings[at]);
        let send = offset + timing.send;
        let source = &mut self.tiles[job.source];
        source.add_send(send, job.items, offset + timing.send_horizon, job.read);
        let mut horizon = offset + timing.send_horizon;
        if let Some(partner) = job.partner() {
            self.tiles[partner].reserve_lane(send + job.items);
        }
        for ((&tile, arrival), span) in job.destinations.iter().zip(&timing.arrivals).zip(&job.writes) {
            self.tiles[tile].add_arrival(arrival, offset, job.items, *span);
            horizon = horizon.max(offset + arrival.horizon);
        }
        self.horizon = self.horizon.max(horizon);
        self.offsets[at] = offset;
    }

    /// Places all transfers in this order.
    pub fn replay(&mut self, order: &[usize], release: Release) {
        for &at in order {
            let least = match release {
                Release::Pipelined => 0,
                Release::Guarded => self.available(at),
            };
            self.place(at, least);
        }
    }

    /// Horizon, offsets and tiles, once all transfers are placed.
    pub(super) fn finish(self) -> Finished {
        (self.horizon, self.offsets, self.tiles)
    }

    fn earliest(&self, at: usize, least: i64) -> i64 {
        let (job, timing) = (&self.jobs[at], &self.timings[at]);
        let source = &self.tiles[job.source];
        let mut offset = least;
        loop {
            let before = offset;
            offset = source.send_slot(offset + timing.send, job.items) - timing.send;
            if let Some(partner) = job.partner() {
                offset = offset.max(self.tiles[partner].lane_end());
            }
            for (&tile, arrival) in job.destinations.iter().zip(&timing.arrivals) {
                offset = self.tiles[tile].arrival_slot(offset, arrival);
            }
            if offset != before {
                continue;
            }
            if !self.controls_fit(at, offset) {
                offset += 1;
                continue;
            }
            match self.hazard(at, offset) {
                Some(shift) => offset += shift,
                None => return offset,
            }
        }
    }

    fn controls_fit(&self, at: usize, offset: i64) -> bool {
        let (job, timing) = (&self.jobs[at], &self.timings[at]);
        let send = offset + timing.send;
        let mut arrivals = job.destinations.iter().zip(&timing.arrivals).zip(&job.writes);
        self.tiles[job.source].start_fits(send)
            && arrivals.all(|((&tile, arrival), span)| {
                self.tiles[tile].controls_fit(arrival, offset, job.items, span.start)
                    && (tile != job.source || own_start_fits(arrival, offset, job.items, send))
            })
    }

    fn hazard(&self, at: usize, offset: i64) -> Option<i64> {
        if !self.hazards {
            return None;
        }
        let (job, timing) = (&self.jobs[at], &self.timings[at]);
        let source = &self.tiles[job.source];
        let start = offset + timing.send;
        if let Some(shift) = source.read_conflict(start, offset + timing.send_horizon, job.read) {
            return Some(shift);
        }
        let mut arrivals = job.destinations.iter().zip(&timing.arrivals).zip(&job.writes);
        arrivals.find_map(|((&tile, arrival), span)| {
            self.tiles[tile].write_conflict(offset + arrival.write, offset + arrival.horizon, *span)
        })
    }
}

/// A tile that listens to itself: its own controls keep clear of the start of its send.
fn own_start_fits(arrival: &super::job::Arrival, offset: i64, items: i64, send: i64) -> bool {
    let listen = arrival.selects.then_some([arrival.listen, arrival.listen + items]);
    let format = arrival.format.map(|format| [format, format + items]);
    let controls = listen.into_iter().chain(format).flatten().chain([arrival.write]);
    controls.map(|at| at + offset).all(|at| at != send && at != send + 1)
}
