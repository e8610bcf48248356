//! Whole blocks: computed call by call, graded, priced, and what the host moves between the calls.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

mod reference;

use reference::composed::{Block, SMALL_TRANSFORMER};
use target_kohaku::composed::{Call, Composed, Source, compose};
use target_kohaku::kernels::{self, Tiling};
use target_kohaku::machine::{Machine, Prices};
use target_kohaku::unit::Grade;

fn published(calls: &[Call]) -> Composed {
    compose(calls, &Machine::default(), Prices::Published).unwrap()
}

fn within(grade: Grade, p50: f64, max: f64) {
    assert!(grade.p50 < p50 && grade.max < max && grade.past_10 <= 0.0, "{grade:?}");
}

fn moves(done: &Composed) -> Vec<(&str, &str)> {
    done.moves
        .iter()
        .map(|one| (one.call.as_str(), one.input.as_str()))
        .collect()
}

#[test]
fn a_residual_block_agrees_and_costs_what_is_published() {
    let block = Block::resnet([320, 320]);
    let done = published(&block.calls);
    assert_eq!(done.total(), 301_568);
    within(block.grade(&done.result), 6e-3, 5e-2);
    // Norms gather channels, convolutions get pixels again, and pixels are picked out of the rows that a convolution leaves.
    // The skip lies as it came.
    let expected = [
        ("norm1", "x"),
        ("conv1", "x"),
        ("embedded", "a"),
        ("norm2", "x"),
        ("conv2", "x"),
        ("sum", "a"),
    ];
    assert_eq!(moves(&done), expected);
    // 64 pixels of 320 channels, from rows to 32 groups of 5 rows of 128.
    assert_eq!(done.moves[0].bytes, 2 * (64 * 320 + 32 * 5 * 128));
}

#[test]
fn a_down_block_agrees_and_costs_what_is_published() {
    let block = Block::down(320);
    let done = published(&block.calls);
    assert_eq!(done.total(), 637_824);
    within(block.grade(&done.result), 1e-2, 8e-2);
    // Of the second residual block's skip nothing moves: the first one's result lies as it is wanted.
    let of = |call: &str| moves(&done).iter().filter(|(name, _)| name.starts_with(call)).count();
    assert_eq!([of("first-"), of("second-"), of("down")], [6, 6, 1]);
}

#[test]
fn a_transformer_block_is_assembled_from_its_calls() {
    let block = Block::transformer(&SMALL_TRANSFORMER);
    let done = published(&block.calls);
    within(block.grade(&done.result), 1e-2, 8e-2);
    // Every call is priced; what the host does is beside it.
    assert_eq!(done.cycles.len(), block.calls.len());
    assert!(done.total() > 0 && done.moved_bytes() > 0 && done.given_bytes > 0);
    let real = compose(&block.calls, &Machine::default(), Prices::RealSpan).unwrap();
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
