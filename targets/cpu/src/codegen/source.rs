//! One object's source, from header comment to descriptor.

use std::fmt::Write as _;

use crate::codegen::activation::{activate, gelu, gelu_tile, vector_preamble};
use crate::codegen::group::group_macro;
use crate::codegen::kernel::{Variant, kernel};
use crate::codegen::loops::{block, compute, partial_tile, prefetch_result};
use crate::codegen::pack::{load_weights, pack};
use crate::codegen::reduce::reduce;
use crate::codegen::store::{accumulates, panel_function, result_functions};
use crate::codegen::tables::tables;
use crate::facts::{Facts, GemmContext};
use crate::geometry::{Activation, GemmGeometry};
use crate::problem::InputLayout;

/// The C source of one product (`gemm.c`): a pure function of instruction set, threads, extents, geometry and input.
///
/// The geometry must be legal (see [`crate::rules`]).
#[must_use]
pub fn gemm_source(context: &GemmContext<'_>) -> String {
    let facts = Facts::new(*context);
    let mut c = header(&facts);
    c.push_str("#include \"layout_sweep.h\"\n\n");
    c.push_str(&vector_preamble(context.isa));
    c.push_str("/* Keep a value in a vector register, an address in one of its own. */\n");
    c.push_str("#define PIN(x) __asm__(\"\" : \"+\" LS_VECTOR(x))\n");
    c.push_str("#define PIN_ADDRESS(x) __asm__(\"\" : \"+r\"(x))\n\n");
    if facts.segments > 1 {
        c.push_str("/* So many times `bytes` behind `p`. */\n");
        c.push_str("#define FAR(p, n, bytes) ((const float *)((const char *)(p) + (n) * (bytes)))\n\n");
    }
    _ = write!(
        c,
        "enum {{ HEIGHT = {}, WIDTH = {} }};\n\n",
        context.geometry.height, context.geometry.width
    );
    c.push_str(&tables(&facts));
    if context.geometry.activation.is_some() {
        c.push_str(&gelu(context.isa));
    }
    c.push_str(&group_macro(context.isa, context.geometry.height, facts.vectors));
    c.push_str(&kernel(&facts, Variant::Store));
    if facts.batch.is_none() && accumulates(&facts) && !facts.store.transposed {
        c.push_str(&kernel(&facts, Variant::Add));
    }
    if facts.fused() {
        c.push_str(&gelu_tile(&facts));
    }
    c.push_str(&panel_function(
        &facts,
        "broadcast_panel",
        facts.broadcast,
        context.geometry.height,
    ));
    c.push_str(&panel_function(
        &facts,
        "vector_panel",
        facts.vector,
        context.geometry.width,
    ));
    let (load_weights, pack, reduce) = (load_weights(&facts), pack(&facts), reduce(&facts));
    let activate = (context.geometry.activation == Some(Activation::Pass)).then(|| activate(&facts));
    c.push_str(&result_functions(&facts));
    for part in [prefetch_result(&facts), partial_tile(&facts)].into_iter().flatten() {
        c.push_str(&part);
    }
    c.push_str(&block(&facts));
    c.push_str(&compute(&facts));
    for part in [&load_weights, &pack, &reduce, &activate].into_iter().flatten() {
        c.push_str(part);
    }
    let present = [
        load_weights.is_some(),
        pack.is_some(),
        reduce.is_some(),
        activate.is_some(),
    ];
    c.push_str(&descriptor(&facts, present));
    c
}

/// The geometry's words in a fixed order, for people.
fn geometry_words(geometry: &GemmGeometry) -> Vec<String> {
    let g = geometry;
    let on = |flag: bool| if flag { "on" } else { "off" };
    vec![
        format!(
            "{}, {} rows x {} columns x {} inner blocks",
            g.orientation, g.rows, g.columns, g.inner
        ),
        format!(
            "kernel {} x {}, unroll {}, order {}, inside {}",
            g.height, g.width, g.unroll, g.order, g.inside
        ),
        format!(
            "weights {}, activations {}, output {}",
            g.weights, g.activations, g.output
        ),
        format!("staging {}, result {} x {}", g.staging, g.result_rows, g.result_columns),
        format!("split {}, deal {}, transpose {}", g.split, g.deal, g.transpose),
        format!(
            "prefetch of C {}, of the next vector panel {}; activation {}",
            on(g.prefetch_c),
            on(g.prefetch_b),
            g.activation.map_or("none", Activation::word)
        ),
    ]
}

fn header(facts: &Facts<'_>) -> String {
    let GemmContext {
        isa,
        threads,
        extents,
        geometry,
        input,
    } = facts.context;
    let mut c = String::new();
    _ = writeln!(
        c,
        "/* {} tokens x {} inner x {} features, float32, {isa}, threads {threads}; input {}.",
        extents.tokens,
        extents.inner,
        extents.features,
        input.words()
    );
    for line in geometry_words(geometry) {
        _ = writeln!(c, " * {line}");
    }
    _ = writeln!(
        c,
        " * Computed product: {} x {}, in {} x {} panels. */",
        facts.rows, facts.columns, facts.row_panels, facts.column_panels
    );
    c
}

fn descriptor(facts: &Facts<'_>, [load, pack, reduce, activate]: [bool; 4]) -> String {
    let GemmContext {
        isa,
        threads,
        extents,
        geometry,
        input,
    } = facts.context;
    let function = |present: bool, name: &'static str| if present { name } else { "NULL" };
    let fields: [(&str, String); 24] = [
        ("abi", "LAYOUT_SWEEP_ABI".to_owned()),
        ("size", "sizeof(struct ls_gemm)".to_owned()),
        ("geometry", format!("\"{}\"", geometry_words(geometry).join("; "))),
        ("isa", format!("\"{isa}\"")),
        ("input_layout", format!("\"{}\"", input.words())),
        (
            "output_layout",
            format!("\"{}\"", InputLayout::after(Some(geometry)).words()),
        ),
        ("tokens", extents.tokens.to_string()),
        ("inner", extents.inner.to_string()),
        ("features", extents.features.to_string()),
        ("threads", threads.to_string()),
        ("batches", facts.batches().to_string()),
        ("input_floats", facts.input_floats().to_string()),
        ("panel_floats", facts.panel_floats().to_string()),
        ("packed_floats", facts.packed_floats().to_string()),
        ("scratch_floats", facts.scratch_floats().to_string()),
        ("output_floats", facts.store.floats.to_string()),
        ("token_panel", facts.token_extent().to_string()),
        (
            "token_blocks",
            "sizeof token_worker / sizeof token_worker[0]".to_owned(),
        ),
        ("token_start", "token_start".to_owned()),
        ("token_worker", "token_worker".to_owned()),
        ("load_weights", function(load, "load_weights").to_owned()),
        ("pack", function(pack, "pack").to_owned()),
        ("compute", "compute".to_owned()),
        ("reduce", function(reduce, "reduce").to_owned()),
    ];
    let mut c = String::from("const struct ls_gemm layout_sweep_gemm = {\n");
    for (name, value) in fields {
        _ = writeln!(c, "    .{name} = {value},");
    }
    _ = writeln!(c, "    .activate = {},\n}};", function(activate, "activate"));
    c
}
