//! Figures about conversions.

use serde_json::{Value, json};
use target_kohaku::compile::{Compiled, compile};
use target_kohaku::kernels::{self, Flash, Gelu, Padded, Tiling, flash};
use target_kohaku::layout::{Layout, Shape};
use target_kohaku::machine::{CORE_WORDS, DIMENSIONS, Machine, Prices, SAFE_WORDS, WALK_WORDS, WORD_BYTES};
use target_kohaku::program::{Expr, Program, Role};
use target_kohaku::relayout::{plan, price};
use target_kohaku::timing::{Timing, listed_cycles, timing};

use crate::figure::{Figure, Found};

pub(crate) fn compiled(program: Program) -> Compiled {
    compile(program, &Machine::default()).expect("a legal program")
}

/// A published attention call, compiled and priced as published.
pub(crate) fn attention(heads: usize, queries: usize, keys: usize) -> (Compiled, Timing) {
    let compiled = compiled(flash(&Flash::published(heads, queries, keys)).expect("a legal call"));
    let timing = timing(&compiled, Prices::Published);
    (compiled, timing)
}

pub(crate) fn percent(part: usize, whole: usize) -> f64 {
    (1000.0 * part as f64 / whole as f64).round() / 10.0
}

fn tiles(rows: usize, columns: usize) -> Layout {
    Layout::Tile {
        grid: (rows / 32, columns / 32),
        tile: (8, 8),
    }
}

const ENTRY: Layout = Layout::Entry { groups: 8, blocks: 2 };

/// Both directions over one matrix; they cost the same.
fn both(a: Layout, b: Layout, rows: usize, columns: usize) -> usize {
    let cycles = |from, to| {
        let plan = plan(from, to, Shape::matrix(rows, columns), 1).expect("a plan");
        price(&plan).cycles
    };
    assert_eq!(cycles(a, b), cycles(b, a));
    cycles(a, b)
}

/// Heads, queries and keys: from the inputs, else from the name ("flash 4x128x256: ...", "h=1 Lq=64 Lkv=256",
/// "... 4x128").
pub(crate) fn shape(figure: &Figure) -> Option<[usize; 3]> {
    let input = |key: &str| {
        figure
            .inputs
            .get(key)
            .and_then(Value::as_u64)
            .and_then(|n| usize::try_from(n).ok())
    };
    if let (Some(heads), Some(queries), Some(keys)) = (input("heads"), input("Lq"), input("Lkv")) {
        return Some([heads, queries, keys]);
    }
    let number = |text: &str| text.parse().ok();
    if let Some((_, text)) = figure.name.split_once("h=") {
        let words: Vec<&str> = text.split_whitespace().collect();
        let of = |word: &str| word.rsplit('=').next().and_then(number);
        return Some([of(words[0])?, of(words.get(1)?)?, of(words.get(2)?)?]);
    }
    let word = figure.name.rsplit(' ').next()?;
    let parts: Option<Vec<usize>> = word.split('x').map(number).collect();
    match parts?.as_slice() {
        &[heads, length] => Some([heads, length, length]),
        _ => None,
    }
}

pub(crate) fn find(figure: &Figure) -> Option<Found> {
    let name = figure.name.as_str();
    Some(Found::Value(match name {
        "flat->entry:8x2 over (1024,64)" => json!(both(Layout::Flat, ENTRY, 1024, 64)),
        "tile<->flat over (1024,64)" => json!(both(tiles(1024, 64), Layout::Flat, 1024, 64)),
        "tile<->entry over (1024,64)" => json!(both(tiles(1024, 64), ENTRY, 1024, 64)),
        "granule/word ratio" => {
            let granule = both(tiles(1024, 64), Layout::Flat, 1024, 64) as f64;
            json!((10.0 * granule / both(Layout::Flat, ENTRY, 1024, 64) as f64).round() / 10.0)
        }
        "tile:8x2:8x8 -> flat over (256,64)" => json!(both(tiles(256, 64), Layout::Flat, 256, 64)),
        "per-temp at 4x256: each, live, total, share" => per_temporary(),
        "relayouts recorded: linear_silu, geglu, conv2d, mlp, flash L=64/128/256" => {
            json!(seven().map(|compiled| compiled.conversions.len()))
        }
        "dead conversions" => {
            let holds = [64, 128, 256, 512].iter().all(|&length| {
                let (compiled, _) = attention(2, length, length);
                compiled.conversions.iter().filter(|c| c.dead).count() == 3 * (length / 64) - 3
            });
            json!(if holds { "3*blocks-3" } else { "another number" })
        }
        "conversions after one elementwise / one reduction" => {
            json!([after(false).conversions.len(), after(true).conversions.len()])
        }
        "conversion bytes per call" => {
            let holds = [(4, 128, 256), (1, 256, 64)].iter().all(|&(heads, queries, keys)| {
                let (compiled, _) = attention(heads, queries, keys);
                let words: usize = compiled
                    .run()
                    .filter_map(|c| c.plan.as_ref())
                    .map(|p| p.words * p.batch)
                    .sum();
                words * 16 == heads * 3 * queries * keys
            });
            json!(if holds { "3*Lq*Lkv" } else { "another number" })
        }
        "conversion caps: AGU dims, words per walk, bytes per pass, safe L1 words" => json!([
            DIMENSIONS,
            WALK_WORDS,
            WALK_WORDS * WORD_BYTES,
            format!("<={SAFE_WORDS} or {CORE_WORDS}")
        ]),
        "share of a 4x256 call one handoff is worth %" => {
            let (compiled, timing) = attention(4, 256, 256);
            let scores = compiled.program.named("scores").expect("a buffer");
            let one: usize = timing
                .conversions
                .iter()
                .filter(|p| p.buffer == scores)
                .map(|p| p.price.cycles)
                .sum();
            json!(percent(one, before(&compiled, &timing)))
        }
        "run before/after and total before/after the dead rule at 4x256" => {
            let (compiled, timing) = attention(4, 256, 256);
            json!([
                compiled.conversions.len(),
                compiled.run().count(),
                before(&compiled, &timing),
                timing.total()
            ])
        }
        _ => return by_shape(figure),
    }))
}

/// The total before the dead rule.
pub(crate) fn before(compiled: &Compiled, timing: &Timing) -> usize {
    timing.total() - timing.conversion() + listed_cycles(compiled).expect("plans for all")
}

fn by_shape(figure: &Figure) -> Option<Found> {
    let [heads, queries, keys] = shape(figure)?;
    let name = figure.name.as_str();
    let (compiled, timing) = attention(heads, queries, keys);
    let converted = timing.conversion();
    Some(Found::Value(
        if name.ends_with("blocks, listed, run, conversion cycles, share %") {
            json!([
                keys / 64,
                compiled.conversions.len(),
                compiled.run().count(),
                converted,
                percent(converted, timing.total())
            ])
        } else if name.starts_with("flash conversion cycles before the dead rule") {
            json!(listed_cycles(&compiled))
        } else if name.starts_with("VC split: conversion, rest") {
            json!([converted, timing.vector()])
        } else {
            return None;
        },
    ))
}

fn per_temporary() -> Value {
    let (compiled, timing) = attention(4, 256, 256);
    let row = |name: &str| {
        let id = compiled.program.named(name).expect("a buffer");
        let prices: Vec<usize> = timing
            .conversions
            .iter()
            .filter(|p| p.buffer == id)
            .map(|p| p.price.cycles)
            .collect();
        let total: usize = prices.iter().sum();
        json!([prices[0], prices.len(), total, percent(total, timing.conversion())])
    };
    json!({ "scores": row("scores"), "part_o": row("part_o"), "weights": row("weights") })
}

/// The seven programs of the published table.
pub(crate) fn seven() -> [Compiled; 7] {
    let tiling = Tiling::default();
    let conv = Padded {
        plane: [16, 16, 32],
        channels: 32,
        step: 1,
    };
    let attention = |length| flash(&Flash::published(1, length, length)).expect("a legal call");
    [
        kernels::linear([64, 256, 256], tiling),
        kernels::geglu([64, 256, 256], Gelu::Sigmoid, false, tiling),
        kernels::convolution(&conv, tiling),
        kernels::mlp(64, [256, 256, 256], Gelu::Sigmoid, [tiling; 2]),
        attention(64),
        attention(128),
        attention(256),
    ]
    .map(compiled)
}

/// A product of 256 x 64 x 64 and one pass: an element-wise one, or a reduction.
pub(crate) fn after(reduction: bool) -> Compiled {
    let mut program = Program::default();
    let square = Shape::matrix(256, 64);
    let x = program.buffer("x", Role::Input, 1, square);
    let w = program.buffer("w", Role::Input, 1, Shape::matrix(64, 64));
    let t = program.buffer("t", Role::Temporary, 1, square);
    let y = program.buffer("y", Role::Output, 1, square);
    program.product("product", [x, w, t], (8, 8), 2);
    let value = if reduction {
        Expr::read(t).minus(Expr::read(t).largest())
    } else {
        Expr::read(t).times(Expr::constant(2.0))
    };
    program.pass("pass", y, 8192, value);
    compiled(program)
}
