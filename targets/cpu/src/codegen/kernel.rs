//! The register micro-kernel: `height x width` accumulators, an unrolled loop over the inner extent, a loop for the rest.
//!
//! Where accumulators are few there are several sets of them, each for a segment of the inner axis.
//! What the compiler may not undo is pinned: each held operand stays in a register (folded into several multiplications a
//! load is executed as often), and sums never change theirs (see [`super::group`]). The loop carries a comment by which
//! [`crate::assembly::check`] finds it.

use std::fmt::Write as _;

use super::segments::{self, accumulator, balanced};
use crate::assembly::MARKER;
use crate::facts::{Facts, Operand};
use crate::geometry::Inside;

/// Floats of one cache line.
const LINE: u64 = 64 / 4;

/// Which of the two kernels: the first inner block stores, later ones add.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    Store,
    Add,
}

impl Variant {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Store => "kernel_store",
            Self::Add => "kernel_add",
        }
    }
}

/// How far `next` moves in one unrolled iteration, so that the next vector panel is fetched evenly over the calls that
/// use this one: floats for panels, rows for weights in place.
pub(crate) fn prefetch_step(facts: &Facts<'_>) -> u64 {
    let geometry = facts.context.geometry;
    let calls = match geometry.inside {
        Inside::Cr => u64::from(facts.smallest_block().0.max(1)),
        Inside::Rc => 1,
    };
    let per_iteration = match facts.vector {
        Operand::WeightsInPlace => u64::from(facts.unroll),
        Operand::Panels { .. } | Operand::Rows | Operand::Tiles { .. } => {
            u64::from(facts.unroll) * u64::from(geometry.width)
        }
    };
    per_iteration.div_ceil(calls)
}

/// Parameters of a kernel, in order, as `(declaration, name)`.
fn parameters(facts: &Facts<'_>) -> Vec<&'static str> {
    let mut list = vec!["const float *a"];
    if facts.broadcast == Operand::WeightsInPlace {
        list.push("long a_step");
    }
    list.push("const float *b");
    if facts.vector == Operand::WeightsInPlace {
        list.push("long b_step");
    }
    list.extend(["float *c", "long c_stride", "long k"]);
    if facts.context.geometry.prefetch_b {
        list.push("const float *next");
    }
    list
}

/// The source of one kernel.
pub(crate) fn kernel(facts: &Facts<'_>, variant: Variant) -> String {
    let geometry = facts.context.geometry;
    let (height, vectors, lanes) = (geometry.height, facts.vectors, facts.context.isa.lanes());
    let mut c = String::new();
    let what = match variant {
        Variant::Store => "c = a b: the first inner block",
        Variant::Add => "c = c + a b: every later inner block",
    };
    _ = writeln!(c, "/* {what}. */");
    _ = writeln!(
        c,
        "static __attribute__((noinline)) void {}({})\n{{",
        variant.name(),
        parameters(facts).join(", ")
    );
    for i in 0..height {
        let row: Vec<String> = (0..facts.segments)
            .flat_map(|segment| (0..vectors).map(move |v| format!("{} = {{0}}", accumulator(i, v, segment))))
            .collect();
        _ = writeln!(c, "    vec {};", row.join(", "));
    }
    if geometry.prefetch_c {
        prefetch_c(facts, &mut c);
    }
    let unroll = facts.unroll;
    let in_segment = unroll / facts.segments;
    c.push_str(&segments::begin(facts, in_segment));
    _ = writeln!(c, "    for (; k >= {unroll}; k -= {unroll}) {{");
    for u in 0..in_segment {
        for segment in 0..facts.segments {
            step(facts, u, segment, &mut c);
        }
    }
    advance(facts, in_segment, &mut c);
    c.push_str(&segments::advance(facts, in_segment));
    if geometry.prefetch_b {
        prefetch_b(facts, &mut c);
    }
    _ = writeln!(
        c,
        "        __asm__ volatile(LS_COMMENT \" {MARKER}{}\");",
        variant.name()
    );
    c.push_str("    }\n");
    c.push_str(&segments::end(facts));
    if unroll > 1 {
        c.push_str("    for (; k > 0; k--) {\n");
        step(facts, 0, 0, &mut c);
        advance(facts, 1, &mut c);
        c.push_str("    }\n");
    }
    for i in 0..height {
        for v in 0..vectors {
            let at = format!("c + {i} * c_stride + {}", v * lanes);
            let old = if variant == Variant::Add {
                format!("load({at}) + ")
            } else {
                String::new()
            };
            let sums: Vec<String> = (0..facts.segments).map(|segment| accumulator(i, v, segment)).collect();
            _ = writeln!(c, "    store({at}, {old}{});", balanced(&sums));
        }
    }
    c.push_str("}\n\n");
    c
}

/// All lines of the result tile, asked for before the products begin.
fn prefetch_c(facts: &Facts<'_>, c: &mut String) {
    let geometry = facts.context.geometry;
    let width = u64::from(geometry.width);
    let mut offsets: Vec<u64> = (0..width.div_ceil(LINE)).map(|line| line * LINE).collect();
    let aligned = facts.store.stride.is_multiple_of(LINE) && width.is_multiple_of(LINE);
    if !aligned && !offsets.contains(&(width - 1)) {
        offsets.push(width - 1);
    }
    for i in 0..geometry.height {
        for offset in &offsets {
            _ = writeln!(c, "    __builtin_prefetch(c + {i} * c_stride + {offset}, 1, 3);");
        }
    }
}

/// One inner step of one segment: the shorter operand is held, the longer one streams.
fn step(facts: &Facts<'_>, u: u32, segment: u32, c: &mut String) {
    let (height, vectors) = (facts.context.geometry.height, facts.vectors);
    let row = |i: u32| format!("{}[{}]", segments::place("a", segment), broadcast_offset(facts, i, u));
    let vector = |v: u32| (segments::place("b", segment), vector_offset(facts, v, u));
    c.push_str("        {\n");
    if vectors > height {
        for i in 0..height {
            _ = writeln!(c, "            vec x{i} = splat({}); PIN(x{i});", row(i));
        }
        let held: Vec<String> = (0..height).map(|i| format!("x{i}")).collect();
        for v in 0..vectors {
            let sums: Vec<String> = (0..height).map(|i| accumulator(i, v, segment)).collect();
            let (place, at) = vector(v);
            _ = writeln!(
                c,
                "            COLUMN({place}[{at}], {}, {});",
                sums.join(", "),
                held.join(", ")
            );
        }
    } else {
        for v in 0..vectors {
            let (place, at) = vector(v);
            _ = writeln!(c, "            vec y{v} = load({place} + {at}); PIN(y{v});");
        }
        let held: Vec<String> = (0..vectors).map(|v| format!("y{v}")).collect();
        for i in 0..height {
            let sums: Vec<String> = (0..vectors).map(|v| accumulator(i, v, segment)).collect();
            _ = writeln!(
                c,
                "            ROW({}, {}, {});",
                row(i),
                sums.join(", "),
                held.join(", ")
            );
        }
    }
    if facts.broadcast == Operand::WeightsInPlace {
        c.push_str("            a += a_step; PIN_ADDRESS(a);\n");
    }
    if facts.vector == Operand::WeightsInPlace {
        c.push_str("            b += b_step; PIN_ADDRESS(b);\n");
    }
    c.push_str("        }\n");
}

fn broadcast_offset(facts: &Facts<'_>, i: u32, u: u32) -> u64 {
    let (i, u) = (u64::from(i), u64::from(u));
    match facts.broadcast {
        Operand::Panels { .. } => u * u64::from(facts.context.geometry.height) + i,
        Operand::WeightsInPlace => i,
        Operand::Rows => i * u64::from(facts.context.extents.inner) + u,
        Operand::Tiles { width } => i * u64::from(width) + u,
    }
}

fn vector_offset(facts: &Facts<'_>, v: u32, u: u32) -> u64 {
    let along = u64::from(v) * u64::from(facts.context.isa.lanes());
    match facts.vector {
        Operand::Panels { .. } => u64::from(u) * u64::from(facts.context.geometry.width) + along,
        Operand::WeightsInPlace | Operand::Rows | Operand::Tiles { .. } => along,
    }
}

/// Moves both operands by `steps` inner steps: one iteration, or one step of the rest.
fn advance(facts: &Facts<'_>, steps: u32, c: &mut String) {
    let geometry = facts.context.geometry;
    match facts.broadcast {
        Operand::Panels { .. } => _ = writeln!(c, "        a += {};", steps * geometry.height),
        Operand::Rows => _ = writeln!(c, "        a += {steps};"),
        // A whole tile is one iteration; the rest stays inside the last tile.
        Operand::Tiles { width } if steps == width => _ = writeln!(c, "        a += {};", width * geometry.height),
        Operand::Tiles { .. } => c.push_str("        a += 1;\n"),
        Operand::WeightsInPlace => {}
    }
    if facts.vector != Operand::WeightsInPlace {
        _ = writeln!(c, "        b += {};", steps * geometry.width);
    }
}

/// The part of the next vector panel that falls to this iteration, into L2.
fn prefetch_b(facts: &Facts<'_>, c: &mut String) {
    let step = prefetch_step(facts);
    if facts.vector == Operand::WeightsInPlace {
        let width = u64::from(facts.context.geometry.width);
        let lines = width.div_ceil(LINE);
        for _ in 0..step {
            for line in 0..lines {
                _ = writeln!(c, "        __builtin_prefetch(next + {}, 0, 2);", line * LINE);
            }
            c.push_str("        next += b_step; PIN_ADDRESS(next);\n");
        }
    } else {
        for line in 0..step.div_ceil(LINE) {
            _ = writeln!(c, "        __builtin_prefetch(next + {}, 0, 2);", line * LINE);
        }
        _ = writeln!(c, "        next += {step};");
    }
}
