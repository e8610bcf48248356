//! Screening: every geometry of one product that is worth a look, with a cheap score.
//!
//! The limits are wider than those of [`crate::legal`] on purpose: real feasibility is the compiler's.

use planner::GemmExtents;

use crate::beyond::Beyond;
use crate::costs::{CostTable, Cycles};
use crate::device::{ELEMENT_BYTES, PANEL, ROW_BLOCK, TILES};
use crate::geometry::{Geometry, Local, Memory, Orientation, Staging};
use crate::legal::derived_width;
use crate::shards::{local_inner, oriented};

/// Most inner partitions that are screened.
pub const MOST_INNER: usize = 64;
/// Most bytes of left, right and one partial together.
pub const SCREEN_BYTES: usize = 360_448;
/// Most bytes of right and one partial together.
pub const SCREEN_INTERLEAVED_BYTES: usize = 262_144;

/// Whether the screen keeps a grid `rows x columns x inner` of one product; `rows` must be the most that fit.
#[must_use]
pub fn keeps(extents: GemmExtents, orientation: Orientation, [rows, columns, inner]: [usize; 3]) -> bool {
    let [m, k, n] = oriented(extents, orientation);
    if !(2..=MOST_INNER.min(k.div_ceil(PANEL))).contains(&inner) || columns == 0 || columns > n.div_ceil(PANEL) {
        return false;
    }
    if rows == 0 || rows != TILES / (inner * columns) || rows * inner > m.div_ceil(ROW_BLOCK) {
        return false;
    }
    if (inner - 1) * local_inner(k, inner) >= k {
        return false;
    }
    let [left, right, partial] = proxy_bytes([m, k, n], [rows, columns, inner]);
    left + right + partial <= SCREEN_BYTES && right + partial <= SCREEN_INTERLEAVED_BYTES
}

/// Bytes of left, right and partial with rows padded to whole blocks.
fn proxy_bytes([m, k, n]: [usize; 3], [rows, columns, inner]: [usize; 3]) -> [usize; 3] {
    let lr = ROW_BLOCK * m.div_ceil(rows).div_ceil(ROW_BLOCK);
    let (lk, lc) = (local_inner(k, inner), derived_width(n, columns));
    [lr * lk, lc * lk, lr * lc].map(|elements| ELEMENT_BYTES * elements)
}

/// The screening score in cycles, smaller is better: the table's price of the local product, and of one copy of the left
/// operand and the remote partials, `gemm(lr, lk, lc) + copy(left + partial (K-1))`.
///
/// With the prices that ship it is `(4 lr + 160) (lk/16) (lc/16) + (left + partial (K-1)) / 8`, the published proxy, and
/// what two calls cost whatever they do, which changes no order.
///
/// # Errors
/// Where the table has no price for either.
pub fn proxy(costs: &CostTable, extents: GemmExtents, orientation: Orientation, grid: [usize; 3]) -> Cycles {
    let [m, k, n] = oriented(extents, orientation);
    let [rows, columns, inner] = grid;
    let lr = ROW_BLOCK * m.div_ceil(rows).div_ceil(ROW_BLOCK);
    let [left, _, partial] = proxy_bytes([m, k, n], grid);
    let product = costs.gemm(lr, local_inner(k, inner), derived_width(n, columns))?;
    Ok(product + costs.copy(left + partial * (inner - 1))?)
}

/// All screened geometries of one product in one orientation, in order of inner, then column partitions.
#[must_use]
pub fn geometries(extents: GemmExtents, orientation: Orientation) -> Vec<Geometry> {
    let [_, k, n] = oriented(extents, orientation);
    let mut kept = Vec::new();
    for inner in 2..=MOST_INNER.min(k.div_ceil(PANEL)) {
        for columns in 1..=n.div_ceil(PANEL).min(TILES / inner) {
            let rows = TILES / (inner * columns);
            if keeps(extents, orientation, [rows, columns, inner]) {
                kept.push(distributed(extents, orientation, [rows, columns, inner]));
            }
        }
    }
    kept
}

/// The geometry of a grid `rows x columns x inner` with one owner for each partial, all partials at once.
#[must_use]
pub fn distributed(extents: GemmExtents, orientation: Orientation, [rows, columns, inner]: [usize; 3]) -> Geometry {
    let [_, _, n] = oriented(extents, orientation);
    Geometry {
        rows,
        columns,
        inner,
        result_rows: inner,
        result_columns: 1,
        width: derived_width(n, columns),
        memory: Memory::Interleaved,
        orientation,
        staging: Staging::Complete,
        local: Local::Direct,
        beyond: Beyond::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UP: GemmExtents = GemmExtents {
        rows: 729,
        inner: 1152,
        columns: 4304,
    };
    const DOWN: GemmExtents = GemmExtents {
        rows: 729,
        inner: 4304,
        columns: 1152,
    };

    #[test]
    fn the_published_counts() {
        let counts = [
            (UP, Orientation::Normal, 2046),
            (UP, Orientation::Swapped, 483),
            (DOWN, Orientation::Normal, 1231),
            (DOWN, Orientation::Swapped, 859),
        ];
        for (extents, orientation, count) in counts {
            assert_eq!(
                geometries(extents, orientation).len(),
                count,
                "{extents:?} {orientation}"
            );
        }
        assert_eq!(counts.iter().map(|c| c.2).sum::<usize>(), 4619);
    }

    #[test]
    fn the_proxy_is_the_published_one_beside_what_every_call_costs() {
        let costs = crate::costs::builtin("sweep").unwrap();
        for extents in [UP, DOWN] {
            for g in geometries(extents, Orientation::Normal) {
                let grid = [g.rows, g.columns, g.inner];
                let [m, k, n] = oriented(extents, g.orientation);
                let [left, _, partial] = proxy_bytes([m, k, n], grid);
                let lr = ROW_BLOCK * m.div_ceil(g.rows).div_ceil(ROW_BLOCK);
                let panels = local_inner(k, g.inner) / PANEL * (g.width / PANEL);
                let published = (4 * lr + 160) * panels + (left + partial * (g.inner - 1)) / 8;
                assert_eq!(
                    proxy(&costs, extents, g.orientation, grid),
                    Ok(published + 294 + 288),
                    "{g:?}"
                );
            }
        }
    }

    #[test]
    fn another_table_screens_otherwise() {
        let text = crate::costs::builtin("sweep").unwrap().families().text();
        let rows = "cycles = 4 }";
        assert!(text.contains(rows), "{text}");
        let dear = CostTable::parse(&text.replace(rows, "cycles = 5 }")).unwrap();
        let none = CostTable::parse(&text.replace(rows, "cycles = -500 }")).unwrap();
        let at = |costs: &CostTable| proxy(costs, UP, Orientation::Normal, [8, 90, 2]);
        let before = at(&crate::costs::builtin("sweep").unwrap()).unwrap();
        assert_eq!(
            at(&dear).unwrap() - before,
            36 * 3 * 92,
            "92 rows, 36 x 3 panels, one cycle each"
        );
        assert!(at(&none).is_err(), "a price below zero is none");
    }

    #[test]
    fn the_best_of_a_stratum_is_the_published_one() {
        let costs = crate::costs::builtin("sweep").unwrap();
        let best = |extents, wanted: &dyn Fn(&Geometry) -> bool| {
            geometries(extents, Orientation::Normal)
                .into_iter()
                .filter(wanted)
                .min_by(|a, b| {
                    let score =
                        |g: &Geometry| proxy(&costs, extents, Orientation::Normal, [g.rows, g.columns, g.inner]);
                    let text = |g: &Geometry| crate::text::print(0, g);
                    score(a)
                        .unwrap()
                        .cmp(&score(b).unwrap())
                        .then_with(|| text(a).cmp(&text(b)))
                })
                .map(|g| [g.rows, g.columns, g.inner])
        };
        assert_eq!(best(UP, &|g| g.inner == 2), Some([8, 90, 2]));
        assert_eq!(best(UP, &|g| g.rows == 6), Some([6, 54, 4]));
        assert_eq!(best(DOWN, &|g| g.inner == 15), Some([4, 24, 15]));
        assert_eq!(best(DOWN, &|g| g.width == 16), Some([4, 72, 5]));
    }
}
