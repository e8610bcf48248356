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
const OTHERWISE: [&str; 3] = [
    "VAE scale factor",
    "layer flits near gm*gn<=TILES; at gm=2,gn=1",
    "host round trips; link MB",
];

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
        [143, 8, 18, 8]
    );
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
