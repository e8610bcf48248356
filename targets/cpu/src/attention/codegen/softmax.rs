//! The softmax along the keys of one panel: every query has a lane of its own, so nothing is summed across lanes.
//!
//! Queries are packed times `log2(e) / sqrt(width)`, hence weights are `2^(s - m)`. `2^t = 2^i 2^f` with `i` the nearest
//! integer: a polynomial on [-1/2, 1/2] whose bits get `i` added to the exponent. `t` is never positive, and clamped at
//! -126 from below: the smallest weight is 1.2e-38, so a masked key weighs nothing.

use std::fmt::Write as _;

use crate::attention::facts::Facts;
use crate::attention::geometry::{Exponential, Maximum, Scores};
use crate::codegen::{limit, vector_preamble};
use crate::isa::Isa;

/// Coefficients from the highest power down, by minimax of the relative error (Remez exchange, float64), rounded.
fn coefficients(exponential: Exponential) -> &'static [&'static str] {
    match exponential {
        Exponential::Degree4 => &[
            "9.570101911e-3f",
            "5.591786032e-2f",
            "2.402474483e-1f",
            "6.931218147e-1f",
            "9.999992614e-1f",
        ],
        Exponential::Degree5 => &[
            "1.327647199e-3f",
            "9.675541334e-3f",
            "5.550713273e-2f",
            "2.402211972e-1f",
            "6.931469671e-1f",
            "1.000000072f",
        ],
        Exponential::Degree6 => &[
            "1.534581200e-4f",
            "1.339993122e-3f",
            "9.618488957e-3f",
            "5.550328777e-2f",
            "2.402264689e-1f",
            "6.931472057e-1f",
            "1.000000001f",
        ],
    }
}

/// `2^t` for `t <= 0`, with the types it needs: `static inline vec power(vec t)`.
#[must_use]
pub fn exponential_source(isa: Isa, exponential: Exponential) -> String {
    vector_preamble(isa) + &power(isa, exponential)
}

/// `power` and what it needs beside the preamble.
pub(super) fn power(isa: Isa, exponential: Exponential) -> String {
    let bytes = isa.lanes() * 4;
    let mut c = format!("typedef int ivec __attribute__((vector_size({bytes})));\n\n");
    c.push_str(&limit(isa, "higher"));
    c.push_str(
        "/* 2^t for t <= 0; below -126 as at -126. */\nHELPER vec power(vec t)\n{\n    t = higher(t, splat(-126.0f));\n    \
         /* Adding 1.5 * 2^23 rounds to an integer, which then stands in the lowest bits. */\n    \
         const vec shifted = t + splat(12582912.0f);\n    const vec f = t - (shifted - splat(12582912.0f));\n",
    );
    let list = coefficients(exponential);
    for (at, coefficient) in list.iter().enumerate() {
        _ = match at {
            0 => writeln!(c, "    vec p = splat({coefficient});"),
            _ => writeln!(c, "    p = p * f + splat({coefficient});"),
        };
    }
    c.push_str("    return (vec)((ivec)p + ((ivec)shifted << 23));\n}\n\n");
    c
}

/// The functions of the softmax.
pub(super) fn softmax(facts: &Facts<'_>) -> String {
    let g = facts.context.geometry;
    let mut c = String::new();
    if facts.context.extents.causal {
        c.push_str(&mask(facts));
    }
    if g.maximum == Maximum::Pass {
        c.push_str(&lanes(
            facts,
            "/* m = the larger of m and the scores of n keys. */\nstatic void maxima(const float *s, long n, float *m)",
            &[("m", "load(m + AT)")],
            "mV = higher(mV, load(s + AT));",
            &["store(m + AT, mV);"],
        ));
    }
    c.push_str(&lanes(
        facts,
        "/* Scores of n keys become weights 2^(s - m); l grows by their sum. */\n\
         static void weights(float *s, long n, const float *m, float *l)",
        &[("const m", "load(m + AT)"), ("l", "load(l + AT)")],
        "const vec wV = power(load(s + AT) - mV); store(s + AT, wV); lV += wV;",
        &["store(l + AT, lV);"],
    ));
    if g.scores == Scores::Online && g.key_blocks > 1 {
        c.push_str(&lanes(
            facts,
            "/* The maximum grew from `old` to m: what was summed before shrinks by `factor`. */\n\
             static void shrink(const float *old, const float *m, float *l, float *factor)",
            &[("const f", "power(load(old + AT) - load(m + AT))")],
            "",
            &["store(factor + AT, fV); store(l + AT, load(l + AT) * fV);"],
        ));
    }
    c
}

/// A function that goes down the keys with one variable per vector of the panel. `V` becomes the vector's number, `AT`
/// its place; without a `step` there is no loop.
fn lanes(facts: &Facts<'_>, head: &str, begin: &[(&str, &str)], step: &str, end: &[&str]) -> String {
    let width = facts.context.isa.lanes();
    let each = |line: &str| -> String {
        let of = |v: u32| {
            line.replace("AT", &(v * width).to_string())
                .replace('V', &v.to_string())
        };
        let indented: Vec<String> = (0..facts.vectors).map(of).collect();
        indented.join(" ")
    };
    let mut c = format!("{head}\n{{\n");
    for (name, value) in begin {
        let (constant, name) = name.split_once(' ').map_or(("", *name), |(_, name)| ("const ", name));
        _ = writeln!(c, "    {}", each(&format!("{constant}vec {name}V = {value};")));
    }
    if !step.is_empty() {
        _ = writeln!(c, "    for (; n > 0; n--, s += PANEL) {{");
        for v in 0..facts.vectors {
            _ = writeln!(
                c,
                "        {}",
                step.replace("AT", &(v * width).to_string())
                    .replace('V', &v.to_string())
            );
        }
        c.push_str("    }\n");
    }
    for line in end {
        _ = writeln!(c, "    {}", each(line));
    }
    c.push_str("}\n\n");
    c
}

/// Scores that no query of the panel may see: `s` is that of key `key`, the panel begins with query `first`.
fn mask(facts: &Facts<'_>) -> String {
    let maximum = if facts.context.geometry.maximum == Maximum::Tile {
        (
            ", float *m",
            "        for (long j = 0; j < PANEL; j++) m[j] = s[j] > m[j] ? s[j] : m[j];\n",
        )
    } else {
        ("", "")
    };
    format!(
        "/* Hides keys [key, end) from the queries before them; the panel begins with query `first`. */\n\
         static void mask(float *s, long key, long end, long first{})\n{{\n    \
         for (; key < end; key++, s += PANEL) {{\n        \
         const long hidden = key - first < PANEL ? key - first : PANEL;\n        \
         for (long j = 0; j < hidden; j++) s[j] = -HUGE_SCORE;\n{}    }}\n}}\n\n",
        maximum.0, maximum.1
    )
}
