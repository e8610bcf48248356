//! The loops around the kernels: blocks of one split, the splits of one task, the tasks of a worker.

use std::fmt::Write as _;

use crate::attention::facts::Facts;
use crate::attention::geometry::{Inside, Layout, Maximum, Merge, Packing, Scores, Split};
use crate::geometry::Deal;

/// Everything from `block_scores` to `compute`.
pub(super) fn loops(facts: &Facts<'_>) -> String {
    let mut c = String::new();
    c.push_str(
        "/* The block of queries that is worked on, and where its operands lie. */\n\
         struct work {\n    \
         long panels, first; /* panels of queries; the first query */\n    \
         const float *keys, *values;\n    \
         float *queries, *scores, *state, *factor, *spare;\n};\n\n",
    );
    c.push_str(&visible(facts));
    c.push_str(&block_scores(facts));
    c.push_str(&block_values(facts));
    c.push_str(&split_state(facts));
    c.push_str(&attend(facts));
    c.push_str(&compute(facts));
    c
}

/// Keys before `end` that some query of panel `p` sees.
fn visible(facts: &Facts<'_>) -> String {
    let body = if facts.context.extents.causal {
        "    const long past = w->first + (p + 1) * PANEL;\n    return past < end ? past : end;\n"
    } else {
        "    (void)w, (void)p;\n    return end;\n"
    };
    format!(
        "/* The end of the keys before `end` that some query of panel `p` sees. */\n\
         static inline long visible(const struct work *w, long p, long end)\n{{\n{body}}}\n\n"
    )
}

/// One call of a kernel of whole tiles, or of the last one.
fn tile_call(name: &str, whole: Option<&str>, last: bool, arguments: &str) -> String {
    match (whole, last) {
        (Some(condition), true) => {
            format!("if ({condition}) {name}({arguments});\n            else {name}_last({arguments});")
        }
        (None, true) => format!("{name}_last({arguments});"),
        (_, false) => format!("{name}({arguments});"),
    }
}

fn two_loops(inside: Inside, panels: &str, others: &str, body: &str) -> String {
    let (outer, inner) = match inside {
        Inside::Qk => (panels, others),
        Inside::Kq => (others, panels),
    };
    format!("    {outer}\n        {inner} {{\n            {body}\n        }}\n")
}

fn block_scores(facts: &Facts<'_>) -> String {
    let (e, g) = (facts.context.extents, facts.context.geometry);
    let (last, _) = facts.last_heights();
    let tile = g.maximum == Maximum::Tile;
    let maxima = if !tile {
        ""
    } else if e.causal {
        // A tile with a hidden key has its maximum taken after the mask.
        ", key + KEY_HEIGHT - 1 <= w->first + p * PANEL ? MAXIMA_OF(w, p) : w->spare"
    } else {
        ", MAXIMA_OF(w, p)"
    };
    let arguments = format!(
        "w->keys + key / KEY_HEIGHT * KEY_TILE, w->queries + p * (WIDTH * PANEL),\n                   \
         w->scores + (p * KEPT + key - base) * PANEL, WIDTH{maxima}"
    );
    let whole = (e.keys > g.key_height).then_some("key + KEY_HEIGHT <= KEYS");
    let mut body = tile_call("scores", whole, last != g.key_height, &arguments);
    if e.causal {
        body = format!("if (key >= visible(w, p, k1)) continue;\n            {body}");
    }
    let mut c = format!(
        "/* Scores of keys [k0, k1); `base` is the first key whose scores are kept. */\n\
         static void block_scores(const struct work *w, long base, long k0, long k1)\n{{\n{}",
        two_loops(
            g.inside,
            "for (long p = 0; p < w->panels; p++)",
            "for (long key = k0; key < k1; key += KEY_HEIGHT)",
            &body
        )
    );
    if e.causal {
        let maximum = if tile { ", MAXIMA_OF(w, p)" } else { "" };
        _ = write!(
            c,
            "    for (long p = 0; p < w->panels; p++) {{\n        \
             const long first = w->first + p * PANEL, end = visible(w, p, k1);\n        \
             const long tile = (first + 1) / KEY_HEIGHT * KEY_HEIGHT, key = tile > k0 ? tile : k0;\n        \
             if (key < end) mask(w->scores + (p * KEPT + key - base) * PANEL, key, end, first{maximum});\n    }}\n"
        );
    }
    c.push_str("}\n\n");
    c
}

fn block_values(facts: &Facts<'_>) -> String {
    let (e, g) = (facts.context.extents, facts.context.geometry);
    let (_, last) = facts.last_heights();
    let base = "w->values + k0 * VALUE_STEP + t * VALUE_TILE, w->scores + (p * KEPT + k0 - base) * PANEL,\n                   \
                STATE_OF(w, p) + t * (VALUE_HEIGHT * PANEL), n";
    let whole = (facts.value_tiles > 1).then_some("(t + 1) * VALUE_HEIGHT <= VALUE_WIDTH");
    let call = |name: &str, more: &str| tile_call(name, whole, last != g.value_height, &format!("{base}{more}"));
    let store = call("values_store", "");
    let n = "const long n = visible(w, p, k1) - k0;\n            ";
    let later = match g.scores {
        Scores::Whole => call("values_add", ""),
        Scores::Online => call("values_rescale", ", w->factor + p * PANEL"),
    };
    let mut body = n.to_owned();
    if e.causal {
        body.push_str("if (n <= 0) continue;\n            ");
    }
    if g.key_blocks > 1 {
        _ = write!(
            body,
            "if (begins) {{\n            {store}\n            }} else {{\n            {later}\n            }}"
        );
    } else {
        body.push_str(&store);
    }
    let nothing = if e.causal {
        "    /* Panels that see none of the keys of a split. */\n    \
         for (long p = 0; begins && p < w->panels; p++)\n        \
         if (visible(w, p, k1) <= k0) memset(STATE_OF(w, p), 0, VALUE_WIDTH * PANEL * sizeof(float));\n"
    } else {
        ""
    };
    let unused = if g.key_blocks > 1 || e.causal {
        ""
    } else {
        "    (void)begins;\n"
    };
    format!(
        "/* Weighted values of keys [k0, k1); `begins`: nothing was summed before. */\n\
         static void block_values(const struct work *w, long base, long k0, long k1, int begins)\n{{\n{unused}{nothing}{}}}\n\n",
        two_loops(
            g.inside,
            "for (long p = 0; p < w->panels; p++)",
            "for (long t = 0; t < VALUE_TILES; t++)",
            &body
        )
    )
}

/// Maximum (where it is a pass) and weights of one panel's `n` kept scores.
fn soften(facts: &Facts<'_>) -> String {
    let mut c = String::from("const long n = visible(w, p, END) - FROM;\n            ");
    if facts.context.extents.causal {
        c.push_str("if (n <= 0) continue;\n            ");
    }
    c.push_str("float *const kept = w->scores + p * (KEPT * PANEL);\n            ");
    if facts.context.geometry.maximum == Maximum::Pass {
        c.push_str("maxima(kept, n, MAXIMA_OF(w, p));\n            ");
    }
    c
}

fn split_state(facts: &Facts<'_>) -> String {
    let online = facts.context.geometry.scores == Scores::Online;
    let mut c = String::from(
        "/* The state of one split of the keys: results, maxima and sums of every panel. */\n\
         static void split_state(const struct work *w, long split, const struct ls_marker *marker)\n{\n    \
         const int *const at = key_start + split * KEY_BLOCKS;\n    \
         for (long p = 0; p < w->panels; p++)\n        \
         for (long j = 0; j < PANEL; j++) MAXIMA_OF(w, p)[j] = -HUGE_SCORE, SUMS_OF(w, p)[j] = 0;\n    \
         for (long b = 0; b < KEY_BLOCKS; b++) {\n",
    );
    let panels = |from: &str, end: &str, weights: &str, pad: &str| {
        let body = soften(facts).replace("FROM", from).replace("END", end) + weights;
        format!("{pad}for (long p = 0; p < w->panels; p++) {{\n            {body}\n{pad}}}\n")
    };
    if online {
        c.push_str(
            "        for (long p = 0; p < w->panels; p++)\n            \
             memcpy(w->factor + p * PANEL, MAXIMA_OF(w, p), PANEL * sizeof(float));\n        \
             block_scores(w, at[b], at[b], at[b + 1]);\n        MARK(LS_SCORES);\n",
        );
        c.push_str(&panels(
            "at[b]",
            "at[b + 1]",
            "shrink(w->factor + p * PANEL, MAXIMA_OF(w, p), SUMS_OF(w, p), w->factor + p * PANEL);\n            \
             weights(kept, n, MAXIMA_OF(w, p), SUMS_OF(w, p));",
            "        ",
        ));
        c.push_str(
            "        MARK(LS_SOFTMAX);\n        \
             block_values(w, at[b], at[b], at[b + 1], b == 0);\n        MARK(LS_VALUES);\n    }\n}\n\n",
        );
        return c;
    }
    c.push_str("        block_scores(w, at[0], at[b], at[b + 1]);\n    }\n    MARK(LS_SCORES);\n");
    c.push_str(&panels(
        "at[0]",
        "at[KEY_BLOCKS]",
        "weights(kept, n, MAXIMA_OF(w, p), SUMS_OF(w, p));",
        "    ",
    ));
    c.push_str(
        "    MARK(LS_SOFTMAX);\n    \
         for (long b = 0; b < KEY_BLOCKS; b++) block_values(w, at[0], at[b], at[b + 1], b == 0);\n    \
         MARK(LS_VALUES);\n}\n\n",
    );
    c
}

fn attend(facts: &Facts<'_>) -> String {
    let g = facts.context.geometry;
    let mut c = String::from(
        "/* One task: a block of queries of one head, and one split of its keys or all of them. */\n\
         static void attend(const struct ls_attention_buffers *s, struct work *w, long head, long block, long split,\n                   \
         const struct ls_marker *marker)\n{\n    \
         const long from = query_start[block];\n    \
         w->panels = query_start[block + 1] - from;\n    \
         w->first = from * PANEL;\n    \
         for (long p = 0; p < w->panels; p++) {\n        \
         const long query = w->first + p * PANEL;\n        \
         pack_queries(s->queries + (head * QUERIES + query) * WIDTH, PRESENT(query), w->queries + p * (WIDTH * PANEL));\n    \
         }\n    MARK(LS_PACK);\n",
    );
    if g.merge == Merge::Complete {
        c.push_str(
            "    w->state = s->partial + ((head * QUERY_PANELS + from) * KEY_SPLITS + split) * STATE;\n    \
             split_state(w, split, marker);\n}\n\n",
        );
        return c;
    }
    c.push_str("    split_state(w, split, marker);\n");
    if g.key_splits > 1 {
        c.push_str(
            "    struct work further = *w;\n    further.state = w->state + FURTHER;\n    \
             for (split++; split < KEY_SPLITS; split++) {\n        \
             split_state(&further, split, marker);\n        \
             for (long p = 0; p < w->panels; p++) merge_states(STATE_OF(w, p), STATE_OF(&further, p));\n        \
             MARK(LS_MERGE);\n    }\n",
        );
    }
    c.push_str(
        "    for (long p = 0; p < w->panels; p++) {\n        \
         const long query = w->first + p * PANEL;\n        \
         finish(STATE_OF(w, p), PRESENT(query), s->output + (head * QUERIES + query) * VALUE_WIDTH);\n    \
         }\n    MARK(LS_FINISH);\n}\n\n",
    );
    c
}

fn compute(facts: &Facts<'_>) -> String {
    let g = facts.context.geometry;
    let scratch = facts.scratch;
    let splits = if g.merge == Merge::Complete { "KEY_SPLITS" } else { "1" };
    let tasks = match g.deal {
        Deal::Contiguous => {
            "for (long t = worker * (long)TASKS / THREADS, end = (worker + 1) * (long)TASKS / THREADS; t < end; t++)"
        }
        Deal::RoundRobin => "for (long t = worker; t < TASKS; t += THREADS)",
    };
    let (head, block) = match g.split {
        Split::Heads => ("/ QUERY_BLOCKS", "% QUERY_BLOCKS"),
        Split::Queries => ("% HEADS", "/ HEADS"),
    };
    let mut c = format!(
        "/* The worker's tasks. */\n\
         static void compute(const struct ls_attention_buffers *s, int worker, const struct ls_marker *marker)\n{{\n    \
         float *const own = s->scratch + worker * SCRATCH_FLOATS;\n    \
         struct work w = {{0, 0, NULL, NULL, own + {}, own + {}, own + {}, own + {}, own + {}}};\n",
        scratch.queries,
        scratch.scores,
        scratch.state,
        scratch.factors,
        scratch.factors + u64::from(facts.most_panels() * g.query_panel),
    );
    let packs_own = g.packing == Packing::Own && g.packs();
    if packs_own {
        c.push_str("    long packed = -1;\n");
    }
    _ = write!(
        c,
        "    {tasks} {{\n        \
         const long split = t % {splits}, head = t / {splits} {head}, block = t / {splits} {block};\n        \
         const long shared = head / (HEADS / KV_HEADS);\n        \
         const float *const keys = s->keys + shared * ((long)KEYS * WIDTH);\n        \
         const float *const values = s->values + shared * ((long)KEYS * VALUE_WIDTH);\n"
    );
    let at = if packs_own {
        format!("own + {}", scratch.packed)
    } else {
        "s->packed + shared * PACKED_HEAD".to_owned()
    };
    let packed = |layout: Layout, what: &str, offset: &str| {
        if layout == Layout::RowMajor {
            what.to_owned()
        } else {
            format!("{at}{offset}")
        }
    };
    if packs_own {
        c.push_str("        if (packed != shared) {\n            packed = shared;\n");
        if g.keys != Layout::RowMajor {
            _ = writeln!(c, "            pack_keys(keys, {at});");
        }
        if g.values != Layout::RowMajor {
            _ = writeln!(c, "            pack_values(values, {at} + PACKED_KEYS);");
        }
        c.push_str("            MARK(LS_PACK);\n        }\n");
    }
    if g.keys != Layout::RowMajor {
        c.push_str("        (void)keys;\n");
    }
    if g.values != Layout::RowMajor {
        c.push_str("        (void)values;\n");
    }
    _ = write!(
        c,
        "        w.keys = {};\n        w.values = {};\n        attend(s, &w, head, block, split, marker);\n    }}\n}}\n\n",
        packed(g.keys, "keys", ""),
        packed(g.values, "values", " + PACKED_KEYS")
    );
    c
}
