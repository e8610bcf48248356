//! Figures about byte orders.

use planner::order::{
    ByteOrder, ConvEntry, Digits, PADDING, concatenated, differing, is_prefix, longest_run, whole_words,
};
use serde_json::{Value, json};
use target_kohaku::layout::{Layout, Shape};
use target_kohaku::machine::WORD;

use crate::figure::{Figure, Found};

fn tile(grid: (usize, usize), tile: (usize, usize)) -> Layout {
    Layout::Tile { grid, tile }
}

const ENTRY: Layout = Layout::Entry { groups: 8, blocks: 2 };

fn over(layout: Layout, rows: usize, columns: usize) -> Box<dyn ByteOrder> {
    layout.over(Shape::matrix(rows, columns)).expect("a byte order")
}

/// The image as float16 numbers would hold it: past 2,048 they alias.
fn aliased(order: &dyn ByteOrder) -> Vec<u32> {
    let alias = |n: u32| {
        let drop = (32 - n.leading_zeros()).saturating_sub(11);
        let (step, low) = (1_u32 << drop, n & ((1 << drop) - 1));
        let up = 2 * low > step || (2 * low == step && (n >> drop) & 1 == 1);
        n - low + if up { step } else { 0 }
    };
    order.image().into_iter().map(alias).collect()
}

pub(crate) fn find(figure: &Figure) -> Option<Found> {
    Some(Found::Value(match figure.name.as_str() {
        "bytes of Tile((2,8),8,8) and of Entry(8,2) over (64,256)" => {
            json!([
                2 * over(tile((2, 8), (8, 8)), 64, 256).size(),
                2 * over(ENTRY, 64, 256).size()
            ])
        }
        "positions that differ Tile vs Entry" => {
            let (a, b) = (over(tile((2, 8), (8, 8)), 64, 256), over(ENTRY, 64, 256));
            assert_eq!(differing(a.as_ref(), b.as_ref()), 16_256);
            let differ = aliased(a.as_ref())
                .iter()
                .zip(aliased(b.as_ref()))
                .filter(|(x, y)| **x != *y)
                .count();
            json!(differ)
        }
        "Entry granule bytes; Tile word bytes" => {
            let entry = over(Layout::Entry { groups: 1, blocks: 1 }, 4, 32);
            json!([2 * entry.size(), 2 * over(tile((1, 1), (1, 1)), 4, 4).size()])
        }
        "word 0 of Tile over 32x32" => json!(over(tile((1, 1), (8, 8)), 32, 32).image()[..WORD]),
        "longest contiguous run in Tile along a row / a column, gm,gn in {1,2,4,8}" => {
            let mut runs = Vec::new();
            for (gm, gn) in [1, 2, 4, 8].into_iter().flat_map(|gm| [1, 2, 4, 8].map(|gn| (gm, gn))) {
                let order = over(tile((16 / gm, 16 / gn), (gm, gn)), 64, 64);
                runs.push((longest_run(order.as_ref(), 1), longest_run(order.as_ref(), 0)));
            }
            runs.dedup();
            let [(row, column)] = runs[..] else {
                return Some(Found::Value(json!(runs)));
            };
            json!([row, column])
        }
        "Flat and Entry run the full row" => {
            let order = over(ENTRY, 64, 256);
            let run = longest_run(order.as_ref(), 1);
            return Some(Found::Other(
                json!(format!("Flat: full row; Entry: {run}")),
                "an entry holds 32 elements of a row",
            ));
        }
        "destination words whole in the source over (1024,64): flat<->entry, tile<->flat, tile<->entry" => {
            let [flat, entry, tiles] = [Layout::Flat, ENTRY, tile((32, 2), (8, 8))].map(|l| over(l, 1024, 64));
            let both = |a: &dyn ByteOrder, b: &dyn ByteOrder| -> usize {
                let (there, back) = (whole_words(a, b, WORD), whole_words(b, a, WORD));
                assert_eq!(there, back);
                there
            };
            json!([
                both(flat.as_ref(), entry.as_ref()),
                both(tiles.as_ref(), flat.as_ref()),
                both(tiles.as_ref(), entry.as_ref())
            ])
        }
        "64x64 fp16 tile bytes, words" => {
            let size = over(tile((2, 2), (8, 8)), 64, 64).size();
            json!([2 * size, size / WORD])
        }
        "channel concat byte-identical (first packed without tail)" => json!(concatenations()),
        "low-channel slice is the leading prefix" => {
            let of = |channels| ConvEntry::new(1, 8, 1, [16, 16, channels]);
            json!(is_prefix(&of(64), &of(160)) && is_prefix(&of(32), &of(64)))
        }
        "ConvEntry plane for 8x8: positions, halo zeros per channel" => {
            let order = ConvEntry::new(1, 8, 1, [8, 8, 32]);
            let image = order.image();
            let zeros = image
                .iter()
                .step_by(32)
                .take(order.plane())
                .filter(|held| **held == PADDING)
                .count();
            json!([order.plane(), zeros])
        }
        "ConvEntry bytes per pixel block" => {
            let order = ConvEntry::new(1, 8, 1, [8, 8, 64]);
            json!(2 * (order.offset(&[0, 1, 0]) - order.offset(&[0, 0, 0])))
        }
        "taps straddling 4 KB" => {
            // A fill of whole entries (4 positions) stays on entry boundaries only where its tap is a multiple of 4.
            let order = ConvEntry::new(1, 8, 1, [8, 8, 64]);
            let astride = (0..9)
                .filter(|tap| !order.tap(tap / 3, tap % 3).is_multiple_of(4))
                .count();
            json!(format!("{astride} of 9"))
        }
        "Entry run/granule for fill" => {
            let order = Digits::entry(8, 2, 64, 256);
            let lanes = (1..64)
                .take_while(|lane| order.offset(&[*lane, 0]) == 32 * lane)
                .count()
                + 1;
            json!(format!("{lanes} lanes x {} K", order.granule()))
        }
        _ => return None,
    }))
}

/// The published shapes, with fewer channels: blocks of 32 channels lie one behind the other whatever their number.
fn concatenations() -> Value {
    let cases = [(32, 64, 64), (64, 32, 32), (128, 32, 32), (64, 32, 64), (8, 32, 64)];
    let fits = |&(side, a, b): &(usize, usize, usize)| {
        let of = |channels| ConvEntry::new(1, 8, 1, [side, side, channels]);
        concatenated(&[&of(a).without_tail(), &of(b)], &of(a + b))
    };
    json!(cases.iter().all(fits))
}
