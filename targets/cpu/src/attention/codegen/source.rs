//! One object's source, from header comment to descriptor.

use std::fmt::Write as _;

use super::finish::{finish, merge};
use super::kernel::kernels;
use super::loops::loops;
use super::pack::{pack, pack_ahead};
use super::softmax::{power, softmax};
use crate::attention::attributes::values;
use crate::attention::facts::{Context, Facts};
use crate::attention::geometry::Merge;
use crate::codegen::{group_macro, vector_preamble};

/// The C source of one attention (`gemm.c`): a pure function of instruction set, threads, extents and geometry, which must
/// be legal (see [`crate::attention::rules`]).
#[must_use]
pub fn attention_source(context: Context<'_>) -> String {
    let facts = Facts::new(context);
    let isa = context.isa;
    let (pack_ahead, merge) = (pack_ahead(&facts), merge(&facts));
    let mut c = header(&facts);
    c.push_str("#include \"layout_sweep.h\"\n#include <string.h>\n\n");
    c.push_str(&vector_preamble(isa));
    c.push_str(
        "/* Keep a value in a vector register. */\n#define PIN(x) __asm__(\"\" : \"+\" LS_VECTOR(x))\n\
         /* Tells whoever asks what was done since the last time. */\n\
         #define MARK(phase) do { if (marker) marker->mark(marker->context, phase); } while (0)\n\n",
    );
    c.push_str(&constants(&facts));
    // Whole tiles and last ones of both kernels share the macro: it knows only how many vectors are held.
    c.push_str(&group_macro(isa, facts.vectors, facts.vectors));
    c.push_str(&power(isa, context.geometry.exponential));
    c.push_str(&kernels(&facts));
    c.push_str(&softmax(&facts));
    c.push_str(&pack(&facts));
    c.push_str(&finish(&facts));
    c.push_str(&loops(&facts));
    for part in [&pack_ahead, &merge].into_iter().flatten() {
        c.push_str(part);
    }
    c.push_str(&descriptor(&facts, pack_ahead.is_some(), merge.is_some()));
    c
}

/// The geometry's words in a fixed order, for people.
fn geometry_words(facts: &Facts<'_>) -> String {
    let words = values(facts.context.geometry).map(|(name, value)| format!("{} {value}", name.replace('_', " ")));
    words.join(", ")
}

fn header(facts: &Facts<'_>) -> String {
    let Context {
        isa,
        threads,
        extents: e,
        ..
    } = facts.context;
    format!(
        "/* Attention, {} heads ({} of keys and values), {} queries, {} keys, width {}, value width {}{}, float32, {isa}, threads {threads}.\n \
         * {}. */\n",
        e.heads,
        e.kv_heads,
        e.queries,
        e.keys,
        e.width,
        e.value_width,
        if e.causal { ", causal" } else { "" },
        geometry_words(facts)
    )
}

fn constants(facts: &Facts<'_>) -> String {
    let Context {
        threads,
        extents: e,
        geometry: g,
        ..
    } = facts.context;
    let counts = [
        ("HEADS", e.heads),
        ("KV_HEADS", e.kv_heads),
        ("QUERIES", e.queries),
        ("KEYS", e.keys),
        ("WIDTH", e.width),
        ("VALUE_WIDTH", e.value_width),
        ("PANEL", g.query_panel),
        ("QUERY_PANELS", facts.query_panels),
        ("QUERY_BLOCKS", g.query_blocks),
        ("KEY_SPLITS", g.key_splits),
        ("KEY_BLOCKS", g.key_blocks),
        ("KEY_HEIGHT", g.key_height),
        ("VALUE_HEIGHT", g.value_height),
        ("VALUE_TILES", facts.value_tiles),
        ("KEPT", facts.kept_keys()),
        ("THREADS", threads),
    ];
    let stride = if g.merge == Merge::Complete {
        u64::from(g.key_splits) * facts.state
    } else {
        facts.state
    };
    let sizes = [
        ("TASKS", facts.tasks),
        ("KEY_TILE", facts.keys.tile),
        ("VALUE_STEP", facts.values.step),
        ("VALUE_TILE", facts.values.tile),
        ("PACKED_HEAD", facts.packed_head()),
        ("PACKED_KEYS", facts.packed_keys()),
        ("SCRATCH_FLOATS", facts.scratch.floats),
        ("STATE", facts.state),
        ("PANEL_STATE", stride),
        ("FURTHER", facts.scratch.further - facts.scratch.state),
        ("MAXIMA", facts.state - 2 * u64::from(g.query_panel)),
        ("SUMS", facts.state - u64::from(g.query_panel)),
    ];
    let mut c = String::from("/* Extents, blocks, and (long) sizes and strides in floats. */\n");
    for (name, value) in counts {
        _ = writeln!(c, "#define {name} {value}L");
    }
    for (name, value) in sizes {
        _ = writeln!(c, "#define {name} {value}L");
    }
    let scale = std::f64::consts::LOG2_E / libm::sqrt(f64::from(e.width));
    _ = writeln!(c, "#define QUERY_SCALE {scale:e}f\n#define HUGE_SCORE 1e30f");
    c.push_str(
        "/* The state of panel `p`: results [element of a value][query], then the maxima and the sums of its queries. */\n\
         #define STATE_OF(w, p) ((w)->state + (p) * PANEL_STATE)\n\
         #define MAXIMA_OF(w, p) (STATE_OF(w, p) + MAXIMA)\n\
         #define SUMS_OF(w, p) (STATE_OF(w, p) + SUMS)\n\
         /* Queries of the panel that begins with `query`. */\n\
         #define PRESENT(query) (QUERIES - (query) < PANEL ? QUERIES - (query) : PANEL)\n\n",
    );
    for (what, list) in [
        (
            "Query blocks begin at these panels.",
            ("query_start", &facts.query_start),
        ),
        ("Key blocks begin at these keys.", ("key_start", &facts.key_start)),
    ] {
        let numbers: Vec<String> = list.1.iter().map(ToString::to_string).collect();
        _ = writeln!(
            c,
            "/* {what} */\nstatic const int {}[] = {{{}}};",
            list.0,
            numbers.join(", ")
        );
    }
    c.push('\n');
    c
}

fn descriptor(facts: &Facts<'_>, packs: bool, merges: bool) -> String {
    let Context {
        isa,
        extents: e,
        geometry: g,
        ..
    } = facts.context;
    let function = |present: bool, name: &'static str| if present { name } else { "NULL" };
    let fields: [(&str, String); 16] = [
        ("abi", "LAYOUT_SWEEP_ABI".to_owned()),
        ("size", "sizeof(struct ls_attention)".to_owned()),
        ("geometry", format!("\"{}\"", geometry_words(facts))),
        ("isa", format!("\"{isa}\"")),
        ("heads", "HEADS".to_owned()),
        ("kv_heads", "KV_HEADS".to_owned()),
        ("queries", "QUERIES".to_owned()),
        ("keys", "KEYS".to_owned()),
        ("width", "WIDTH".to_owned()),
        ("value_width", "VALUE_WIDTH".to_owned()),
        ("causal", u32::from(e.causal).to_string()),
        ("threads", "THREADS".to_owned()),
        ("key_splits", g.key_splits.to_string()),
        ("packed_floats", facts.packed_floats().to_string()),
        ("partial_floats", facts.partial_floats().to_string()),
        ("scratch_floats", "SCRATCH_FLOATS".to_owned()),
    ];
    let mut c = String::from("const struct ls_attention layout_sweep_attention = {\n");
    for (name, value) in fields {
        _ = writeln!(c, "    .{name} = {value},");
    }
    _ = writeln!(
        c,
        "    .pack = {},\n    .compute = compute,\n    .merge = {},\n}};",
        function(packs, "pack"),
        function(merges, "merge")
    );
    c
}
