//! The canonical text of an attention plan.
//!
//! `attention:8q1s3k:16x6x6u8:qk:row-major:panels.own:whole.tile.degree-5:streamed:heads.contiguous | threads=2` reads:
//! operation; query blocks, key splits, key blocks; queries of a panel, heights of both kernels, unroll; loops inside;
//! layout of keys; layout of values and packing; scores, maximum and exponential; merge; split and deal of tasks.

use super::geometry::{AttentionGeometry, AttentionPlan};

/// Canonical text of one attention's geometry.
#[must_use]
pub fn geometry_text(operation: &str, geometry: &AttentionGeometry) -> String {
    let g = geometry;
    format!(
        "{operation}:{}q{}s{}k:{}x{}x{}u{}:{}:{}:{}.{}:{}.{}.{}:{}:{}.{}",
        g.query_blocks,
        g.key_splits,
        g.key_blocks,
        g.query_panel,
        g.key_height,
        g.value_height,
        g.unroll,
        g.inside,
        g.keys,
        g.values,
        g.packing,
        g.scores,
        g.maximum,
        g.exponential,
        g.merge,
        g.split,
        g.deal,
    )
}

/// Canonical text of a plan.
#[must_use]
pub fn plan_text(operation: &str, plan: &AttentionPlan) -> String {
    format!(
        "{} | threads={}",
        geometry_text(operation, &plan.geometry),
        plan.threads
    )
}
