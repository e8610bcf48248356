//! An attention plan as one C file with its header.

use std::fmt::Write as _;

use super::source::{Exported, Frame, c_string};
use crate::attention::codegen::attention_source;
use crate::attention::facts::{Context, Facts};
use crate::attention::problem::Extents;

/// The plan as a C file and its header: functions `NAME_describe`, `NAME_workspace_size`, `NAME_open`, `NAME_run`,
/// `NAME_close`. What is packed is packed by every run.
///
/// `name` is a C identifier, `about` says in lines where the plan and its figures come from. The plan must be legal (see
/// [`crate::attention::rules`]).
#[must_use]
pub fn exported_attention(context: Context<'_>, name: &str, about: &[String]) -> Exported {
    let title = title(context);
    let frame = Frame {
        isa: context.isa,
        threads: context.threads,
        name,
        title: &title,
        about,
    };
    let mut c = frame.begin("/* An attention's memory", "/* Every object exports");
    let text = attention_source(context)
        .replace("#include \"layout_sweep.h\"\n#include <string.h>\n\n", "")
        .replace(
            "const struct ls_attention layout_sweep_attention",
            "static const struct ls_attention layout_sweep_attention",
        );
    _ = write!(c, "\n{text}");
    c.push_str(&frame.end_region());
    c.push_str(&constants(context));
    c.push_str(&described(context, name, &title, about));
    let parts = [
        &include_str!("../c/exported/control.c").replace("@BUFFERS@", "struct ls_attention_buffers buffers"),
        include_str!("../c/exported/attention.c"),
        include_str!("../c/exported/workers.c"),
        include_str!("../c/exported/attention_interface.c"),
    ];
    c.push_str(&frame.fill(&parts.concat()));
    Exported {
        source: c,
        header: frame.header(include_str!("../c/exported/attention.h")),
    }
}

fn title(context: Context<'_>) -> String {
    let Extents {
        heads,
        kv_heads,
        queries,
        keys,
        width,
        value_width,
        causal,
    } = context.extents;
    let mut text = format!("attention of {heads} heads");
    if kv_heads != heads {
        _ = write!(text, " ({kv_heads} of keys and values)");
    }
    _ = write!(text, ", {queries} queries, {keys} keys, width {width}");
    if value_width != width {
        _ = write!(text, ", value width {value_width}");
    }
    if causal {
        text.push_str(", causal");
    }
    let s = if context.threads == 1 { "" } else { "s" };
    _ = write!(
        text,
        ", float32, {}, {} thread{s}; a plan of layout-sweep",
        context.isa, context.threads
    );
    text
}

/// Sizes of the workspace. The source has its own `THREADS`.
fn constants(context: Context<'_>) -> String {
    let facts = Facts::new(context);
    let line = |floats: u64| floats.next_multiple_of(super::source::ALIGNMENT / 4);
    let partial = line(facts.packed_floats());
    let scratch = partial + line(facts.partial_floats());
    let all = scratch + u64::from(context.threads) * facts.scratch.floats;
    format!(
        "\nenum {{ ALIGNMENT = {} }};\n#define PARTIAL_AT ((size_t){partial})\n#define SCRATCH_AT ((size_t){scratch})\n\
         #define WORKSPACE_FLOATS ((size_t){all})\n\n",
        super::source::ALIGNMENT
    )
}

/// The structure that `NAME_describe` hands out.
fn described(context: Context<'_>, name: &str, title: &str, about: &[String]) -> String {
    let e = context.extents;
    let mut text = format!("    \"{}\\n\"\n", c_string(title));
    for line in about {
        _ = writeln!(text, "    \"{}\\n\"", c_string(line));
    }
    format!(
        "static const char about[] =\n{};\n\
         static const struct {name}_description description = {{\n    \
         sizeof(struct {name}_description), about, \"{}\", {}, {}, {}, {}, {}, {}, {}, {}, ALIGNMENT}};\n\n",
        text.trim_end(),
        context.isa,
        context.threads,
        u8::from(e.causal),
        e.heads,
        e.kv_heads,
        e.queries,
        e.keys,
        e.width,
        e.value_width,
    )
}
