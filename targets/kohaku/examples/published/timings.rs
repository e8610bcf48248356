//! Figures about cycles and flits.

use serde_json::{Value, json};
use target_kohaku::compile::{Compiled, compile, epilogue_budget};
use target_kohaku::kernels::{self, Flash, Mask, Padded, Restart, Tiling, flash};
use target_kohaku::machine::{Machine, Prices};
use target_kohaku::program::{Program, Work};
use target_kohaku::timing::{Timing, conv_instance, listed_cycles, timing};

use crate::blocks;
use crate::conversions::{after, attention, before, compiled, percent, seven, shape};
use crate::figure::{Figure, Found};

fn published(compiled: &Compiled) -> Timing {
    timing(compiled, Prices::Published)
}

fn total(program: Program) -> usize {
    published(&compiled(program)).total()
}

fn tiling(gm: usize, gn: usize) -> Tiling {
    Tiling {
        tile: (gm, gn),
        ..Tiling::default()
    }
}

fn input(figure: &Figure, key: &str) -> Option<usize> {
    figure.inputs.get(key)?.as_u64().and_then(|n| usize::try_from(n).ok())
}

pub(crate) fn find(figure: &Figure) -> Option<Found> {
    let name = figure.name.as_str();
    Some(Found::Value(match name {
        _ if name.starts_with("flash ") && name.ends_with(" total cycles") => {
            let [heads, queries, keys] = shape(figure)?;
            json!(attention(heads, queries, keys).1.total())
        }
        _ if name.starts_with("total, MG %, VC %") => {
            let [heads, queries, keys] = shape(figure)?;
            let (_, t) = attention(heads, queries, keys);
            let all = t.total();
            json!([all, percent(t.matrix(), all), percent(t.vector() + t.conversion(), all)])
        }
        "historical h=1 Lq=64 Lkv=256: MG, VC, bracket" => {
            let (_, t) = attention(1, 64, 256);
            let old = t.matrix() + t.vector();
            return Some(Found::Other(
                json!([t.matrix(), t.vector(), [old - (t.total() - t.overlapped()), old]]),
                "clusters and the bracket's width of 2,048 agree; the vector prices of that time are not published",
            ));
        }
        _ if name.starts_with("projection 256x1280->1280") => {
            let own = tiling(input(figure, "gm")?, input(figure, "gn")?);
            let wide = published(&compiled(kernels::matmul([256, 1280, 1280], own)));
            if own.tile.1 == 8 {
                let heads = published(&compiled(kernels::per_head([256, 1280, 1280], 20, own)));
                assert_eq!((heads.total(), heads.flits()), (wide.total(), wide.flits()));
            }
            json!([wide.total(), wide.flits()])
        }
        "join 128x256 h4: matmul, residual, total; attn_out" => joined([128, 256, 256], 4),
        "join 256x1280 h20: matmul, residual, total; attn_out" => joined([256, 1280, 1280], 20),
        "GEMM(256x64x64)+one elementwise pass" => json!(published(&after(false)).total()),
        "GEMM(256x64x64)+one reduction" => json!(published(&after(true)).total()),
        "flash 4x128 as shipped before the dead rule; rewrite 1" => {
            let shipped = Flash::published(4, 128, 128);
            let rewritten = Flash {
                restart: Restart::InBand,
                ..shipped
            };
            json!([shipped, rewritten].map(|call| {
                let compiled = compiled(flash(&call).expect("a legal call"));
                before(&compiled, &published(&compiled))
            }))
        }
        "fused epilogue budget at gm=gn=8: descriptors, L1 words (today; with two full-shape operands)" => {
            json!(
                [epilogue_budget((8, 8), true, 0), epilogue_budget((8, 8), false, 2)].map(|b| [b.descriptors, b.words])
            )
        }
        "stride-2 vs dense cycles at 16,32,64" => {
            return Some(Found::Other(
                ratios(figure, |c, t| {
                    let of = |step| convolved(c.plane, c.channels, step, t.tile);
                    (of(1), of(2))
                })?,
                "at 16 x 16 and the tile of 8 x 8 that is named, the dense convolution has 9 tiles and the strided one 3: two \
                 rounds of 6 clusters against one; no tile of powers of two gives 4.00 there",
            ));
        }
        "upsample folded vs materialised at 8,16,32" => ratios(figure, |c, t| {
            let [h, w, channels] = c.plane;
            let large = Padded {
                plane: [2 * h, 2 * w, channels],
                ..c
            };
            (total(kernels::convolution(&large, t)), total(kernels::upsampled(&c, t)))
        })?,
        _ => return composed(name),
    }))
}

/// Figures of convolutions, of the counters, and of whole fragments.
fn composed(name: &str) -> Option<Found> {
    Some(Found::Value(match name {
        "conv flits per pass" => json!([320, 640, 1280].map(|channels| conv([8, 8, channels], channels, (8, 8)).0)),
        "layer flits near gm*gn<=TILES; at gm=2,gn=1" => {
            return Some(Found::Noted(
                layers(),
                "with 4,096 sub-tiles, at 51 x 80: all 320 channels of the first level, and as many rows as there is room \
                 for; of all tiles only this and 102 x 40 give the page's range, which names none",
            ));
        }
        "dispatches: linear_silu, geglu, conv2d, mlp, flash L=64/128/256" => {
            json!(seven().map(|compiled| compiled.program.stages.len()))
        }
        "toy BasicTransformerBlock: dispatches, rounds, flits, MB sent, MB fetched, relayouts, host permutes" => {
            return Some(Found::Other(
                blocks::toy(),
                "a block of these extents lists as many conversions; it takes 76 dispatches, and the demonstration that \
                 would say where the other three go is not published; rounds, flits to vector cores and the link to the \
                 host are not modelled",
            ));
        }
        "host round trips; link MB" => {
            return Some(Found::Never(
                "sums of the figures of the toy block, whose demonstration is not published",
            ));
        }
        "ResnetBlock2D 8x8 320->320 cycles" => json!(blocks::RESNET.total()),
        "ResnetBlock2D 8x8 320->640 cycles" => json!(blocks::WIDE.total()),
        "down block 2 resnets + Downsample cycles" => json!(blocks::DOWN.total()),
        "4-mesh speed-up of compute" | "best measured large-GEMM efficiency" => {
            return Some(Found::Never("measured on hardware"));
        }
        "flash share range in the text" => shares(),
        "head split ratio cycles/flits" => {
            let own = Tiling::default();
            let wide = published(&compiled(kernels::matmul([256, 1280, 1280], own)));
            let split = published(&compiled(kernels::per_head([256, 1280, 1280], 20, own)));
            json!([
                split.total() as f64 / wide.total() as f64,
                split.flits() as f64 / wide.flits() as f64
            ])
        }
        _ => return None,
    }))
}

fn joined(extents: [usize; 3], heads: usize) -> Value {
    let t = published(&compiled(kernels::join(extents, heads, Tiling::default(), true)));
    json!([t.matrix(), t.vector(), t.total(), t.total()])
}

type Pair = fn(Padded, Tiling) -> (usize, usize);

fn ratios(figure: &Figure, of: Pair) -> Option<Value> {
    let mut found = Vec::new();
    for case in figure.inputs.get("cases")?.as_array()? {
        let numbers: Vec<usize> = serde_json::from_value(case.clone()).ok()?;
        let &[h, w, channels, out, gm, gn] = numbers.as_slice() else {
            return None;
        };
        let conv = Padded {
            plane: [h, w, channels],
            channels: out,
            step: 1,
        };
        let (large, small) = of(conv, tiling(gm, gn));
        found.push((100.0 * large as f64 / small as f64).round() / 100.0);
    }
    Some(json!(found))
}

/// Cycles of a convolution.
pub(crate) fn convolved(plane: [usize; 3], channels: usize, step: usize, (gm, gn): (usize, usize)) -> usize {
    let conv = Padded { plane, channels, step };
    total(kernels::convolution(&conv, tiling(gm, gn)))
}

/// Flits of one instance, and of all.
fn conv(plane: [usize; 3], channels: usize, tile: (usize, usize)) -> (usize, usize) {
    let own = Tiling {
        tile,
        ..Tiling::default()
    };
    let program = kernels::convolution(
        &Padded {
            plane,
            channels,
            step: 1,
        },
        own,
    );
    let Work::Conv(conv) = &program.stages[0].work else {
        return (0, 0);
    };
    let (instance, instances) = conv_instance(conv);
    (instance.flits, instances * instance.flits)
}

/// Least and most flits of SDXL's three widths at one tile, in thousands.
pub(crate) fn layer_flits(tile: (usize, usize)) -> (usize, usize) {
    let planes = [([128, 128, 320], 320), ([64, 64, 640], 640), ([32, 32, 1280], 1280)];
    let thousands = planes.map(|(plane, channels)| (conv(plane, channels, tile).1 + 500) / 1000);
    let [least, most] = [thousands.iter().min(), thousands.iter().max()].map(|n| n.copied().unwrap_or(0));
    (least, most)
}

/// With the accumulator of 4,096 sub-tiles at 51 x 80, and at 2 x 1.
fn layers() -> Value {
    let channels = 320 / 4;
    let (low, high) = layer_flits((4096 / channels, channels));
    let (least, most) = layer_flits((2, 1));
    json!([
        format!("{low}-{high}k"),
        format!("{}-{} million", least / 1000, most / 1000)
    ])
}

fn shares() -> Value {
    let shapes = [
        (4, 128, 128),
        (4, 128, 256),
        (4, 256, 256),
        (20, 256, 256),
        (10, 512, 512),
    ];
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for (heads, queries, keys) in shapes {
        let (compiled, t) = attention(heads, queries, keys);
        old.push(percent(listed_cycles(&compiled).unwrap_or(0), before(&compiled, &t)));
        new.push(percent(t.conversion(), t.total()));
    }
    let ends = |shares: Vec<f64>| {
        let low = shares.iter().copied().fold(f64::MAX, f64::min).floor();
        let high = shares.iter().copied().fold(0.0, f64::max).round();
        format!("{low}-{high}%")
    };
    json!(format!("{} (5.2a), {} (7, 8)", ends(old), ends(new)))
}

/// The same calls at the elements that they really cover (not published; the reference page derives them).
pub(crate) fn real_spans() -> Vec<([usize; 3], usize, f64)> {
    let shapes = [[4, 256, 256], [20, 256, 256], [10, 512, 512], [1, 256, 256]];
    shapes
        .map(|[heads, queries, keys]| {
            let program = flash(&Flash::published(heads, queries, keys)).expect("a legal call");
            let compiled = compile(program, &Machine::default()).expect("a legal program");
            let t = timing(&compiled, Prices::RealSpan);
            ([heads, queries, keys], t.total(), percent(t.conversion(), t.total()))
        })
        .to_vec()
}

/// 4 heads, 256 queries, 77 keys of 128, without conversions in published prices.
pub(crate) fn masked(query_block: usize, mask: Mask) -> usize {
    let call = Flash {
        keys: 77,
        query_block,
        mask,
        ..Flash::published(4, 256, 128)
    };
    let t = published(&compiled(flash(&call).expect("a legal call")));
    t.matrix() + t.vector()
}
