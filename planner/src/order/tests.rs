use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// The published test vectors over (64, 256).
#[test]
fn offsets_are_the_published_ones() {
    let entry = Digits::entry(8, 2, 64, 256);
    let tile = Digits::tile((2, 8), (8, 8), 64, 256);
    for (at, in_entry, in_tile) in [
        ([0, 31], 31, 115),
        ([0, 32], 128, 1024),
        ([1, 0], 32, 4),
        ([4, 0], 256, 128),
        ([32, 0], 8192, 8192),
        ([5, 70], 2342, 2198),
        ([63, 255], 16_383, 16_383),
    ] {
        assert_eq!((entry.offset(&at), tile.offset(&at)), (in_entry, in_tile), "{at:?}");
    }
    assert_eq!(
        (entry.name().as_str(), tile.name().as_str()),
        ("entry:8x2", "tile:2x8:8x8")
    );
}

#[test]
fn convolution_orders_are_the_published_ones() {
    let taps = |order: &ConvEntry| -> Vec<usize> { (0..9).map(|tap| order.tap(tap / 3, tap % 3)).collect() };
    let dense = ConvEntry::new(1, 8, 1, [8, 8, 64]);
    assert_eq!(
        (dense.row(), dense.plane(), dense.tail(), dense.size()),
        (10, 100, 5, 7040)
    );
    assert_eq!((dense.offset(&[0, 0, 0]), dense.offset(&[7, 7, 63])), (352, 6047));
    assert_eq!(taps(&dense), [0, 1, 2, 10, 11, 12, 20, 21, 22]);
    let strided = ConvEntry::new(1, 8, 2, [8, 8, 64]);
    assert_eq!((strided.row(), strided.phase(), strided.plane()), (6, 36, 144));
    assert_eq!((strided.offset(&[0, 1, 0]), strided.offset(&[1, 0, 0])), (1376, 2528));
    assert_eq!(taps(&strided), [108, 73, 109, 42, 7, 43, 114, 79, 115]);
}

#[test]
fn taps_reach_the_neighbours_of_every_output() {
    for (h, w, step) in [(8, 8, 1), (8, 8, 2), (9, 7, 2), (16, 16, 2), (9, 9, 3)] {
        let order = ConvEntry::new(1, 4, step, [h, w, 32]);
        let image = order.image();
        let position = |y: usize, x: usize| order.offset(&[y, x, 0]) / 32;
        for (oy, ox, dy, dx) in (0..h.div_ceil(step))
            .flat_map(|oy| (0..w.div_ceil(step)).flat_map(move |ox| (0..9).map(move |tap| (oy, ox, tap / 3, tap % 3))))
        {
            let (y, x) = (oy * step + dy, ox * step + dx);
            // Outside of the plane the tap must meet a zero.
            let reached = oy * order.row() + ox + order.tap(dy, dx);
            if (1..=h).contains(&y) && (1..=w).contains(&x) {
                assert_eq!(
                    reached,
                    position(y - 1, x - 1),
                    "{h}x{w}/{step} output {oy},{ox} tap {dy},{dx}"
                );
            } else {
                let held = image.get(reached * 32).copied().unwrap_or(PADDING);
                assert_eq!(held, PADDING, "{h}x{w}/{step} output {oy},{ox} tap {dy},{dx}");
            }
        }
    }
}

#[test]
fn orders_compare_as_published() {
    let (flat, entry) = (Digits::flat(64, 256), Digits::entry(8, 2, 64, 256));
    let tile = Digits::tile((2, 8), (8, 8), 64, 256);
    assert_eq!((2 * tile.size(), 2 * entry.size()), (32_768, 32_768));
    // Published as 16,192: there the numbers were float16, which alias past 2,048.
    assert_eq!(differing(&tile, &entry), 16_256);
    let aliased = |order: &Digits| -> Vec<u32> { order.image().into_iter().map(alias).collect() };
    let count = |a: &Digits, b: &Digits| aliased(a).iter().zip(aliased(b)).filter(|(x, y)| **x != *y).count();
    assert_eq!(count(&tile, &entry), 16_192);
    assert_eq!(count(&tile, &flat), 16_352);
    assert_eq!(count(&entry, &flat), 16_128);
    assert_eq!(
        &Digits::tile((1, 1), (8, 8), 32, 32).image()[..16],
        [0, 1, 2, 3, 32, 33, 34, 35, 64, 65, 66, 67, 96, 97, 98, 99]
    );
    for (gm, gn) in [1, 2, 4, 8].into_iter().flat_map(|gm| [1, 2, 4, 8].map(|gn| (gm, gn))) {
        let tile = Digits::tile((64 / (4 * gm), 64 / (4 * gn)), (gm, gn), 64, 64);
        assert_eq!((longest_run(&tile, 1), longest_run(&tile, 0)), (4, 1), "{gm}x{gn}");
    }
    assert_eq!(longest_run(&entry, 1), 32);
    assert_eq!(longest_run(&flat, 1), 256);
    let (flat, entry) = (Digits::flat(1024, 64), Digits::entry(8, 2, 1024, 64));
    let tile = Digits::tile((32, 2), (8, 8), 1024, 64);
    assert_eq!(
        (whole_words(&flat, &entry, 16), whole_words(&entry, &flat, 16)),
        (4096, 4096)
    );
    assert_eq!((whole_words(&tile, &flat, 16), whole_words(&flat, &tile, 16)), (0, 0));
    assert_eq!((whole_words(&tile, &entry, 16), whole_words(&entry, &tile, 16)), (0, 0));
}

/// The nearest float16 of a whole number below 2^16, as a number.
fn alias(n: u32) -> u32 {
    let drop = (32 - n.leading_zeros()).saturating_sub(11);
    let (step, low) = (1 << drop, n & ((1 << drop) - 1));
    let up = low > step / 2 || (low == step / 2 && step > 1 && (n >> drop) & 1 == 1);
    (n - low) + if up { step } else { 0 }
}

#[test]
fn channels_lie_back_to_back_and_low_channels_are_a_prefix() {
    for (h, w, a, b) in [(8, 8, 32, 64), (32, 32, 64, 64), (5, 7, 96, 32)] {
        let order = |channels| ConvEntry::new(1, 8, 1, [h, w, channels]);
        let first = order(a).without_tail();
        assert!(concatenated(&[&first, &order(b)], &order(a + b)), "{h}x{w} {a}+{b}");
        assert!(!concatenated(&[&order(a), &order(b)], &order(a + b)) || order(a).tail() == 0);
        assert!(is_prefix(&order(a), &order(a + b)));
        assert!(!is_prefix(&Digits::flat(h * w, a), &Digits::flat(h * w, a + b)));
    }
}

#[test]
fn rows_lie_back_to_back_where_they_fill_their_blocks() {
    let entry = |rows| Digits::entry(8, 2, rows, 192);
    assert!(stacked(&entry(64), &entry(640)), "heads of 64 are two fills each");
    assert!(!stacked(&entry(72), &entry(1152)), "heads of 72 are padded");
    assert!(!stacked(&entry(16), &entry(64)));
    let flat = |rows| Digits::flat(rows, 10);
    assert!(stacked(&flat(3), &flat(9)) && !stacked(&flat(2), &flat(9)));
    assert!(!stacked(&Digits::flat(3, 5), &flat(9)), "rows are of one length");
    let tiles = |rows| Digits::tile((rows / 32, 2), (8, 8), rows, 64);
    assert!(stacked(&tiles(32), &tiles(96)));
}

#[test]
fn a_channel_stands_in_all_rows_of_its_sub_tile() {
    let order = ChannelBias::new(2, 10);
    assert_eq!(order.size(), 64);
    let image = order.image();
    assert_eq!(&image[16..24], [4, 5, 6, 7, 4, 5, 6, 7]);
    assert_eq!(image.iter().filter(|held| **held == 9).count(), 4);
    // Adding it in tile order adds the channel to every row.
    let tile = Digits::tile((1, 1), (1, 2), 4, 8).image();
    let columns: Vec<u32> = ChannelBias::new(2, 8).image();
    assert!(
        tile.iter()
            .zip(columns)
            .all(|(element, channel)| element % 8 == channel)
    );
}

fn any_order() -> impl Strategy<Value = Digits> {
    let extents = (1_usize..40, 1_usize..100);
    (extents, 1_usize..5, 1_usize..4, 0_usize..6).prop_map(|((rows, columns), g, b, kind)| match kind {
        0 => Digits::flat(rows, columns),
        1 => Digits::entry(g, b, rows, columns),
        2 => {
            let grid = (rows.div_ceil(4 * g), columns.div_ceil(4 * b));
            Digits::tile(grid, (g, b), rows, columns)
        }
        3 => Digits::column_panels(8 * b, rows, columns),
        4 => Digits::row_panels(g, rows, columns),
        _ => Digits::block_major((g, b), rows, columns),
    })
}

proptest! {
    #[test]
    fn an_order_is_a_bijection_onto_its_padded_image(order in any_order()) {
        let image = order.image();
        let held: BTreeSet<u32> = image.iter().copied().filter(|element| *element != PADDING).collect();
        prop_assert_eq!(held.len(), order.elements());
        let stored = image.iter().filter(|element| **element != PADDING).count();
        prop_assert_eq!(stored, order.elements());
        prop_assert_eq!(image.len(), order.size());
        let padded: usize = (0..2).map(|axis| {
            order.levels().iter().filter(|l| l.axis == axis).map(|l| l.count).product::<usize>()
        }).product();
        prop_assert_eq!(padded, order.size());
    }

    #[test]
    fn what_is_packed_comes_out_again(order in any_order(), step in 1_u16..7) {
        let values: Vec<f32> = (0..order.elements()).map(|i| (i % 1000) as f32 * f32::from(step)).collect();
        prop_assert_eq!(order.unpack(&order.pack(&values, -1.0)), values);
    }

    #[test]
    fn a_granule_stays_together(order in any_order()) {
        let columns = order.extents()[1];
        let granule = order.granule();
        let at = |r: usize, c: usize| order.offset(&[r, c]);
        for r in 0..order.extents()[0] {
            for c in (0..columns).filter(|c| c % granule != 0) {
                prop_assert_eq!(at(r, c), at(r, c - 1) + 1);
            }
        }
    }

    #[test]
    fn planes_are_bijections_and_round_trip(
        h in 1_usize..9, w in 1_usize..9, blocks in 1_usize..4, step in 1_usize..4, gm in 1_usize..9,
    ) {
        let order = ConvEntry::new(1, gm, step, [h, w, 32 * blocks]);
        let values: Vec<f32> = (0..order.elements()).map(|i| i as f32).collect();
        prop_assert_eq!(order.unpack(&order.pack(&values, 0.0)), values);
        let stored = order.image().iter().filter(|element| **element != PADDING).count();
        prop_assert_eq!(stored, order.elements());
    }
}
