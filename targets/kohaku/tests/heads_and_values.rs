//! Heads in groups, and values in every order that a caller may have them in.

mod reference;

use reference::{Case, graded};
use target_kohaku::compile::{Compiled, compile};
use target_kohaku::kernels::{Flash, Restart, ValueOrder, flash};
use target_kohaku::machine::{Drain, Machine, Prices};
use target_kohaku::timing::{Timing, timing};
use target_kohaku::traffic::words;

fn compiled(call: &Flash, machine: &Machine) -> Compiled {
    compile(flash(call).expect("a form"), machine).expect("a legal program")
}

fn priced(call: &Flash) -> Timing {
    timing(&compiled(call, &Machine::default()), Prices::RealSpan)
}

fn result(call: &Flash) -> Vec<u32> {
    let mut outputs = Case::attention(*call).run();
    outputs
        .remove("o")
        .expect("a result")
        .iter()
        .map(|x| x.to_bits())
        .collect()
}

/// Calls of four heads: plain, in passes with masked keys and split keys, causal, rescaled in the band.
fn calls() -> [Flash; 4] {
    let plain = Flash::published(4, 64, 128);
    [
        plain,
        Flash {
            keys: 77,
            query_block: 32,
            key_splits: 2,
            ..plain
        },
        Flash {
            queries: 128,
            query_block: 64,
            causal: true,
            ..plain
        },
        Flash {
            restart: Restart::InBand,
            tile: (4, 4),
            nk: 1,
            ..plain
        },
    ]
}

#[test]
fn groups_of_heads_compute_the_same_bits_in_the_time_of_a_call_for_each() {
    for call in calls() {
        let whole = result(&call);
        for head_block in [1, 2] {
            let groups = Flash { head_block, ..call };
            assert_eq!(result(&groups), whole, "{groups:?}");
            let alone = Flash {
                heads: head_block,
                head_block,
                ..call
            };
            assert_eq!(
                priced(&groups).total(),
                call.heads / head_block * priced(&alone).total()
            );
        }
    }
    // Ten heads leave two of four cores idle in the last round of three; in groups of five there are four rounds.
    let ten = Flash::published(10, 256, 256);
    let halves = Flash { head_block: 5, ..ten };
    assert!(priced(&halves).total() > priced(&ten).total());
}

#[test]
fn values_in_every_order_give_the_result_at_the_price_of_what_brings_them() {
    for call in calls() {
        for head_block in [4, 2] {
            let transposed = Flash { head_block, ..call };
            let rows = Flash {
                values: ValueOrder::Rows,
                ..transposed
            };
            assert_eq!(result(&rows), result(&transposed), "{rows:?}");
            let by_key = Flash {
                values: ValueOrder::ByKey,
                ..transposed
            };
            let (before, turned) = (graded(&Case::attention(transposed)), graded(&Case::attention(by_key)));
            assert!(
                turned.max <= 5e-2 && turned.p50 <= 2.0 * before.p50,
                "{before:?} {turned:?}"
            );
            for (given, stage) in [(rows, "take"), (by_key, "turn")] {
                let compiled = compiled(&given, &Machine::default());
                let time = timing(&compiled, Prices::RealSpan);
                let stages = compiled.program.stages.iter().zip(&time.stages);
                let own: usize = stages.filter(|(own, _)| own.name == stage).map(|(_, t)| t.cycles).sum();
                let v = compiled.program.named("v").unwrap();
                let conversions: Vec<usize> = time
                    .conversions
                    .iter()
                    .filter(|own| own.buffer == v)
                    .map(|own| own.price.cycles)
                    .collect();
                assert_eq!(conversions.len(), given.groups(), "once for each group");
                let more = own + conversions.iter().sum::<usize>();
                assert!(own > 0 && more > own);
                assert_eq!(time.total(), priced(&transposed).total() + more, "{given:?}");
                // The caller's own are read once for each row of tiles, however many passes read what was brought.
                let moved = words(&compiled)[compiled.program.named("given-v").unwrap().0];
                let times = if given == rows {
                    1
                } else {
                    given.value_width / (4 * given.tile.1)
                };
                let own = given.heads * given.value_width * given.padded_keys / 16;
                assert_eq!(moved, times * own, "{given:?}");
            }
        }
    }
}

#[test]
fn a_drain_in_rows_turns_values_by_whole_words() {
    let call = Flash {
        values: ValueOrder::ByKey,
        ..Flash::published(2, 64, 128)
    };
    let rows = Machine {
        drain: Drain::Rows,
        ..Machine::default()
    };
    let of_v = |machine: &Machine| {
        let compiled = compiled(&call, machine);
        let v = compiled.program.named("v").unwrap();
        let time = timing(&compiled, Prices::RealSpan);
        let own = time.conversions.iter().filter(|own| own.buffer == v);
        own.map(|own| own.price.cycles).sum::<usize>()
    };
    assert!(10 * of_v(&rows) < of_v(&Machine::default()));
}

#[test]
fn tiles_of_a_projection_and_groups_of_unlike_size_are_refused() {
    let plain = Flash::published(10, 64, 128);
    for (call, rule, words) in [
        (
            Flash {
                values: ValueOrder::Tiles,
                ..plain
            },
            "value-order",
            "through the host",
        ),
        (
            Flash { head_block: 4, ..plain },
            "head-blocks",
            "10 heads with keys of their own don't divide into groups of 4",
        ),
    ] {
        let refusal = flash(&call).unwrap_err();
        assert!(refusal.rule == rule && refusal.message.contains(words), "{refusal}");
    }
}
