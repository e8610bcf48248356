//! A workload, a machine, and plans at random.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, missing_docs, reason = "tests stop at the first surprise")]

use planner::{Elementwise, GemmExtents, Operation, OperationKind, Workload};
use proptest::prelude::*;
use target_cpu::estimate::Hardware;
use target_cpu::geometry::{
    Activation, Activations, Deal, GemmGeometry, Inside, Order, Orientation, Output, Split, Staging, Weights,
};
use target_cpu::isa::Isa;

pub fn gemm(name: &str, rows: u64, inner: u64, columns: u64) -> Operation {
    Operation {
        name: name.to_owned(),
        kind: OperationKind::Gemm(GemmExtents { rows, inner, columns }),
    }
}

/// `rows x inner -> hidden -> GELU -> inner`.
pub fn mlp(rows: u64, inner: u64, hidden: u64) -> Workload {
    let kind = OperationKind::Elementwise {
        function: Elementwise::GeluTanh,
        rows,
        columns: hidden,
    };
    Workload {
        name: "mlp".to_owned(),
        operations: vec![
            gemm("up", rows, inner, hidden),
            Operation {
                name: "gelu".to_owned(),
                kind,
            },
            gemm("down", rows, hidden, inner),
        ],
    }
}

/// A Zen 3 guest with AVX2, measured by hand.
pub fn hardware() -> Hardware {
    let report = serde_json::from_str(include_str!("../data/zen3-guest.json")).unwrap();
    Hardware::new(&report, Isa::Avx2).unwrap()
}

fn pick<T: Copy + std::fmt::Debug>(
    words: &'static [&'static str],
    parse: fn(&str) -> Option<T>,
) -> impl Strategy<Value = T> {
    (0..words.len()).prop_map(move |at| parse(words[at]).unwrap())
}

prop_compose! {
    /// Any geometry, legal or not, with counts below `most`.
    pub fn geometry(most: u32)(
        orientation in pick(Orientation::WORDS, Orientation::parse),
        counts in prop::array::uniform9(1..most),
        order in pick(Order::WORDS, Order::parse),
        inside in pick(Inside::WORDS, Inside::parse),
        weights in pick(Weights::WORDS, Weights::parse),
        activations in pick(Activations::WORDS, Activations::parse),
        output in pick(Output::WORDS, Output::parse),
        staging in prop_oneof![
            Just(Staging::Streamed), Just(Staging::Complete), (1_u32..50).prop_map(Staging::Batch)
        ],
        split in pick(Split::WORDS, Split::parse),
        (deal, activation) in (
            pick(Deal::WORDS, Deal::parse), prop::option::of(pick(Activation::WORDS, Activation::parse))
        ),
        prefetch_c: bool,
        prefetch_b: bool,
    ) -> GemmGeometry {
        let [rows, columns, inner, height, width, unroll, result_rows, result_columns, transpose] = counts;
        GemmGeometry {
            orientation, rows, columns, inner, height, width, unroll, order, inside, weights, activations, output,
            staging, result_rows, result_columns, split, deal, transpose, prefetch_c, prefetch_b, activation,
        }
    }
}
