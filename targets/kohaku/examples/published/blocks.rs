//! Whole blocks: graded, priced, and what the host moves.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

use serde_json::{Value, json};
use target_kohaku::compile::compile;
use target_kohaku::composed::blocks;
use target_kohaku::composed::{Call, Composed, compose};
use target_kohaku::kernels::Padded;
use target_kohaku::machine::{Machine, Prices};
use target_kohaku::timing::timing;
use target_kohaku::unit::{Grade, grade};

use crate::reference::composed as expected;

/// A block with its grade.
pub(crate) struct Block {
    pub(crate) grade: Grade,
    done: Composed,
    /// Tables of norms at full shape, which are laid when they are loaded.
    tables: usize,
    real_span: usize,
}

impl Block {
    fn new(calls: &[Call], reference: &[f64], rows: impl Fn(&[f32]) -> Vec<f32>) -> Self {
        let machine = Machine::default();
        let done = compose(calls, &machine, Prices::Published).expect("a legal block");
        let real_span = |call: &Call| {
            let compiled = compile(call.program.clone(), &machine).expect("a legal call");
            timing(&compiled, Prices::RealSpan).total()
        };
        let inputs = calls.iter().flat_map(|call| &call.inputs);
        Self {
            grade: grade(&rows(&done.result), reference).expect("finite results"),
            tables: inputs.filter(|(name, _)| name == "gain" || name == "shift").count(),
            real_span: calls.iter().map(real_span).sum(),
            done,
        }
    }
}

fn plane(channels: usize, step: usize) -> Padded {
    Padded {
        plane: [8, 8, channels],
        channels,
        step,
    }
}

fn pixels(rows: &[f32], c: Padded) -> Vec<f32> {
    let (h, w) = c.result();
    let rows = |y: usize, x: usize| &rows[(y * c.row() + x) * c.channels..][..c.channels];
    (0..h)
        .flat_map(|y| (0..w).flat_map(move |x| rows(y, x).to_vec()))
        .collect()
}

/// 8 x 8 pixels of 320 channels.
pub(crate) static RESNET: LazyLock<Block> = LazyLock::new(|| resnet(320));
/// The same to 640 channels.
pub(crate) static WIDE: LazyLock<Block> = LazyLock::new(|| resnet(640));
/// Two of 320 channels and a convolution with step 2.
pub(crate) static DOWN: LazyLock<Block> = LazyLock::new(down);

fn resnet(to: usize) -> Block {
    let fans = BTreeMap::from([("w1", 9 * 320), ("w2", 9 * to)]);
    let give = |name: &str, count: usize| expected::give(name, count, &fans);
    let reference = expected::resnet(8, [320, to], &give);
    Block::new(&blocks::resnet(8, [320, to], &give), &reference, |rows| {
        pixels(rows, plane(to, 1))
    })
}

fn down() -> Block {
    let weights = ["first-w1", "first-w2", "second-w1", "second-w2", "w-down"];
    let fans: BTreeMap<&str, usize> = weights.into_iter().map(|name| (name, 9 * 320)).collect();
    let give = |name: &str, count: usize| expected::give(name, count, &fans);
    let reference = expected::down(8, 320, &give);
    Block::new(&blocks::down(8, 320, &give), &reference, |rows| {
        pixels(rows, plane(320, 2))
    })
}

/// A transformer block of 128 tokens: 4 heads, a context of 77.
fn transformer() -> Block {
    let (t, fans) = expected::small_transformer();
    let give = |name: &str, count: usize| expected::give(name, count, &fans);
    let calls = blocks::transformer(&t, &give).expect("a legal attention");
    Block::new(&calls, &expected::transformer(&t, &give), <[f32]>::to_vec)
}

/// Moves of the host as the page counts them: all of each block; of the down block at load time and per call.
pub(crate) fn moves() -> Value {
    let [one, wide, down] = [&*RESNET, &*WIDE, &*DOWN];
    let all = |block: &Block| block.done.moves.len() + block.tables;
    json!([all(one), all(wide), all(down), down.tables, down.done.moves.len()])
}

/// A table of all blocks.
pub(crate) fn table() -> String {
    let mut out = String::from(
        "\n## Whole blocks\n\nSimulated call by call; cycles are modelled. What the host moves between the calls stands beside \
         the cycles, never in them; its bytes are derived from the orders of both sides.\n\n\
         | block | p50 | p99 | max | past 1 % | past 10 % | cycles, published | cycles, real-span | host moves per call | their \
         bytes | tables laid at load time |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let transformer = transformer();
    for (name, block) in [
        ("resnet 8 x 8, 320 to 320", &*RESNET),
        ("resnet 8 x 8, 320 to 640", &*WIDE),
        ("down: two resnets, convolution with step 2", &*DOWN),
        ("transformer, 128 tokens of 256, 4 heads, context of 77", &transformer),
    ] {
        let g = block.grade;
        let _ = writeln!(
            out,
            "| {name} | {:.2e} | {:.2e} | {:.2e} | {:.1} % | {:.1} % | {} | {} | {} | {} | {} |",
            g.p50,
            g.p99,
            g.max,
            100.0 * g.past_1,
            100.0 * g.past_10,
            block.done.total(),
            block.real_span,
            block.done.moves.len(),
            block.done.moved_bytes(),
            block.tables
        );
    }
    out
}
