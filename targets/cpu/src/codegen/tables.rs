//! Boundaries, tiles and shards as static tables.

use std::fmt::Write as _;

use crate::facts::Facts;

/// Entries on one line of a table.
const PER_LINE: usize = 10;

/// A one-dimensional table of integers.
pub(crate) fn table<T: std::fmt::Display>(kind: &str, name: &str, values: &[T]) -> String {
    let mut c = format!("static const {kind} {name}[] = {{\n");
    for line in values.chunks(PER_LINE) {
        let words: Vec<String> = line.iter().map(ToString::to_string).collect();
        _ = writeln!(c, "    {},", words.join(", "));
    }
    c.push_str("};\n");
    c
}

/// Starts of consecutive runs: `0, n0, n0 + n1, ...`.
fn starts<T>(runs: &[Vec<T>]) -> Vec<usize> {
    let ends = runs.iter().scan(0, |sum, run| {
        *sum += run.len();
        Some(*sum)
    });
    std::iter::once(0).chain(ends).collect()
}

/// Every table of one product.
pub(crate) fn tables(facts: &Facts<'_>) -> String {
    let mut c = String::from("/* Blocks: rows and columns in panels, inner in steps. */\n");
    c.push_str(&table("int", "row_start", &facts.row_at));
    c.push_str(&table("int", "column_start", &facts.column_at));
    c.push_str(&table("int", "inner_start", &facts.inner_at));
    c.push_str("\n/* Tiles {row, column, inner block} in the order of their execution, worker after worker. */\n");
    c.push_str("struct tile { int row, column, inner; };\n");
    let tiles: Vec<String> = (facts.schedule.tiles.iter().flatten())
        .map(|tile| format!("{{{}, {}, {}}}", tile.row, tile.column, tile.inner))
        .collect();
    c.push_str(&table("struct tile", "tiles", &tiles));
    c.push_str(&table("int", "tile_start", &starts(&facts.schedule.tiles)));
    if facts.batch.is_some() {
        c.push_str(
            "\n/* Shards of the reduction {row panels [r0, r1), column panels [c0, c1)}, worker after worker. */\n",
        );
        c.push_str("struct shard { int r0, r1, c0, c1; };\n");
        let shards: Vec<String> = (facts.schedule.shards.iter().flatten())
            .map(|s| format!("{{{}, {}, {}, {}}}", s.rows.0, s.rows.1, s.columns.0, s.columns.1))
            .collect();
        c.push_str(&table("struct shard", "shards", &shards));
        c.push_str(&table("int", "shard_start", &starts(&facts.schedule.shards)));
    }
    let (at, owners) = facts.token_blocks();
    let owners: Vec<i64> = owners.into_iter().map(|owner| owner.map_or(-1, i64::from)).collect();
    c.push_str(
        "\n/* Blocks of the token axis in tokens, and the worker that owns all tiles of each (-1: several do). */\n",
    );
    c.push_str(&table("int", "token_start", &at));
    c.push_str(&table("int", "token_worker", &owners));
    c.push('\n');
    c
}
