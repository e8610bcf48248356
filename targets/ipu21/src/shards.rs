//! Which part of which axis lies on which tile.

use std::ops::Range;

use planner::GemmExtents;

use crate::beyond::{Grain, Order};
use crate::device::{PANEL, ROW_BLOCK};
use crate::geometry::{Geometry, Orientation};

/// An axis that is dealt out in contiguous runs of whole blocks, in order: the first `blocks mod parts` partitions get
/// one block more than the rest. The last block may be padded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis {
    extent: usize,
    block: usize,
    parts: usize,
}

impl Axis {
    /// An axis of `extent` elements in blocks of `block`, over `parts` partitions (both at least 1).
    #[must_use]
    pub fn new(extent: usize, block: usize, parts: usize) -> Self {
        Self { extent, block, parts }
    }

    /// Number of partitions.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Number of blocks.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.extent.div_ceil(self.block)
    }

    /// Elements without padding.
    #[must_use]
    pub fn extent(&self) -> usize {
        self.extent
    }

    /// Elements of a partition, padding included.
    #[must_use]
    pub fn range(&self, part: usize) -> Range<usize> {
        let (whole, more) = (self.blocks() / self.parts, self.blocks() % self.parts);
        let start = |p: usize| (p * whole + p.min(more)) * self.block;
        start(part)..start(part + 1)
    }

    /// Elements of a partition without padding.
    #[must_use]
    pub fn logical(&self, part: usize) -> Range<usize> {
        let range = self.range(part);
        range.start.min(self.extent)..range.end.min(self.extent)
    }

    /// Elements of the largest partition, padding included.
    #[must_use]
    pub fn widest(&self) -> usize {
        self.blocks().div_ceil(self.parts) * self.block
    }

    /// Partitions that share elements with `range`, in order.
    pub fn touching(&self, range: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        (0..self.parts).filter(move |&p| overlap(&self.range(p), &range).is_some())
    }
}

/// Common elements of two ranges, if there are any.
#[must_use]
pub fn overlap(a: &Range<usize>, b: &Range<usize>) -> Option<Range<usize>> {
    let both = a.start.max(b.start)..a.end.min(b.end);
    (both.start < both.end).then_some(both)
}

/// One cell of the compute grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// Row partition.
    pub row: usize,
    /// Column partition.
    pub column: usize,
    /// Partition of the axis that is summed over.
    pub inner: usize,
}

/// All axes of one product, dealt out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shards {
    /// Rows of the compute grid.
    pub rows: Axis,
    /// Columns of the compute grid.
    pub columns: Axis,
    /// The axis that is summed over: every partition but the last is whole, all are padded to the same length.
    pub inner: Axis,
    /// Rows of the result grid.
    pub result_rows: Axis,
    /// Columns of the result grid.
    pub result_columns: Axis,
    /// How cells are numbered.
    order: Order,
}

/// Extents as the matrix unit sees them: rows, inner, columns.
#[must_use]
pub fn oriented(extents: GemmExtents, orientation: Orientation) -> [usize; 3] {
    // No extent of a workload comes near the limit; a saturated one fails every memory rule.
    let [m, k, n] =
        [extents.rows, extents.inner, extents.columns].map(|extent| usize::try_from(extent).unwrap_or(usize::MAX));
    match orientation {
        Orientation::Normal => [m, k, n],
        Orientation::Swapped => [n, k, m],
    }
}

impl Shards {
    /// Deals the extents out over a geometry.
    #[must_use]
    pub fn new(extents: GemmExtents, g: &Geometry) -> Self {
        let [m, k, n] = oriented(extents, g.orientation);
        Self {
            rows: Axis::new(m, ROW_BLOCK, g.rows),
            columns: Axis::new(n, PANEL, g.columns),
            inner: Axis::new(
                k,
                match g.beyond.grain {
                    Grain::Block => local_inner(k, g.inner),
                    Grain::Panel => PANEL,
                },
                g.inner,
            ),
            result_rows: Axis::new(m, ROW_BLOCK, g.rows * g.result_rows),
            result_columns: Axis::new(n, PANEL, g.columns * g.result_columns),
            order: g.beyond.order,
        }
    }

    /// Planned tile of a compute cell. In the published order columns change fastest, then inner, then rows.
    #[must_use]
    pub fn compute_tile(&self, cell: Cell) -> usize {
        let extents = [self.rows.parts(), self.columns.parts(), self.inner.parts()];
        self.order.number([cell.row, cell.column, cell.inner], extents)
    }

    /// Planned tile of a cell of the result grid.
    #[must_use]
    pub fn owner_tile(&self, row: usize, column: usize) -> usize {
        column + self.result_columns.parts() * row
    }

    /// All compute cells, in the published order of their tiles.
    pub fn cells(&self) -> impl Iterator<Item = Cell> + use<> {
        let (rows, inner, columns) = (self.rows.parts(), self.inner.parts(), self.columns.parts());
        (0..rows).flat_map(move |row| {
            (0..inner).flat_map(move |inner| (0..columns).map(move |column| Cell { row, column, inner }))
        })
    }

    /// Most elements of the axis that is summed over on one tile, padding included.
    #[must_use]
    pub fn local_inner(&self) -> usize {
        self.inner.widest()
    }

    /// Elements of the largest weight shard in the normal orientation, padding included.
    #[must_use]
    pub fn right_elements(&self) -> usize {
        self.local_inner() * self.columns.widest()
    }

    /// Elements of the largest left shard, padding included.
    #[must_use]
    pub fn left_elements(&self) -> usize {
        self.local_inner() * self.rows.widest()
    }

    /// Elements of the largest shard of the result.
    #[must_use]
    pub fn owned_elements(&self) -> usize {
        self.result_rows.widest() * self.result_columns.widest()
    }
}

/// Length of one partition of the summed axis: whole panels.
#[must_use]
pub fn local_inner(inner: usize, parts: usize) -> usize {
    PANEL * inner.div_ceil(PANEL).div_ceil(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    fn widths(axis: Axis) -> Vec<(usize, usize)> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for part in 0..axis.parts() {
            let width = axis.range(part).len();
            match runs.last_mut() {
                Some((count, last)) if *last == width => *count += 1,
                _ => runs.push((1, width)),
            }
        }
        runs
    }

    #[test]
    fn the_worked_example_has_the_published_shards() {
        let up = GemmExtents {
            rows: 729,
            inner: 1152,
            columns: 4304,
        };
        let down = GemmExtents {
            rows: 729,
            inner: 4304,
            columns: 1152,
        };
        let (_, g) = text::parse("0:4x92x4:4x1:48:interleaved:normal:complete:direct").unwrap();
        let s = Shards::new(up, &g);
        assert_eq!(widths(s.rows), [(1, 184), (3, 182)]);
        assert_eq!(s.rows.logical(3).len(), 181);
        assert_eq!(widths(s.columns), [(85, 48), (7, 32)]);
        assert_eq!(widths(s.inner), [(4, 288)]);
        assert_eq!(widths(s.result_rows), [(13, 46), (3, 44)]);
        let (_, g) = text::parse("2:4x24x15:15x1:48:interleaved:normal:complete:direct").unwrap();
        let s = Shards::new(down, &g);
        assert_eq!(widths(s.inner), [(15, 288)]);
        assert_eq!(s.inner.logical(14).len(), 272);
        assert_eq!(widths(s.columns), [(24, 48)]);
        assert_eq!(widths(s.result_rows), [(5, 14), (55, 12)]);
    }

    #[test]
    fn an_owner_whose_rows_lie_in_one_group_computes_one_of_its_partials() {
        let up = GemmExtents {
            rows: 729,
            inner: 1152,
            columns: 4304,
        };
        let (_, g) = text::parse("0:4x92x4:4x1:48:interleaved:normal:complete:direct").unwrap();
        let s = Shards::new(up, &g);
        let cell = Cell {
            row: 2,
            column: 5,
            inner: 3,
        };
        assert_eq!(s.compute_tile(cell), s.owner_tile(4 * 2 + 3, 5));
        assert_eq!(s.cells().nth(s.compute_tile(cell)), Some(cell));
    }
}
