//! Work between phases: the busiest tile of each segment, published model figures.

use target_ipu21::work::{self, Pricing};
use target_ipu21::{costs, program};

mod common;
use common::{DOWN, UP, mapped};

/// Busiest tile of each segment, the stages of a reduction summed: up product, up reduction, down product, down one.
fn maxima(up: &str, down: &str, table: &str) -> [usize; 4] {
    let program = mapped(up, down, program::identity());
    let costs = costs::builtin(table).expect("a built-in table");
    let mut sums = [0; 4];
    let mut reducing = [false; 2];
    for segment in work::segments(&program) {
        let at = 2 * segment.product + usize::from(reducing[segment.product]);
        reducing[segment.product] = true;
        sums[at] += segment
            .cycles(&costs, Pricing::Executed)
            .map(Result::unwrap)
            .max()
            .unwrap_or(0);
    }
    sums
}

#[test]
fn the_busiest_tiles() {
    let down = |factors: &str, staging: &str| DOWN.replace("15x1", factors).replace("complete", staging);
    let cases = [
        (UP.to_owned(), down("15x1", "complete"), "before", 27_060, 11_796),
        (UP.to_owned(), down("15x1", "complete"), "after", 19_884, 7_908),
        (UP.to_owned(), down("5x3", "complete"), "after", 19_884, 5_326),
        (UP.to_owned(), down("4x3", "complete"), "after", 19_884, 6_108),
        (UP.to_owned(), down("3x3", "complete"), "after", 19_884, 7_406),
        (
            UP.replace("4x1", "2x2"),
            down("15x1", "complete"),
            "after",
            23_340,
            7_908,
        ),
        (UP.to_owned(), down("15x1", "batch-7"), "after", 19_884, 9_378),
        (UP.to_owned(), down("15x1", "batch-2"), "after", 19_884, 16_092),
        (
            UP.replace("complete", "batch-2"),
            down("15x1", "complete"),
            "after",
            23_460,
            7_908,
        ),
    ];
    for (up, down, table, first, second) in cases {
        assert_eq!(
            maxima(&up, &down, table),
            [48_678, first, 48_678, second],
            "{up} {down} {table}"
        );
    }
}
