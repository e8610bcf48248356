//! Rules of one product by itself.

use crate::blocks::panels;
use crate::facts::grain;
use crate::geometry::{Activation, Activations, GemmGeometry, Output, Staging};
use crate::isa::Isa;
use crate::problem::{Extents, InputLayout};
use crate::rules::{Verdict, between, refuse_if};
use crate::schedule::{computed, dealt_tiles};

/// Tiles that one schedule may have: each is a line of the table in the source.
pub const MOST_TILES: u64 = 65_536;
/// Multiplications and additions that one iteration may unroll to: beyond this a kernel is no longer compiled in a second.
pub const MOST_UNROLLED: u64 = 4096;

/// `positive`: no count or size is zero.
#[must_use]
pub fn positive(name: &str, value: u32) -> Verdict {
    refuse_if(value == 0, "positive", || {
        format!("`{name}` is 0, it must be at least 1")
    })
}

/// `width-lanes`: the micro-kernel's width is a whole number of vectors.
#[must_use]
pub fn width_lanes(isa: Isa, width: u32) -> Verdict {
    refuse_if(width == 0 || !width.is_multiple_of(isa.lanes()), "width-lanes", || {
        format!(
            "width {width} is no multiple of the {} floats of one {isa} vector",
            isa.lanes()
        )
    })
}

/// `registers`: accumulators, the held operand and one streaming value fit the vector registers.
#[must_use]
pub fn registers(isa: Isa, height: u32, width: u32) -> Verdict {
    let needed = isa.needed(height, width);
    refuse_if(needed > u64::from(isa.registers()), "registers", || {
        format!(
            "a {height} x {width} kernel needs {needed} vector registers, {isa} has {}",
            isa.registers()
        )
    })
}

/// `unroll`: one iteration stays compilable.
#[must_use]
pub fn unroll(isa: Isa, height: u32, width: u32, steps: u32) -> Verdict {
    let unrolled = u64::from(height) * u64::from(width / isa.lanes()) * u64::from(steps);
    refuse_if(unrolled > MOST_UNROLLED, "unroll", || {
        format!(
            "{steps} unrolled steps of {height} x {width} are {unrolled} vector operations, more than {MOST_UNROLLED}"
        )
    })
}

/// `blocks`: no block is empty. `axis` is `rows`, `columns` or `inner`; `size` the panel or grain.
#[must_use]
pub fn blocks(axis: &'static str, parts: u32, extent: u32, size: u32) -> Verdict {
    let rule = match axis {
        "rows" => "blocks-rows",
        "columns" => "blocks-columns",
        _ => "blocks-inner",
    };
    let count = panels(extent, size.max(1));
    refuse_if(parts > count, rule, || {
        format!("{parts} {axis} blocks over {extent}: only {count} panels of {size}, so some would be empty")
    })
}

/// `batch`: a batch is smaller than the number of inner blocks.
#[must_use]
pub fn batch(staging: Staging, inner: u32) -> Verdict {
    match staging {
        Staging::Batch(n) => refuse_if(n == 0 || n >= inner, "batch", || {
            format!("batch-{n} needs more than {n} inner blocks, there are {inner} (all at once is `complete`)")
        }),
        Staging::Streamed | Staging::Complete => None,
    }
}

/// `result-streamed`: streamed sums have no reduction to deal.
#[must_use]
pub fn result_streamed(staging: Staging, result_rows: u32, result_columns: u32) -> Verdict {
    refuse_if(
        staging == Staging::Streamed && (result_rows, result_columns) != (1, 1),
        "result-streamed",
        || format!("streamed sums have no reduction: result factors must be 1x1, not {result_rows}x{result_columns}"),
    )
}

/// `result-inner`: each shard has an inner block whose worker owns it.
#[must_use]
pub fn result_inner(result_rows: u32, result_columns: u32, inner: u32) -> Verdict {
    let shards = u64::from(result_rows) * u64::from(result_columns);
    refuse_if(shards > u64::from(inner), "result-inner", || {
        format!(
            "result factors {result_rows}x{result_columns} make {shards} shards of a block, only {inner} inner blocks own them"
        )
    })
}

/// `result-panels`: a factor does not exceed the panels of the smallest block along its axis.
#[must_use]
pub fn result_panels(axis: &'static str, factor: u32, parts: u32, extent: u32, size: u32) -> Verdict {
    let smallest = panels(extent, size.max(1)) / parts.max(1);
    refuse_if(factor > smallest.max(1), "result-panels", || {
        format!("result factor {factor} over {axis}: the smallest block has only {smallest} panels")
    })
}

/// `transpose`: the tile mapping is a bijection.
#[must_use]
pub fn transpose(transpose: u32, tiles: u64) -> Verdict {
    refuse_if(
        transpose == 0 || !tiles.is_multiple_of(u64::from(transpose)),
        "transpose",
        || format!("transpose {transpose} does not divide the {tiles} tiles that are dealt"),
    )
}

/// `tiles`: the schedule is small enough to stand in the source.
#[must_use]
pub fn tiles(rows: u32, columns: u32, inner: u32) -> Verdict {
    let tiles = u128::from(rows) * u128::from(columns) * u128::from(inner);
    refuse_if(tiles > u128::from(MOST_TILES), "tiles", || {
        format!("{rows} x {columns} x {inner} blocks are {tiles} tiles, more than {MOST_TILES}")
    })
}

/// `activation`: the geometry names a step exactly where the workload has one.
#[must_use]
pub fn activation(workload_has_one: bool, activation: Option<Activation>) -> Verdict {
    refuse_if(workload_has_one != activation.is_some(), "activation", || {
        if workload_has_one {
            "the workload has an element-wise step after this product, the geometry does not say how to run it"
                .to_owned()
        } else {
            "the workload has no element-wise step after this product, but the geometry names one".to_owned()
        }
    })
}

/// `output-last`: the last product writes rows.
#[must_use]
pub fn output_last(is_last: bool, output: Output) -> Verdict {
    refuse_if(is_last && output != Output::RowMajor, "output-last", || {
        format!("the last product writes rows, `{output}` would leave its result where nobody reads it")
    })
}

/// Every rule of one product, in a fixed order; the first that is broken.
///
/// `is_last` and `activated` come from the workload, `input` from the product before.
#[must_use]
pub fn first_broken(
    isa: Isa,
    extents: Extents,
    geometry: &GemmGeometry,
    input: InputLayout,
    is_last: bool,
    activated: bool,
) -> Verdict {
    let g = geometry;
    let counts = [
        ("rows", g.rows),
        ("columns", g.columns),
        ("inner", g.inner),
        ("height", g.height),
        ("width", g.width),
        ("unroll", g.unroll),
        ("result_rows", g.result_rows),
        ("result_columns", g.result_columns),
        ("transpose", g.transpose),
    ];
    let (rows, columns) = computed(extents, g.orientation);
    let grain = grain(g, input);
    counts
        .into_iter()
        .find_map(|(name, value)| positive(name, value))
        .or_else(|| width_lanes(isa, g.width))
        .or_else(|| registers(isa, g.height, g.width))
        .or_else(|| unroll(isa, g.height, g.width, grain))
        .or_else(|| blocks("rows", g.rows, rows, g.height))
        .or_else(|| blocks("columns", g.columns, columns, g.width))
        .or_else(|| blocks("inner", g.inner, extents.inner, grain))
        .or_else(|| tiles(g.rows, g.columns, g.inner))
        .or_else(|| batch(g.staging, g.inner))
        .or_else(|| result_streamed(g.staging, g.result_rows, g.result_columns))
        .or_else(|| result_inner(g.result_rows, g.result_columns, g.inner))
        .or_else(|| result_panels("rows", g.result_rows, g.rows, rows, g.height))
        .or_else(|| result_panels("columns", g.result_columns, g.columns, columns, g.width))
        .or_else(|| transpose(g.transpose, dealt_tiles(g)))
        .or_else(|| activation(activated, g.activation))
        .or_else(|| output_last(is_last, g.output))
        .or_else(|| between::tiles_output(g.orientation, g.output))
        .or_else(|| between::in_place(g.orientation, g.activations == Activations::InPlace, input))
        .or_else(|| between::packed(g.activations == Activations::Packed, input))
        .or_else(|| between::panels_extent(g, input))
        .or_else(|| between::tiles_input(g, input))
}
