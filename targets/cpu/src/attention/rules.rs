//! What is legal of an attention, as named rules with numbers. Only what is wrong is refused, never what is slow.

use super::geometry::{AttentionGeometry, Merge, Packing, Scores};
use super::problem::Extents;
use crate::blocks::panels;
use crate::isa::Isa;
use crate::rules::{Verdict, gemm, refuse_if};

/// Scores that a worker may keep: 1 GiB of them.
pub const MOST_SCORES: u64 = 1 << 28;

/// `query-panel`: a panel is a whole number of vectors.
#[must_use]
pub fn query_panel(isa: Isa, panel: u32) -> Verdict {
    refuse_if(panel == 0 || !panel.is_multiple_of(isa.lanes()), "query-panel", || {
        format!(
            "a panel of {panel} queries is no multiple of the {} floats of one {isa} vector",
            isa.lanes()
        )
    })
}

/// `kernel-rows`: vectors are held and rows stream, so a kernel has at least as many rows as vectors.
#[must_use]
pub fn kernel_rows(isa: Isa, panel: u32, height: u32) -> Verdict {
    let vectors = panel / isa.lanes();
    refuse_if(height < vectors, "kernel-rows", || {
        format!("a kernel of {height} rows and {vectors} vectors: its vectors are held, it needs at least as many rows")
    })
}

/// `query-blocks`: no block of queries is empty.
#[must_use]
pub fn query_blocks(parts: u32, queries: u32, panel: u32) -> Verdict {
    let count = panels(queries, panel.max(1));
    refuse_if(parts > count, "query-blocks", || {
        format!("{parts} blocks of {queries} queries: only {count} panels of {panel}, so some would be empty")
    })
}

/// `key-blocks`: no block of keys is empty in any split.
#[must_use]
pub fn key_blocks(splits: u32, blocks: u32, keys: u32, height: u32) -> Verdict {
    let count = panels(keys, height.max(1));
    let parts = u64::from(splits) * u64::from(blocks);
    refuse_if(parts > u64::from(count), "key-blocks", || {
        format!(
            "{splits} splits of {blocks} blocks over {keys} keys: only {count} tiles of {height}, so some would be empty"
        )
    })
}

/// `merge-complete`: partial results lie side by side only where there are several.
#[must_use]
pub fn merge_complete(merge: Merge, splits: u32) -> Verdict {
    refuse_if(merge == Merge::Complete && splits < 2, "merge-complete", || {
        "keys that are not split leave nothing to merge: `merge` must be streamed".to_owned()
    })
}

/// `packing-own`: a worker packs its own heads only where something is packed.
#[must_use]
pub fn packing_own(packing: Packing, packs: bool) -> Verdict {
    refuse_if(packing == Packing::Own && !packs, "packing-own", || {
        "keys and values are both read as given: nothing is packed, `packing` must be ahead".to_owned()
    })
}

/// `online-blocks`: an online softmax goes from one block of keys to the next.
#[must_use]
pub fn online_blocks(scores: Scores, blocks: u32) -> Verdict {
    refuse_if(scores == Scores::Online && blocks < 2, "online-blocks", || {
        "a single block of keys has no maximum to carry on: `scores` must be whole".to_owned()
    })
}

/// `scores-size`: the scores that one worker keeps are bounded. `splits` and `blocks` are of the keys.
#[must_use]
pub fn scores_size(
    extents: Extents,
    panel: u32,
    query_blocks: u32,
    splits: u32,
    blocks: u32,
    scores: Scores,
) -> Verdict {
    let parts = if scores == Scores::Online {
        splits.saturating_mul(blocks)
    } else {
        splits
    };
    let queries = panels(panels(extents.queries, panel.max(1)), query_blocks.max(1)).saturating_mul(panel);
    let keys = extents.keys.div_ceil(parts.max(1));
    let floats = u64::from(queries) * u64::from(keys);
    refuse_if(floats > MOST_SCORES, "scores-size", || {
        format!("a worker would keep {queries} x {keys} scores at once, more than {MOST_SCORES}")
    })
}

/// Counts and sizes are positive.
fn counts(g: &AttentionGeometry) -> Verdict {
    let counts = [
        ("query_blocks", g.query_blocks),
        ("key_splits", g.key_splits),
        ("key_blocks", g.key_blocks),
        ("query_panel", g.query_panel),
        ("key_height", g.key_height),
        ("value_height", g.value_height),
        ("unroll", g.unroll),
    ];
    counts.into_iter().find_map(|(name, value)| gemm::positive(name, value))
}

/// Every rule, in a fixed order; the first that is broken.
#[must_use]
pub fn first_broken(isa: Isa, threads: u32, extents: Extents, geometry: &AttentionGeometry) -> Verdict {
    let g = geometry;
    let kernel = |height: u32| {
        gemm::registers(isa, height, g.query_panel)
            .or_else(|| kernel_rows(isa, g.query_panel, height))
            .or_else(|| gemm::unroll(isa, height, g.query_panel, g.unroll))
    };
    counts(g)
        .or_else(|| crate::rules::plan::threads(threads))
        .or_else(|| query_panel(isa, g.query_panel))
        .or_else(|| kernel(g.key_height))
        .or_else(|| kernel(g.value_height))
        .or_else(|| query_blocks(g.query_blocks, extents.queries, g.query_panel))
        .or_else(|| key_blocks(g.key_splits, g.key_blocks, extents.keys, g.key_height))
        .or_else(|| merge_complete(g.merge, g.key_splits))
        .or_else(|| packing_own(g.packing, g.packs()))
        .or_else(|| online_blocks(g.scores, g.key_blocks))
        .or_else(|| {
            scores_size(
                extents,
                g.query_panel,
                g.query_blocks,
                g.key_splits,
                g.key_blocks,
                g.scores,
            )
        })
}
