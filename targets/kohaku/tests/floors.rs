//! What can't be had on this machine, by trying everything.

use planner::order::{ByteOrder, Digits, Level};
use target_kohaku::kernels::Restart;
use target_kohaku::machine::{Drain, Machine};

#[path = "../examples/published/whatif.rs"]
#[allow(dead_code, reason = "its tables are the example's")]
mod whatif;

use whatif::{BLOCKS, crossings};

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

/// A sub-tile has 4 x 4 elements, so that a word of 16 holds 4 of one row and 4 of one column, whichever axes are called
/// rows and columns, in whatever order, and however sub-tiles are grouped: a reduction, which reads 16 of one row, finds
/// none whole.
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

/// Both products leave tiles, and both of what they leave meets rows: scores are folded by rows, and the running result is
/// rescaled by a value of each row. So two crossings of a key block are the floor while a maximum runs: each rewrite of the
/// rescale either keeps both, moves one to another operand, or gives up the running maximum.
#[test]
fn two_crossings_per_key_block_are_the_floor_while_the_maximum_runs() {
    let machine = Machine::default();
    let (shipped, cycles) = crossings(Restart::Accumulate, &machine).unwrap();
    assert_eq!(shipped, 2 * BLOCKS);
    // Rescaling inside the band reads the result by rows there: as many crossings, more cycles.
    let (in_band, dearer) = crossings(Restart::InBand, &machine).unwrap();
    assert_eq!(in_band, 2 * BLOCKS);
    assert!(dearer > cycles);
    // In the drain it stays among tiles, and its correction, which the band leaves by rows, has to cross instead; both ends
    // cross too (what starts at zero, and the sum that divides). The machine has no such epilogue.
    let refusal = crossings(Restart::InDrain, &machine).unwrap_err();
    assert_eq!(refusal.rule, "full-shape-epilogue", "{refusal}");
    let wide = Machine {
        full_shape_epilogue: true,
        ..machine.clone()
    };
    let (in_drain, _) = crossings(Restart::InDrain, &wide).unwrap();
    assert!((2 * BLOCKS..=2 * BLOCKS + 2).contains(&in_drain), "{in_drain}");
    // Without a running maximum nothing rescales: one crossing a block is left, and a few at both ends.
    let (fixed, _) = crossings(Restart::Fixed, &machine).unwrap();
    assert!((BLOCKS..=BLOCKS + 3).contains(&fixed), "{fixed}");
    // A drain of rows leaves none.
    let rows = Machine {
        drain: Drain::Rows,
        ..machine
    };
    assert_eq!(crossings(Restart::Accumulate, &rows).unwrap().0, 0);
}

/// Scaling every block's weights beforehand, so that nothing has to be rescaled, needs the corrections of all blocks before:
/// their product is `2^(first maximum - running maximum)`, and over it the weight `2^(score - running maximum)` is
/// `2^(score - first maximum)`. Nothing of the running maximum is left: it is the fixed maximum again.
#[test]
fn scales_beforehand_telescope_to_a_fixed_maximum() {
    let scores = [3.0_f64, -1.0, 7.5, 7.0, 40.0, 12.25];
    let (mut running, mut scale) = (scores[0], 1.0);
    for score in scores {
        let new = running.max(score);
        scale *= (running - new).exp2();
        running = new;
        let beforehand = (score - running).exp2() / scale;
        assert!((beforehand / (score - scores[0]).exp2() - 1.0).abs() < 1e-12);
    }
}
