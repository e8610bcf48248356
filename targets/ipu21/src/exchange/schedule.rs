//! The schedule of one phase.

use super::addresses::{Addresses, Overflow};
use super::align::alignable;
use super::greedy::{Release, greedy};
use super::job::{Job, Span, Timing};
use super::route::{Site, sites};
use super::tile::Tile;
use super::timeline::{Finished, Timeline, timings};
use super::waves::waves;
use crate::device::WORD_BYTES;
use crate::program::Program;
use crate::traffic::{Phase, Transfer, paired_eligible};

/// What an order of transfers knows of memory elements, which serve one access at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knowledge {
    /// Nothing: as if reads and writes could share them. Published gathers lie nearer to this than to an order that knows
    /// of them.
    Nothing,
    /// Where buffers lie before some are moved.
    Unmoved,
    /// Where buffers lie in the end.
    Final,
}

/// How a phase is scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Where a transfer may start.
    pub release: Release,
    /// What the order of a phase with multicasts knows of memory elements. It is laid out with all of them.
    pub order: Knowledge,
    /// Where a left operand lies that the standard region can't hold.
    pub overflow: Overflow,
    /// Whether transfers may be paired.
    pub pairs: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            release: Release::Pipelined,
            order: Knowledge::Nothing,
            overflow: Overflow::Apart,
            pairs: true,
        }
    }
}

/// The schedule of one phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Cycles from the start to the last use of memory.
    pub horizon: i64,
    /// The transfers, in those of the phase's order.
    pub jobs: Vec<Job>,
    /// Times of each, relative to its offset.
    pub timings: Vec<Timing>,
    /// Offset of each.
    pub offsets: Vec<i64>,
    /// What each tile does.
    pub tiles: Vec<Tile>,
}

/// Schedules a phase.
#[must_use]
pub fn schedule(program: &Program, phase: &Phase, policy: Policy) -> Schedule {
    let unmoved = Addresses::new(program, phase.product, policy.overflow);
    let addresses = unmoved.clone().moved();
    let sites = sites();
    let ordinary = Draft::new(jobs(&phase.transfers, &addresses, false), &sites);
    if phase.transfers.iter().all(|t| t.destinations.len() == 1) {
        return ordinary.unicast(policy).finish();
    }
    let provisional = |paired: bool| {
        let ordered_elsewhere = policy.order == Knowledge::Unmoved && !unmoved.same_place(&addresses);
        ordered_elsewhere.then(|| jobs(&phase.transfers, &unmoved, paired))
    };
    let best = ordinary.multicast(policy, provisional(false).as_deref());
    if policy.pairs && phase.transfers.iter().any(paired_eligible) {
        let paired = Draft::new(jobs(&phase.transfers, &addresses, true), &sites);
        let paired = paired.multicast(policy, provisional(true).as_deref());
        // Pairing is all or nothing, and only where it is strictly shorter.
        if paired.horizon < best.horizon {
            return paired.finish();
        }
    }
    best.finish()
}

/// The transfers of a phase with their addresses; `paired`: all that may be are.
#[must_use]
pub fn jobs(transfers: &[Transfer], addresses: &Addresses, paired: bool) -> Vec<Job> {
    transfers
        .iter()
        .map(|t| {
            let paired = paired && paired_eligible(t) && addresses.level(&t.destinations, t.to);
            let bytes = t.words * WORD_BYTES;
            let span = |start: usize| Span {
                start,
                end: start + bytes,
            };
            let items = if paired { t.words / 2 } else { t.words };
            Job {
                source: t.source,
                destinations: t.destinations.clone(),
                paired,
                // At most 4,148: the conversion can't fail.
                items: i64::try_from(items).unwrap_or(i64::MAX),
                read: span(addresses.of(t.source, t.from)),
                writes: t
                    .destinations
                    .iter()
                    .map(|&tile| span(addresses.of(tile, t.to)))
                    .collect(),
            }
        })
        .collect()
}

/// A phase with relative times, not laid out yet.
struct Draft {
    jobs: Vec<Job>,
    timings: Vec<Timing>,
}

/// A phase laid out.
struct Laid {
    draft: Draft,
    horizon: i64,
    offsets: Vec<i64>,
    tiles: Vec<Tile>,
}

impl Draft {
    fn new(jobs: Vec<Job>, sites: &[Site]) -> Self {
        let timings = timings(&jobs, sites);
        Self { jobs, timings }
    }

    fn laid(self, timeline: Finished) -> Laid {
        Laid {
            draft: self,
            horizon: timeline.0,
            offsets: timeline.1,
            tiles: timeline.2,
        }
    }

    /// The greedy order, or that by waves where it is shorter and can be encoded.
    fn unicast(self, policy: Policy) -> Laid {
        let mut first = Timeline::new(&self.jobs, &self.timings, true);
        let ranked = greedy(&self.jobs, &mut first, policy.release);
        let mut best = first.finish();
        if let Some(order) = waves(&self.jobs, &ranked) {
            let mut second = Timeline::new(&self.jobs, &self.timings, true);
            second.replay(&order, policy.release);
            if second.horizon < best.0 && second.tiles.iter().all(alignable) {
                best = second.finish();
            }
        }
        self.laid(best)
    }

    /// The greedy order, laid out. `provisional`: the same transfers where the order is to see them, if not where they
    /// are.
    fn multicast(self, policy: Policy, provisional: Option<&[Job]>) -> Laid {
        let seen = provisional.unwrap_or(&self.jobs);
        let mut timeline = Timeline::new(seen, &self.timings, policy.order != Knowledge::Nothing);
        let order = greedy(seen, &mut timeline, policy.release);
        if policy.order == Knowledge::Nothing || provisional.is_some() {
            timeline = Timeline::new(&self.jobs, &self.timings, true);
            timeline.replay(&order, policy.release);
        }
        let finished = timeline.finish();
        self.laid(finished)
    }
}

impl Laid {
    fn finish(self) -> Schedule {
        Schedule {
            horizon: self.horizon,
            jobs: self.draft.jobs,
            timings: self.draft.timings,
            offsets: self.offsets,
            tiles: self.tiles,
        }
    }
}
