//! Orders that store an element more than once.

use super::traits::ByteOrder;

/// A vector of channels as the side operand of a fused epilogue: each value stands in all four rows of its sub-tile.
///
/// Value `c` occupies `(c / 4) 16 + 4 i + c mod 4` for `i` in 0..4; padded to whole tiles of `4 gn` channels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelBias {
    gn: usize,
    extents: [usize; 1],
}

impl ChannelBias {
    /// The order of `channels` values for tiles of `gn` sub-tiles.
    #[must_use]
    pub fn new(gn: usize, channels: usize) -> Self {
        Self {
            gn,
            extents: [channels],
        }
    }
}

impl ByteOrder for ChannelBias {
    fn name(&self) -> String {
        format!("channel-bias:{}", self.gn)
    }

    fn extents(&self) -> &[usize] {
        &self.extents
    }

    fn size(&self) -> usize {
        4 * self.extents[0].next_multiple_of(4 * self.gn)
    }

    fn granule(&self) -> usize {
        4
    }

    fn offset(&self, at: &[usize]) -> usize {
        let channel = at.first().copied().unwrap_or_default();
        channel / 4 * 16 + channel % 4
    }

    fn copies(&self) -> (usize, usize) {
        (4, 4)
    }
}
