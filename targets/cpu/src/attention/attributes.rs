//! An attention plan as named attributes.

use planner::{Attributes, Refusal, Value};

use super::geometry::{
    AttentionGeometry, AttentionPlan, Exponential, Inside, Layout, Maximum, Merge, Packing, Scores, Split,
};
use crate::attributes::{THREADS, count, word};
use crate::geometry::Deal;

/// Attributes in order, with one sentence each; they are called `<operation>.<attribute>`.
pub const ATTRIBUTES: [(&str, &str); 17] = [
    ("query_blocks", "blocks of the queries of a head: a task is one of them"),
    (
        "key_splits",
        "ranges of keys with a softmax of their own, merged afterwards",
    ),
    ("key_blocks", "blocks of the keys of one split"),
    ("query_panel", "queries of one vector panel: columns of both kernels"),
    ("key_height", "rows (keys) of the kernel that computes scores"),
    (
        "value_height",
        "rows (columns of values) of the kernel that computes results",
    ),
    ("unroll", "inner steps per iteration of both kernels' loops"),
    (
        "inside",
        "loops inside a block: `qk` queries outer, keys and values stream; `kq` the reverse",
    ),
    (
        "keys",
        "byte order of the keys: `row-major` as given, `panels` of the kernel's rows, or `transposed`",
    ),
    ("values", "byte order of the values: the same words"),
    (
        "packing",
        "when keys and values are packed, always inside the timed span: all `ahead`, or each worker its `own` head by head",
    ),
    (
        "scores",
        "what is kept of the scores: `whole` (all keys of a split), or one block of an `online` softmax",
    ),
    (
        "maximum",
        "where the largest score is found: on the `tile` in registers, or in a `pass`",
    ),
    (
        "exponential",
        "polynomial of 2^x: `degree-4`, `degree-5` or `degree-6`, relative error 2.7e-6, 2.4e-7, 2.2e-7 in float32",
    ),
    (
        "merge",
        "when key splits are merged: `streamed` one after another, or all at once when `complete`",
    ),
    (
        "split",
        "what a worker owns in contiguous runs of tasks: `heads` or `queries`",
    ),
    ("deal", "how tasks are dealt to workers: `contiguous` or `round-robin`"),
];

/// The sentence about an attribute; empty for one that is none.
#[must_use]
pub fn about(name: &str) -> &'static str {
    let found = ATTRIBUTES.iter().find(|(own, _)| *own == name);
    found.map_or("", |(_, about)| about)
}

/// The value of each attribute, in the order of [`ATTRIBUTES`], by its short name.
#[must_use]
pub fn values(geometry: &AttentionGeometry) -> [(&'static str, Value); 17] {
    let g = geometry;
    [
        ("query_blocks", g.query_blocks.into()),
        ("key_splits", g.key_splits.into()),
        ("key_blocks", g.key_blocks.into()),
        ("query_panel", g.query_panel.into()),
        ("key_height", g.key_height.into()),
        ("value_height", g.value_height.into()),
        ("unroll", g.unroll.into()),
        ("inside", Value::text(g.inside.word())),
        ("keys", Value::text(g.keys.word())),
        ("values", Value::text(g.values.word())),
        ("packing", Value::text(g.packing.word())),
        ("scores", Value::text(g.scores.word())),
        ("maximum", Value::text(g.maximum.word())),
        ("exponential", Value::text(g.exponential.word())),
        ("merge", Value::text(g.merge.word())),
        ("split", Value::text(g.split.word())),
        ("deal", Value::text(g.deal.word())),
    ]
}

/// All attributes of a plan: those of its operation, then `threads`.
#[must_use]
pub fn plan_attributes(operation: &str, plan: &AttentionPlan) -> Attributes {
    let own = values(&plan.geometry).map(|(name, value)| (format!("{operation}.{name}"), value));
    own.into_iter()
        .chain([(THREADS.to_owned(), plan.threads.into())])
        .collect()
}

fn read<T>(
    found: Result<(String, &Value), Refusal>,
    parse: fn(&str) -> Option<T>,
    words: &[&str],
) -> Result<T, Refusal> {
    found.and_then(|(name, value)| word(&name, value, parse, words))
}

/// Reads the geometry of `operation`; fails with the rule `missing-attribute` or `attribute-value`.
pub fn geometry_from(operation: &str, attributes: &Attributes) -> Result<AttentionGeometry, Refusal> {
    let get = |short: &str| {
        let name = format!("{operation}.{short}");
        let missing = Refusal::new("missing-attribute", format!("`{name}` is not given"));
        attributes.get(&name).ok_or(missing).map(|value| (name, value))
    };
    let counted = |short: &str| get(short).and_then(|(name, value)| count(&name, value));
    Ok(AttentionGeometry {
        query_blocks: counted("query_blocks")?,
        key_splits: counted("key_splits")?,
        key_blocks: counted("key_blocks")?,
        query_panel: counted("query_panel")?,
        key_height: counted("key_height")?,
        value_height: counted("value_height")?,
        unroll: counted("unroll")?,
        inside: read(get("inside"), Inside::parse, Inside::WORDS)?,
        keys: read(get("keys"), Layout::parse, Layout::WORDS)?,
        values: read(get("values"), Layout::parse, Layout::WORDS)?,
        packing: read(get("packing"), Packing::parse, Packing::WORDS)?,
        scores: read(get("scores"), Scores::parse, Scores::WORDS)?,
        maximum: read(get("maximum"), Maximum::parse, Maximum::WORDS)?,
        exponential: read(get("exponential"), Exponential::parse, Exponential::WORDS)?,
        merge: read(get("merge"), Merge::parse, Merge::WORDS)?,
        split: read(get("split"), Split::parse, Split::WORDS)?,
        deal: read(get("deal"), Deal::parse, Deal::WORDS)?,
    })
}

/// Reads a plan; `threads` holds where the attribute is not given.
pub fn plan_from(operation: &str, attributes: &Attributes, threads: u32) -> Result<AttentionPlan, Refusal> {
    let own = attributes.get(THREADS);
    Ok(AttentionPlan {
        threads: own.map_or(Ok(threads), |value| count(THREADS, value))?,
        geometry: geometry_from(operation, attributes)?,
    })
}
