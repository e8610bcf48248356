//! Activations of a convolution as a matrix cluster is filled from them.

use super::traits::ByteOrder;

/// `[H][W][C]` in blocks of 32 channels, each a padded plane of positions; a tap of the kernel is a constant number of
/// positions.
///
/// With step `s` the plane is dealt into `s x s` phases, so that a strided convolution reads neighbouring positions:
/// `pos = ((y mod s) s + x mod s) sub + (y / s + p) wp + x / s + p`, `off = (c / 32 plane + pos) 32 + c mod 32`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConvEntry {
    extents: [usize; 3],
    pad: usize,
    gm: usize,
    step: usize,
    tail: bool,
}

/// Positions of one lane group.
const GROUP: usize = 4;
/// Channels of one block.
const BLOCK: usize = 32;

impl ConvEntry {
    /// The order of a plane of `extents` = height, width, channels (a multiple of 32), swept in tiles of `gm` groups.
    #[must_use]
    pub fn new(pad: usize, gm: usize, step: usize, extents: [usize; 3]) -> Self {
        Self {
            extents,
            pad,
            gm,
            step,
            tail: true,
        }
    }

    /// The same order without the positions that are read behind the last channel block: for a buffer that another one
    /// follows directly.
    #[must_use]
    pub fn without_tail(mut self) -> Self {
        self.tail = false;
        self
    }

    fn halved(&self) -> (usize, usize) {
        (self.extents[0].div_ceil(self.step), self.extents[1].div_ceil(self.step))
    }

    /// Positions of one row of one phase, padding included.
    #[must_use]
    pub fn row(&self) -> usize {
        self.halved().1 + 2 * self.pad
    }

    /// Positions of one phase.
    #[must_use]
    pub fn phase(&self) -> usize {
        ((self.halved().0 + 2 * self.pad) * self.row()).next_multiple_of(GROUP)
    }

    /// Positions of one channel block.
    #[must_use]
    pub fn plane(&self) -> usize {
        self.step * self.step * self.phase()
    }

    /// Entries that are read behind the last channel block.
    ///
    /// For step 1 it is the published formula; for larger steps it is the published lower bound, taken exactly.
    #[must_use]
    pub fn tail(&self) -> usize {
        if !self.tail {
            return 0;
        }
        let ((height, width), row) = (self.halved(), self.row());
        let swept = ((height.max(1) - 1) * row + width).next_multiple_of(GROUP * self.gm);
        let reach = if self.step == 1 {
            swept + 2 * row + 2
        } else {
            swept + (self.step * self.step - 1) * self.phase() + row + 1
        };
        reach.saturating_sub(self.plane()).div_ceil(GROUP)
    }

    /// Positions that the tap (dy, dx) of a 3 x 3 kernel adds to a fill's address.
    #[must_use]
    pub fn tap(&self, dy: usize, dx: usize) -> usize {
        if self.step == 1 {
            return dy * self.row() + dx;
        }
        let s = self.step;
        // Floor division of d - 1: the tap before the origin lies in the last phase, one position earlier.
        let part = |d: usize| {
            if d == 0 {
                (0, s - 1)
            } else {
                (1 + (d - 1) / s, (d - 1) % s)
            }
        };
        let ((qy, ry), (qx, rx)) = (part(dy), part(dx));
        (ry * s + rx) * self.phase() + qy * self.row() + qx
    }

    /// Channel blocks.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.extents[2].div_ceil(BLOCK)
    }
}

impl ByteOrder for ConvEntry {
    fn name(&self) -> String {
        let tail = if self.tail { "" } else { ":open" };
        format!("conv-entry:{}:{}:{}{tail}", self.pad, self.gm, self.step)
    }

    fn extents(&self) -> &[usize] {
        &self.extents
    }

    fn size(&self) -> usize {
        (self.blocks() * self.plane() + GROUP * self.tail()) * BLOCK
    }

    fn granule(&self) -> usize {
        BLOCK
    }

    fn offset(&self, at: &[usize]) -> usize {
        let &[y, x, channel] = at else { return 0 };
        let s = self.step;
        let position = ((y % s) * s + x % s) * self.phase() + (y / s + self.pad) * self.row() + x / s + self.pad;
        (channel / BLOCK * self.plane() + position) * BLOCK + channel % BLOCK
    }
}
