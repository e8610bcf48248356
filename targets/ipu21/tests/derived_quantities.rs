//! What follows from the rules for the cases of the published sweep.

use planner::GemmExtents;
use target_ipu21::program::{self, Program};
use target_ipu21::shards::Shards;
use target_ipu21::traffic::{self, Stats};
use target_ipu21::{costs, parameters, text};

mod common;

const UP: GemmExtents = GemmExtents {
    rows: 729,
    inner: 1152,
    columns: 4304,
};
const DOWN: GemmExtents = GemmExtents {
    rows: 729,
    inner: 4304,
    columns: 1152,
};

#[test]
fn parameters_rotate_as_derived() {
    let texts: Vec<Vec<&str>> = include_str!("fixtures/cases.csv")
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    for line in include_str!("fixtures/plans.csv").lines().skip(1) {
        let plan: Vec<&str> = line.split(',').collect();
        let case = texts.iter().find(|case| case[0] == plan[0]).unwrap();
        let shards = [(case[1], UP), (case[2], DOWN)]
            .map(|(constraint, extents)| Shards::new(extents, &text::parse(constraint).unwrap().1));
        assert_eq!(
            parameters::offsets(&shards),
            [0, plan[1].parse().unwrap()],
            "{}",
            plan[0]
        );
    }
}

/// Cases whose traffic is compared; all others agree too, but take long.
const COMPARED: &[&str] = &[
    "historical",
    "default",
    "up-08",
    "up-16",
    "up-19",
    "up-20",
    "down-09",
    "down-17",
    "joint-result-rows-8",
];

#[test]
fn traffic_is_as_derived() {
    let price = costs::builtin("after").unwrap();
    let mut compared = 0;
    for line in include_str!("fixtures/cases.csv").lines().skip(1) {
        let case: Vec<&str> = line.split(',').collect();
        if !COMPARED.contains(&case[0]) {
            continue;
        }
        let geometries = [case[1], case[2]].map(|constraint| text::parse(constraint).unwrap().1);
        let program = Program::new(&common::siglip(), &geometries, program::identity()).unwrap();
        for (at, phase) in traffic::phases(&program).iter().enumerate() {
            let s = Stats::new(&phase.transfers);
            let ours = [
                s.transfers,
                s.endpoints,
                s.source_words,
                s.delivered_words,
                s.max_send_words,
                s.max_receive_words,
                s.max_receive_fragments,
                s.max_send_fragments,
                s.eligible_paired,
                s.ordinary_bound(),
                s.paired_bound,
                s.price(&price, true).unwrap(),
                s.price(&price, false).unwrap(),
            ];
            let prefix = format!("{},{at},", case[0]);
            let derived = include_str!("fixtures/phases.csv")
                .lines()
                .find_map(|line| line.strip_prefix(&prefix));
            let derived: Vec<usize> = derived.unwrap().split(',').map(|n| n.parse().unwrap()).collect();
            assert_eq!(derived, ours, "{prefix}");
            compared += 1;
        }
    }
    assert_eq!(compared, 4 * COMPARED.len());
}
