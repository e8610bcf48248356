//! Weights into panels when the model is loaded, activations into panels inside the timed span.

use crate::facts::Facts;
use crate::geometry::Weights;

/// `load_weights`, if there is something to load.
pub(crate) fn load_weights(facts: &Facts<'_>) -> Option<String> {
    let (inner, features, size) = (
        facts.context.extents.inner,
        facts.context.extents.features,
        facts.feature_extent(),
    );
    let (comment, first) = match facts.context.geometry.weights {
        Weights::Panels => (
            "Weights into panels [inner][width of the panel]; the last one is padded with zeros.",
            0,
        ),
        Weights::RowMajor if features % size != 0 => (
            "Weights are read in place; only the last, partial panel gets a padded copy.",
            features / size,
        ),
        Weights::RowMajor => return None,
    };
    let panels = features.div_ceil(size);
    Some(format!(
        "/* {comment} */\n\
         static void load_weights(const struct ls_buffers *s)\n{{\n    \
         float *out = s->panels;\n    \
         for (long p = {first}; p < {panels}; p++)\n        \
         for (long k = 0; k < {inner}; k++)\n            \
         for (long f = p * {size}; f < (p + 1) * {size}; f++)\n                \
         *out++ = f < {features} ? s->weights[k * {features} + f] : 0.0f;\n}}\n\n"
    ))
}

/// `pack`, if activations are packed.
pub(crate) fn pack(facts: &Facts<'_>) -> Option<String> {
    if !facts.packs() {
        return None;
    }
    let (tokens, inner, size) = (
        facts.context.extents.tokens,
        facts.context.extents.inner,
        facts.token_extent(),
    );
    let panel = u64::from(size) * u64::from(inner);
    let rest = if tokens % size == 0 {
        String::new()
    } else {
        format!(
            "        if (rows < {size}) {{\n            \
             for (long k = 0; k < {inner}; k++)\n                \
             for (long i = 0; i < {size}; i++)\n                    \
             out[k * {size} + i] = i < rows ? in[i * {inner} + k] : 0.0f;\n            \
             continue;\n        }}\n"
        )
    };
    let rows = if rest.is_empty() {
        String::new()
    } else {
        format!("        const long rows = {tokens} - p * {size};\n")
    };
    let moves: Vec<String> = (0..size)
        .map(|i| format!("            out[{i}] = in[{} + k];", u64::from(i) * u64::from(inner)))
        .collect();
    Some(format!(
        "/* Activations into panels [inner][tokens of the panel]; the last one is padded with zeros. */\n\
         static void pack(const struct ls_buffers *s, long first, long last)\n{{\n    \
         for (long p = first / {size}; p * {size} < last; p++) {{\n        \
         const float *in = s->input + p * {panel};\n        \
         float *out = s->packed + p * {panel};\n\
         {rows}{rest}        \
         for (long k = 0; k < {inner}; k++) {{\n{}\n            out += {size};\n        }}\n    }}\n}}\n\n",
        moves.join("\n")
    ))
}
