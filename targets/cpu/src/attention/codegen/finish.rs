//! The ends of a softmax: states of key splits are merged, a state becomes rows of the result.

use crate::attention::facts::Facts;
use crate::attention::geometry::Merge;

/// `merge_states`, where keys are split, and `finish`.
pub(super) fn finish(facts: &Facts<'_>) -> String {
    let mut c = String::new();
    if facts.context.geometry.key_splits > 1 {
        c.push_str(
            "/* The state of further keys is merged into `state`: both shrink to the larger maximum, and add. */\n\
             static void merge_states(float *state, const float *further)\n{\n    \
             for (long j = 0; j < PANEL; j += LANES) {\n        \
             const vec a = load(state + MAXIMA + j), b = load(further + MAXIMA + j), m = higher(a, b);\n        \
             const vec f = power(a - m), g = power(b - m);\n        \
             for (long d = 0; d < VALUE_WIDTH; d++) {\n            \
             float *const o = state + d * PANEL + j;\n            \
             store(o, load(o) * f + load(further + d * PANEL + j) * g);\n        }\n        \
             store(state + MAXIMA + j, m);\n        \
             store(state + SUMS + j, load(state + SUMS + j) * f + load(further + SUMS + j) * g);\n    }\n}\n\n",
        );
    }
    c.push_str(
        "/* The state of a panel becomes `count` rows of the result. */\n\
         static void finish(float *state, long count, float *output)\n{\n    \
         for (long j = 0; j < PANEL; j += LANES) store(state + SUMS + j, splat(1.0f) / load(state + SUMS + j));\n    \
         scaled(state, VALUE_WIDTH, state + SUMS);\n    \
         turned(state, PANEL, VALUE_WIDTH, count, output, VALUE_WIDTH);\n}\n\n",
    );
    c
}

/// `merge`: the worker's share of all panels; nothing where splits are merged as they come.
pub(super) fn merge(facts: &Facts<'_>) -> Option<String> {
    (facts.context.geometry.merge == Merge::Complete).then(|| {
        "/* Panels of queries are dealt in equal runs. */\n\
         static void merge(const struct ls_attention_buffers *s, int worker, const struct ls_marker *marker)\n{\n    \
         const long units = (long)HEADS * QUERY_PANELS, end = (worker + 1) * units / THREADS;\n    \
         for (long unit = worker * units / THREADS; unit < end; unit++) {\n        \
         const long head = unit / QUERY_PANELS, first = unit % QUERY_PANELS * PANEL;\n        \
         float *const state = s->partial + unit * (KEY_SPLITS * STATE);\n        \
         for (long split = 1; split < KEY_SPLITS; split++) merge_states(state, state + split * STATE);\n        \
         MARK(LS_MERGE);\n        \
         finish(state, QUERIES - first < PANEL ? QUERIES - first : PANEL,\n               \
         s->output + (head * QUERIES + first) * VALUE_WIDTH);\n        \
         MARK(LS_FINISH);\n    }\n}\n\n"
            .to_owned()
    })
}
