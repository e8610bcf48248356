//! Forms that the published planner does not have and the unit model runs all the same.

use std::fmt;

/// What goes beyond the published planner; the default is nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Beyond {
    /// How the axis that is summed over is dealt out.
    pub grain: Grain,
    /// How tiles of the compute grid are numbered.
    pub order: Order,
    /// In which order partials are added.
    pub sum: Sum,
}

/// How the axis that is summed over is dealt out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Grain {
    /// In whole local blocks: all partitions are as long as the first, the last one is padded.
    #[default]
    Block,
    /// In panels of 16, as evenly as they go: partitions may differ by one panel, and only the last panel is padded.
    Panel,
}

/// Axes of the compute grid, the one that changes fastest from tile to tile first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Order {
    /// Columns, inner, rows: the published order.
    #[default]
    ColumnsInnerRows,
    /// Columns, rows, inner.
    ColumnsRowsInner,
    /// Inner, columns, rows.
    InnerColumnsRows,
    /// Inner, rows, columns.
    InnerRowsColumns,
    /// Rows, columns, inner.
    RowsColumnsInner,
    /// Rows, inner, columns.
    RowsInnerColumns,
}

/// In which order partials are added. Each addition is rounded to float16, so that the orders give other results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Sum {
    /// One after another, by a kernel that keeps the sum.
    #[default]
    Chain,
    /// Neighbours in pairs, then pairs of pairs: a kernel call for each addition.
    Tree,
}

impl Beyond {
    /// Reads one further field of a constraint text: `k-grain-16`, `order-rows-inner-columns`, `sum-tree`.
    pub fn read(&mut self, field: &str) -> Result<(), String> {
        if field == "k-grain-16" {
            self.grain = Grain::Panel;
        } else if field == "sum-tree" {
            self.sum = Sum::Tree;
        } else if let Some(order) = ORDERS.iter().find(|order| format!("order-{order}") == field) {
            self.order = *order;
        } else {
            let orders: Vec<String> = ORDERS.iter().map(|order| format!("order-{order}")).collect();
            return Err(format!(
                "beyond the published planner: expected k-grain-16, sum-tree, or one of {}; found `{field}`",
                orders.join(", ")
            ));
        }
        Ok(())
    }

    /// The further fields of a constraint text, in canonical order.
    #[must_use]
    pub fn fields(&self) -> Vec<String> {
        let grain = (self.grain == Grain::Panel).then(|| "k-grain-16".to_owned());
        let order = (self.order != Order::default()).then(|| format!("order-{}", self.order));
        let sum = (self.sum == Sum::Tree).then(|| "sum-tree".to_owned());
        grain.into_iter().chain(order).chain(sum).collect()
    }
}

const ORDERS: [Order; 6] = [
    Order::ColumnsInnerRows,
    Order::ColumnsRowsInner,
    Order::InnerColumnsRows,
    Order::InnerRowsColumns,
    Order::RowsColumnsInner,
    Order::RowsInnerColumns,
];

impl Order {
    /// Number of the cell `(row, column, inner)` in a grid of these extents.
    #[must_use]
    pub fn number(self, [row, column, inner]: [usize; 3], [rows, columns, inners]: [usize; 3]) -> usize {
        let (r, c, k) = ((row, rows), (column, columns), (inner, inners));
        let [first, second, third] = match self {
            Self::ColumnsInnerRows => [c, k, r],
            Self::ColumnsRowsInner => [c, r, k],
            Self::InnerColumnsRows => [k, c, r],
            Self::InnerRowsColumns => [k, r, c],
            Self::RowsColumnsInner => [r, c, k],
            Self::RowsInnerColumns => [r, k, c],
        };
        first.0 + first.1 * (second.0 + second.1 * third.0)
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ColumnsInnerRows => "columns-inner-rows",
            Self::ColumnsRowsInner => "columns-rows-inner",
            Self::InnerColumnsRows => "inner-columns-rows",
            Self::InnerRowsColumns => "inner-rows-columns",
            Self::RowsColumnsInner => "rows-columns-inner",
            Self::RowsInnerColumns => "rows-inner-columns",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_numbers_every_cell_once() {
        let extents = [2, 3, 4];
        for order in ORDERS {
            let cells = (0..2).flat_map(|r| (0..3).flat_map(move |c| (0..4).map(move |k| [r, c, k])));
            let mut numbers: Vec<usize> = cells.map(|cell| order.number(cell, extents)).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..24), "{order}");
        }
        assert_eq!(Order::default().number([1, 2, 3], extents), 2 + 3 * (3 + 4));
        assert_eq!(Order::RowsInnerColumns.number([1, 2, 3], extents), 1 + 2 * (3 + 4 * 2));
    }

    #[test]
    fn fields_come_back() {
        let mut beyond = Beyond::default();
        for field in ["sum-tree", "order-inner-rows-columns", "k-grain-16"] {
            beyond.read(field).unwrap();
        }
        assert_eq!(beyond.fields(), ["k-grain-16", "order-inner-rows-columns", "sum-tree"]);
        assert_eq!(Beyond::default().fields(), Vec::<String>::new());
        assert!(beyond.read("order-up").unwrap_err().contains("`order-up`"));
    }
}
