//! GELU in its tanh form, vectorised.
//!
//! `0.5 x (1 + tanh u) = x / (1 + exp(-2u))` with `u = sqrt(2/pi) (x + 0.044715 x^3)` (Hendrycks and Gimpel 2016, eq. 2).
//! `exp(-2u) = 2^t`, `t = x (a + b x^2)`, `a = -2 sqrt(2/pi) log2(e)`, `b = 0.044715 a`; `2^t` is a polynomial of degree 6
//! on [-1/2, 1/2] (coefficients of Cephes' `exp2f`) times a power of two that is added to the exponent.
//! Maximum absolute error over [-12, 12] against float64: 6e-7. `t` is clamped to [-126, 128]: for large negative x the
//! quotient becomes -0, for large positive x it is x; no finite input gives NaN.

use crate::facts::Facts;
use crate::isa::Isa;

/// Types, loads and stores that every source begins with.
pub(crate) fn vector_preamble(isa: Isa) -> String {
    let (lanes, bytes) = (isa.lanes(), isa.lanes() * 4);
    let copies = vec!["x"; lanes as usize].join(", ");
    format!(
        "typedef float vec __attribute__((vector_size({bytes})));\n\
         typedef float memory_vec __attribute__((vector_size({bytes}), aligned(4), may_alias));\n\
         enum {{ LANES = {lanes} }};\n\n\
         #define HELPER static inline __attribute__((unused))\n\
         HELPER vec splat(float x) {{ return (vec){{{copies}}}; }}\n\
         HELPER vec load(const float *from) {{ return *(const memory_vec *)from; }}\n\
         HELPER void store(float *to, vec x) {{ *(memory_vec *)to = x; }}\n\n"
    )
}

/// The vectorised function alone: `static inline vec gelu(vec x)`, with the types it needs.
#[must_use]
pub fn gelu_source(isa: Isa) -> String {
    vector_preamble(isa) + &gelu(isa)
}

/// `lower` or `higher` as the instruction set has it: an instruction, or a selection by mask of `ivec`.
pub(crate) fn limit(isa: Isa, name: &str) -> String {
    let (x86, arm, sign) = match name {
        "lower" => ("vminps", "fmin", "<"),
        _ => ("vmaxps", "fmax", ">"),
    };
    let body = match isa {
        Isa::Avx2 | Isa::Avx512 => {
            format!("__asm__(\"{x86} %2, %1, %0\" : \"=\" LS_VECTOR(a) : LS_VECTOR(a), LS_VECTOR(b));\n    return a;")
        }
        Isa::Neon => {
            format!("__asm__(\"{arm} %0.4s, %1.4s, %2.4s\" : \"=w\"(a) : \"w\"(a), \"w\"(b));\n    return a;")
        }
        Isa::Plain => {
            format!("const ivec first = a {sign} b;\n    return (vec)((first & (ivec)a) | (~first & (ivec)b));")
        }
    };
    format!("static inline vec {name}(vec a, vec b)\n{{\n    {body}\n}}\n\n")
}

/// `gelu` without the preamble.
pub(crate) fn gelu(isa: Isa) -> String {
    let bytes = isa.lanes() * 4;
    format!(
        "typedef int ivec __attribute__((vector_size({bytes})));\n\n{}\
         /* x / (1 + 2^t), t = x (a + b x^2): GELU in its tanh form. Absolute error below 6e-7 over [-12, 12]. */\n\
         static inline vec gelu(vec x)\n{{\n    \
         vec t = x * (splat(-2.3022082f) + splat(-0.10294324f) * (x * x));\n    \
         t = higher(lower(t, splat(128.0f)), splat(-126.0f));\n    \
         /* Adding 1.5 * 2^23 rounds to an integer, which then stands in the lowest bits. */\n    \
         const vec shifted = t + splat(12582912.0f);\n    \
         const vec f = t - (shifted - splat(12582912.0f));\n    \
         vec p = splat(1.535336188319500e-4f);\n    \
         p = p * f + splat(1.339887440266574e-3f);\n    \
         p = p * f + splat(9.618437357674640e-3f);\n    \
         p = p * f + splat(5.550332471162809e-2f);\n    \
         p = p * f + splat(2.402264791363012e-1f);\n    \
         p = p * f + splat(6.931472028550421e-1f);\n    \
         p = p * f + splat(1.0f);\n    \
         const vec power = (vec)((ivec)p + ((ivec)shifted << 23));\n    \
         return x / (splat(1.0f) + power);\n}}\n\n",
        limit(isa, "lower") + &limit(isa, "higher")
    )
}

/// GELU over a tile that was just stored.
pub(crate) fn gelu_tile(facts: &Facts<'_>) -> String {
    let vectors: Vec<String> = (0..facts.vectors)
        .map(|v| {
            let at = format!("c + {}", v * facts.context.isa.lanes());
            format!("        store({at}, gelu(load({at})));\n")
        })
        .collect();
    format!(
        "static __attribute__((noinline)) void gelu_tile(float *c, long c_stride)\n{{\n    \
         for (long i = 0; i < HEIGHT; i++, c += c_stride) {{\n{}    }}\n}}\n\n",
        vectors.concat()
    )
}

/// `activate`: GELU as a pass of its own over tokens `[first, last)`, which lie in one run in every layout.
pub(crate) fn activate(facts: &Facts<'_>) -> String {
    let store = facts.store;
    let tokens = facts.context.extents.tokens;
    let size = facts.token_extent();
    let padded = store.floats > u64::from(tokens) * store.floats_per_token;
    let whole_panels = if padded {
        format!("    last = (last + {}) / {size} * {size};\n", size - 1)
    } else {
        String::new()
    };
    format!(
        "/* GELU as a pass over tokens [first, last), padding of the last panel included. */\n\
         static void activate(const struct ls_buffers *s, long first, long last)\n{{\n{whole_panels}    \
         float *c = s->output + first * {per_token};\n    \
         float *const end = s->output + last * {per_token};\n    \
         for (; c + LANES <= end; c += LANES)\n        \
         store(c, gelu(load(c)));\n    \
         if (c < end) {{\n        \
         float rest[LANES] = {{0}};\n        \
         for (long n = 0; n < end - c; n++) rest[n] = c[n];\n        \
         store(rest, gelu(load(rest)));\n        \
         for (long n = 0; n < end - c; n++) c[n] = rest[n];\n    }}\n}}\n\n",
        per_token = store.floats_per_token
    )
}
