//! Where tiles lie, and how long words travel between them.

use crate::device::TILES;

/// Physical place of a tile in the array of 23 rows of 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Site {
    /// Physical number.
    pub physical: i64,
}

impl Site {
    /// Of an execution tile. Pairs of tiles run through blocks of 23, every second block upside down.
    #[must_use]
    pub fn of(tile: usize) -> Self {
        let (pair, lane) = (tile / 2, tile % 2);
        let (block, along) = (pair / 23, pair % 23);
        let row = if block % 2 == 1 { 22 - along } else { along };
        let column = block / 2 * 4 + block % 2;
        // At most 1,471: the conversion can't fail.
        let physical = i64::try_from(row * 64 + column + 2 * lane).unwrap_or(i64::MAX);
        Self { physical }
    }

    /// Row of the array.
    #[must_use]
    pub fn row(self) -> i64 {
        self.physical / 64
    }

    fn column(self) -> i64 {
        self.physical / 4 % 16
    }

    fn half(self) -> i64 {
        self.column() / 8
    }

    fn low(self) -> i64 {
        self.column() % 8
    }
}

fn fold(column: i64) -> i64 {
    if column <= 7 { column } else { 15 - column }
}

/// Columns that a word crosses, with its sign.
fn displacement(s: Site, d: Site) -> i64 {
    let mux = fold(s.column()) + (s.half() ^ (s.physical % 2));
    let lane = d.physical % 4;
    let turn = if lane > 1 {
        if d.half() == d.physical % 2 { 2 } else { 4 }
    } else if lane == d.half() {
        1
    } else {
        5
    };
    6 * (fold(d.column()) - mux) + turn
}

/// Which of the two directions a word takes.
#[must_use]
pub fn direction(s: Site, d: Site) -> u8 {
    if displacement(s, d) < 1 { 2 } else { 1 }
}

/// Cycles by which the receiver's selection of its source lies behind the send's first word, less one.
#[must_use]
pub fn lead(s: Site, d: Site) -> i64 {
    let bracket = (8 * s.half()) | (s.physical / 8 % 4);
    let turn = if s.physical & 32 == d.physical & 32 {
        s.low() + 1
    } else {
        16 - s.low()
    };
    bracket - d.column() + (3 ^ (s.low() / 2)) + 4 * fold(s.column()) + turn - 4 * fold(d.column())
        + 2 * (s.row() - d.row())
        + displacement(s, d).abs()
        - 34
}

/// The sites of all tiles.
#[must_use]
pub fn sites() -> Vec<Site> {
    (0..TILES).map(Site::of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_fill_the_array() {
        let mut places: Vec<i64> = sites().into_iter().map(|site| site.physical).collect();
        assert_eq!(places[..3], [0, 2, 64]);
        places.sort_unstable();
        assert!(places.into_iter().eq(0..1472));
    }

    #[test]
    fn neighbours_are_pairs() {
        for tile in 0..TILES {
            assert_eq!(Site::of(tile).physical ^ 2, Site::of(tile ^ 1).physical);
        }
    }
}
