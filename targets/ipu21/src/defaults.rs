//! The geometry of a product that nobody chose: what plans have where a definition says nothing.

use planner::{GemmExtents, Refusal};

use crate::costs::CostTable;
use crate::device::{PANEL, ROW_BLOCK, TILES};
use crate::geometry::{Geometry, Orientation};
use crate::legal::{self, OperandBytes};
use crate::screen::{self, MOST_INNER, distributed};
use crate::shards::{local_inner, oriented};
use crate::text;

/// The best geometry of a product in the normal orientation by the screening proxy under these prices, then by its text;
/// those that have no price come last.
///
/// Of the screened ones that are legal, if there are any. A small product leaves tiles idle, which no screened geometry
/// does, and a large one fits only beyond the limits of the screen: then of all that the rules allow. Where the memory of
/// the array is too small for any, it is the one that takes the least, so that the space can still be counted and asked
/// about; its build is refused with the numbers. Fails only where no geometry can be written down.
pub fn best(operation: &str, extents: GemmExtents, costs: &CostTable) -> Result<Geometry, Refusal> {
    let screened = screen::geometries(extents, Orientation::Normal);
    let all = written(extents);
    let legal = |g: &&Geometry| legal::gemm(operation, extents, g).is_ok();
    let by_proxy = |a: &&Geometry, b: &&Geometry| {
        let score = |g: &Geometry| {
            let cycles = screen::proxy(costs, extents, g.orientation, [g.rows, g.columns, g.inner]);
            (cycles.is_err(), cycles.unwrap_or_default())
        };
        score(a)
            .cmp(&score(b))
            .then_with(|| text::print(0, a).cmp(&text::print(0, b)))
    };
    let bytes = |g: &&Geometry| {
        let bytes = OperandBytes::new(extents, g);
        (bytes.left + bytes.right + bytes.partial, text::print(0, g))
    };
    let found = screened.iter().filter(legal).min_by(by_proxy);
    let found = found.or_else(|| all.iter().filter(legal).min_by(by_proxy));
    let found = found.or_else(|| all.iter().min_by_key(bytes));
    found.copied().ok_or_else(|| no_geometry(operation, extents))
}

/// Every grid with as many row partitions as fit, where the owners of a sum are as many as its partials or one.
fn written(extents: GemmExtents) -> Vec<Geometry> {
    let [m, k, n] = oriented(extents, Orientation::Normal);
    let blocks = m.div_ceil(ROW_BLOCK);
    let mut all = Vec::new();
    for inner in 2..=MOST_INNER.min(k.div_ceil(PANEL)) {
        if (inner - 1) * local_inner(k, inner) >= k {
            continue;
        }
        for columns in 1..=n.div_ceil(PANEL).min(TILES / inner) {
            let most = TILES / (inner * columns);
            for result_rows in [inner, 1] {
                let rows = most.min(blocks / result_rows);
                if rows > 0 {
                    let grid = [rows, columns, inner];
                    all.push(Geometry {
                        result_rows,
                        ..distributed(extents, Orientation::Normal, grid)
                    });
                }
            }
        }
    }
    all
}

fn no_geometry(operation: &str, extents: GemmExtents) -> Refusal {
    let [m, k, n] = oriented(extents, Orientation::Normal);
    Refusal::new(
        "no-geometry",
        format!(
            "`{operation}`: {m} rows x {n} columns, summed over {k} elements: the sum is split into 2 to {MOST_INNER} \
             partitions of whole panels of {PANEL}, {k} elements are {} panel(s): give the product at least {} elements to \
             sum over",
            k.div_ceil(PANEL),
            PANEL + 1
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> CostTable {
        crate::costs::builtin("sweep").unwrap()
    }

    fn of(rows: u64, inner: u64, columns: u64) -> Result<Geometry, Refusal> {
        best("up", GemmExtents { rows, inner, columns }, &table())
    }

    fn legal(rows: u64, inner: u64, columns: u64) -> bool {
        let extents = GemmExtents { rows, inner, columns };
        of(rows, inner, columns).is_ok_and(|g| legal::gemm("up", extents, &g).is_ok())
    }

    #[test]
    fn a_screened_geometry_comes_first() {
        let g = of(729, 1152, 4304).unwrap();
        assert!(
            screen::geometries(
                GemmExtents {
                    rows: 729,
                    inner: 1152,
                    columns: 4304
                },
                Orientation::Normal
            )
            .contains(&g)
        );
    }

    #[test]
    fn small_and_large_products_have_one_too() {
        for [rows, inner, columns] in [
            [61, 96, 200],
            [1, 32, 16],
            [365, 576, 2152],
            [1458, 2304, 8608],
            [2, 17, 1],
        ] {
            assert!(legal(rows, inner, columns), "{rows} x {inner} x {columns}");
        }
    }

    #[test]
    fn what_no_memory_holds_can_still_be_written_down() {
        let extents = GemmExtents {
            rows: 7290,
            inner: 11_520,
            columns: 43_040,
        };
        let refusal = legal::gemm("up", extents, &best("up", extents, &table()).unwrap()).unwrap_err();
        assert_eq!(refusal.rule, "operand-bytes");
        assert!(refusal.message.contains("586960"), "{refusal}");
    }

    #[test]
    fn one_panel_can_not_be_split() {
        let refusal = of(729, 16, 64).unwrap_err();
        assert_eq!(refusal.rule, "no-geometry");
        assert!(refusal.message.contains("at least 17 elements"), "{refusal}");
    }
}
