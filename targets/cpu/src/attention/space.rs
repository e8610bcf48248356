//! All plans of an attention, and the one that is taken where nothing is said.

use planner::{Refusal, Space, Workload};

use super::attributes::{ATTRIBUTES, about};
use super::geometry::{
    AttentionGeometry, AttentionPlan, Exponential, Inside, Layout, Maximum, Merge, Packing, Scores, Split,
};
use super::problem::{Extents, attention};
use super::rules;
use crate::blocks::panels;
use crate::geometry::Deal;
use crate::isa::Isa;
use crate::options::Settings;
use crate::rules::gemm;
use crate::space::build::{Builder, full};
use crate::space::domains::{MOST_VECTORS, UNROLLS, counts, up_to, words};

/// Most blocks of an axis.
pub const MOST_BLOCKS: u32 = 128;
const KEY_SPLITS: [u32; 6] = [1, 2, 3, 4, 6, 8];

/// All plans of the attention `workload`. Each keeps the rules of [`super::rules`]; queries have at most 128 blocks, the
/// keys of a split as many.
pub fn space(workload: &Workload, settings: &Settings) -> Result<Space, Refusal> {
    let attention = attention(workload)?;
    crate::footprint::check(workload)?;
    let mut builder = Builder::default();
    let name = attention.name.as_str();
    for (short, _) in ATTRIBUTES {
        builder.described(
            Some(name),
            short,
            domain(short, attention.extents, settings.isa),
            about(short),
        );
    }
    constrain(&mut builder, name, attention.extents, settings.isa);
    Ok(builder.finish())
}

fn domain(short: &str, e: Extents, isa: Isa) -> planner::Domain {
    match short {
        "query_blocks" => up_to(panels(e.queries, isa.lanes()).min(MOST_BLOCKS)),
        "key_splits" => counts(KEY_SPLITS.into_iter().filter(|n| *n <= e.keys)),
        "key_blocks" => up_to(e.keys.min(MOST_BLOCKS)),
        "query_panel" => counts((1..=MOST_VECTORS).map(|vectors| vectors * isa.lanes())),
        "key_height" | "value_height" => counts(1..=isa.registers() - 2),
        "unroll" => counts(UNROLLS),
        "inside" => words(Inside::WORDS),
        "keys" | "values" => words(Layout::WORDS),
        "packing" => words(Packing::WORDS),
        "scores" => words(Scores::WORDS),
        "maximum" => words(Maximum::WORDS),
        "exponential" => words(Exponential::WORDS),
        "merge" => words(Merge::WORDS),
        "split" => words(Split::WORDS),
        _ => words(Deal::WORDS),
    }
}

fn constrain(builder: &mut Builder, name: &str, e: Extents, isa: Isa) {
    let own = |names: &[&str]| -> Vec<String> { names.iter().map(|short| full(Some(name), short)).collect() };
    for height in ["key_height", "value_height"] {
        builder.rule("registers", own(&["query_panel", height]), move |s| {
            Ok(gemm::registers(isa, s.count(1)?, s.count(0)?))
        });
        builder.rule("kernel-rows", own(&["query_panel", height]), move |s| {
            Ok(rules::kernel_rows(isa, s.count(0)?, s.count(1)?))
        });
    }
    builder.rule("query-blocks", own(&["query_panel", "query_blocks"]), move |s| {
        Ok(rules::query_blocks(s.count(1)?, e.queries, s.count(0)?))
    });
    builder.rule(
        "key-blocks",
        own(&["key_height", "key_splits", "key_blocks"]),
        move |s| Ok(rules::key_blocks(s.count(1)?, s.count(2)?, e.keys, s.count(0)?)),
    );
    builder.rule("merge-complete", own(&["key_splits", "merge"]), |s| {
        Ok(rules::merge_complete(s.word(1, Merge::parse)?, s.count(0)?))
    });
    builder.rule("packing-own", own(&["keys", "values", "packing"]), |s| {
        let packs = [s.word(0, Layout::parse)?, s.word(1, Layout::parse)?] != [Layout::RowMajor; 2];
        Ok(rules::packing_own(s.word(2, Packing::parse)?, packs))
    });
    builder.rule("online-blocks", own(&["key_blocks", "scores"]), |s| {
        Ok(rules::online_blocks(s.word(1, Scores::parse)?, s.count(0)?))
    });
    // Where even the largest block fits, the rule has nothing to look at.
    if u64::from(e.queries) * u64::from(e.keys) > rules::MOST_SCORES / 2 {
        let scope = own(&["query_panel", "query_blocks", "key_splits", "key_blocks", "scores"]);
        builder.rule("scores-size", scope, move |s| {
            let scores = s.word(4, Scores::parse)?;
            Ok(rules::scores_size(
                e,
                s.count(0)?,
                s.count(1)?,
                s.count(2)?,
                s.count(3)?,
                scores,
            ))
        });
    }
}

/// The plan that is taken where nothing is said: the usual kernel of the instruction set with as many rows as leave no last
/// tile half empty, blocks of about 64 queries over whole heads, keys as given, values in
/// panels, all scores kept. Legal for every attention that has a space.
#[must_use]
pub fn default_plan(extents: Extents, settings: &Settings) -> AttentionPlan {
    let query_panel = settings.isa.usual_width();
    // Vectors of queries are held, so a kernel has at least as many rows.
    let rows = |extent: u32| {
        settings
            .isa
            .usual_height(extent)
            .max(query_panel / settings.isa.lanes())
    };
    let most = rules::MOST_SCORES / u64::from(extents.keys.max(1));
    let block = u32::try_from(most.min(64)).unwrap_or(64).max(query_panel);
    let geometry = AttentionGeometry {
        query_blocks: panels(extents.queries, block)
            .clamp(1, MOST_BLOCKS)
            .min(panels(extents.queries, query_panel)),
        key_splits: 1,
        key_blocks: 1,
        query_panel,
        key_height: rows(extents.keys),
        value_height: rows(extents.value_width),
        unroll: 4,
        inside: Inside::Qk,
        keys: Layout::RowMajor,
        values: Layout::Panels,
        packing: Packing::Own,
        scores: Scores::Whole,
        maximum: Maximum::Tile,
        exponential: Exponential::Degree5,
        merge: Merge::Streamed,
        split: Split::Heads,
        deal: Deal::Contiguous,
    };
    AttentionPlan {
        threads: settings.threads,
        geometry,
    }
}
