//! All geometries of one product that the unit model may execute.

use std::collections::BTreeMap;

use planner::GemmExtents;

use crate::beyond::Beyond;
use crate::device::{
    DATA_BYTES, ELEMENT_BYTES, INTERLEAVED_BYTES, INTERLEAVED_ELEMENT, LEFT_TAIL_BYTES, PANEL, ROW_BLOCK,
    STANDARD_BYTES, STANDARD_ELEMENT, SUPPORT_BYTES, TILES,
};
use crate::geometry::{Geometry, Local, Memory, Orientation, Staging};
use crate::legal::{self, derived_width};
use crate::shards::Shards;

/// How many geometries were refused, by rule.
pub(super) type Dropped = BTreeMap<String, usize>;

/// Hands every legal geometry of a product to `take`; gives what was refused.
///
/// Not among them: the swapped orientation, which the unit model does not execute; resident weights in standard memory,
/// which cost the same until they are placed; stagings other than all partials at once or in two stages.
pub(super) fn each(operation: &str, extents: GemmExtents, take: &mut dyn FnMut(Geometry)) -> Dropped {
    let mut dropped = Dropped::new();
    let axis = |extent: u64| usize::try_from(extent).unwrap_or(usize::MAX);
    let groups = axis(extents.columns).div_ceil(PANEL);
    let panels = axis(extents.inner).div_ceil(PANEL);
    let blocks = axis(extents.rows).div_ceil(ROW_BLOCK);
    for inner in 2..=panels.min(TILES / 2) {
        for columns in 1..=groups.min(TILES / inner) {
            for rows in 1..=blocks.min(TILES / (inner * columns)) {
                let mut geometry = Geometry {
                    rows,
                    columns,
                    inner,
                    result_rows: 1,
                    result_columns: 1,
                    width: derived_width(axis(extents.columns), columns),
                    memory: Memory::Interleaved,
                    orientation: Orientation::Normal,
                    staging: Staging::Complete,
                    local: Local::Direct,
                    beyond: Beyond::default(),
                };
                if let Err(refusal) = legal::gemm(operation, extents, &geometry) {
                    *dropped.entry(refusal.rule).or_default() += 1;
                    continue;
                }
                if !may_fit(&Shards::new(extents, &geometry)) {
                    *dropped.entry("sram-bound".to_owned()).or_default() += 1;
                    continue;
                }
                for result_rows in 1..=inner.min(blocks / rows).min(axis(extents.rows) / rows) {
                    for result_columns in 1..=(inner / result_rows).min(groups / columns) {
                        geometry.result_rows = result_rows;
                        geometry.result_columns = result_columns;
                        for staging in stagings(inner) {
                            geometry.staging = staging;
                            take(geometry);
                        }
                    }
                }
            }
        }
    }
    dropped
}

/// A bound on what [`unit::check`](crate::unit::check) counts: while a product runs, one tile holds the left operand,
/// arriving weights and the partial, and some tile a resident shard of its own.
fn may_fit(s: &Shards) -> bool {
    let left = (ELEMENT_BYTES * s.left_elements() + LEFT_TAIL_BYTES).next_multiple_of(STANDARD_ELEMENT);
    let weights = ELEMENT_BYTES * s.right_elements();
    let partial = (ELEMENT_BYTES * s.rows.widest() * s.columns.widest()).next_multiple_of(INTERLEAVED_ELEMENT);
    let interleaved = (weights + partial).next_multiple_of(INTERLEAVED_ELEMENT);
    let run = (STANDARD_BYTES - SUPPORT_BYTES).max(INTERLEAVED_BYTES.saturating_sub(interleaved));
    left <= run && left + interleaved + SUPPORT_BYTES <= DATA_BYTES
}

fn stagings(inner: usize) -> impl Iterator<Item = Staging> {
    let half = (inner - 1).div_ceil(2);
    [Staging::Complete]
        .into_iter()
        .chain((inner > 2).then_some(Staging::Batch(half)))
}
