//! What the workers or tiles of one run did when.

use serde::{Deserialize, Serialize};

/// Time that one lane spent in one phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// The phase, called as in [`crate::Phase::name`].
    pub phase: String,
    /// When it began, in the timeline's unit since the start of the run.
    pub start: f64,
    /// When it ended; not before `start`.
    pub end: f64,
}

/// A worker, a tile, or a group of tiles that did the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lane {
    /// `worker 3 (core 7)`, `tiles 0 to 91`.
    pub name: String,
    /// What it did, in order of time and without overlaps. What lies between is waiting.
    pub spans: Vec<Span>,
}

/// A place where all lanes wait for the last one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Meeting {
    /// When the first lane arrived, in the timeline's unit since the start of the run.
    pub first: f64,
    /// When the last one did: not before `first`.
    pub last: f64,
}

impl Meeting {
    /// How far apart the first and the last lane arrived.
    #[must_use]
    pub fn spread(&self) -> f64 {
        self.last - self.first
    }
}

/// Where the time of one run of a case went, lane by lane: what a target reads from the profile that a run left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// Which run it is and what its lanes are, in a few words: `the usual of 8 calls of the last round`.
    pub about: String,
    /// What its times are: `measured`, `simulated`.
    pub origin: String,
    /// Unit of all times: that of phases.
    pub unit: String,
    /// When the run ended.
    pub end: f64,
    /// The lanes, in the order in which they are shown; at most some dozens.
    pub lanes: Vec<Lane>,
    /// Barriers in order of time, the end of the run among them; empty where none are known.
    #[serde(default)]
    pub meetings: Vec<Meeting>,
}

impl Timeline {
    /// Names of the phases, in the order in which they first begin.
    #[must_use]
    pub fn phases(&self) -> Vec<&str> {
        let mut spans: Vec<&Span> = self.lanes.iter().flat_map(|lane| &lane.spans).collect();
        // Stable: of those that begin together the upper lane's comes first.
        spans.sort_by(|a, b| a.start.total_cmp(&b.start));
        let mut names: Vec<&str> = Vec::new();
        for span in spans {
            if !names.contains(&span.phase.as_str()) {
                names.push(&span.phase);
            }
        }
        names
    }
}

impl Lane {
    /// Time in one phase.
    #[must_use]
    pub fn time_in(&self, phase: &str) -> f64 {
        let own = self.spans.iter().filter(|span| span.phase == phase);
        own.map(|span| span.end - span.start).sum()
    }

    /// Time in all phases: what is left of the run is waiting.
    #[must_use]
    pub fn busy(&self) -> f64 {
        self.spans.iter().map(|span| span.end - span.start).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_come_by_time_and_times_add_up() {
        let span = |phase: &str, start, end| Span {
            phase: phase.to_owned(),
            start,
            end,
        };
        let lane = |spans: Vec<Span>| Lane {
            name: String::new(),
            spans,
        };
        let late = lane(vec![span("down", 4.0, 6.0), span("sum", 6.0, 7.0)]);
        let early = lane(vec![span("up", 0.0, 1.0), span("down", 3.0, 4.0), span("up", 5.0, 6.5)]);
        assert!((early.time_in("up") - 2.5).abs() < 1e-12 && (early.busy() - 3.5).abs() < 1e-12);
        let timeline = Timeline {
            about: String::new(),
            origin: "measured".to_owned(),
            unit: "ns".to_owned(),
            end: 7.0,
            lanes: vec![late, early],
            meetings: Vec::new(),
        };
        assert_eq!(timeline.phases(), ["up", "down", "sum"]);
    }
}
