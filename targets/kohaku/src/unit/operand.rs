//! Matrix operands as a cluster holds them.

use planner::Refusal;
use planner::order::{ByteOrder, ConvEntry, Digits};

use crate::layout::{Layout, PAD, Shape};
use crate::machine::BLOCK;
use crate::numerics::{Block, quantise};
use crate::program::{Conv, Operand};

/// Rows of quantised blocks.
pub(super) struct Blocks {
    pub(super) per_row: usize,
    pub(super) blocks: Vec<Block>,
}

impl Blocks {
    pub(super) fn row(&self, row: usize) -> &[Block] {
        &self.blocks[row * self.per_row..(row + 1) * self.per_row]
    }

    /// `rows` rows of a window, `inner` elements each, out of the image of one batch element in Entry order.
    pub(super) fn window(
        image: &[f32],
        layout: Layout,
        shape: Shape,
        operand: &Operand,
        [rows, inner]: [usize; 2],
    ) -> Result<Self, Refusal> {
        let Layout::Entry { groups, blocks } = layout else {
            return Err(Refusal::new(
                "byte-order",
                format!("a cluster can't be filled from {layout}"),
            ));
        };
        let (all, columns) = shape.rows_and_columns();
        let order = Digits::entry(groups, blocks, all, columns);
        let per_row = inner.div_ceil(BLOCK);
        let mut quantised = Vec::with_capacity(rows * per_row);
        for row in operand.first_row..operand.first_row + rows {
            for block in 0..per_row {
                let at = order.offset(&[row, operand.first_inner + block * BLOCK]);
                quantised.push(quantise(&image[at..at + BLOCK]));
            }
        }
        Ok(Self {
            per_row,
            blocks: quantised,
        })
    }

    /// What a convolution sees: one row for each swept position, its taps' blocks of channels in the weights' order.
    pub(super) fn swept(image: &[f32], conv: &Conv, rows: usize) -> Self {
        let order = ConvEntry::new(PAD, conv.tile.0, conv.step, conv.plane);
        let positions: Vec<Block> = image[..order.size()].chunks_exact(BLOCK).map(quantise).collect();
        let taps: Vec<usize> = conv
            .taps
            .offsets()
            .into_iter()
            .map(|(dy, dx)| order.tap(dy, dx))
            .collect();
        let per_row = taps.len() * order.blocks();
        let mut blocks = Vec::with_capacity(rows * per_row);
        for row in 0..rows {
            for tap in &taps {
                blocks.extend((0..order.blocks()).map(|block| positions[block * order.plane() + row + tap]));
            }
        }
        Self { per_row, blocks }
    }
}
