//! Whole blocks: graded, priced, and what the host moves.

use std::fmt::Write as _;
use std::sync::LazyLock;

use serde_json::{Value, json};
use target_kohaku::compile::{Compiled, compile};
use target_kohaku::composed::blocks::Transformer;
use target_kohaku::composed::{Composed, compose};
use target_kohaku::machine::{Machine, Prices};
use target_kohaku::timing::timing;
use target_kohaku::unit::Grade;

use crate::reference::composed::{Block, SMALL_TRANSFORMER};

/// A block that ran.
pub(crate) struct Ran {
    pub(crate) grade: Grade,
    done: Composed,
    /// Tables of norms at full shape, which are laid when they are loaded.
    tables: usize,
    real_span: usize,
}

fn compiled(block: &Block) -> Vec<Compiled> {
    let each = block
        .calls
        .iter()
        .map(|call| compile(call.program.clone(), &Machine::default()));
    each.collect::<Result<_, _>>().expect("legal calls")
}

impl Ran {
    fn new(block: &Block) -> Self {
        let done = compose(&block.calls, &Machine::default(), Prices::Published).expect("a legal block");
        let real_span = |compiled: &Compiled| timing(compiled, Prices::RealSpan).total();
        let inputs = block.calls.iter().flat_map(|call| &call.inputs);
        Self {
            grade: block.grade(&done.result),
            tables: inputs.filter(|(name, _)| name == "gain" || name == "shift").count(),
            real_span: compiled(block).iter().map(real_span).sum(),
            done,
        }
    }

    /// Cycles as published.
    pub(crate) fn total(&self) -> usize {
        self.done.total()
    }
}

/// 8 x 8 pixels of 320 channels.
pub(crate) static RESNET: LazyLock<Ran> = LazyLock::new(|| Ran::new(&Block::resnet([320, 320])));
/// The same to 640 channels.
pub(crate) static WIDE: LazyLock<Ran> = LazyLock::new(|| Ran::new(&Block::resnet([320, 640])));
/// Two of 320 channels and a convolution with step 2.
pub(crate) static DOWN: LazyLock<Ran> = LazyLock::new(|| Ran::new(&Block::down(320)));

/// What the page counts of its toy block, where it can be counted here: dispatches and listed conversions. 64 tokens of 256
/// features, 4 heads, 256 tokens of context.
pub(crate) fn toy() -> Value {
    let block = Block::transformer(&Transformer {
        tokens: 64,
        context: 256,
        ..SMALL_TRANSFORMER
    });
    let calls = compiled(&block);
    let dispatches: usize = calls.iter().map(|call| call.program.stages.len()).sum();
    let listed: usize = calls.iter().map(|call| call.conversions.len()).sum();
    json!([dispatches, null, null, null, null, listed, null])
}

/// Moves of the host as the page counts them: all of each block; of the down block at load time and per call.
pub(crate) fn moves() -> Value {
    let [one, wide, down] = [&*RESNET, &*WIDE, &*DOWN];
    let all = |block: &Ran| block.done.moves.len() + block.tables;
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
    let transformer = Ran::new(&Block::transformer(&SMALL_TRANSFORMER));
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
            block.total(),
            block.real_span,
            block.done.moves.len(),
            block.done.moved_bytes(),
            block.tables
        );
    }
    out
}
