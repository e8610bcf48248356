//! The loops around the micro-kernel: panels inside a block, and the tiles of a worker.

use std::fmt::Write as _;

use crate::codegen::kernel::{Variant, prefetch_step};
use crate::codegen::store::{accumulates, weights_step, whole};
use crate::facts::{Facts, Operand};
use crate::geometry::Inside;

/// `block`: all kernel calls of one tile of the schedule.
pub(crate) fn block(facts: &Facts<'_>) -> String {
    let geometry = facts.context.geometry;
    let mut c = String::new();
    c.push_str("/* One tile of the schedule. `following` is the next one of this worker: its first vector panel is fetched. */\n");
    c.push_str(
        "static void block(const struct ls_buffers *s, const struct tile *t, const struct tile *following)\n{\n",
    );
    c.push_str("    const long k0 = inner_start[t->inner], k = inner_start[t->inner + 1] - k0;\n");
    c.push_str("    const long r0 = row_start[t->row], r1 = row_start[t->row + 1];\n");
    c.push_str("    const long c0 = column_start[t->column], c1 = column_start[t->column + 1];\n");
    if geometry.prefetch_b {
        c.push_str(
            "    const float *const after =\n        \
             vector_panel(s, column_start[following->column], inner_start[following->inner]);\n",
        );
    } else {
        c.push_str("    (void)following;\n");
    }
    let a = "const float *const a = broadcast_panel(s, r, k0);\n";
    let b = "const float *const b = vector_panel(s, c, k0);\n";
    match geometry.inside {
        Inside::Cr => {
            _ = write!(c, "    for (long c = c0; c < c1; c++) {{\n        {b}");
            if geometry.prefetch_b {
                c.push_str("        const float *const next = c + 1 < c1 ? vector_panel(s, c + 1, k0) : after;\n");
            }
            _ = write!(c, "        for (long r = r0; r < r1; r++) {{\n            {a}");
        }
        Inside::Rc => {
            _ = write!(c, "    for (long r = r0; r < r1; r++) {{\n        {a}");
            _ = write!(c, "        for (long c = c0; c < c1; c++) {{\n            {b}");
            if geometry.prefetch_b {
                c.push_str(
                    "            const float *const next =\n                \
                     c + 1 < c1 ? vector_panel(s, c + 1, k0) : r + 1 < r1 ? vector_panel(s, c0, k0) : after;\n",
                );
            }
        }
    }
    one_tile(facts, &mut c);
    c.push_str("        }\n    }\n}\n\n");
    c
}

fn one_tile(facts: &Facts<'_>, c: &mut String) {
    let pad = "            ";
    if let Some(batch) = facts.batch {
        let slot = if batch == facts.context.geometry.inner {
            "t->inner".to_owned()
        } else {
            format!("t->inner % {batch}")
        };
        _ = writeln!(
            c,
            "{pad}{}",
            call(
                facts,
                Variant::Store,
                &format!("partial_tile(s, {slot}, r, c)"),
                "WIDTH"
            )
        );
        return;
    }
    let whole = whole(facts);
    let direct = !facts.store.transposed;
    if direct && let Some(condition) = &whole {
        _ = writeln!(c, "{pad}if ({condition}) {{");
        direct_tile(facts, &format!("{pad}    "), c);
        _ = writeln!(c, "{pad}}} else {{");
        local_tile(facts, &format!("{pad}    "), c);
        _ = writeln!(c, "{pad}}}");
    } else if direct {
        direct_tile(facts, pad, c);
    } else {
        local_tile(facts, pad, c);
    }
}

/// Stored straight from the registers.
fn direct_tile(facts: &Facts<'_>, pad: &str, c: &mut String) {
    let stride = facts.store.stride.to_string();
    _ = writeln!(c, "{pad}float *const out = result_tile(s, r, c);");
    if accumulates(facts) {
        _ = writeln!(c, "{pad}if (t->inner == 0)");
        _ = writeln!(c, "{pad}    {}", call(facts, Variant::Store, "out", &stride));
        _ = writeln!(c, "{pad}else");
        _ = writeln!(c, "{pad}    {}", call(facts, Variant::Add, "out", &stride));
    } else {
        _ = writeln!(c, "{pad}{}", call(facts, Variant::Store, "out", &stride));
    }
    gelu(facts, pad, &format!("gelu_tile(out, {stride});"), c);
}

/// Through a local tile: partial tiles, and those that turn.
fn local_tile(facts: &Facts<'_>, pad: &str, c: &mut String) {
    _ = writeln!(c, "{pad}float tile[HEIGHT * WIDTH] __attribute__((aligned(64)));");
    if facts.store.transposed && facts.context.geometry.prefetch_c {
        _ = writeln!(c, "{pad}prefetch_result(s, r, c);");
    }
    _ = writeln!(c, "{pad}{}", call(facts, Variant::Store, "tile", "WIDTH"));
    if accumulates(facts) {
        _ = writeln!(c, "{pad}if (t->inner > 0) add_result(s, tile, r, c);");
    }
    gelu(facts, pad, "gelu_tile(tile, WIDTH);", c);
    _ = writeln!(c, "{pad}store_result(s, tile, r, c);");
}

fn gelu(facts: &Facts<'_>, pad: &str, statement: &str, c: &mut String) {
    if facts.fused() {
        let condition = if accumulates(facts) {
            format!("if (t->inner == {}) ", facts.context.geometry.inner - 1)
        } else {
            String::new()
        };
        _ = writeln!(c, "{pad}{condition}{statement}");
    }
}

fn call(facts: &Facts<'_>, variant: Variant, out: &str, stride: &str) -> String {
    let geometry = facts.context.geometry;
    let mut arguments = vec!["a".to_owned()];
    if facts.broadcast == Operand::WeightsInPlace {
        arguments.push(weights_step(facts, "r"));
    }
    arguments.push("b".to_owned());
    if facts.vector == Operand::WeightsInPlace {
        arguments.push(weights_step(facts, "c"));
    }
    arguments.extend([out.to_owned(), stride.to_owned(), "k".to_owned()]);
    if geometry.prefetch_b {
        arguments.push(next(facts));
    }
    format!("{}({});", variant.name(), arguments.join(", "))
}

/// Where this call begins to fetch the next panel: calls share it evenly.
fn next(facts: &Facts<'_>) -> String {
    let step = prefetch_step(facts);
    match (facts.context.geometry.inside, facts.vector) {
        (Inside::Rc, _) => "next".to_owned(),
        (Inside::Cr, Operand::WeightsInPlace) => {
            let features = facts.context.extents.features;
            format!("next + (r - r0) * (k / {}) * {step} % k * {features}", facts.unroll)
        }
        (Inside::Cr, _) => format!("next + (r - r0) * (k / {}) * {step}", facts.unroll),
    }
}

/// Lines of a result tile that turns, asked for before its kernel starts.
pub(crate) fn prefetch_result(facts: &Facts<'_>) -> Option<String> {
    let geometry = facts.context.geometry;
    if !(facts.store.transposed && geometry.prefetch_c && facts.batch.is_none()) {
        return None;
    }
    Some(format!(
        "static inline void prefetch_result(const struct ls_buffers *s, long r, long c)\n{{\n    \
         const float *out = result_tile(s, r, c);\n    \
         for (long j = 0; j < WIDTH; j++) __builtin_prefetch(out + j * {}, 1, 3);\n}}\n\n",
        facts.store.stride
    ))
}

/// Where a partial result lies: tiles as the kernel leaves them, one set per inner block of a batch.
pub(crate) fn partial_tile(facts: &Facts<'_>) -> Option<String> {
    facts.batch?;
    Some(format!(
        "static inline float *partial_tile(const struct ls_buffers *s, long q, long r, long c)\n{{\n    \
         return s->scratch + ((q * {} + r) * {} + c) * (HEIGHT * WIDTH);\n}}\n\n",
        facts.row_panels, facts.column_panels
    ))
}

/// `compute`: the tiles of one worker.
pub(crate) fn compute(facts: &Facts<'_>) -> String {
    let batch = match facts.batch {
        Some(batch) if batch < facts.context.geometry.inner => {
            format!("        if (t->inner / {batch} != batch) continue;\n")
        }
        Some(_) | None => String::new(),
    };
    let unused = if batch.is_empty() { "    (void)batch;\n" } else { "" };
    let (skip, unused_rows) = if facts.swapped() {
        (String::new(), "    (void)first, (void)last;\n")
    } else {
        let skip = "        const long row = (long)row_start[t->row] * HEIGHT;\n        \
                    if (row < first || row >= last) continue;\n";
        (skip.to_owned(), "")
    };
    format!(
        "static void compute(const struct ls_buffers *s, int worker, int batch, long first, long last)\n{{\n\
         {unused}{unused_rows}    \
         const struct tile *const end = tiles + tile_start[worker + 1];\n    \
         for (const struct tile *t = tiles + tile_start[worker]; t < end; t++) {{\n{skip}{batch}        \
         block(s, t, t + 1 < end ? t + 1 : t);\n    }}\n}}\n\n"
    )
}
