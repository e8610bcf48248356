//! Results and left operands lie in panels of 16 columns: the addresses of the exchange are those of the planner's
//! index map.

mod common;

use planner::order::{ByteOrder, Digits};
use target_ipu21::shards::overlap;
use target_ipu21::traffic::{Buffer, pieces};

#[test]
fn exchanged_panels_go_where_the_order_says() {
    let program = common::program(common::UP, common::DOWN);
    let (up, down) = (&program.products[0].shards, &program.products[1].shards);
    let pieces = pieces(&program, 0);
    let mut next = pieces.iter();
    // Which rows and columns each piece holds, in the order in which they are listed.
    for a in 0..up.result_rows.parts() {
        let held = up.result_rows.range(a);
        for row in down.rows.touching(held.clone()) {
            let target = down.rows.range(row);
            let Some(rows) = overlap(&up.result_rows.logical(a), &target) else {
                continue;
            };
            for b in 0..up.result_columns.parts() {
                let columns = up.result_columns.range(b);
                for column in columns.clone().step_by(16) {
                    let Some(inner) = down.inner.touching(column..column + 16).next() else {
                        continue;
                    };
                    let piece = next.next().expect("a piece for every panel of every owner");
                    assert_eq!(
                        (piece.from.buffer, piece.to.buffer),
                        (Buffer::Result(0), Buffer::Left(1))
                    );
                    let depth = down.inner.range(inner);
                    let result = Digits::column_panels(16, held.len(), columns.len());
                    let left = Digits::column_panels(16, target.len(), depth.len());
                    for (i, lane) in [(0, 0), (0, 15), (rows.len() - 1, 7)] {
                        let at = [rows.start + i, column + lane];
                        let from = result.offset(&[at[0] - held.start, at[1] - columns.start]);
                        let to = left.offset(&[at[0] - target.start, at[1] - depth.start]);
                        assert_eq!(piece.from.offset + 2 * (16 * i + lane), 2 * from, "{at:?}");
                        assert_eq!(piece.to.offset + 2 * (16 * i + lane), 2 * to, "{at:?}");
                    }
                }
            }
        }
    }
    assert!(next.next().is_none());
}
