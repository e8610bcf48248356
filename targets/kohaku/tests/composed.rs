//! Whole blocks: computed call by call, graded, priced, and what the host moves between the calls.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod reference;

use std::collections::BTreeMap;

use reference::composed as expected;
use target_kohaku::composed::blocks::{down, resnet, transformer};
use target_kohaku::composed::{Call, Composed, Source, compose};
use target_kohaku::kernels::{self, Padded, Tiling};
use target_kohaku::machine::{Machine, Prices};
use target_kohaku::unit::{Grade, grade};

fn published(calls: &[Call]) -> Composed {
    compose(calls, &Machine::default(), Prices::Published).unwrap()
}

/// Pixels one behind the other, of rows that a convolution leaves.
fn pixels(rows: &[f32], c: Padded) -> Vec<f32> {
    let (h, w) = c.result();
    let rows = |y: usize, x: usize| &rows[(y * c.row() + x) * c.channels..][..c.channels];
    (0..h)
        .flat_map(|y| (0..w).flat_map(move |x| rows(y, x).to_vec()))
        .collect()
}

fn within(grade: Grade, p50: f64, max: f64) {
    assert!(grade.p50 < p50 && grade.max < max && grade.past_10 <= 0.0, "{grade:?}");
}

#[test]
fn a_residual_block_agrees_and_costs_what_is_published() {
    let fans = BTreeMap::from([("w1", 9 * 320), ("w2", 9 * 320)]);
    let give = |name: &str, count: usize| expected::give(name, count, &fans);
    let done = published(&resnet(8, [320, 320], &give));
    assert_eq!(done.total(), 301_568);
    let plane = Padded {
        plane: [8, 8, 320],
        channels: 320,
        step: 1,
    };
    let reference = expected::resnet(8, [320, 320], &give);
    within(grade(&pixels(&done.result, plane), &reference).unwrap(), 6e-3, 5e-2);
    assert!(done.moves.iter().all(|one| one.bytes > 0) && !done.moves.is_empty());
    let moves: Vec<(&str, &str)> = done
        .moves
        .iter()
        .map(|one| (one.call.as_str(), one.input.as_str()))
        .collect();
    // Norms gather channels, convolutions get pixels again, sums want the rows of a convolution in another order, and the skip
    // is spread over these rows.
    let expected = [
        ("norm1", "x"),
        ("conv1", "x"),
        ("embedded", "a"),
        ("norm2", "x"),
        ("conv2", "x"),
        ("sum", "a"),
        ("sum", "b"),
    ];
    assert_eq!(moves, expected);
    // 64 pixels of 320 channels, from rows to 32 groups of 5 rows of 128.
    assert_eq!(done.moves[0].bytes, 2 * (64 * 320 + 32 * 5 * 128));
}

#[test]
fn a_down_block_agrees_and_costs_what_is_published() {
    let weights = ["first-w1", "first-w2", "second-w1", "second-w2", "w-down"];
    let fans: BTreeMap<&str, usize> = weights.into_iter().map(|name| (name, 9 * 320)).collect();
    let give = |name: &str, count: usize| expected::give(name, count, &fans);
    let done = published(&down(8, 320, &give));
    assert_eq!(done.total(), 637_824);
    let plane = Padded {
        plane: [8, 8, 320],
        channels: 320,
        step: 2,
    };
    let reference = expected::down(8, 320, &give);
    within(grade(&pixels(&done.result, plane), &reference).unwrap(), 1e-2, 8e-2);
}

#[test]
fn a_transformer_block_is_assembled_from_its_calls() {
    let (t, fans) = expected::small_transformer();
    let give = |name: &str, count: usize| expected::give(name, count, &fans);
    let calls = transformer(&t, &give).unwrap();
    let done = published(&calls);
    let reference = expected::transformer(&t, &give);
    within(grade(&done.result, &reference).unwrap(), 1e-2, 8e-2);
    // Every call is priced; what the host does is beside it.
    assert_eq!(done.cycles.len(), calls.len());
    assert!(done.total() > 0 && done.moved_bytes() > 0 && done.given_bytes > 0);
    let real = compose(&calls, &Machine::default(), Prices::RealSpan).unwrap();
    assert!(real.total() > done.total(), "passes that fold cost more than one part");
    assert_eq!((real.result, real.moves), (done.result, done.moves));
}

#[test]
fn what_a_block_lacks_is_named() {
    let call = |from: Source| Call {
        name: "y".to_owned(),
        program: kernels::matmul([64, 64, 64], Tiling::default()),
        inputs: vec![("x".to_owned(), from)],
    };
    let refused = |from: Source| {
        compose(&[call(from)], &Machine::default(), Prices::Published)
            .unwrap_err()
            .message
    };
    assert!(refused(Source::Whole("before".to_owned())).contains("nothing before it is called `before`"));
    assert!(!refused(Source::Given(vec![0.0; 64 * 64])).is_empty());
}
