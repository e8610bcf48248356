//! The published horizons of exchange phases, to the cycle; gathers as near as the best rule known comes.

use target_ipu21::exchange::{Knowledge, Overflow, Policy, Release, schedule};
use target_ipu21::{program, traffic};

mod common;
use common::{DOWN, UP, mapped, transpose};

const GUARDED: Policy = Policy {
    release: Release::Guarded,
    order: Knowledge::Final,
    overflow: Overflow::Apart,
    pairs: false,
};

fn horizons(up: &str, down: &str, mapping: Vec<usize>, at: &[usize], policy: Policy) -> Vec<i64> {
    let program = mapped(up, down, mapping);
    let phases = traffic::phases(&program);
    at.iter()
        .map(|&at| schedule(&program, &phases[at], policy).horizon)
        .collect()
}

fn identity(up: &str, down: &str, at: &[usize]) -> Vec<i64> {
    horizons(up, down, program::identity(), at, Policy::default())
}

#[test]
fn weights() {
    assert_eq!(identity(UP, DOWN, &[0]), [7_048]);
    assert_eq!(horizons(UP, DOWN, transpose(92), &[0], Policy::default()), [7_018]);
}

#[test]
fn up_reductions() {
    assert_eq!(identity(UP, DOWN, &[1]), [3_779]);
    assert_eq!(identity(&UP.replace("4x1", "2x2"), DOWN, &[1]), [8_944]);
}

#[test]
fn the_down_reduction() {
    assert_eq!(identity(UP, DOWN, &[3]), [7_991]);
}

#[test]
fn the_down_reduction_with_mixed_factors() {
    assert_eq!(identity(UP, &DOWN.replace("15x1", "5x3"), &[3]), [5_941]);
}

#[test]
fn the_down_reduction_in_batches_of_seven() {
    assert_eq!(
        identity(UP, &DOWN.replace("complete", "batch-7"), &[3, 4]),
        [5_132, 4_979]
    );
}

#[test]
fn the_older_start_rule() {
    assert_eq!(
        horizons(UP, DOWN, program::identity(), &[0, 1], GUARDED),
        [7_179, 5_638]
    );
}

#[test]
fn the_older_start_rule_on_the_down_reduction() {
    assert_eq!(horizons(UP, DOWN, program::identity(), &[3], GUARDED), [12_527]);
}

/// Published 31,382, 32,939 and 28,065: our rule does not tell standard from interleaved weights.
#[test]
fn gathers_come_near() {
    let standard = DOWN.replace("interleaved", "standard");
    assert_eq!(identity(UP, &standard, &[2]), [31_197]);
    assert_eq!(identity(UP, DOWN, &[2]), [31_197]);
    assert_eq!(identity(&UP.replace("4x1", "2x2"), &standard, &[2]), [27_610]);
}

/// Left operands behind the arriving weights come nearest, but only where the tiles of sixteen pairs write them to
/// different addresses, which no paired transfer can.
#[test]
fn sixteen_pairs_decide_how_long_a_gather_takes() {
    let standard = DOWN.replace("interleaved", "standard");
    let by = |order, overflow| {
        let policy = Policy {
            order,
            overflow,
            ..Policy::default()
        };
        horizons(UP, &standard, program::identity(), &[2], policy)
    };
    assert_eq!(by(Knowledge::Final, Overflow::Apart), [29_567]);
    assert_eq!(by(Knowledge::Unmoved, Overflow::Behind), [29_817]);
    assert_eq!(by(Knowledge::Unmoved, Overflow::BehindUnchecked), [31_720]);
}
