//! Estimates against the published figures.

use target_ipu21::estimate;
use target_ipu21::program::{self, Program};
use target_ipu21::{costs, text, traffic, work};

mod common;
use common::{DOWN, UP, program};

#[test]
fn the_compact_estimates_are_the_published_ones() {
    let after = costs::builtin("after").unwrap();
    let historical = estimate::compact(&program(UP, DOWN).products, &after).unwrap();
    assert_eq!(historical.total(), 259_590);
    assert_eq!(historical.exchange, 123_960);
    let mixed = DOWN.replace("15x1", "5x3");
    assert_eq!(
        estimate::compact(&program(UP, &mixed).products, &after)
            .unwrap()
            .total(),
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
        let ours = estimate::compact(&program.products, &after).unwrap();
        assert_eq!(ours.total(), total.parse::<usize>().unwrap(), "{name}");
        assert_eq!(ours.exchange, exchange.parse::<usize>().unwrap(), "{name}");
        assert_eq!(
            estimate::compact(&program.products, &before).unwrap().total(),
            total_before.parse::<usize>().unwrap(),
            "{name}"
        );
        compared += 1;
    }
    assert_eq!(compared, 49);
}

#[test]
fn the_expanded_estimate_is_the_published_one_in_its_exchange() {
    let program = program(UP, DOWN);
    let (phases, segments) = (traffic::phases(&program), work::segments(&program));
    let expanded = estimate::expanded(&phases, &segments, &costs::builtin("sweep").unwrap(), true).unwrap();
    assert_eq!(expanded.exchange, [14_424, 7_320, 34_008, 14_400]);
    assert_eq!(expanded.exchange.iter().sum::<usize>(), 70_152);
    let error = expanded.total() as f64 / 212_951.0 - 1.0;
    println!(
        "expanded {} ({:+.2} %), work {:?}",
        expanded.total(),
        100.0 * error,
        expanded.work
    );
    assert!(error.abs() < 0.015, "{error}");
    let independent = estimate::expanded(&phases, &segments, &costs::builtin("sweep").unwrap(), false).unwrap();
    assert_eq!(independent.exchange, [7_512, 4_008, 34_008, 13_920]);
}

/// Published 194,556, with 51,757 cycles of exchange. What is missing: 1,742 cycles are the gather, 996 work that is
/// modelled low in every estimate (142,799 published).
#[test]
fn the_placed_estimate_is_the_published_one_within_1_5_percent() {
    let program = program(UP, DOWN);
    let (phases, segments) = (traffic::phases(&program), work::segments(&program));
    let expanded = estimate::expanded(&phases, &segments, &costs::builtin("sweep").unwrap(), true).unwrap();
    let placed = |gather| expanded.placed(&[7_048, 3_779, gather, 7_991]);
    let off = |cycles: usize| cycles as f64 / 194_556.0 - 1.0;
    assert!(off(placed(31_197)).abs() < 0.015, "{}", off(placed(31_197)));
    assert!(off(placed(32_939)).abs() < 0.006, "{}", off(placed(32_939)));
    let work: usize = expanded.work.iter().sum();
    let (gather, rest) = (32_939 - 31_197, 142_799 - work);
    assert_eq!(194_556 - placed(31_197), gather + rest);
    assert_eq!((gather, rest), (1_742, 996));
}
