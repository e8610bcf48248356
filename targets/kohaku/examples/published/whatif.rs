//! Other machines, and other ways to rescale, in cycles.

use std::fmt::Write as _;

use planner::Refusal;
use target_kohaku::compile::{Conversion, compile};
use target_kohaku::kernels::{Flash, Restart, flash};
use target_kohaku::machine::{Converting, Drain, Machine, Prices};
use target_kohaku::relayout::Kind;
use target_kohaku::timing::timing;

/// Machines by name, with the cycles of SDXL's four attentions.
pub(crate) fn table() -> Vec<(&'static str, [usize; 4])> {
    let machine = Machine::default;
    let rows = Machine {
        drain: Drain::Rows,
        ..machine()
    };
    let all = Machine {
        converting: Converting::AllCores,
        ..machine()
    };
    let epilogue = Machine {
        full_shape_epilogue: true,
        ..machine()
    };
    let staging = Machine {
        staging: true,
        ..machine()
    };
    vec![
        ("as it is", cycles(&machine(), Restart::Accumulate)),
        ("the cluster drains rows", cycles(&rows, Restart::Accumulate)),
        ("conversions on all cores", cycles(&all, Restart::Accumulate)),
        ("softmax with a fixed maximum", cycles(&machine(), Restart::Fixed)),
        ("full-shape epilogue", cycles(&epilogue, Restart::Accumulate)),
        ("staging addressable", cycles(&staging, Restart::Accumulate)),
    ]
}

fn cycles(machine: &Machine, restart: Restart) -> [usize; 4] {
    [
        (10, 4096, 4096, 4096),
        (20, 1024, 1024, 1024),
        (10, 4096, 128, 77),
        (20, 1024, 128, 77),
    ]
    .map(|(heads, queries, padded, keys)| {
        let call = Flash {
            keys,
            restart,
            ..Flash::published(heads, queries, padded)
        };
        let compiled = compile(flash(&call).expect("a legal call"), machine).expect("a legal program");
        timing(&compiled, Prices::RealSpan).total()
    })
}

/// Key blocks of the calls whose crossings are counted: one head of 64 queries, so that all tiles fit the cores at once.
pub(crate) const BLOCKS: usize = 8;

/// Conversions that transpose, and cycles at real spans.
pub(crate) fn crossings(restart: Restart, machine: &Machine) -> Result<(usize, usize), Refusal> {
    let call = Flash {
        restart,
        ..Flash::published(1, 64, 64 * BLOCKS)
    };
    let compiled = compile(flash(&call)?, machine)?;
    let granule = |c: &&Conversion| c.plan.as_ref().is_some_and(|plan| plan.kind == Kind::Granule);
    let count = compiled.run().filter(granule).count();
    Ok((count, timing(&compiled, Prices::RealSpan).total()))
}

/// Why a key block crosses between tiles and rows twice, and what each rewrite makes of it, as Markdown.
pub(crate) fn rewrites() -> String {
    let mut out = format!(
        "\n## Two floors\n\nNo choice of which axes of batch, length, heads and width are rows and columns, in whatever order, \
         and of no tile, drains a word that a reduction reads: a sub-tile has 4 x 4 elements, so that a word holds 4 of one \
         row (tried exhaustively over a small tensor).\n\n\
         Two crossings of a key block are the floor while a maximum runs: scores are folded by rows and the result is rescaled \
         by rows, and both come as tiles. Of the rewrites of the rescale (1 head, 64 queries, {BLOCKS} key blocks; cycles at \
         real spans, modelled):\n\n\
         | rescaled | on this machine | crossings | cycles | why |\n|---|---|---:|---:|---|\n"
    );
    let wide = Machine {
        full_shape_epilogue: true,
        ..Machine::default()
    };
    let rows = [
        (
            "behind the second product, as shipped",
            Restart::Accumulate,
            "scores and results of each block",
        ),
        (
            "inside the softmax band",
            Restart::InBand,
            "the result is read by rows there too",
        ),
        (
            "in the drain",
            Restart::InDrain,
            "the result stays among tiles, its correction crosses instead; both ends cross too",
        ),
        (
            "not at all: a fixed maximum",
            Restart::Fixed,
            "only scores cross, and both ends; right for bounded scores alone",
        ),
    ];
    for (name, restart, why) in rows {
        let here = crossings(restart, &Machine::default());
        let (word, found) = match here {
            Ok(found) => ("compiles".to_owned(), Ok(found)),
            Err(refusal) => (
                format!("refused by `{}`; with `full_shape_epilogue`:", refusal.rule),
                crossings(restart, &wide),
            ),
        };
        let (count, cycles) = found.expect("a legal call");
        let _ = writeln!(out, "| {name} | {word} | {count} | {cycles} | {why} |");
    }
    out.push_str(
        "| beforehand, in the weights | can't be expressed | | | over the product of all corrections before, a weight is \
         2^(score - first maximum): nothing of the running maximum is left |\n",
    );
    out
}
