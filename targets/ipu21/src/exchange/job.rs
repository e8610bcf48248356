//! One transfer with its times relative to a common offset.

use std::sync::Arc;

use super::route::{Site, direction, lead};

/// A run of addresses on one tile, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// Behind the last byte.
    pub end: usize,
}

/// A transfer that is to be scheduled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Tile that sends.
    pub source: usize,
    /// Tiles that receive, ascending.
    pub destinations: Arc<[usize]>,
    /// Whether it borrows the partner's lane and goes to whole pairs.
    pub paired: bool,
    /// Cycles of its payload.
    pub items: i64,
    /// What is read.
    pub read: Span,
    /// What is written, for each destination.
    pub writes: Vec<Span>,
}

impl Job {
    /// The tile whose lane is borrowed.
    #[must_use]
    pub fn partner(&self) -> Option<usize> {
        self.paired.then_some(self.source ^ 1)
    }
}

/// Times of one receiver, relative to the transfer's offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// The receiver listens from here...
    pub listen: i64,
    /// Whether it selects the source itself (then at `listen`) and deselects it.
    pub selects: bool,
    /// First word is written here; the pointer is set in this cycle.
    pub write: i64,
    /// Paired: the wide format is switched on here.
    pub format: Option<i64>,
    /// Paired: direction of the words; formats of one direction may continue.
    pub direction: u8,
    /// Last use of the receiver's memory.
    pub horizon: i64,
}

/// Times of a transfer, relative to its offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// The first word is sent here.
    pub send: i64,
    /// Last use of the sender's memory.
    pub send_horizon: i64,
    /// One for each destination.
    pub arrivals: Vec<Arrival>,
}

/// First listening cycle of a tile that receives only once in a phase, from a transfer to it alone.
const LONE_LISTEN: i64 = 113;

/// Times of a transfer. `lone`: it is the only one that its only receiver gets in this phase.
#[must_use]
pub(super) fn timing(job: &Job, lone: bool, sites: &[Site]) -> Timing {
    let source = sites[job.source];
    let leads: Vec<i64> = job.destinations.iter().map(|&tile| lead(source, sites[tile])).collect();
    let least = leads.iter().copied().min().unwrap_or(0);
    let send = if lone { LONE_LISTEN - 1 - least } else { (-least).max(0) };
    let arrivals = if job.paired {
        paired(job, &leads, sites)
    } else {
        let ordinary = job.destinations.iter().zip(&leads).map(|(&tile, lead)| {
            let listen = send + lead + 1;
            let write = listen + 52 + 2 * sites[tile].row();
            Arrival {
                listen,
                selects: true,
                write,
                format: None,
                direction: 0,
                horizon: write + job.items + 5,
            }
        });
        ordinary.collect()
    };
    Timing {
        send,
        send_horizon: (send + job.items).max(6),
        arrivals,
    }
}

fn paired(job: &Job, leads: &[i64], sites: &[Site]) -> Vec<Arrival> {
    let source = sites[job.source];
    let pairs: Vec<i64> = leads
        .chunks(2)
        .map(|pair| pair.iter().copied().max().unwrap_or(0))
        .collect();
    let shift = pairs.iter().map(|pair| 1 - pair).max().unwrap_or(0).max(0);
    let mut arrivals = Vec::with_capacity(leads.len());
    for (i, &tile) in job.destinations.iter().enumerate() {
        let (own, other) = (leads[i], leads[i ^ 1]);
        let listen = pairs[i / 2] + shift;
        let format = listen + 51 + 2 * sites[tile].row();
        let selects = own < other;
        arrivals.push(Arrival {
            listen: if selects { listen } else { format },
            selects,
            write: format + 2,
            format: Some(format),
            direction: direction(source, sites[tile]),
            horizon: format + 2 + job.items + 5,
        });
    }
    arrivals
}
