//! Every figure of the published page that is marked as reproduced comes out of the compiler and the timing.

#![allow(dead_code, reason = "shared with the example that prints them")]
#![allow(
    missing_docs,
    clippy::missing_panics_doc,
    reason = "tests stop at the first surprise"
)]

#[path = "../examples/published/accuracy.rs"]
mod accuracy;
#[path = "../examples/published/all.rs"]
mod all;
#[path = "../examples/published/blocks.rs"]
#[allow(dead_code, reason = "its table is the example's")]
mod blocks;
#[path = "../examples/published/conversions.rs"]
mod conversions;
#[path = "../examples/published/figure.rs"]
mod figure;
#[path = "../examples/published/inventory.rs"]
mod inventory;
#[path = "../examples/published/layouts.rs"]
mod layouts;
#[path = "../examples/published/network.rs"]
mod network;
#[path = "../examples/published/timings.rs"]
mod timings;
#[path = "../examples/published/whatif.rs"]
mod whatif;

mod reference;

/// Figures that are marked as reproduced and come out otherwise here, for a reason that stands in the table.
const OTHERWISE: [&str; 2] = ["VAE scale factor", "host round trips; link MB"];

#[test]
fn reproduced_figures_are_reproduced() {
    let rows = all::rows();
    assert_eq!(rows.len(), 177);
    let marked = rows.iter().filter(|row| row.figure.status == "reproduced");
    assert_eq!(marked.clone().count(), 139);
    let mut otherwise = Vec::new();
    for row in marked {
        let (verdict, reason) = row.verdict();
        if verdict != "reproduced" {
            assert!(!reason.is_empty(), "{}", row.figure.name);
            otherwise.push(row.figure.name.as_str());
        }
    }
    assert_eq!(otherwise, OTHERWISE);
    let mut counts = std::collections::BTreeMap::new();
    let mut wrong = Vec::new();
    for row in &rows {
        let (verdict, reason) = row.verdict();
        *counts.entry(verdict).or_insert(0) += 1;
        if (verdict, reason.as_str()) == ("differs", "unexpected") {
            wrong.push((&row.figure.name, &row.figure.expected, &row.found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(
        [
            counts["reproduced"],
            counts["same size"],
            counts["differs"],
            counts["not reproducible"]
        ],
        [146, 15, 11, 5]
    );
    let report = include_str!("../../../reports/reference/kohaku-validation.md");
    assert!(
        report.ends_with(&all::table(&rows)),
        "the report in git is another one: run `scripts/validate-kohaku`"
    );
}

/// The page names no tile for its range of flits: the words beside the figure say which ones give it.
#[test]
fn two_tiles_give_the_published_range_of_flits() {
    let tiles = (1..256).flat_map(|gm| (1..256).map(move |gn| (gm, gn)));
    let giving: Vec<(usize, usize)> = tiles
        .filter(|(gm, gn)| gm * gn <= 4096 && timings::layer_flits((*gm, *gn)) == (22, 26))
        .collect();
    assert_eq!(giving, [(51, 80), (102, 40)]);
}

/// What the report says of the one convolution whose ratio differs.
#[test]
fn no_tile_of_powers_of_two_makes_a_strided_convolution_of_16_x_16_four_times_cheaper() {
    let powers = || (0..8).map(|n| 1_usize << n);
    let mut tried = 0;
    for (gm, gn) in powers()
        .flat_map(|gm| powers().map(move |gn| (gm, gn)))
        .filter(|(gm, gn)| gm * gn <= 512)
    {
        let cycles = |step| timings::convolved([16, 16, 32], 32, step, (gm, gn));
        let ratio = cycles(1) as f64 / cycles(2) as f64;
        assert!((0.99..3.9).contains(&ratio), "{gm} x {gn}: {ratio}");
        tried += 1;
    }
    assert!(tried > 40, "{tried}");
}

#[test]
fn real_spans_cost_what_the_page_leaves_out() {
    let expected = [
        ([4, 256, 256], 591_320, 52.3),
        ([20, 256, 256], 2_946_008, 52.2),
        ([10, 512, 512], 6_058_928, 50.8),
        ([1, 256, 256], 294_680, 26.7),
    ];
    assert_eq!(timings::real_spans(), expected);
}

#[test]
fn calls_of_sdxl_cost_what_the_reference_derives_in_published_prices() {
    for (heads, queries, keys, expected) in [
        (10, 4096, 4096, 252_882_304),
        (20, 1024, 1024, 33_303_392),
        (10, 4096, 128, 9_212_012),
        (20, 1024, 128, 4_754_284),
    ] {
        let (_, timing) = conversions::attention(heads, queries, keys);
        assert_eq!(timing.total(), expected, "{heads}x{queries}x{keys}");
    }
}

/// Tiles, query blocks, parts and masks at 4 x 256 x 256 and 4 x 256 x 77, as the reference ran or derived them.
#[test]
fn other_geometries_cost_what_the_reference_says() {
    use target_kohaku::kernels::{Flash, Mask, flash};
    use target_kohaku::machine::{Machine, Prices};
    use target_kohaku::timing::timing;
    let priced = |call: &Flash| {
        let compiled = target_kohaku::compile::compile(flash(call).expect("a legal call"), &Machine::default());
        timing(&compiled.expect("a legal program"), Prices::Published)
    };
    let base = |call: &Flash| priced(call).matrix() + priced(call).vector();
    let plain = Flash::published(4, 256, 256);
    for (tile, total) in [
        ((4, 4), 528_472),
        ((1, 1), 659_168),
        ((16, 4), 508_376),
        ((16, 8), 500_184),
        ((16, 16), 498_648),
        ((8, 16), 504_792),
        ((8, 4), 518_616),
    ] {
        assert_eq!(priced(&Flash { tile, ..plain }).total(), total, "{tile:?}");
    }
    for query_block in [64, 128] {
        assert_eq!(base(&Flash { query_block, ..plain }), 285_696);
    }
    for (part, cycles) in [(1024, 124_672), (2048, 135_168), (4096, 156_160), (16_384, 282_112)] {
        assert_eq!(base(&Flash { part, ..plain }), cycles, "{part}");
    }
    // A mask band costs 11 cycles for 16 elements: three operations on three operands, one of them a constant. Of what is
    // added instead, 7.
    for (query_block, cycles) in [(64, 171_008), (256, 121_600)] {
        assert_eq!(timings::masked(query_block, Mask::Ones), cycles);
        let span = (query_block * 64).min(8192);
        let saved = cycles - timings::masked(query_block, Mask::Added);
        assert_eq!(saved, 4 * (256 / query_block) * span / 16);
    }
}

#[test]
fn the_drain_is_what_a_change_of_the_machine_is_worth_most() {
    let table = whatif::table();
    let of = |name: &str| table.iter().find(|(known, _)| known.contains(name)).expect("a row").1;
    let (now, rows) = (of("as it is"), of("drains rows"));
    for call in 0..4 {
        for (name, cycles) in &table {
            assert!(cycles[call] <= now[call], "{name}");
        }
        assert!(rows[call] < of("fixed maximum")[call], "one crossing is left");
        assert!(rows[call] < of("all cores")[call]);
    }
}
