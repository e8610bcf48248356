//! What can run at all: the published rules, each with its name and its numbers.
//!
//! Two published rules are not here because they can't fail. Every intersection of a partial with an owner holds whole
//! panels of 16 columns, so always a multiple of 8 elements; and what the byte rules leave never has a local extent
//! that needs more than 16 bits.

use planner::{GemmExtents, Refusal};

use crate::beyond::Grain;
use crate::device::{DATA_BYTES, ELEMENT_BYTES, INTERLEAVED_BYTES, PANEL, ROW_BLOCK, TILES, WORD_BYTES};
use crate::geometry::{Geometry, Local, Orientation};
use crate::shards::{local_inner, oriented};

/// Bytes of one tile's operands, as the published byte screens count them: rows are not padded to blocks of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperandBytes {
    /// The left operand.
    pub left: usize,
    /// The right operand.
    pub right: usize,
    /// One F16 partial.
    pub partial: usize,
}

impl OperandBytes {
    /// Of the largest local shapes.
    #[must_use]
    pub fn new(extents: GemmExtents, g: &Geometry) -> Self {
        let [m, k, n] = oriented(extents, g.orientation);
        let rows = m.div_ceil(g.rows);
        let inner = local_inner(k, g.inner);
        let columns = derived_width(n, g.columns);
        Self {
            left: ELEMENT_BYTES * rows * inner,
            right: ELEMENT_BYTES * inner * columns,
            partial: ELEMENT_BYTES * rows * columns,
        }
    }
}

/// Local columns of the kernel: whole panels.
#[must_use]
pub fn derived_width(columns: usize, parts: usize) -> usize {
    PANEL * columns.div_ceil(PANEL).div_ceil(parts)
}

/// Whether one product may have this geometry; the first rule that says no.
pub fn gemm(operation: &str, extents: GemmExtents, g: &Geometry) -> Result<(), Refusal> {
    let no = |rule: &str, message: String| Err(Refusal::new(rule, format!("`{operation}`: {message}")));
    let [m, k, n] = oriented(extents, g.orientation);
    let (groups, inner_groups) = (n.div_ceil(PANEL), k.div_ceil(PANEL));
    if g.inner < 2 || g.inner > inner_groups {
        return no(
            "inner-partitions",
            format!(
                "{} inner partitions, possible are 2 to {inner_groups} (panels of {PANEL})",
                g.inner
            ),
        );
    }
    if g.columns > groups {
        return no(
            "column-partitions",
            format!("{} column partitions of {groups} groups of {PANEL} columns", g.columns),
        );
    }
    if g.rows > m {
        return no("row-partitions", format!("{} row partitions of {m} rows", g.rows));
    }
    if g.tiles() > TILES {
        return no(
            "tiles",
            format!(
                "{}x{}x{} needs {} tiles of {TILES}",
                g.rows,
                g.columns,
                g.inner,
                g.tiles()
            ),
        );
    }
    let local = local_inner(k, g.inner) / PANEL;
    if g.beyond.grain == Grain::Block && (g.inner - 1) * local >= inner_groups {
        return no(
            "empty-inner",
            format!(
                "{} inner partitions of {local} panels leave the last one empty: there are {inner_groups} panels",
                g.inner
            ),
        );
    }
    bytes(extents, g).or_else(|(rule, message)| no(rule, message))?;
    let width = derived_width(n, g.columns);
    if g.width != width {
        return no(
            "width",
            format!("{} local columns, {} partitions give {width}", g.width, g.columns),
        );
    }
    result_factors(m, groups, g).or_else(|(rule, message)| no(rule, message))?;
    if g.local == Local::MatchRemote && g.orientation == Orientation::Normal {
        return no(
            "local",
            "match-remote is only there for the swapped orientation".to_owned(),
        );
    }
    Ok(())
}

type Broken = (&'static str, String);

fn bytes(extents: GemmExtents, g: &Geometry) -> Result<(), Broken> {
    let b = OperandBytes::new(extents, g);
    let all = b.left + b.right + b.partial;
    if all > DATA_BYTES {
        return Err((
            "operand-bytes",
            format!(
                "left {} + right {} + partial {} = {all} bytes per tile, there are {DATA_BYTES}",
                b.left, b.right, b.partial
            ),
        ));
    }
    if 4 * b.partial > DATA_BYTES {
        return Err((
            "partial-bytes",
            format!(
                "four partials of {} = {} bytes per tile, there are {DATA_BYTES}",
                b.partial,
                4 * b.partial
            ),
        ));
    }
    if b.right + b.partial > INTERLEAVED_BYTES {
        return Err((
            "interleaved-bytes",
            format!(
                "right {} + partial {} = {} interleaved bytes per tile, there are {INTERLEAVED_BYTES}",
                b.right,
                b.partial,
                b.right + b.partial
            ),
        ));
    }
    Ok(())
}

fn result_factors(m: usize, groups: usize, g: &Geometry) -> Result<(), Broken> {
    let (most_rows, most_columns) = ((m / g.rows).min(g.inner), (groups / g.columns).min(g.inner));
    if g.result_rows > most_rows {
        return Err((
            "result-rows",
            format!(
                "row factor {} exceeds {most_rows} (local rows, inner partitions)",
                g.result_rows
            ),
        ));
    }
    if g.result_columns > most_columns {
        return Err((
            "result-columns",
            format!(
                "column factor {} exceeds the local column groups: {most_columns}",
                g.result_columns
            ),
        ));
    }
    if g.result_rows * g.result_columns > g.inner {
        return Err((
            "result-factors",
            format!(
                "{}x{} owners share {} partials",
                g.result_rows, g.result_columns, g.inner
            ),
        ));
    }
    let blocks = m.div_ceil(ROW_BLOCK);
    if g.rows * g.result_rows > blocks {
        return Err((
            "exchange-rows",
            format!(
                "{} x {} row partitions of the result, there are {blocks} blocks of {ROW_BLOCK} rows",
                g.rows, g.result_rows
            ),
        ));
    }
    Ok(())
}

/// Whether the result of a product can be exchanged with the product that follows: its packed axis leaves whole words.
pub fn payload(operation: &str, extents: GemmExtents, g: &Geometry) -> Result<(), Refusal> {
    let [_, _, n] = oriented(extents, g.orientation);
    let last = n % PANEL;
    let bytes = last * ELEMENT_BYTES;
    if g.orientation == Orientation::Swapped && !bytes.is_multiple_of(WORD_BYTES) {
        return Err(Refusal::new(
            "payload",
            format!(
                "`{operation}`: packed along {n} elements, the last run has {last} = {bytes} bytes: payload is not a \
                 nonempty whole number of words"
            ),
        ));
    }
    Ok(())
}
