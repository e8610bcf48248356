//! Estimates against the published figures.

use target_ipu21::estimate;
use target_ipu21::program::{self, Program};
use target_ipu21::{costs, text};

mod common;
use common::{DOWN, UP, program};

#[test]
fn the_compact_estimates_are_the_published_ones() {
    let after = costs::builtin("after").unwrap();
    let historical = estimate::compact(&program(UP, DOWN).products, &after);
    assert_eq!(historical.total(), 259_590);
    assert_eq!(historical.exchange, 123_960);
    let mixed = DOWN.replace("15x1", "5x3");
    assert_eq!(
        estimate::compact(&program(UP, &mixed).products, &after).total(),
        258_236
    );
}

#[test]
fn compact_estimates_of_the_sweep_are_as_derived() {
    let [before, after] = ["before", "after"].map(|name| costs::builtin(name).unwrap());
    let mut compared = 0;
    for line in include_str!("fixtures/plans.csv").lines().skip(1) {
        let [name, _, total, exchange, total_before] = line.split(',').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let Some(case) = include_str!("fixtures/cases.csv")
            .lines()
            .find(|l| l.split(',').next() == Some(name))
        else {
            panic!("{name}")
        };
        let case: Vec<&str> = case.split(',').collect();
        let geometries = [case[1], case[2]].map(|constraint| text::parse(constraint).unwrap().1);
        // `up-09` is refused, so it has no program.
        let Ok(program) = Program::new(&common::siglip(), &geometries, program::identity()) else {
            continue;
        };
        let ours = estimate::compact(&program.products, &after);
        assert_eq!(ours.total(), total.parse::<usize>().unwrap(), "{name}");
        assert_eq!(ours.exchange, exchange.parse::<usize>().unwrap(), "{name}");
        assert_eq!(
            estimate::compact(&program.products, &before).total(),
            total_before.parse::<usize>().unwrap(),
            "{name}"
        );
        compared += 1;
    }
    assert_eq!(compared, 49);
}
