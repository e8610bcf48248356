//! All plans of a workload as parameters and constraints.
//!
//! The constraints are rules of ownership that look at few parameters. Whether owners share a sum as they may, whether a
//! plan fits, and whether it can be exchanged is decided when it is built: the published sweep contains plans that its
//! compiler rejected, and those are results too.

use std::sync::Arc;

use planner::space::{Check, Constraint};
use planner::{Domain, GemmExtents, Parameter, Refusal, Space, Value, Workload};

use crate::attributes::MAPPING;
use crate::device::{PANEL, ROW_BLOCK, TILES};
use crate::geometry::Orientation;
use crate::legal::derived_width;
use crate::program::chain;
use crate::screen::MOST_INNER;
use crate::shards::{local_inner, oriented};
use crate::text::parse_orientation;

/// Largest bounded reduction stage that is offered.
const MOST_BATCH: usize = 32;
/// Mappings that are offered: the identity, and those of the published alternatives.
const MAPPINGS: [&str; 14] = [
    "identity",
    "transpose:2",
    "transpose:4",
    "transpose:16",
    "transpose:32",
    "transpose:46",
    "transpose:92",
    "transpose:184",
    "transpose:368",
    "block:368:92",
    "block:368:4",
    "block:360:24",
    "block:360:15",
    "block:92:2",
];

fn signed(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn range(start: usize, stop: usize) -> Domain {
    Domain::Range {
        start: signed(start),
        stop: signed(stop),
    }
}

fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Domain {
    Domain::List(words.into_iter().map(Value::text).collect())
}

/// The space of a workload.
pub fn space(workload: &Workload) -> Result<Space, Refusal> {
    let mut space = Space::default();
    for (operation, extents, _) in chain(workload)? {
        product(&mut space, operation, extents);
    }
    space.parameters.push(Parameter {
        name: MAPPING.to_owned(),
        domain: words(MAPPINGS),
        about: "where planned tiles lie: `transpose:W` and `block:B:W` turn groups of tiles around".to_owned(),
    });
    Ok(space)
}

fn product(space: &mut Space, operation: &str, extents: GemmExtents) {
    let first = space.parameters.len();
    let [m, _, n] = oriented(extents, Orientation::Normal);
    let mut widths: Vec<usize> = [m, n]
        .iter()
        .flat_map(|&extent| (1..=extent.div_ceil(PANEL)).map(move |parts| derived_width(extent, parts)))
        .collect();
    widths.sort_unstable();
    widths.dedup();
    let whole = |numbers: Vec<usize>| Domain::List(numbers.into_iter().map(|n| Value::Integer(signed(n))).collect());
    let batches: Vec<String> = (1..=MOST_BATCH).map(|n| format!("batch-{n}")).collect();
    let staging = ["complete", "streamed"]
        .into_iter()
        .chain(batches.iter().map(String::as_str));
    let parameters: [(&str, Domain, &str); 10] = [
        ("rows", range(1, TILES / 2), "partitions of the rows"),
        ("columns", range(1, TILES / 2), "partitions of the columns"),
        (
            "inner",
            // More than there are panels leave the last partition empty: a rule, so that one definition serves all extents.
            range(2, MOST_INNER),
            "partitions of the axis that is summed over",
        ),
        (
            "result_rows",
            range(1, MOST_INNER),
            "owners of a sum along the rows of one partition",
        ),
        (
            "result_columns",
            range(1, MOST_INNER),
            "owners of a sum along the columns of one partition",
        ),
        (
            "width",
            whole(widths),
            "local columns of the kernel; follows from the columns",
        ),
        (
            "memory",
            words(["interleaved", "standard"]),
            "where the resident weights lie",
        ),
        (
            "orientation",
            words(["normal", "swapped"]),
            "whether activations or weights are the left operand",
        ),
        (
            "reduction",
            words(staging),
            "how many remote partials arrive in one phase",
        ),
        (
            "local",
            words(["direct", "match-remote"]),
            "whether a weight shard that is already there is read in place",
        ),
    ];
    for (own, domain, about) in parameters {
        space.parameters.push(Parameter {
            name: format!("{operation}.{own}"),
            domain,
            about: about.to_owned(),
        });
    }
    space.constraints.extend(constraints(operation, extents, first));
}

/// Places of the parameters behind the product's first one.
const ROWS: usize = 0;
const COLUMNS: usize = 1;
const INNER: usize = 2;
const RESULT_ROWS: usize = 3;
const WIDTH: usize = 5;
const ORIENTATION: usize = 7;
const LOCAL: usize = 9;

fn constraints(operation: &str, extents: GemmExtents, first: usize) -> Vec<Constraint> {
    let rule = |rule: &'static str, own: &[usize], holds: Holds| {
        let operation = operation.to_owned();
        let check: Check = Arc::new(move |values: &[&Value]| {
            holds(extents, values).map_err(|message| Refusal::new(rule, format!("`{operation}`: {message}")))
        });
        Constraint {
            rule,
            scope: own.iter().map(|at| first + at).collect(),
            check,
        }
    };
    vec![
        // The pairs follow from all three; they cut most of the space off early.
        rule("tiles", &[ROWS, COLUMNS], tiles),
        rule("tiles", &[ROWS, INNER], tiles),
        rule("tiles", &[COLUMNS, INNER], tiles),
        rule("tiles", &[ROWS, COLUMNS, INNER], tiles),
        rule("empty-inner", &[INNER], empty_inner),
        rule("column-partitions", &[COLUMNS, ORIENTATION], column_partitions),
        rule("width", &[COLUMNS, WIDTH, ORIENTATION], width),
        rule("exchange-rows", &[ROWS, RESULT_ROWS, ORIENTATION], exchange_rows),
        rule("local", &[ORIENTATION, LOCAL], local),
    ]
}

type Holds = fn(GemmExtents, &[&Value]) -> Result<(), String>;

fn number(value: Option<&&Value>) -> usize {
    value
        .and_then(|v| v.as_integer())
        .and_then(|n| usize::try_from(n).ok())
        .unwrap_or(0)
}

fn word<'a>(value: Option<&&'a Value>) -> &'a str {
    value.and_then(|v| v.as_text()).unwrap_or_default()
}

/// Rows and columns as the matrix unit sees them.
fn axes(extents: GemmExtents, orientation: Option<&&Value>) -> [usize; 2] {
    let orientation = parse_orientation(word(orientation)).unwrap_or(Orientation::Normal);
    let [m, _, n] = oriented(extents, orientation);
    [m, n]
}

fn hold(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

fn tiles(_: GemmExtents, values: &[&Value]) -> Result<(), String> {
    let parts: Vec<usize> = values.iter().map(|value| number(Some(value))).collect();
    let all = parts.iter().product::<usize>();
    hold(all <= TILES, || {
        let grid: Vec<String> = parts.iter().map(ToString::to_string).collect();
        format!("{} partitions need {all} tiles of {TILES}", grid.join(" x "))
    })
}

fn empty_inner(extents: GemmExtents, values: &[&Value]) -> Result<(), String> {
    let [_, k, _] = oriented(extents, Orientation::Normal);
    let inner = number(values.first());
    let local = local_inner(k, inner.max(1));
    hold(inner > 0 && (inner - 1) * local < k, || {
        format!("{inner} inner partitions of {local} elements leave the last one empty: there are {k}")
    })
}

fn column_partitions(extents: GemmExtents, values: &[&Value]) -> Result<(), String> {
    let (columns, groups) = (number(values.first()), axes(extents, values.get(1))[1].div_ceil(PANEL));
    hold(columns <= groups, || {
        format!("{columns} column partitions of {groups} groups of {PANEL} columns")
    })
}

fn width(extents: GemmExtents, values: &[&Value]) -> Result<(), String> {
    let (columns, width) = (number(values.first()), number(values.get(1)));
    let derived = derived_width(axes(extents, values.get(2))[1], columns.max(1));
    hold(width == derived, || {
        format!("{width} local columns, {columns} partitions give {derived}")
    })
}

fn exchange_rows(extents: GemmExtents, values: &[&Value]) -> Result<(), String> {
    let (rows, factor) = (number(values.first()), number(values.get(1)));
    let blocks = axes(extents, values.get(2))[0].div_ceil(ROW_BLOCK);
    hold(rows * factor <= blocks, || {
        format!("{rows} x {factor} row partitions of the result, there are {blocks} blocks of {ROW_BLOCK} rows")
    })
}

fn local(_: GemmExtents, values: &[&Value]) -> Result<(), String> {
    let (orientation, local) = (word(values.first()), word(values.get(1)));
    hold(orientation == "swapped" || local == "direct", || {
        "match-remote is only there for the swapped orientation".to_owned()
    })
}
