//! Other byte orders: queries into panels, keys and values into what a geometry says, results back into rows.

use std::fmt::Write as _;

use crate::attention::facts::Facts;
use crate::attention::geometry::{Layout, Packing};

/// `turned` and `scaled`, which queries and results need, and `pack_keys`, `pack_values` where there is something to pack.
pub(super) fn pack(facts: &Facts<'_>) -> String {
    let mut c = turned(facts);
    c.push_str(
        "/* Rows of a panel times a factor for each query. */\n\
         static void scaled(float *panel, long rows, const float *factor)\n{\n    \
         for (; rows > 0; rows--, panel += PANEL)\n        \
         for (long j = 0; j < PANEL; j += LANES) store(panel + j, load(panel + j) * load(factor + j));\n}\n\n\
         /* `count` queries become a panel [element][query], times log2(e) / sqrt(width); missing ones are zero. */\n\
         static void pack_queries(const float *from, long count, float *to)\n{\n    \
         float factor[PANEL];\n    \
         for (long j = 0; j < PANEL; j++) factor[j] = QUERY_SCALE;\n    \
         if (count < PANEL)\n        \
         for (long i = 0; i < (long)WIDTH * PANEL; i++) to[i] = 0;\n    \
         turned(from, WIDTH, count, WIDTH, to, PANEL);\n    \
         scaled(to, WIDTH, factor);\n}\n\n",
    );
    let g = facts.context.geometry;
    let head =
        |what: &str, note: &str| format!("/* {note} */\nstatic void pack_{what}(const float *from, float *to)\n{{\n");
    match g.keys {
        Layout::RowMajor => {}
        Layout::Panels => {
            c.push_str(&head(
                "keys",
                "Keys of one head in panels [element][rows of the kernel].",
            ));
            c.push_str(
                "    for (long key = 0; key < KEYS; key += KEY_HEIGHT) {\n        \
                 const long rows = KEYS - key < KEY_HEIGHT ? KEYS - key : KEY_HEIGHT;\n        \
                 turned(from + key * WIDTH, WIDTH, rows, WIDTH, to + key * WIDTH, KEY_HEIGHT);\n    }\n}\n\n",
            );
        }
        Layout::Transposed => {
            c.push_str(&head("keys", "Keys of one head turned: [element][key]."));
            _ = write!(
                c,
                "    turned(from, WIDTH, KEYS, WIDTH, to, {});\n}}\n\n",
                facts.keys.step
            );
        }
    }
    match g.values {
        Layout::RowMajor => {}
        Layout::Panels => {
            c.push_str(&head(
                "values",
                "Values of one head in panels [key][rows of the kernel].",
            ));
            c.push_str(
                "    for (long tile = 0; tile < VALUE_WIDTH; tile += VALUE_HEIGHT, to += (long)KEYS * VALUE_HEIGHT) {\n        \
                 const long rows = VALUE_WIDTH - tile < VALUE_HEIGHT ? VALUE_WIDTH - tile : VALUE_HEIGHT;\n        \
                 if (rows == VALUE_HEIGHT)\n            \
                 for (long key = 0; key < KEYS; key++)\n                \
                 memcpy(to + key * VALUE_HEIGHT, from + key * VALUE_WIDTH + tile, VALUE_HEIGHT * sizeof(float));\n        \
                 else\n            \
                 for (long key = 0; key < KEYS; key++)\n                \
                 for (long i = 0; i < rows; i++) to[key * VALUE_HEIGHT + i] = from[key * VALUE_WIDTH + tile + i];\n    }\n}\n\n",
            );
        }
        Layout::Transposed => {
            c.push_str(&head("values", "Values of one head turned: [element][key]."));
            _ = write!(
                c,
                "    turned(from, VALUE_WIDTH, KEYS, VALUE_WIDTH, to, {});\n}}\n\n",
                facts.values.row
            );
        }
    }
    c
}

/// `to[c][r] = from[r][c]`. Whole squares of one vector each way turn in registers: in each of log2(lanes) rounds row `i`
/// meets row `i + lanes / 2`, and both are interleaved; then rows have become columns.
fn turned(facts: &Facts<'_>) -> String {
    let lanes = facts.context.isa.lanes() as usize;
    let order = |first: usize| -> String {
        let places = (0..lanes / 2).flat_map(|i| [first + i, first + i + lanes]);
        places.map(|at| at.to_string()).collect::<Vec<_>>().join(", ")
    };
    let mut square = String::new();
    for i in 0..lanes {
        _ = writeln!(square, "    const vec r0_{i} = load(from + {i} * from_stride);");
    }
    let rounds = lanes.ilog2();
    for round in 0..rounds {
        for i in 0..lanes {
            let half = if i % 2 == 0 { "LOW" } else { "HIGH" };
            let (one, other) = (i / 2, i / 2 + lanes / 2);
            _ = writeln!(
                square,
                "    const vec r{}_{i} = {half}(r{round}_{one}, r{round}_{other});",
                round + 1
            );
        }
    }
    for i in 0..lanes {
        _ = writeln!(square, "    store(to + {i} * to_stride, r{rounds}_{i});");
    }
    format!(
        "#if defined(__has_builtin)\n#if __has_builtin(__builtin_shufflevector)\n#define TURNS_SQUARES 1\n#endif\n#endif\n\
         #ifdef TURNS_SQUARES\n\
         /* The lower halves of two vectors, lane by lane in turn, and the higher ones. */\n\
         #define LOW(a, b) __builtin_shufflevector(a, b, {})\n\
         #define HIGH(a, b) __builtin_shufflevector(a, b, {})\n\
         HELPER void turn_square(const float *from, long from_stride, float *to, long to_stride)\n{{\n{square}}}\n#endif\n\n\
         /* to[c][r] = from[r][c]. */\n\
         static void turned(const float *from, long from_stride, long rows, long columns, float *to, long to_stride)\n{{\n    \
         for (long r = 0; r < rows; r += LANES) {{\n        \
         const long height = rows - r < LANES ? rows - r : LANES;\n        long c = 0;\n\
         #ifdef TURNS_SQUARES\n        \
         if (height == LANES)\n            \
         for (; c + LANES <= columns; c += LANES)\n                \
         turn_square(from + r * from_stride + c, from_stride, to + c * to_stride + r, to_stride);\n\
         #endif\n        \
         for (; c < columns; c++)\n            \
         for (long i = r; i < r + height; i++) to[c * to_stride + i] = from[i * from_stride + c];\n    }}\n}}\n\n",
        order(0),
        order(lanes / 2)
    )
}

/// `pack`: the worker's share of all heads; nothing where no plan packs ahead.
pub(super) fn pack_ahead(facts: &Facts<'_>) -> Option<String> {
    let g = facts.context.geometry;
    if g.packing != Packing::Ahead || !g.packs() {
        return None;
    }
    let mut c = String::from(
        "/* Keys and values are dealt in turn, operand by operand. */\n\
         static void pack(const struct ls_attention_buffers *s, int worker, const struct ls_marker *marker)\n{\n    \
         for (long unit = worker; unit < 2 * (long)KV_HEADS; unit += THREADS) {\n        \
         const long head = unit / 2;\n        float *const to = s->packed + head * PACKED_HEAD;\n",
    );
    let keys = "pack_keys(s->keys + head * ((long)KEYS * WIDTH), to);";
    let values = "pack_values(s->values + head * ((long)KEYS * VALUE_WIDTH), to + PACKED_KEYS);";
    let (first, second) = (g.keys != Layout::RowMajor, g.values != Layout::RowMajor);
    if first {
        _ = writeln!(c, "        if (unit % 2 == 0) {keys}");
    }
    if second {
        _ = writeln!(c, "        if (unit % 2 == 1) {values}");
    }
    c.push_str("    }\n    MARK(LS_PACK);\n}\n\n");
    Some(c)
}
