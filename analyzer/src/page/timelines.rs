//! Timelines that go into the page: of the cases that people look at first.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use target_api::Timeline;

use super::columns::short;
use crate::analysis::{Analysis, WorkloadRow};

/// Cases of a workload that get a timeline, beside winner and control: the best by rank.
const BEST: usize = 14;

/// Spans of all timelines of a page, about: so many are half a megabyte.
const MOST_SPANS: usize = 20_000;

/// A lane: its name, and its spans as place in [`TimelineData::phases`], start and end.
pub type LaneData = (String, Vec<(usize, Option<f64>, Option<f64>)>);

/// The timeline of one case, in the shown unit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TimelineData {
    /// Number of the case.
    pub case: usize,
    /// What is drawn above its lanes, where a page has several.
    pub title: String,
    /// Which run it is, and what its lanes are.
    pub about: String,
    /// What its times are: `measured`, `simulated`.
    pub origin: String,
    /// When the run ended.
    pub end: Option<f64>,
    /// Names of phases.
    pub phases: Vec<String>,
    /// Its lanes.
    pub lanes: Vec<LaneData>,
}

impl TimelineData {
    /// A timeline in another unit, of which one is `one` of its own.
    pub(crate) fn new(case: usize, title: &str, timeline: &Timeline, one: f64) -> Self {
        let phases = timeline.phases();
        let places: BTreeMap<&str, usize> = phases.iter().enumerate().map(|(at, name)| (*name, at)).collect();
        let time = |time: f64| short(Some(time / one));
        let lanes = timeline.lanes.iter().map(|lane| {
            let spans = lane.spans.iter();
            let spans =
                spans.filter_map(|span| Some((*places.get(span.phase.as_str())?, time(span.start), time(span.end))));
            (lane.name.clone(), spans.collect())
        });
        Self {
            case,
            title: title.to_owned(),
            about: timeline.about.clone(),
            origin: timeline.origin.clone(),
            end: time(timeline.end),
            lanes: lanes.collect(),
            phases: phases.into_iter().map(str::to_owned).collect(),
        }
    }
}

/// Names of the cases whose timelines people look at first: control, winner, then the best.
fn wanted(workload: &WorkloadRow) -> Vec<&str> {
    let winner = workload.winner.iter().map(|winner| winner.case.as_str());
    let best = workload.best().into_iter().map(|(case, _)| case.name.as_str());
    let first = std::iter::once(workload.control.as_str()).chain(winner);
    let mut known = BTreeSet::new();
    first
        .chain(best.take(BEST))
        .filter(|name| known.insert(*name))
        .collect()
}

/// Reads the timelines of those cases, as far as runs left any: `read` gives that of a case. Stops where a page would
/// become heavy.
pub fn timelines(analysis: &Analysis, read: &dyn Fn(&str) -> Option<Timeline>) -> BTreeMap<String, Timeline> {
    let mut found = BTreeMap::new();
    let mut spans = 0;
    for name in analysis.workloads.iter().flat_map(wanted) {
        let Some(timeline) = read(name) else { continue };
        spans += timeline.lanes.iter().map(|lane| lane.spans.len()).sum::<usize>();
        if spans > MOST_SPANS && !found.is_empty() {
            break;
        }
        found.insert(name.to_owned(), timeline);
    }
    found
}
