//! The geometry of one matrix product on the tile array.

use std::fmt;

use crate::beyond::Beyond;

/// Where the resident copy of the weights lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Memory {
    /// The interleaved region, read at 16 bytes per cycle.
    Interleaved,
    /// The standard region, read at 8 bytes per cycle.
    Standard,
}

/// Which of the two factors is the left operand of the matrix unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Orientation {
    /// Left are the activations; rows are tokens.
    Normal,
    /// Left are the transposed weights; rows are the weights' columns, and the result is transposed.
    Swapped,
}

/// How many remote partials of a sum arrive in one exchange phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Staging {
    /// All of them.
    Complete,
    /// One.
    Streamed,
    /// This many (at least one); the last stage may be short.
    Batch(usize),
}

impl Staging {
    /// Remote partials of each stage when there are `remote` in all.
    #[must_use]
    pub fn stages(self, remote: usize) -> Vec<usize> {
        let per = match self {
            Self::Complete => remote.max(1),
            Self::Streamed => 1,
            Self::Batch(n) => n.max(1),
        };
        let mut stages = vec![per; remote / per];
        if !remote.is_multiple_of(per) {
            stages.push(remote % per);
        }
        stages
    }
}

/// What happens to a weight shard that already lies on the tile that computes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Local {
    /// It is read in place.
    Direct,
    /// It is copied to where remote shards arrive.
    MatchRemote,
}

/// The geometry of one matrix product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Geometry {
    /// Partitions of the rows.
    pub rows: usize,
    /// Partitions of the columns.
    pub columns: usize,
    /// Partitions of the axis that is summed over.
    pub inner: usize,
    /// The sum is owned on `rows * result_rows` row partitions...
    pub result_rows: usize,
    /// ...times `columns * result_columns` column partitions.
    pub result_columns: usize,
    /// Local columns of the kernel, in elements.
    pub width: usize,
    /// Where the resident weights lie.
    pub memory: Memory,
    /// Which factor is the left operand.
    pub orientation: Orientation,
    /// How partials arrive.
    pub staging: Staging,
    /// What happens to local weights.
    pub local: Local,
    /// What the published planner does not have.
    pub beyond: Beyond,
}

impl Geometry {
    /// Tiles that own a part of the result.
    #[must_use]
    pub fn owners(&self) -> usize {
        self.rows * self.result_rows * self.columns * self.result_columns
    }

    /// Tiles that compute.
    #[must_use]
    pub fn tiles(&self) -> usize {
        self.rows * self.columns * self.inner
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Interleaved => "interleaved",
            Self::Standard => "standard",
        })
    }
}

impl fmt::Display for Orientation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Normal => "normal",
            Self::Swapped => "swapped",
        })
    }
}

impl fmt::Display for Staging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete => f.write_str("complete"),
            Self::Streamed => f.write_str("streamed"),
            Self::Batch(n) => write!(f, "batch-{n}"),
        }
    }
}

impl fmt::Display for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Direct => "direct",
            Self::MatchRemote => "match-remote",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_stage_may_be_short() {
        assert_eq!(Staging::Complete.stages(14), [14]);
        assert_eq!(Staging::Streamed.stages(3), [1, 1, 1]);
        assert_eq!(Staging::Batch(4).stages(14), [4, 4, 4, 2]);
        assert_eq!(Staging::Batch(7).stages(14), [7, 7]);
    }
}
