//! Figures about the machine and about attention calls of SDXL; [`crate::network`] counts in networks.

use serde_json::{Value, json};
use target_kohaku::compile::compile;
use target_kohaku::kernels::{Flash, Norm, flash};
use target_kohaku::layout::Shape;
use target_kohaku::machine::{ADAPTER_BYTES, ADAPTERS, CLUSTER_MACS, MXFP7_BITS, Machine, STAGING_BYTES, WALK_WORDS};

use crate::figure::{Figure, Found};

/// Clusters and cores of the four meshes of the shipped device.
const MESHES: [(usize, usize); 4] = [(8, 2), (6, 2), (8, 2), (8, 2)];

fn clusters() -> usize {
    MESHES.iter().map(|(clusters, _)| clusters).sum()
}

fn peak() -> f64 {
    (clusters() * CLUSTER_MACS) as f64
}

/// Multiplications of an image, to the three digits that the page goes on with.
const IMAGE: f64 = 2.08e14;
const FROM_THREE_DIGITS: &str =
    "from the published total of 2.08e14; the exact one takes 33.9 and 45.2 s, 44.9 and 59.8 s at 75.5 %";

/// SDXL's four attentions: level 1 and 2, self and cross.
fn calls() -> [Flash; 4] {
    [(10, 4096, 4096), (20, 1024, 1024), (10, 4096, 128), (20, 1024, 128)]
        .map(|(heads, queries, keys)| Flash::published(heads, queries, keys))
}

/// Bytes of one temporary of a call.
fn temporary(f: &Flash) -> usize {
    2 * f.heads * f.queries * f.block
}

fn rounded(x: f64, digits: i32) -> f64 {
    (x * 10_f64.powi(digits)).round() / 10_f64.powi(digits)
}

fn mega(bytes: usize) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// Bytes that the published page lets the host move: three temporaries per key block, there and back.
fn host_bytes(f: &Flash) -> usize {
    6 * f.blocks() * temporary(f)
}

pub(crate) fn find(figure: &Figure) -> Option<Found> {
    let name = figure.name.as_str();
    let per_mac = |mac: f64, hz: f64| mac / (peak() * hz);
    Some(Found::Value(match name {
        "context padded keys" => json!(77_usize.next_multiple_of(64)),
        "matmul clusters / vector cores on v7" => {
            json!([clusters(), MESHES.iter().map(|(_, cores)| cores).sum::<usize>()])
        }
        "peak MAC/cycle" => json!(peak()),
        "peak at 4e+08 Hz: MAC/s, TFLOP/s" => json!([peak() * 4e8, rounded(2.0 * peak() * 4e8 / 1e12, 1)]),
        "peak at 3e+08 Hz: MAC/s, TFLOP/s" => json!([peak() * 3e8, rounded(2.0 * peak() * 3e8 / 1e12, 1)]),
        "time at 100% of peak, 400/300 MHz (s)" => {
            return Some(Found::Noted(
                json!([4e8, 3e8].map(|hz| per_mac(IMAGE, hz))),
                FROM_THREE_DIGITS,
            ));
        }
        "time at 75.5% (s)" => {
            let times = [4e8, 3e8].map(|hz| per_mac(IMAGE, hz) / 0.755);
            return Some(Found::Noted(json!(times), FROM_THREE_DIGITS));
        }
        "VAE alone at 100% (s)" => json!([4e8, 3e8].map(|hz| rounded(per_mac(5.24e12, hz), 2))),
        "MXFP7 bits and bytes per element" => json!([MXFP7_BITS, rounded(MXFP7_BITS / 8.0, 3)]),
        "one temp, all heads (MB) L1 self, L2 self, L1 cross, L2 cross" => {
            json!(calls().map(|f| rounded(temporary(&f) as f64 / 1e6, 2)))
        }
        "key blocks" => json!(calls().map(|f| f.blocks())),
        "host bytes per call" => {
            let [a, b, c, d] = calls().map(|f| host_bytes(&f));
            json!([
                format!("{:.2} GB", a as f64 / 1e9),
                format!("{:.0} MB", b as f64 / 1e6),
                mega(c),
                mega(d)
            ])
        }
        "host bytes per UNet forward GB" => json!(rounded(forward() / 1e9, 1)),
        "host bytes per image TB" => json!(rounded(forward() * 60.0 / 1e12, 1)),
        "MAG staging bytes per mesh" => {
            return Some(Found::Other(
                json!(format!("{} MiB", STAGING_BYTES >> 20)),
                "4 banks of 16,384 entries of 1,024 bits are 8 MiB; 2 MiB need 256 bits each",
            ));
        }
        "NoC L2 adapter bytes; per mesh" => {
            json!([
                format!("{} KB", ADAPTER_BYTES >> 10),
                format!("{:.1} MB", (ADAPTERS * ADAPTER_BYTES) as f64 / f64::from(1 << 20))
            ])
        }
        "level-1 self conversions and 8 KB passes" => {
            let [f, ..] = calls();
            let conversions = 3 * f.blocks();
            let words = f.heads * f.queries * f.block / 16;
            json!([conversions, (conversions * words / WALK_WORDS + 500) / 1000 * 1000])
        }
        "fits in 2 MB: k+v one block; K+V 4096; K+V 1024; cross K+V d=640; temps at span 4096; 3x3 1280 weight MXFP7" =>
        {
            let kv = |keys: usize, width: usize| 2 * 2 * keys * width;
            let weight = f64::from(9 * 1280 * 1280) * MXFP7_BITS / 8.0 / 1e6;
            return Some(Found::Other(
                json!([
                    format!("{} KB", kv(64, 64) >> 10),
                    format!("{:.1} MB", kv(4096, 64) as f64 / f64::from(1 << 20)),
                    format!("{} KB", kv(1024, 64) >> 10),
                    format!("{:.0} KB", kv(128, 640) as f64 / 1e3),
                    mega(3 * temporary(&calls()[0])),
                    format!("{weight:.1} MB")
                ]),
                "three temporaries are 15.7 MB; all others agree",
            ));
        }
        "cross K, V each (KB) level 1, level 2" => {
            return Some(Found::Other(
                json!([640, 1280].map(|width| (2 * 128 * width + 500) / 1000)),
                "level 2 is twice as wide",
            ));
        }
        "query blocks re-reading K/V" => json!(calls()[..2].iter().map(|f| f.queries / 64).collect::<Vec<_>>()),
        "timestep embedding values, bytes" => json!([320, 2 * 320]),
        "VAE temps: unblocked MB, qblock=512 KB each, conversions" => vae(),
        "group elements 8x8x320" => json!(320 / 32 * 8 * 8),
        "group sizes" => json!(groups().map(|n| n.sub_rows * n.width)),
        "sub-rows of 128" => json!(groups().map(|n| n.sub_rows)),
        "group channels 320/640/1280/512/256/128/1024 at 32 groups" => {
            json!([320, 640, 1280, 512, 256, 128, 1024].map(|channels| channels / 32))
        }
        "arithmetic intensity 2*gm*gn/(gm+gn) at (8,8),(8,4),(8,2)" => {
            json!([(8, 8), (8, 4), (8, 2)].map(|(gm, gn)| {
                // Multiplications of a step over the elements that it fills, in units of 4 rows.
                let (products, filled) = (16 * gm * gn, 4 * (gm + gn));
                rounded(2.0 * f64::from(products) / f64::from(filled) / 4.0, 2)
            }))
        }
        _ => return None,
    }))
}

fn forward() -> f64 {
    // Calls of one forward: level 1 has 10 blocks, level 2 has 60, each with both kinds.
    calls()
        .iter()
        .zip([10.0, 60.0, 10.0, 60.0])
        .map(|(f, n)| host_bytes(f) as f64 * n)
        .sum()
}

fn groups() -> [Norm; 3] {
    [(320, 64), (640, 64), (1280, 64)].map(|(channels, side)| Norm::wide(32, channels / 32 * side * side, 1e-5, true))
}

/// The middle attention of the VAE in passes of 512 queries, if its rules allowed one: 16,384 tokens of width 512.
fn vae() -> Value {
    let shape = Shape::matrix(16_384, 512);
    let f = Flash {
        width: 512,
        value_width: 512,
        block: 512,
        query_block: 512,
        ..Flash::published(1, 16_384, 16_384)
    };
    let refused = flash(&f).and_then(|program| compile(program, &Machine::default()));
    assert!(refused.is_err(), "no plan suits it");
    // A pass holds 512 x 512 scores; 32 passes of 32 key blocks convert up to six times in each.
    let steps = f.passes() * f.blocks();
    json!([
        (2 * shape.elements()) >> 20,
        (2 * f.query_block * f.block) >> 10,
        format!("{steps}*6")
    ])
}
