//! What follows from the rules for the cases of the published sweep.

use planner::GemmExtents;
use target_ipu21::shards::Shards;
use target_ipu21::{parameters, text};

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
