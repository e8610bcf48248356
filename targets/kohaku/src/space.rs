//! All plans of a workload as parameters and constraints.

use std::sync::Arc;

use planner::space::{Check, Constraint};
use planner::{Assignment, AttentionExtents, Domain, Parameter, Refusal, Space, Value, Workload};

use crate::attention::RULES;
use crate::kernels::{Flash, Mask, Restart, Tiling};
use crate::legal;
use crate::machine::{BANK_ENTRIES, Machine, PART, STAGING_BYTES, VECTOR, WORD};
use crate::options::KohakuOptions;
use crate::plan::{self, AttentionPlan, Tier};
use crate::work::{call, check, stacked};

/// Parts of a vector pass that are offered.
const PARTS: [usize; 6] = [1024, 2048, 4096, PART, 16_384, 32_768];
/// Parts of the keys that are offered.
const KEY_SPLITS: [usize; 4] = [1, 2, 4, 8];
/// Most K blocks of one step that are offered.
const MOST_NK: usize = 8;

fn signed(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn list(values: impl IntoIterator<Item = usize>) -> Domain {
    Domain::List(values.into_iter().map(|n| Value::Integer(signed(n))).collect())
}

fn up_to(most: usize) -> Domain {
    Domain::Range {
        start: 1,
        stop: signed(most),
    }
}

/// The space of a workload.
pub fn space(workload: &Workload, options: &KohakuOptions) -> Result<Space, Refusal> {
    check(workload)?;
    let mut space = Space::default();
    let mut add = |operation: &str, own: &str, domain: Domain, about: &str| {
        space.parameters.push(Parameter {
            name: format!("{operation}.{own}"),
            domain,
            about: about.to_owned(),
        });
    };
    let mut firsts = Vec::new();
    let mut at = 0;
    for operation in plan::planned(workload) {
        firsts.push((operation, at));
        let attention = workload.attentions().find(|(name, _)| *name == operation);
        if let Some((_, e)) = attention {
            add(
                operation,
                "query_block",
                list(divisors(stacked(&e))),
                "query rows of one pass over the keys",
            );
            add(operation, "block", list(blocks()), "keys of one step");
            at += 2;
        }
        let most = BANK_ENTRIES - 1;
        add(
            operation,
            "gm",
            up_to(most),
            "sub-tiles of one instance along the rows of a product",
        );
        add(
            operation,
            "gn",
            up_to(most),
            "sub-tiles of one instance along the columns of a product",
        );
        add(
            operation,
            "nk",
            up_to(MOST_NK),
            "blocks of 32 elements of one step along the summed axis",
        );
        at += 3;
        if let Some((_, e)) = attention {
            add(operation, "part", list(PARTS), "elements of one vector instance");
            let rescales = Domain::List(plan::rescale_words(options.fixed_max));
            add(operation, "rescale", rescales, "where the running result is rescaled");
            let tiers = || Domain::List(plan::tier_words());
            add(operation, "operands", tiers(), "which memory keys and values lie in");
            add(
                operation,
                "temporaries",
                tiers(),
                "which memory scores, weights and partial results lie in",
            );
            add(
                operation,
                "key_splits",
                list(KEY_SPLITS),
                "parts of the keys with a maximum, a sum and a result of their own, merged at the end",
            );
            at += 5;
            if masked(&e) {
                add(
                    operation,
                    "mask",
                    Domain::List(plan::mask_words()),
                    "the table that masks keys: ones, or what is added",
                );
                at += 1;
            }
        }
    }
    for (operation, first) in firsts {
        let attention = workload.attentions().find(|(name, _)| *name == operation);
        match attention {
            Some((_, e)) => space
                .constraints
                .extend(attention_constraints(operation, e, first, options)),
            None => space
                .constraints
                .extend(tile_constraints(operation, first, &options.machine)),
        }
    }
    Ok(space)
}

/// Numbers that divide `n`, ascending.
fn divisors(n: usize) -> Vec<usize> {
    let small: Vec<usize> = (1..=n.isqrt()).filter(|d| n.is_multiple_of(*d)).collect();
    let large = small.iter().rev().map(|d| n / d).filter(|d| d * d > n);
    small.iter().copied().chain(large).collect()
}

/// Rows of a reduction.
fn blocks() -> impl Iterator<Item = usize> {
    (WORD..=VECTOR).step_by(WORD)
}

fn number(value: Option<&&Value>) -> usize {
    value
        .and_then(|v| v.as_integer())
        .and_then(|n| usize::try_from(n).ok())
        .unwrap_or(0)
}

fn rule(
    operation: &str,
    name: &'static str,
    scope: Vec<usize>,
    holds: impl Fn(&[&Value]) -> Result<(), String> + Send + Sync + 'static,
) -> Constraint {
    let operation = operation.to_owned();
    let check: Check = Arc::new(move |values: &[&Value]| {
        holds(values).map_err(|message| Refusal::new(name, format!("`{operation}`: {message}")))
    });
    Constraint {
        rule: name,
        scope,
        check,
    }
}

/// Tile and K blocks, of the numbers that a rule looks at.
type TileOf = fn(&[usize]) -> ((usize, usize), usize);

/// A tile fits an accumulator, and a fill of either side a bank. `first` is the place of `gm`.
fn tile_constraints(operation: &str, first: usize, machine: &Machine) -> Vec<Constraint> {
    let (gm, gn, nk) = (first, first + 1, first + 2);
    let one = |name: &'static str, scope: Vec<usize>, of: TileOf| {
        let machine = machine.clone();
        rule(operation, name, scope, move |values| {
            let numbers: Vec<usize> = values.iter().map(|value| number(Some(value))).collect();
            let (tile, nk) = of(&numbers);
            legal::tile("product", tile, nk, &machine).map_err(|refusal| refusal.message)
        })
    };
    vec![
        one("accumulator", vec![gm, gn], |n| ((n[0], n[1]), 1)),
        one("fill-entries", vec![gm, nk], |n| ((n[0], 1), n[1])),
        one("fill-entries", vec![gn, nk], |n| ((1, n[0]), n[1])),
    ]
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
        operands: Tier::Dram,
        temporaries: Tier::Dram,
        mask: Mask::default(),
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

fn attention_constraints(
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
    for place in [OPERANDS, TEMPORARIES] {
        constraints.push(rule(operation, "staging-address", vec![first + place], move |values| {
            let word = values.first().and_then(|v| v.as_text()).unwrap_or_default();
            if addressed || plan::tier(word) != Some(Tier::Staging) {
                return Ok(());
            }
            Err(
                "the staging memory is built and no address reaches it (`staging = true` asks what if one did)"
                    .to_owned(),
            )
        }));
    }
    let places = [QUERY_BLOCK, BLOCK, OPERANDS, TEMPORARIES]
        .map(|at| first + at)
        .to_vec();
    constraints.push(rule(operation, "staging-bytes", places, move |values| {
        staging(&e, values)
    }));
    constraints
}

/// Bytes of what is put into staging memory: keys and values of all heads, and three temporaries of one pass.
fn staging(e: &AttentionExtents, values: &[&Value]) -> Result<(), String> {
    let flash = with(e, &[QUERY_BLOCK, BLOCK], values);
    let staged = |at: usize| values.get(at).and_then(|v| v.as_text()).and_then(plan::tier) == Some(Tier::Staging);
    let bytes = |elements: usize| 2 * (elements * flash.heads) as u64;
    let operands = bytes(flash.padded_keys * (flash.width + flash.value_width));
    let temporaries = bytes(flash.query_block * (2 * flash.block + flash.value_width));
    let all = if staged(2) { operands } else { 0 } + if staged(3) { temporaries } else { 0 };
    if all <= STAGING_BYTES {
        return Ok(());
    }
    Err(format!(
        "{all} bytes of staging memory (keys and values {operands}, temporaries {temporaries}), there are {STAGING_BYTES}"
    ))
}

/// One value for every parameter: the published default where the rules allow it.
pub fn defaults(workload: &Workload, options: &KohakuOptions) -> Result<Assignment, Refusal> {
    check(workload)?;
    let mut plan = Assignment::new();
    for operation in plan::planned(workload) {
        let mut set = |own: &str, value: Value| plan.set(&format!("{operation}.{own}"), value);
        let number = |n: usize| Value::Integer(signed(n));
        let mut tile = (8, 8, 2);
        if let Some((_, e)) = workload.attentions().find(|(name, _)| *name == operation) {
            let (rows, block) = (stacked(&e), default_block(&e));
            let query_block = if e.causal && rows.is_multiple_of(block) {
                block
            } else {
                rows
            };
            set("query_block", number(query_block));
            set("block", number(block));
            tile = default_tile(query_block, block);
            set("part", number(PART));
            set("rescale", Value::text("accumulate"));
            set("operands", Value::text("dram"));
            set("temporaries", Value::text("dram"));
            set("key_splits", number(1));
            if masked(&e) {
                set("mask", Value::text("ones"));
            }
        }
        set("gm", number(tile.0));
        set("gn", number(tile.1));
        set("nk", number(tile.2));
    }
    space(workload, options)?.ordered(&plan)
}

/// Whether the default key block leaves a tail, or queries don't see all keys. (Legal key blocks are as wide as a value.)
fn masked(e: &AttentionExtents) -> bool {
    e.causal || !crate::work::extent(e.keys).is_multiple_of(default_block(e))
}

/// The key block of the width of a value, or the largest there is.
fn default_block(e: &AttentionExtents) -> usize {
    let width = crate::work::extent(e.value_width);
    blocks().find(|block| *block == width).unwrap_or(VECTOR)
}

/// The largest of the published sizes that match rows and columns.
fn default_tile(query_block: usize, block: usize) -> (usize, usize, usize) {
    let fitting = |n: usize, unit: usize| {
        [8, 4, 2]
            .into_iter()
            .find(|size| n.is_multiple_of(unit * size))
            .unwrap_or(1)
    };
    let nk = if block.is_multiple_of(64) { 2 } else { 1 };
    (fitting(query_block, 4), fitting(block, 4), nk)
}
