//! Counts that every model starts from.

use planner::GemmExtents;

use crate::geometry::{Deal, GemmGeometry, Orientation, Split, Staging};

/// A geometry over its extents, in panels and blocks. Blocks are average ones: they differ by at most one panel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Rows of the computed product.
    pub rows: f64,
    /// Columns of the computed product.
    pub columns: f64,
    /// Length of the sums.
    pub inner: f64,
    /// Row panels of all blocks.
    pub row_panels: f64,
    /// Column panels of all blocks.
    pub column_panels: f64,
    /// Row panels of one block.
    pub block_rows: f64,
    /// Column panels of one block.
    pub block_columns: f64,
    /// Inner steps of one block.
    pub depth: f64,
}

impl Shape {
    /// The counts of `geometry` over `extents`.
    #[must_use]
    pub fn new(extents: GemmExtents, geometry: &GemmGeometry) -> Self {
        let (rows, columns) = match geometry.orientation {
            Orientation::Normal => (extents.rows, extents.columns),
            Orientation::Swapped => (extents.columns, extents.rows),
        };
        let row_panels = rows.div_ceil(u64::from(geometry.height.max(1))) as f64;
        let column_panels = columns.div_ceil(u64::from(geometry.width.max(1))) as f64;
        Self {
            rows: rows as f64,
            columns: columns as f64,
            inner: extents.inner as f64,
            row_panels,
            column_panels,
            block_rows: row_panels / f64::from(geometry.rows),
            block_columns: column_panels / f64::from(geometry.columns),
            depth: extents.inner as f64 / f64::from(geometry.inner),
        }
    }
}

/// Blocks that the busiest worker walks over: rows, columns, inner. Their product is its number of tiles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Row blocks.
    pub rows: f64,
    /// Column blocks.
    pub columns: f64,
    /// Inner blocks.
    pub inner: f64,
}

/// The share of the busiest of `threads` workers: `ceil(tiles / threads)` tiles.
///
/// Contiguous runs fill the fast axes first; dealt in turn, a worker keeps the residues that a common divisor of the
/// axis and the number of workers leaves it. A transposed list is followed when it makes whole axes change places;
/// otherwise the model takes it for the plain list.
#[must_use]
pub fn busiest(geometry: &GemmGeometry, threads: u32) -> Share {
    let streamed = geometry.staging == Staging::Streamed;
    let inner = if streamed { 1 } else { geometry.inner };
    // Axes of the list, slowest first, as (which, length).
    let mut axes = match geometry.split {
        Split::Rows => [(0, geometry.rows), (1, geometry.columns), (2, inner)],
        Split::Columns => [(1, geometry.columns), (0, geometry.rows), (2, inner)],
    };
    let transpose = u64::from(geometry.transpose);
    if transpose == u64::from(axes[2].1) {
        axes.rotate_right(1);
    } else if transpose == u64::from(axes[1].1) * u64::from(axes[2].1) {
        axes.rotate_left(1);
    }
    let tiles: f64 = axes.iter().map(|(_, length)| f64::from(*length)).product();
    let most = libm::ceil(tiles / f64::from(threads));
    let mut share = [1.0; 3];
    let mut rest = match geometry.deal {
        Deal::Contiguous => most,
        Deal::RoundRobin => f64::from(threads),
    };
    for (which, length) in axes.iter().rev() {
        let length = f64::from(*length);
        match geometry.deal {
            Deal::Contiguous => {
                share[*which] = rest.min(length);
                rest = (rest / length).max(1.0);
            }
            Deal::RoundRobin => {
                let common = gcd(rest, length);
                share[*which] = length / common;
                rest /= common;
            }
        }
    }
    // What no axis could take exactly is taken from the slowest that still has it: nobody walks over less than a block.
    let mut excess = share.iter().product::<f64>() / most;
    for (which, _) in axes {
        let taken = excess.min(share[which]);
        share[which] /= taken;
        excess /= taken;
    }
    Share {
        rows: share[0],
        columns: share[1],
        inner: if streamed { f64::from(geometry.inner) } else { share[2] },
    }
}

/// Greatest common divisor of two positive whole numbers.
fn gcd(a: f64, b: f64) -> f64 {
    let (mut a, mut b) = (a, b);
    while b > 0.5 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "small whole numbers are exact")]
mod tests {
    use super::*;
    use crate::text::parse_plan;

    /// The share of the busiest of `threads` workers of an up product with so many row and column blocks.
    fn share(rows: u32, columns: u32, deal: &str, threads: u32) -> [f64; 3] {
        let text = format!(
            "up:{rows}x{columns}x1:1x1:6x16u8:rkc.cr:panels:packed:row-major:streamed:columns.{deal}.t2:cb | threads={threads}"
        );
        let own = busiest(&parse_plan(&text).unwrap().gemms[0].1, threads);
        [own.rows, own.columns, own.inner]
    }

    #[test]
    fn nobody_walks_over_less_than_a_block() {
        // 29 tiles over 7 workers: five for the busiest, all of them of the one column.
        assert_eq!(share(29, 1, "round-robin", 7), [5.0, 1.0, 1.0]);
        assert_eq!(share(29, 1, "contiguous", 7), [5.0, 1.0, 1.0]);
        // Two columns of three over two workers: a worker keeps every second tile.
        assert_eq!(share(3, 2, "round-robin", 2), [3.0, 1.0, 1.0]);
        for deal in ["contiguous", "round-robin"] {
            for (rows, columns, threads) in
                (1..9).flat_map(|r| (1..9).flat_map(move |c| (1..9).map(move |t| (r, c, t))))
            {
                let own = share(rows, columns, deal, threads);
                assert!(
                    own.iter().all(|axis| *axis >= 1.0),
                    "{rows}x{columns} {deal} {threads}: {own:?}"
                );
                let tiles = own.iter().product::<f64>();
                let most = f64::from((rows * columns).div_ceil(threads));
                assert!(
                    (tiles - most).abs() < 1e-9,
                    "{rows}x{columns} {deal} {threads}: {own:?}"
                );
            }
        }
    }
}
