//! Who executes which tile, and when: listing, mapping, dealing, and order in time.

use crate::blocks::{boundaries, panels};
use crate::geometry::{Deal, GemmGeometry, Order, Orientation, Split, Staging};
use crate::problem::Extents;

/// One tile of work: a row block, a column block, an inner block of the computed product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tile {
    /// Row block.
    pub row: u32,
    /// Column block.
    pub column: u32,
    /// Inner block.
    pub inner: u32,
}

/// A part of the result that one worker reduces: panels `[first, last)` of both axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard {
    /// Row panels.
    pub rows: (u32, u32),
    /// Column panels.
    pub columns: (u32, u32),
}

/// What every worker does, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Tiles of each worker in the order of their execution.
    pub tiles: Vec<Vec<Tile>>,
    /// Shards of each worker; empty when partial sums are streamed.
    pub shards: Vec<Vec<Shard>>,
}

/// Rows and columns of the computed product.
#[must_use]
pub fn computed(extents: Extents, orientation: Orientation) -> (u32, u32) {
    match orientation {
        Orientation::Normal => (extents.tokens, extents.features),
        Orientation::Swapped => (extents.features, extents.tokens),
    }
}

/// Tiles in the list that is dealt: streamed ones carry all their inner blocks.
#[must_use]
pub fn dealt_tiles(geometry: &GemmGeometry) -> u64 {
    let inner = if geometry.staging == Staging::Streamed {
        1
    } else {
        geometry.inner
    };
    u64::from(geometry.rows) * u64::from(geometry.columns) * u64::from(inner)
}

/// Position of tile `t` of `tiles` in the mapped list: `(t mod W) (T div W) + t div W`, a bijection when W divides T.
#[must_use]
pub fn mapped(t: u64, tiles: u64, transpose: u32) -> u64 {
    let w = u64::from(transpose.max(1));
    (t % w) * (tiles / w) + t / w
}

/// The worker that gets position `at` of `tiles`.
///
/// Contiguous runs are `[floor(w T / n), floor((w+1) T / n))`, hence `w = floor(((at+1) n - 1) / T)`.
#[must_use]
pub fn worker_of(at: u64, tiles: u64, threads: u32, deal: Deal) -> u32 {
    let n = u64::from(threads.max(1));
    let worker = match deal {
        Deal::Contiguous => ((at + 1) * n - 1) / tiles.max(1),
        Deal::RoundRobin => at % n,
    };
    u32::try_from(worker).unwrap_or(u32::MAX)
}

/// The worker of one tile.
#[must_use]
pub fn owner(geometry: &GemmGeometry, threads: u32, tile: Tile) -> u32 {
    let inner_blocks = if geometry.staging == Staging::Streamed {
        1
    } else {
        u64::from(geometry.inner)
    };
    let inner = if inner_blocks == 1 { 0 } else { u64::from(tile.inner) };
    let (row, column) = (u64::from(tile.row), u64::from(tile.column));
    let t = match geometry.split {
        Split::Rows => (row * u64::from(geometry.columns) + column) * inner_blocks + inner,
        Split::Columns => (column * u64::from(geometry.rows) + row) * inner_blocks + inner,
    };
    let tiles = dealt_tiles(geometry);
    worker_of(mapped(t, tiles, geometry.transpose), tiles, threads, geometry.deal)
}

/// The worker that owns every tile of a row block, if one does.
#[must_use]
pub fn row_owner(geometry: &GemmGeometry, threads: u32, row: u32) -> Option<u32> {
    let tiles =
        (0..geometry.columns).flat_map(|column| (0..geometry.inner).map(move |inner| Tile { row, column, inner }));
    sole_owner(geometry, threads, tiles)
}

/// The worker that owns every tile of a column block, if one does.
#[must_use]
pub fn column_owner(geometry: &GemmGeometry, threads: u32, column: u32) -> Option<u32> {
    let tiles = (0..geometry.rows).flat_map(|row| (0..geometry.inner).map(move |inner| Tile { row, column, inner }));
    sole_owner(geometry, threads, tiles)
}

fn sole_owner(geometry: &GemmGeometry, threads: u32, tiles: impl Iterator<Item = Tile>) -> Option<u32> {
    let mut owners = tiles.map(|tile| owner(geometry, threads, tile));
    let first = owners.next()?;
    owners.all(|other| other == first).then_some(first)
}

fn all_tiles(geometry: &GemmGeometry) -> impl Iterator<Item = Tile> + '_ {
    (0..geometry.rows).flat_map(move |row| {
        (0..geometry.columns).flat_map(move |column| (0..geometry.inner).map(move |inner| Tile { row, column, inner }))
    })
}

fn in_time(order: Order, tile: Tile) -> (u32, u32, u32) {
    let Tile {
        row: r,
        column: c,
        inner: k,
    } = tile;
    match order {
        Order::Rkc => (r, k, c),
        Order::Rck => (r, c, k),
        Order::Krc => (k, r, c),
        Order::Kcr => (k, c, r),
        Order::Crk => (c, r, k),
        Order::Ckr => (c, k, r),
    }
}

/// Computes the schedule of a legal geometry for `threads` workers.
#[must_use]
pub fn schedule(geometry: &GemmGeometry, extents: Extents, threads: u32) -> Schedule {
    let workers = threads.max(1) as usize;
    let mut tiles = vec![Vec::new(); workers];
    for tile in all_tiles(geometry) {
        tiles[owner(geometry, threads, tile) as usize].push(tile);
    }
    for own in &mut tiles {
        own.sort_by_key(|tile| in_time(geometry.order, *tile));
    }
    let mut shards = vec![Vec::new(); workers];
    if geometry.staging != Staging::Streamed {
        deal_shards(geometry, extents, threads, &mut shards);
    }
    Schedule { tiles, shards }
}

/// Shard `s = (a, b)` of block `(i, j)` goes to the worker that owns compute tile `(i, j, s mod inner)`.
fn deal_shards(geometry: &GemmGeometry, extents: Extents, threads: u32, shards: &mut [Vec<Shard>]) {
    let (rows, columns) = computed(extents, geometry.orientation);
    let row_at = boundaries(panels(rows, geometry.height), geometry.rows);
    let column_at = boundaries(panels(columns, geometry.width), geometry.columns);
    for (i, row) in row_at.windows(2).enumerate() {
        for (j, column) in column_at.windows(2).enumerate() {
            let parts_of = |block: &[u32], parts| -> Vec<(u32, u32)> {
                let inside = boundaries(block[1] - block[0], parts);
                inside.windows(2).map(|w| (block[0] + w[0], block[0] + w[1])).collect()
            };
            let grid = parts_of(row, geometry.result_rows).into_iter().flat_map(|rows| {
                parts_of(column, geometry.result_columns)
                    .into_iter()
                    .map(move |c| (rows, c))
            });
            for (s, (rows, columns)) in (0_u32..).zip(grid) {
                let (row, column) = (to_u32(i), to_u32(j));
                let worker = owner(
                    geometry,
                    threads,
                    Tile {
                        row,
                        column,
                        inner: s % geometry.inner,
                    },
                );
                shards[worker as usize].push(Shard { rows, columns });
            }
        }
    }
}

fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
