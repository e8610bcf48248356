//! Layers that only move elements: whether byte orders make a move nothing, or a neighbour does it on the way.

use planner::network::Form;
use planner::order::{ConvEntry, Digits, concatenated, differing, is_prefix, stacked};
use target_api::{Level, Price, Status, Support};

use super::refused;
use crate::compile::{compile, grid};
use crate::configured::Configuration;
use crate::kernels::{Tiling, join, matmul, per_head};
use crate::layout::{Layout, PAD, Shape};
use crate::machine::BLOCK;
use crate::program::Program;
use crate::timing::timing;
use crate::work::extent;

/// Side of the planes whose images are compared; matrices have at most its square of rows: larger ones repeat them.
const SIDE: usize = 8;
/// Most columns that are compared, and what is left over of a whole block.
const MOST: u64 = 4096;
/// Most parts.
const MOST_PARTS: u64 = 8;

/// As many columns as show what all of them do.
fn shown(columns: u64) -> u64 {
    if columns <= MOST {
        columns
    } else {
        MOST + columns % BLOCK as u64
    }
}

/// A plane of so many channels as a convolution is filled from it.
fn plane(channels: u64) -> (Layout, Shape) {
    let layout = Layout::Conv {
        gm: Tiling::default().tile.0,
        step: 1,
    };
    let shape = Shape::Plane {
        height: SIDE,
        width: SIDE,
        channels: extent(channels),
    };
    (layout, shape)
}

/// What a product of these extents drains.
fn tiles(rows: usize, columns: usize) -> Digits {
    let tile = Tiling::default().tile;
    Digits::tile(grid(rows, columns, tile), tile, rows, columns)
}

impl Configuration {
    /// Elements that change places.
    pub(super) fn rearranged(&self, form: Form, rows: u64, columns: u64, parts: u64) -> Support {
        let (m, n) = (extent(rows), extent(columns));
        let tiling = Tiling::default();
        // The projection before, or the product behind, has as many rows of weights as columns; its inner length does not
        // matter, as every step along it costs the same.
        let wide = || matmul([m, n, n], tiling);
        let heads = extent(parts);
        match form {
            Form::SplitHeads | Form::JoinHeads if heads == 0 || !n.is_multiple_of(heads) => Support::new(
                Status::Refused,
                Some(Level::Kernel),
                format!("{columns} columns are no whole number of {parts} heads"),
            ),
            Form::SplitHeads => {
                let (entry, inner) = (tiling.tile.1, 2 * BLOCK * tiling.nk);
                let of = |rows| Digits::entry(entry, tiling.nk, rows, inner);
                let width = extent(shown(columns / parts));
                let identical = stacked(&of(width), &of(width * extent(parts.min(MOST_PARTS))));
                let order = if identical {
                    "in entry order those of one head after the other are those of all, byte by byte"
                } else {
                    "every head's are padded to whole fills"
                };
                self.instead(
                    &per_head([m, n, n], heads, tiling),
                    &wide(),
                    &format!("heads are rows of the weights of the projection before: {order}"),
                )
            }
            Form::JoinHeads => self.instead(
                &join([m, n, n], heads, tiling, false),
                &wide(),
                "the product behind sums over the heads in one accumulator, head by head",
            ),
            Form::Transpose => self.instead(
                &matmul([n, n, m], tiling),
                &wide(),
                "the product before computes it transposed, its operands exchanged",
            ),
            Form::Reshape => reshaped(m, n),
            Form::Slice => sliced(m, columns, parts),
            Form::PlaneToTokens | Form::TokensToPlane => Support::new(
                Status::Refused,
                Some(Level::Compiler),
                format!(
                    "no permute between kernels: {} bytes go through the host",
                    2 * rows.saturating_mul(columns)
                ),
            ),
        }
    }

    /// A product that does the move on its way, in place of the one that is there without it: the move is deleted if that
    /// takes no cycle more.
    fn instead(&self, own: &Program, plain: &Program, words: &str) -> Support {
        let total = |program: &Program| {
            let compiled = compile(program.clone(), self.machine())?;
            Ok(timing(&compiled, self.prices()).total())
        };
        let (own, plain) = match total(own).and_then(|own| total(plain).map(|plain| (own, plain))) {
            Ok(both) => both,
            Err(refusal) => return refused(refusal),
        };
        if own <= plain {
            return Support::new(Status::Deleted, None, format!("{words}; it takes no cycle more"));
        }
        let more = Price {
            value: (own - plain) as f64,
            unit: "cycles".to_owned(),
            estimate: self.prices().word().to_owned(),
            of: "what the product takes more, tiles of 8 x 8".to_owned(),
            label: "modelled",
        };
        Support {
            cost: Some(more.clone()),
            unlocks: Some(more),
            ..Support::new(
                Status::Partial,
                Some(Level::Kernel),
                format!(
                    "{words}; it takes {} cycles more than one that fills its tiles",
                    own - plain
                ),
            )
        }
    }
}

/// Channels side by side.
pub(super) fn side_by_side(first: u64, second: u64) -> Support {
    let (first, second) = (shown(first), shown(second));
    let all = first + second;
    for channels in [first, second, all] {
        let (layout, shape) = plane(channels);
        if let Err(refusal) = layout.over(shape) {
            return refused(refusal);
        }
    }
    let of = |channels: u64| ConvEntry::new(PAD, Tiling::default().tile.0, 1, [SIDE, SIDE, extent(channels)]);
    let identical = concatenated(&[&of(first).without_tail(), &of(second)], &of(all));
    if !identical {
        let words = "buffers of a convolution do not lie back to back: a copy goes through the host";
        return Support::new(Status::Refused, Some(Level::Compiler), words);
    }
    Support::new(
        Status::Free,
        Some(Level::Compiler),
        "in conv-entry order the first without its tail and the second behind it are both, byte by byte: it needs an \
         allocator that can say adjacent",
    )
}

/// Other extents, the same order of elements.
fn reshaped(rows: usize, columns: usize) -> Support {
    let rows = 2 * rows.div_ceil(2).min(SIDE * SIDE);
    let columns = columns.min(SIDE * SIDE);
    let flat = differing(&Digits::flat(rows, columns), &Digits::flat(rows / 2, 2 * columns));
    if flat > 0 {
        return Support::new(Status::Refused, Some(Level::Compiler), "no reshape between kernels");
    }
    let moved = differing(&tiles(rows, columns), &tiles(rows / 2, 2 * columns));
    let among = if moved > 0 { "it would move elements" } else { "too" };
    let words = format!("in flat order the bytes are the same; among tiles {among}");
    Support::new(Status::Free, None, words)
}

/// The first columns of a whole row of `parts` times as many.
fn sliced(rows: usize, columns: u64, parts: u64) -> Support {
    let whole = shown(columns) * parts.clamp(1, MOST_PARTS);
    let [(layout, own), (_, all)] = [shown(columns), whole].map(plane);
    let (slice, image) = match layout.over(own).and_then(|own| Ok((own, layout.over(all)?))) {
        Ok(orders) => orders,
        Err(refusal) => return refused(refusal),
    };
    if !is_prefix(slice.as_ref(), image.as_ref()) {
        let words = format!("{columns} columns do not lie together: a copy goes through the host");
        return Support::new(Status::Refused, Some(Level::Compiler), words);
    }
    let of = |columns| tiles(rows.min(SIDE * SIDE), extent(columns));
    let among = if is_prefix(&of(shown(columns)), &of(whole)) {
        "too"
    } else {
        "they are strided"
    };
    Support::new(
        Status::Free,
        Some(Level::Compiler),
        format!(
            "in conv-entry order {columns} channels of {} lie together, byte by byte; among tiles {among}",
            columns.saturating_mul(parts)
        ),
    )
}
