//! What can't be had on this machine, by trying everything.

use planner::order::{ByteOrder, Digits, Level};
use target_kohaku::compile::{Compiled, compile};
use target_kohaku::kernels::{Flash, Restart, flash};
use target_kohaku::machine::{Drain, Machine, Prices};
use target_kohaku::relayout::Kind;
use target_kohaku::timing::timing;

/// Batch, length, heads, width of a small tensor; both axes that a row could run along are 16 long.
const EXTENTS: [usize; 4] = [2, 16, 2, 16];

/// All orders of a set of axes.
fn orders(axes: &[usize]) -> Vec<Vec<usize>> {
    if axes.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, first) in axes.iter().enumerate() {
        let rest: Vec<usize> = axes[..at].iter().chain(&axes[at + 1..]).copied().collect();
        all.extend(orders(&rest).into_iter().map(|mut rest| {
            rest.insert(0, *first);
            rest
        }));
    }
    all
}

/// The digits of one side of a product in tile order: its axes are one number, of which the lowest 4 and the `tile`
/// above them are split off. Axes here are powers of two, so that the split falls into digits.
fn split(axes: &[usize], tile: usize) -> Option<[Vec<Level>; 3]> {
    let mut left = [4, tile];
    let mut parts = [Vec::new(), Vec::new(), Vec::new()];
    let mut part = 0;
    for &axis in axes.iter().rev() {
        let mut extent = EXTENTS[axis];
        while extent > 1 {
            let count = if part < 2 { extent.min(left[part]) } else { extent };
            if count > 1 {
                parts[part].insert(0, Level { axis, count });
                extent /= count;
            }
            if part < 2 {
                left[part] /= count.max(1);
                if left[part] <= 1 {
                    part += 1;
                }
            }
        }
    }
    // A side that does not fill a tile is padded: that order has no conversion at all.
    (part == 2 || (part == 1 && left[1] == 1)).then_some(parts)
}

#[test]
fn no_assignment_of_axes_and_no_tiling_drains_words_that_a_reduction_reads() {
    let mut tried = 0;
    for rows in 1_usize..15 {
        let side = |wanted: bool| -> Vec<usize> { (0..4).filter(|axis| (rows >> axis & 1 == 1) == wanted).collect() };
        for (r, c) in orders(&side(true))
            .into_iter()
            .flat_map(|r| orders(&side(false)).into_iter().map(move |c| (r.clone(), c)))
        {
            for (gm, gn) in [1, 2, 4].into_iter().flat_map(|gm| [1, 2, 4].map(|gn| (gm, gn))) {
                let (Some([r0, r1, r2]), Some([c0, c1, c2])) = (split(&r, gm), split(&c, gn)) else {
                    continue;
                };
                let levels = [r2, c2, r1, c1, r0, c0].concat();
                let order = Digits::new("tile".to_owned(), EXTENTS.to_vec(), levels);
                let image = order.image();
                tried += 1;
                for word in image.chunks(16) {
                    // 16 elements of one row, in order: along the width they are neighbours, along the length a stride.
                    for stride in [1, 32] {
                        let whole = word.windows(2).all(|pair| pair[1] == pair[0] + stride);
                        assert!(!whole, "rows {r:?}, columns {c:?}, {gm}x{gn}");
                    }
                }
            }
        }
    }
    assert!(tried > 300, "{tried}");
}

fn compiled(restart: Restart, drain: Drain) -> Compiled {
    let machine = Machine {
        drain,
        ..Machine::default()
    };
    let call = Flash {
        restart,
        ..Flash::published(4, 64, 512)
    };
    compile(flash(&call).expect("a call"), &machine).expect("a program")
}

/// Conversions that transpose, for each of the eight key blocks.
fn crossings(compiled: &Compiled) -> usize {
    let granule =
        |c: &&target_kohaku::compile::Conversion| c.plan.as_ref().is_some_and(|plan| plan.kind == Kind::Granule);
    compiled.run().filter(granule).count()
}

#[test]
fn two_crossings_per_key_block_are_the_floor_while_the_maximum_runs() {
    // The running result is rescaled by rows, and scores are folded by rows: both come out of a cluster as tiles.
    assert_eq!(crossings(&compiled(Restart::Accumulate, Drain::Tiles)), 2 * 8);
    // Rescaling inside the band saves none, and costs cycles.
    let cost = |restart| timing(&compiled(restart, Drain::Tiles), Prices::RealSpan).total();
    assert_eq!(crossings(&compiled(Restart::InBand, Drain::Tiles)), 2 * 8);
    assert!(cost(Restart::InBand) > cost(Restart::Accumulate));
    // Without a running maximum nothing rescales: one crossing a block is left, and a few at both ends.
    let fixed = crossings(&compiled(Restart::Fixed, Drain::Tiles));
    assert!((8..=8 + 3).contains(&fixed), "{fixed}");
    // A drain of rows leaves none.
    assert_eq!(crossings(&compiled(Restart::Accumulate, Drain::Rows)), 0);
}
