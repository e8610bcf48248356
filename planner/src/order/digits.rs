//! Orders that are nested tilings: every axis is written in mixed radix, and the digits of all axes are interleaved.

use super::traits::ByteOrder;

/// One digit of an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level {
    /// The axis it counts along.
    pub axis: usize,
    /// How many values it takes.
    pub count: usize,
}

/// A nested tiling: levels from the slowest to the fastest. An axis is padded to the product of its counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digits {
    name: String,
    extents: Vec<usize>,
    levels: Vec<Level>,
    /// For each axis, from its fastest digit on: count and distance in elements.
    steps: Vec<Vec<(usize, usize)>>,
    size: usize,
}

impl Digits {
    /// The tiling of a tensor; `levels` go from the slowest to the fastest and name every axis at least once.
    #[must_use]
    pub fn new(name: String, extents: Vec<usize>, levels: Vec<Level>) -> Self {
        let mut steps = vec![Vec::new(); extents.len()];
        let mut distance = 1;
        for level in levels.iter().rev() {
            if let Some(own) = steps.get_mut(level.axis) {
                own.push((level.count, distance));
            }
            distance *= level.count;
        }
        Self {
            name,
            extents,
            levels,
            steps,
            size: distance,
        }
    }

    fn matrix(name: String, rows: usize, columns: usize, levels: &[(usize, usize)]) -> Self {
        let levels = levels.iter().map(|&(axis, count)| Level { axis, count }).collect();
        Self::new(name, vec![rows, columns], levels)
    }

    /// Row after row: `off = r N + c`. No padding.
    #[must_use]
    pub fn flat(rows: usize, columns: usize) -> Self {
        Self::matrix("flat".to_owned(), rows, columns, &[(0, rows), (1, columns)])
    }

    /// What a matrix cluster is filled from: entries of 4 rows x 32 columns, `groups` x `blocks` of them in one fill.
    ///
    /// `off = ((((t NC + ch) g + gi) b + bi) 4 + l) 32 + kk` with `t = r / 4g`, `gi = (r mod 4g) / 4`, `l = r mod 4` and
    /// `ch = k / 32b`, `bi = (k mod 32b) / 32`, `kk = k mod 32`; padded to whole fills.
    #[must_use]
    pub fn entry(groups: usize, blocks: usize, rows: usize, columns: usize) -> Self {
        let levels = [
            (0, rows.div_ceil(4 * groups)),
            (1, columns.div_ceil(32 * blocks)),
            (0, groups),
            (1, blocks),
            (0, 4),
            (1, 32),
        ];
        Self::matrix(format!("entry:{groups}x{blocks}"), rows, columns, &levels)
    }

    /// What a matrix cluster drains: sub-tiles of 4 x 4, `tile` = (gm, gn) of them in one instance, a grid of `grid` =
    /// (GI, GJ) instances that covers at least the matrix.
    ///
    /// `off = ((((gi GJ + gj) gm + m) gn + n) 4 + i) 4 + j` with `gi = r / 4gm`, `m = (r mod 4gm) / 4`, `i = r mod 4` and
    /// likewise for columns.
    #[must_use]
    pub fn tile(grid: (usize, usize), tile: (usize, usize), rows: usize, columns: usize) -> Self {
        let levels = [(0, grid.0), (1, grid.1), (0, tile.0), (1, tile.1), (0, 4), (1, 4)];
        let name = format!("tile:{}x{}:{}x{}", grid.0, grid.1, tile.0, tile.1);
        Self::matrix(name, rows, columns, &levels)
    }

    /// Panels of `width` columns, each with all rows: the weights of a CPU kernel, and every operand of an AMP unit of
    /// the tile array (`width` 16).
    #[must_use]
    pub fn column_panels(width: usize, rows: usize, columns: usize) -> Self {
        let levels = [(1, columns.div_ceil(width)), (0, rows), (1, width)];
        Self::matrix(format!("column-panels:{width}"), rows, columns, &levels)
    }

    /// Panels of `height` rows, each with all columns, rows fastest: packed activations of a CPU kernel.
    #[must_use]
    pub fn row_panels(height: usize, rows: usize, columns: usize) -> Self {
        let levels = [(0, rows.div_ceil(height)), (1, columns), (0, height)];
        Self::matrix(format!("row-panels:{height}"), rows, columns, &levels)
    }

    /// Blocks of `block` = (rows, columns), row-major inside and among each other.
    #[must_use]
    pub fn block_major(block: (usize, usize), rows: usize, columns: usize) -> Self {
        let levels = [
            (0, rows.div_ceil(block.0)),
            (1, columns.div_ceil(block.1)),
            (0, block.0),
            (1, block.1),
        ];
        Self::matrix(format!("block-major:{}x{}", block.0, block.1), rows, columns, &levels)
    }

    /// The levels, from the slowest to the fastest.
    #[must_use]
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }
}

impl ByteOrder for Digits {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn extents(&self) -> &[usize] {
        &self.extents
    }

    fn size(&self) -> usize {
        self.size
    }

    fn granule(&self) -> usize {
        let last = self.extents.len().saturating_sub(1);
        let fastest = self.levels.iter().rev().take_while(|level| level.axis == last);
        fastest.map(|level| level.count).product()
    }

    fn offset(&self, at: &[usize]) -> usize {
        let mut offset = 0;
        for (&coordinate, steps) in at.iter().zip(&self.steps) {
            let mut rest = coordinate;
            for &(count, distance) in steps {
                offset += (rest % count) * distance;
                rest /= count;
            }
        }
        offset
    }
}
