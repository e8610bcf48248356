//! From a profile to a timeline whose lanes a person can read.

use std::collections::BTreeMap;

use target_api::{Lane, Span, Timeline};

use super::types::Profile;

/// Lanes at most: 1,472 of them would be a smear.
const MOST: usize = 32;

/// The timeline of a profile. Tiles that work equally long after every phase share a lane; where that makes more than
/// `MOST` lanes, neighbours share one, drawn as the median over them (the upper one). A phase lasts from the arrival of the
/// last tile to the end of its schedule, on all tiles alike.
#[must_use]
pub fn timeline(profile: &Profile) -> Timeline {
    let tiles = profile.steps.iter().map(|step| step.segment.cycles.len()).max();
    let work = |tile: usize| -> Vec<usize> {
        let steps = profile.steps.iter();
        steps
            .map(|step| step.segment.cycles.get(tile).copied().unwrap_or(0))
            .collect()
    };
    let all: Vec<Vec<usize>> = (0..tiles.unwrap_or(0)).map(work).collect();
    let mut alike: BTreeMap<&[usize], Vec<usize>> = BTreeMap::new();
    for (tile, work) in all.iter().enumerate() {
        alike.entry(work).or_default().push(tile);
    }
    let (lanes, about) = if alike.len() <= MOST {
        let mut groups: Vec<_> = alike.into_iter().collect();
        groups.sort_by_key(|(_, tiles)| tiles[0]);
        let lane = |(work, tiles): (&[usize], Vec<usize>)| lane(profile, name(&tiles), work);
        let lanes: Vec<Lane> = groups.into_iter().map(lane).collect();
        (lanes, "lanes are tiles that work equally long after every phase")
    } else {
        let lanes = blocks(&all).map(|(name, work)| lane(profile, name, &work)).collect();
        (lanes, "lanes are neighbouring tiles, drawn as their median")
    };
    Timeline {
        about: about.to_owned(),
        origin: "simulated".to_owned(),
        unit: profile.unit.clone(),
        end: profile.cycles as f64,
        lanes,
        // Between phases all tiles wait: what that costs stands beside each phase.
        meetings: Vec::new(),
    }
}

fn lane(profile: &Profile, name: String, work: &[usize]) -> Lane {
    let mut spans = Vec::new();
    for (step, &cycles) in profile.steps.iter().zip(work) {
        let arrived = step.start + step.after_arrival;
        let both = [
            (&step.name, step.start, arrived),
            (&step.segment.name, arrived, arrived + cycles),
        ];
        for (phase, start, end) in both.into_iter().filter(|(_, start, end)| end > start) {
            spans.push(Span {
                phase: phase.clone(),
                start: start as f64,
                end: end as f64,
            });
        }
    }
    Lane { name, spans }
}

/// Equal numbers of neighbours, the last block may have fewer: what it is called, median work after each phase.
fn blocks(all: &[Vec<usize>]) -> impl Iterator<Item = (String, Vec<usize>)> {
    let size = all.len().div_ceil(MOST);
    all.chunks(size).enumerate().map(move |(at, block)| {
        let steps = 0..block[0].len();
        let median = |step: usize| {
            let mut cycles: Vec<usize> = block.iter().map(|work| work[step]).collect();
            cycles.sort_unstable();
            cycles[cycles.len() / 2]
        };
        let tiles: Vec<usize> = (at * size..at * size + block.len()).collect();
        (name(&tiles), steps.map(median).collect())
    })
}

/// `tile 3`, `tiles 0 to 91`, `96 tiles from 92 to 1471`.
fn name(tiles: &[usize]) -> String {
    let ends = tiles.first().zip(tiles.last());
    match (ends, tiles.len()) {
        (None, _) => "no tiles".to_owned(),
        (Some((first, _)), 1) => format!("tile {first}"),
        (Some((first, last)), n) if last - first + 1 == n => format!("tiles {first} to {last}"),
        (Some((first, last)), n) => format!("{n} tiles from {first} to {last}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{LaneProfile, MemoryProfile, SegmentProfile, StepProfile};

    /// One phase of 10 cycles, then work of the given cycles on each tile, twice.
    fn profile(cycles: &[usize]) -> Profile {
        let none = || LaneProfile {
            send: Vec::new(),
            receive: Vec::new(),
        };
        let most = cycles.iter().copied().max().unwrap_or(0);
        let step = |name: &str, start: usize| StepProfile {
            name: format!("{name}.gather"),
            operation: name.to_owned(),
            start,
            scheduled: 8,
            after_arrival: 10,
            arrival_spread: 0,
            transfers: 0,
            endpoints: 0,
            source_words: 0,
            delivered_words: 0,
            paired: 0,
            endpoint_bounds: [0, 0],
            lanes: none(),
            segment: SegmentProfile {
                name: format!("{name}.gemm"),
                cycles: cycles.to_vec(),
                calls: Vec::new(),
            },
        };
        Profile {
            target: "ipu21".to_owned(),
            unit: "cycles".to_owned(),
            plan: String::new(),
            costs: String::new(),
            cycles: 2 * (10 + most),
            full_counters: [2 * (10 + most), 20],
            steps: vec![step("up", 0), step("down", 10 + most)],
            calls: Vec::new(),
            memory: MemoryProfile {
                interleaved: Vec::new(),
                standard: Vec::new(),
                tables: Vec::new(),
            },
        }
    }

    #[test]
    fn tiles_that_do_the_same_share_a_lane() {
        let timeline = timeline(&profile(&[7, 7, 0, 7, 5]));
        let names: Vec<&str> = timeline.lanes.iter().map(|lane| lane.name.as_str()).collect();
        assert_eq!(names, ["3 tiles from 0 to 3", "tile 2", "tile 4"]);
        assert_eq!(timeline.phases(), ["up.gather", "up.gemm", "down.gather", "down.gemm"]);
        let busy: Vec<f64> = timeline.lanes.iter().map(super::Lane::busy).collect();
        assert_eq!(busy, [34.0, 20.0, 30.0], "an idle tile waits for the phases");
        assert!(
            timeline
                .lanes
                .iter()
                .flat_map(|lane| &lane.spans)
                .all(|span| span.end <= timeline.end)
        );
    }

    #[test]
    fn too_many_lanes_become_neighbours() {
        let cycles: Vec<usize> = (0..1472).map(|tile| 1000 + tile).collect();
        let timeline = timeline(&profile(&cycles));
        assert_eq!(timeline.lanes.len(), MOST);
        assert_eq!(timeline.lanes[0].name, "tiles 0 to 45");
        assert!((timeline.lanes[0].time_in("up.gemm") - 1023.0).abs() < 1e-9);
        assert!(timeline.about.contains("median"));
    }
}
