//! All plans of a workload as parameters and constraints.

mod attention;

use std::sync::Arc;

use planner::space::{Check, Constraint};
use planner::{Assignment, AttentionExtents, Domain, Parameter, Refusal, Space, Value, Workload};

use crate::legal;
use crate::machine::{BANK_ENTRIES, Machine, PART, VECTOR, WORD};
use crate::options::KohakuOptions;
use crate::plan;
use crate::work::{check, extent, stacked};

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

/// A parameter of one operation: its name there, what it may be, what it means.
type Own = (&'static str, Domain, &'static str);

/// The tile of a product and its steps.
fn tile_parameters() -> [Own; 3] {
    let most = BANK_ENTRIES - 1;
    [
        (
            "gm",
            up_to(most),
            "sub-tiles of one instance along the rows of a product",
        ),
        (
            "gn",
            up_to(most),
            "sub-tiles of one instance along the columns of a product",
        ),
        (
            "nk",
            up_to(MOST_NK),
            "blocks of 32 elements of one step along the summed axis",
        ),
    ]
}

/// The space of a workload.
pub fn space(workload: &Workload, options: &KohakuOptions) -> Result<Space, Refusal> {
    check(workload)?;
    let mut space = Space::default();
    for operation in plan::planned(workload) {
        let first = space.parameters.len();
        let attention = workload.attentions().find(|(name, _)| *name == operation);
        let (parameters, constraints) = match attention {
            Some((_, e)) => (
                attention::parameters(&e, options),
                attention::constraints(operation, e, first, options),
            ),
            None => (
                tile_parameters().into(),
                tile_constraints(operation, first, &options.machine),
            ),
        };
        let named = |(own, domain, about): Own| Parameter {
            name: format!("{operation}.{own}"),
            domain,
            about: about.to_owned(),
        };
        space.parameters.extend(parameters.into_iter().map(named));
        space.constraints.extend(constraints);
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
            set("head_block", number(extent(e.kv_heads)));
            set("values", Value::text("transposed"));
            set("deal", Value::text("contiguous"));
            set("state", Value::text("dram"));
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
    e.causal || !extent(e.keys).is_multiple_of(default_block(e))
}

/// The key block of the width of a value, or the largest there is.
fn default_block(e: &AttentionExtents) -> usize {
    let width = extent(e.value_width);
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
