//! The parameters of an attention, and what they must keep by the rules of its kernel.

use planner::space::Constraint;
use planner::{AttentionExtents, Domain, Value};

use super::{Own, blocks, divisors, list, masked, number, rule, signed, tile_constraints, tile_parameters};
use crate::attention::RULES;
use crate::kernels::{Flash, Mask, Restart, Tiling, ValueOrder};
use crate::machine::{PART, STAGING_BYTES, VECTOR};
use crate::options::KohakuOptions;
use crate::plan::{self, AttentionPlan, Deal};
use crate::tiers::{DRAM, GROUPS, Group, Staged};
use crate::work::{call, extent, stacked};

/// Parts of a vector pass that are offered.
const PARTS: [usize; 6] = [1024, 2048, 4096, PART, 16_384, 32_768];
/// Parts of the keys that are offered.
const KEY_SPLITS: [usize; 4] = [1, 2, 4, 8];

/// The parameters of an attention, in the order that the places below count.
pub(super) fn parameters(e: &AttentionExtents, options: &KohakuOptions) -> Vec<Own> {
    let tier = |group: &'static Group| (group.attribute, Domain::List(group.words()), group.about);
    let mut all: Vec<Own> = vec![
        (
            "query_block",
            list(divisors(stacked(e))),
            "query rows of one pass over the keys",
        ),
        ("block", list(blocks()), "keys of one step"),
    ];
    all.extend(tile_parameters());
    all.extend([
        ("part", list(PARTS), "elements of one vector instance"),
        (
            "rescale",
            Domain::List(plan::rescale_words(options.fixed_max)),
            "where the running result is rescaled",
        ),
        tier(&GROUPS[0]),
        tier(&GROUPS[1]),
        (
            "key_splits",
            list(KEY_SPLITS),
            "parts of the keys with a maximum, a sum and a result of their own, merged at the end",
        ),
        (
            "head_block",
            list(divisors(extent(e.kv_heads))),
            "heads of one group, which goes through all passes before the next one begins",
        ),
        (
            "values",
            Domain::List(plan::value_words()),
            "order in which the caller has the values: `transposed` as clusters are filled, in `-rows`, or in `-tiles` (no call \
             takes them); `row-major` by key, turned in the call",
        ),
        (
            "deal",
            Domain::List(plan::deal_words()),
            "how the instances of a stage, heads slowest, are dealt to units: `contiguous` is all that the machine does",
        ),
    ]);
    all.push(tier(&GROUPS[2]));
    if masked(e) {
        all.push((
            "mask",
            Domain::List(plan::mask_words()),
            "the table that masks keys: ones, or what is added",
        ));
    }
    all
}

/// What a rule of the attention kernel looks at, as places behind the first parameter.
fn scope_of(name: &str) -> &'static [usize] {
    match name {
        "query-blocks" => &[QUERY_BLOCK],
        "row-tiles" => &[QUERY_BLOCK, GM],
        "column-tiles" => &[BLOCK, GN],
        "chunks" => &[BLOCK, NK],
        "key-splits" => &[BLOCK, KEY_SPLIT],
        "causal-block" => &[QUERY_BLOCK, BLOCK],
        "head-blocks" => &[HEAD_BLOCK],
        "value-order" => &[VALUES],
        _ => &[BLOCK],
    }
}

const QUERY_BLOCK: usize = 0;
const BLOCK: usize = 1;
const GM: usize = 2;
const GN: usize = 3;
const NK: usize = 4;
const OPERANDS: usize = 7;
const TEMPORARIES: usize = 8;
const KEY_SPLIT: usize = 9;
const HEAD_BLOCK: usize = 10;
const VALUES: usize = 11;
const DEAL: usize = 12;
const STATE: usize = 13;
/// The places of [`GROUPS`].
const TIERS: [usize; GROUPS.len()] = [OPERANDS, TEMPORARIES, STATE];

/// A call in which only what a rule looks at matters.
fn neutral(e: &AttentionExtents) -> Flash {
    let plan = AttentionPlan {
        block: VECTOR,
        query_block: stacked(e),
        key_splits: 1,
        tiling: Tiling {
            tile: (1, 1),
            nk: 1,
            part: PART,
        },
        rescale: Restart::Accumulate,
        staged: Staged::default(),
        mask: Mask::default(),
        head_block: None,
        values: ValueOrder::default(),
        deal: Deal::default(),
    };
    call(e, &plan)
}

fn with(e: &AttentionExtents, scope: &[usize], values: &[&Value]) -> Flash {
    let mut flash = neutral(e);
    for (at, value) in scope.iter().zip(values) {
        let n = number(Some(value));
        match *at {
            QUERY_BLOCK => flash.query_block = n,
            KEY_SPLIT => flash.key_splits = n.max(1),
            HEAD_BLOCK => flash.head_block = n,
            VALUES => flash.values = value.as_text().and_then(plan::value_order).unwrap_or_default(),
            BLOCK => {
                flash.block = n;
                flash.padded_keys = flash.keys.next_multiple_of(n.max(1));
            }
            GM => flash.tile.0 = n,
            GN => flash.tile.1 = n,
            _ => flash.nk = n,
        }
    }
    flash
}

pub(super) fn constraints(
    operation: &str,
    e: AttentionExtents,
    first: usize,
    options: &KohakuOptions,
) -> Vec<Constraint> {
    let mut constraints = tile_constraints(operation, first + GM, &options.machine);
    for known in RULES {
        let scope = scope_of(known.name);
        // A rule that no key block satisfies is the workload's own affair: its plans are rejected when they are built.
        let hopeless = scope == [BLOCK]
            && blocks().all(|block| (known.holds)(&with(&e, scope, &[&Value::Integer(signed(block))])).is_err());
        if hopeless {
            continue;
        }
        let places = scope.iter().map(|at| first + at).collect();
        constraints.push(rule(operation, known.name, places, move |values| {
            (known.holds)(&with(&e, scope, values))
        }));
    }
    let addressed = options.machine.staging;
    for place in TIERS {
        constraints.push(rule(operation, "staging-address", vec![first + place], move |values| {
            let word = values.first().and_then(|v| v.as_text()).unwrap_or_default();
            if addressed || word == DRAM {
                return Ok(());
            }
            Err(
                "the staging memory is built and no address reaches it (`staging = true` asks what if one did)"
                    .to_owned(),
            )
        }));
    }
    constraints.push(rule(operation, "dealing", vec![first + DEAL], |values| {
        let word = values.first().and_then(|v| v.as_text()).unwrap_or_default();
        plan::check_deal(plan::deal(word).unwrap_or_default())
    }));
    let places = SIZES.iter().chain(&TIERS).map(|at| first + at).collect();
    constraints.push(rule(operation, "staging-bytes", places, move |values| {
        staging(&e, values)
    }));
    constraints
}

/// What sizes of buffers follow from.
const SIZES: [usize; 4] = [QUERY_BLOCK, BLOCK, KEY_SPLIT, HEAD_BLOCK];

/// Bytes of what is put into staging memory: keys and values of a group of heads, and the rest of one pass. `values` are
/// those of [`SIZES`] and [`TIERS`].
fn staging(e: &AttentionExtents, values: &[&Value]) -> Result<(), String> {
    let (sizes, tiers) = values.split_at(SIZES.len().min(values.len()));
    let flash = with(e, &SIZES, sizes);
    let word = |at: usize| tiers.get(at).and_then(|v| v.as_text()).unwrap_or_default();
    // What is no word of its group is refused by its domain.
    let Ok(staged) = Staged::parse(std::array::from_fn(word)) else {
        return Ok(());
    };
    let elements = |name: &str| match name {
        "q" => flash.query_block * flash.width,
        "k" => flash.padded_keys * flash.width,
        "v" => flash.padded_keys * flash.value_width,
        "part_o" => flash.query_block * flash.value_width,
        // Maximum, sum and correction are as wide as scores.
        "state" => flash.key_splits * flash.query_block * (3 * flash.block + flash.value_width),
        _ => flash.query_block * flash.block,
    };
    let each: Vec<(&str, u64)> = staged
        .names()
        .into_iter()
        .map(|name| (name, 2 * (elements(name) * flash.head_block) as u64))
        .collect();
    let all: u64 = each.iter().map(|(_, bytes)| bytes).sum();
    if all <= STAGING_BYTES {
        return Ok(());
    }
    let each: Vec<String> = each.iter().map(|(name, bytes)| format!("{name} {bytes}")).collect();
    Err(format!(
        "{all} bytes of staging memory ({}), there are {STAGING_BYTES}",
        each.join(", ")
    ))
}
