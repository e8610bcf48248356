//! Mapping, dealing, order and rules: properties over many small geometries.

#![allow(
    clippy::disallowed_methods,
    reason = "a test may read files, clocks and run programs"
)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "these are tests, outside a test function"
)]

mod support;

use std::collections::BTreeSet;

use proptest::prelude::*;
use support::plain_geometry;
use target_cpu::geometry::{CpuPlan, Deal, GemmGeometry, Order, Orientation, Output, Split, Staging};
use target_cpu::isa::Isa;
use target_cpu::problem::{Extents, InputLayout, Product};
use target_cpu::rules::{gemm, plan};
use target_cpu::schedule::{Tile, dealt_tiles, mapped, schedule};

proptest! {
    #[test]
    fn the_mapping_is_a_bijection(w in 1_u32..12, groups in 1_u64..40) {
        let tiles = u64::from(w) * groups;
        let image: BTreeSet<u64> = (0..tiles).map(|t| mapped(t, tiles, w)).collect();
        prop_assert_eq!(image.len() as u64, tiles);
        prop_assert_eq!(image.last(), Some(&(tiles - 1)));
        prop_assert_eq!(gemm::transpose(w, tiles), None);
    }

    #[test]
    fn every_tile_is_executed_once_and_inner_blocks_of_streamed_tiles_in_order(
        rows in 1_u32..5, columns in 1_u32..5, inner in 1_u32..5, threads in 1_u32..5, order in 0_usize..6,
        staged in any::<bool>(), by_columns in any::<bool>(), round in any::<bool>(), transpose in 1_u32..5,
    ) {
        let orders = [Order::Rkc, Order::Rck, Order::Krc, Order::Kcr, Order::Crk, Order::Ckr];
        let geometry = GemmGeometry {
            rows, columns, inner, transpose, order: orders[order],
            staging: if staged { Staging::Complete } else { Staging::Streamed },
            split: if by_columns { Split::Columns } else { Split::Rows },
            deal: if round { Deal::RoundRobin } else { Deal::Contiguous },
            ..plain_geometry(Isa::Avx2, None)
        };
        prop_assume!(gemm::transpose(transpose, dealt_tiles(&geometry)).is_none());
        let extents = Extents { tokens: 60, inner: 40, features: 160 };
        let made = schedule(&geometry, extents, threads);
        let all: Vec<Tile> = made.tiles.iter().flatten().copied().collect();
        let distinct: BTreeSet<Tile> = all.iter().copied().collect();
        prop_assert_eq!(all.len(), (rows * columns * inner) as usize);
        prop_assert_eq!(distinct.len(), all.len());
        let sizes: Vec<usize> = made.tiles.iter().map(Vec::len).collect();
        let unit = if staged { 1 } else { inner as usize };
        prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= unit, "uneven: {:?}", sizes);
        if !staged {
            for own in &made.tiles {
                let mut next = std::collections::BTreeMap::new();
                for tile in own {
                    let expected = next.entry((tile.row, tile.column)).or_insert(0);
                    prop_assert_eq!(tile.inner, *expected);
                    *expected += 1;
                }
                prop_assert!(next.values().all(|count| *count == inner));
            }
        }
    }

    /// Shards of all workers cover every panel once.
    #[test]
    fn shards_cover_the_result_once(
        rows in 1_u32..4, columns in 1_u32..4, result_rows in 1_u32..4, result_columns in 1_u32..3, threads in 1_u32..4,
    ) {
        let geometry = GemmGeometry {
            rows, columns, result_rows, result_columns, inner: 6, staging: Staging::Complete,
            ..plain_geometry(Isa::Avx2, None)
        };
        let extents = Extents { tokens: 77, inner: 40, features: 165 };
        let refused = gemm::first_broken(Isa::Avx2, extents, &geometry, InputLayout::RowMajor, true, false);
        prop_assert_eq!(refused, None);
        let mut seen = vec![0; 13 * 11];
        for shard in schedule(&geometry, extents, threads).shards.iter().flatten() {
            for r in shard.rows.0..shard.rows.1 {
                for c in shard.columns.0..shard.columns.1 {
                    seen[(r * 11 + c) as usize] += 1;
                }
            }
        }
        prop_assert!(seen.iter().all(|count| *count == 1), "{:?}", seen);
    }
}

fn rule_of(change: impl Fn(&mut GemmGeometry)) -> Option<&'static str> {
    let mut geometry = plain_geometry(Isa::Avx2, None);
    change(&mut geometry);
    let extents = Extents {
        tokens: 60,
        inner: 40,
        features: 160,
    };
    gemm::first_broken(Isa::Avx2, extents, &geometry, InputLayout::RowMajor, true, false).map(|refused| refused.rule)
}

#[test]
fn each_rule_of_a_product_has_its_name() {
    assert_eq!(rule_of(|_| ()), None);
    assert_eq!(rule_of(|g| g.unroll = 0), Some("positive"));
    assert_eq!(rule_of(|g| g.width = 20), Some("width-lanes"));
    assert_eq!(rule_of(|g| g.height = 7), Some("registers"));
    assert_eq!(rule_of(|g| g.unroll = 400), Some("unroll"));
    assert_eq!(rule_of(|g| g.rows = 11), Some("blocks-rows"));
    assert_eq!(rule_of(|g| g.columns = 11), Some("blocks-columns"));
    assert_eq!(rule_of(|g| g.inner = 11), Some("blocks-inner"));
    assert_eq!(rule_of(|g| g.staging = Staging::Batch(1)), Some("batch"));
    assert_eq!(rule_of(|g| g.result_rows = 2), Some("result-streamed"));
    let staged = |g: &mut GemmGeometry| (g.staging, g.inner) = (Staging::Complete, 4);
    assert_eq!(rule_of(|g| (staged(g), g.result_rows = 5).0), Some("result-inner"));
    assert_eq!(
        rule_of(|g| (staged(g), g.rows = 5, g.result_rows = 4).0),
        Some("result-panels")
    );
    assert_eq!(rule_of(|g| g.transpose = 2), Some("transpose"));
    assert_eq!(rule_of(|g| g.output = Output::Panels), Some("output-last"));
    let swapped_in_place = |g: &mut GemmGeometry| {
        g.orientation = Orientation::Swapped;
        g.activations = target_cpu::geometry::Activations::InPlace;
    };
    assert_eq!(rule_of(swapped_in_place), Some("swapped-in-place"));
    let extents = Extents {
        tokens: 60,
        inner: 40,
        features: 160,
    };
    let geometry = plain_geometry(Isa::Avx2, None);
    let lying_in = |input| gemm::first_broken(Isa::Avx2, extents, &geometry, input, true, false).map(|r| r.rule);
    assert_eq!(lying_in(InputLayout::Panels { tokens: 6 }), Some("input-packed"));
    let message = gemm::registers(Isa::Avx2, 7, 16).unwrap().message;
    assert_eq!(message, "a 7 x 16 kernel needs 17 vector registers, avx2 has 16");
}

fn mlp(change: impl Fn(&mut CpuPlan)) -> Option<&'static str> {
    let extents = |inner, features| Extents {
        tokens: 72,
        inner,
        features,
    };
    let products = [
        Product {
            name: "up".to_owned(),
            extents: extents(40, 160),
            activation: None,
        },
        Product {
            name: "down".to_owned(),
            extents: extents(160, 40),
            activation: None,
        },
    ];
    let geometry = |rows| GemmGeometry {
        rows,
        ..plain_geometry(Isa::Avx2, None)
    };
    let mut made = CpuPlan {
        threads: 2,
        carry: true,
        gemms: vec![("up".to_owned(), geometry(2)), ("down".to_owned(), geometry(4))],
    };
    change(&mut made);
    plan::first_broken(Isa::Avx2, &products, &made).map(|refused| refused.rule)
}

#[test]
fn each_rule_of_a_plan_has_its_name() {
    assert_eq!(mlp(|_| ()), None);
    assert_eq!(mlp(|p| p.threads = 0), Some("threads"));
    assert_eq!(mlp(|p| p.gemms.truncate(1)), Some("products"));
    assert_eq!(
        mlp(|p| p.gemms[1].1.orientation = Orientation::Swapped),
        Some("carry-normal")
    );
    assert_eq!(
        mlp(|p| (p.gemms[1].1.staging, p.gemms[1].1.inner) = (Staging::Complete, 2)),
        Some("carry-streamed")
    );
    assert_eq!(mlp(|p| p.gemms[0].1.split = Split::Columns), Some("carry-split"));
    assert_eq!(mlp(|p| p.gemms[1].1.deal = Deal::RoundRobin), Some("carry-split"));
    assert_eq!(mlp(|p| p.gemms[1].1.rows = 3), Some("carry-nested"));
    assert_eq!(mlp(|p| p.threads = 3), Some("carry-owner"));
    // Different heights nest where their boundaries coincide: 36 tokens are 9 panels of 4.
    assert_eq!(mlp(|p| (p.gemms[1].1.height, p.gemms[1].1.rows) = (4, 2)), None);
    assert_eq!(
        mlp(|p| (p.gemms[1].1.height, p.gemms[1].1.rows) = (5, 2)),
        Some("carry-nested")
    );
    let tiles = |p: &mut CpuPlan| {
        p.gemms[0].1.output = Output::Tiles;
        p.gemms[1].1.activations = target_cpu::geometry::Activations::InPlace;
    };
    assert_eq!(mlp(tiles), None);
    assert_eq!(mlp(|p| (tiles(p), p.gemms[1].1.height = 4).0), Some("tiles-input"));
    assert_eq!(
        mlp(|p| (tiles(p), p.gemms[0].1.output = Output::Panels, p.gemms[1].1.height = 4).0),
        Some("panels-extent")
    );
}
