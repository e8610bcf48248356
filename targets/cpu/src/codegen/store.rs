//! Where operands and result tiles lie, and the careful path for tiles that are partial or turn when they are stored.

use std::fmt::Write as _;

use crate::facts::{Facts, Operand};

/// Address of panel `p` of an operand at inner step `k`, as a C function.
pub(crate) fn panel_function(facts: &Facts<'_>, name: &str, operand: Operand, size: u32) -> String {
    let inner = u64::from(facts.context.extents.inner);
    let features = facts.context.extents.features;
    let width = u64::from(size);
    let body = match operand {
        Operand::Panels { buffer } => format!("    return s->{buffer} + p * {} + k * {width};\n", width * inner),
        Operand::Rows => format!("    return s->input + p * {} + k;\n", width * inner),
        Operand::Tiles { width: steps } => {
            let tile = width * u64::from(steps);
            let row = tile * inner.div_ceil(u64::from(steps));
            format!("    return s->input + p * {row} + k / {steps} * {tile};\n")
        }
        Operand::WeightsInPlace => {
            let padded = if features.is_multiple_of(size) {
                String::new()
            } else {
                format!("    if (p == {}) return s->panels + k * {width};\n", features / size)
            };
            format!("{padded}    return s->weights + k * {features} + p * {width};\n")
        }
    };
    format!("static inline const float *{name}(const struct ls_buffers *s, long p, long k)\n{{\n{body}}}\n\n")
}

/// The step between inner steps of panel `p` of weights in place.
pub(crate) fn weights_step(facts: &Facts<'_>, panel: &str) -> String {
    let (features, size) = (facts.context.extents.features, facts.feature_extent());
    if features.is_multiple_of(size) {
        format!("{features}")
    } else {
        format!("{panel} == {} ? {size} : {features}", features / size)
    }
}

/// The condition under which tile `(r, c)` is written straight from the registers; `None`: always.
pub(crate) fn whole(facts: &Facts<'_>) -> Option<String> {
    let mut conditions = Vec::new();
    if facts.store.clip_rows {
        conditions.push(format!("r < {}", facts.rows / facts.context.geometry.height));
    }
    if facts.store.clip_columns {
        conditions.push(format!("c < {}", facts.columns / facts.context.geometry.width));
    }
    (!conditions.is_empty()).then(|| conditions.join(" && "))
}

/// Whether some tiles take the path through a local tile.
pub(crate) fn needs_local_tile(facts: &Facts<'_>) -> bool {
    facts.batch.is_some() || facts.store.transposed || whole(facts).is_some()
}

/// Whether something is added to a result that is already in memory.
pub(crate) fn accumulates(facts: &Facts<'_>) -> bool {
    match facts.batch {
        None => facts.context.geometry.inner > 1,
        Some(_) => facts.batches() > 1,
    }
}

/// `result_tile`, and where they occur `add_result` and `store_result`.
pub(crate) fn result_functions(facts: &Facts<'_>) -> String {
    let store = facts.store;
    let mut c = String::new();
    _ = write!(
        c,
        "static inline float *result_tile(const struct ls_buffers *s, long r, long c)\n\
         {{\n    return s->output + r * {} + c * {};\n}}\n\n",
        store.row_panel, store.column_panel
    );
    if !needs_local_tile(facts) {
        return c;
    }
    if accumulates(facts) {
        c.push_str("/* tile = tile + what the result already holds. */\n");
        c.push_str(&copy_function(facts, "add_result", "tile[i * WIDTH + j] += out[AT];"));
    }
    c.push_str("/* Stores the part of the tile that exists. */\n");
    c.push_str(&copy_function(facts, "store_result", "out[AT] = tile[i * WIDTH + j];"));
    c
}

fn copy_function(facts: &Facts<'_>, name: &str, statement: &str) -> String {
    let store = facts.store;
    let limit = |clip: bool, total: u32, size: &str, panel: &str| {
        if clip {
            format!("{total} - {panel} * {size} < {size} ? {total} - {panel} * {size} : {size}")
        } else {
            size.to_owned()
        }
    };
    let rows = limit(store.clip_rows, facts.rows, "HEIGHT", "r");
    let columns = limit(store.clip_columns, facts.columns, "WIDTH", "c");
    let constant = if name == "store_result" { "const " } else { "" };
    let (loops, at) = if store.transposed {
        (
            ["for (long j = 0; j < columns; j++)", "for (long i = 0; i < rows; i++)"],
            format!("j * {} + i", store.stride),
        )
    } else {
        (
            ["for (long i = 0; i < rows; i++)", "for (long j = 0; j < columns; j++)"],
            format!("i * {} + j", store.stride),
        )
    };
    format!(
        "static void {name}(const struct ls_buffers *s, {constant}float *tile, long r, long c)\n{{\n    \
         float *out = result_tile(s, r, c);\n    const long rows = {rows};\n    const long columns = {columns};\n    \
         {}\n        {}\n            {}\n}}\n\n",
        loops[0],
        loops[1],
        statement.replace("AT", &at)
    )
}
