//! The byte orders of this machine.

use std::fmt;

use planner::Refusal;
use planner::order::{ByteOrder, ChannelBias, ConvEntry, Digits};

use crate::machine::{BATCH_STRIDE, BLOCK};

/// Extents of one batch element of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// Rows and columns.
    Matrix {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// An image: height, width, channels.
    Plane {
        /// Rows of pixels.
        height: usize,
        /// Pixels of a row.
        width: usize,
        /// Channels.
        channels: usize,
    },
    /// One value per channel.
    Channels(usize),
}

impl Shape {
    /// A matrix.
    #[must_use]
    pub fn matrix(rows: usize, columns: usize) -> Self {
        Self::Matrix { rows, columns }
    }

    /// Rows and columns where the elements lie row after row: pixels are rows of channels.
    #[must_use]
    pub fn rows_and_columns(self) -> (usize, usize) {
        match self {
            Self::Matrix { rows, columns } => (rows, columns),
            Self::Plane {
                height,
                width,
                channels,
            } => (height * width, channels),
            Self::Channels(channels) => (1, channels),
        }
    }

    /// Elements without padding.
    #[must_use]
    pub fn elements(self) -> usize {
        let (rows, columns) = self.rows_and_columns();
        rows * columns
    }
}

/// A byte order, without the extents it is laid over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layout {
    /// Row after row.
    Flat,
    /// What a cluster is filled from: fills of `groups` x `blocks` entries.
    Entry {
        /// Lane groups of one fill.
        groups: usize,
        /// K blocks of one fill.
        blocks: usize,
    },
    /// What a cluster drains.
    Tile {
        /// Instances along rows and columns.
        grid: (usize, usize),
        /// Sub-tiles of one instance along rows and columns.
        tile: (usize, usize),
    },
    /// The padded plane of a 3 x 3 convolution.
    Conv {
        /// Lane groups of one instance.
        gm: usize,
        /// Step of the convolution.
        step: usize,
    },
    /// Channels repeated down each sub-tile.
    ChannelBias {
        /// Sub-tiles of one instance along columns.
        gn: usize,
    },
}

/// Padding of every convolution here.
pub const PAD: usize = 1;

impl Layout {
    /// The order over these extents.
    pub fn over(self, shape: Shape) -> Result<Box<dyn ByteOrder>, Refusal> {
        let (rows, columns) = shape.rows_and_columns();
        Ok(match (self, shape) {
            (Self::Flat, _) => Box::new(Digits::flat(rows, columns)),
            (Self::Entry { groups, blocks }, _) => Box::new(Digits::entry(groups, blocks, rows, columns)),
            (Self::Tile { grid, tile }, _) => {
                if 4 * grid.0 * tile.0 < rows || 4 * grid.1 * tile.1 < columns {
                    return Err(Refusal::new(
                        "tile-grid",
                        format!("{self} does not cover {rows} x {columns} elements"),
                    ));
                }
                Box::new(Digits::tile(grid, tile, rows, columns))
            }
            (
                Self::Conv { gm, step },
                Shape::Plane {
                    height,
                    width,
                    channels,
                },
            ) if channels % BLOCK == 0 => Box::new(ConvEntry::new(PAD, gm, step, [height, width, channels])),
            (Self::ChannelBias { gn }, Shape::Channels(channels)) => Box::new(ChannelBias::new(gn, channels)),
            _ => {
                return Err(Refusal::new("byte-order", format!("{self} can't hold {shape:?}")));
            }
        })
    }

    /// Elements of one batch element in this order, padding included.
    pub fn size(self, shape: Shape) -> Result<usize, Refusal> {
        self.over(shape).map(|order| order.size())
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flat => f.write_str("flat"),
            Self::Entry { groups, blocks } => write!(f, "entry:{groups}x{blocks}"),
            Self::Tile { grid, tile } => write!(f, "tile:{}x{}:{}x{}", grid.0, grid.1, tile.0, tile.1),
            Self::Conv { gm, step } => write!(f, "conv-entry:{PAD}:{gm}:{step}"),
            Self::ChannelBias { gn } => write!(f, "channel-bias:{gn}"),
        }
    }
}

/// Elements from one batch element to the next, for a buffer that takes these sizes.
#[must_use]
pub fn batch_stride(sizes: impl IntoIterator<Item = usize>) -> usize {
    sizes.into_iter().max().unwrap_or(0).next_multiple_of(BATCH_STRIDE)
}
