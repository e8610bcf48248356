//! Segments of the inner axis that a micro-kernel of few accumulators walks side by side (see [`crate::isa::Isa::segments`]).
//!
//! Eight segments of two operands would be sixteen addresses, more than there are registers. Segment `n` lies at a base plus
//! 1, 2 or 4 times the distance of two segments, which an address can hold, so three bases do: those of segments 0, 3 and 6.
//! They are pinned, or a compiler makes sixteen of them again.

use std::fmt::Write as _;

use crate::facts::{Facts, Operand};

/// Name of a vector of sums.
pub(super) fn accumulator(i: u32, v: u32, segment: u32) -> String {
    if segment == 0 {
        format!("c{i}_{v}")
    } else {
        format!("c{i}_{v}_{segment}")
    }
}

/// The sum of a power of two of terms, as a balanced tree.
pub(super) fn balanced(terms: &[String]) -> String {
    if let [one] = terms {
        return one.clone();
    }
    let (low, high) = terms.split_at(terms.len() / 2);
    format!("({} + {})", balanced(low), balanced(high))
}

/// Segments with an address of their own, beside the first.
fn bases(segments: u32) -> impl Iterator<Item = u32> {
    [3, 6].into_iter().filter(move |base| *base < segments)
}

/// Where a segment of operand `a` or `b` lies at the current step.
pub(super) fn place(operand: &str, segment: u32) -> String {
    let (base, times) = match segment {
        0 | 3 | 6 => (segment, 0),
        5 | 7 => (3, segment - 3),
        _ => (0, segment),
    };
    let base = if base == 0 {
        operand.to_owned()
    } else {
        format!("{operand}_{base}")
    };
    match times {
        0 => base,
        _ => format!("FAR({base}, {times}, {operand}_segment)"),
    }
}

/// Floats from one inner step to the next in the broadcast and in the vector operand.
fn steps(facts: &Facts<'_>) -> [(&'static str, u32); 2] {
    let geometry = facts.context.geometry;
    let along = if facts.broadcast == Operand::Rows {
        1
    } else {
        geometry.height
    };
    [("a", along), ("b", geometry.width)]
}

/// Before the loop: distances and bases.
pub(super) fn begin(facts: &Facts<'_>, in_segment: u32) -> String {
    let mut c = String::new();
    if facts.segments == 1 {
        return c;
    }
    let unroll = facts.unroll;
    _ = writeln!(
        c,
        "    /* The inner axis in {} segments side by side; `segment`: bytes from one to the next. */",
        facts.segments
    );
    for (operand, step) in steps(facts) {
        _ = writeln!(
            c,
            "    long {operand}_segment = k / {unroll} * {} * (long)sizeof(float);",
            in_segment * step
        );
        for base in bases(facts.segments) {
            _ = writeln!(
                c,
                "    const float *{operand}_{base} = FAR({operand}, {base}, {operand}_segment);"
            );
        }
    }
    c
}

/// In the loop, behind the movement of the first segment.
pub(super) fn advance(facts: &Facts<'_>, in_segment: u32) -> String {
    let mut c = String::new();
    if facts.segments == 1 {
        return c;
    }
    for (operand, step) in steps(facts) {
        for base in bases(facts.segments) {
            _ = writeln!(
                c,
                "        {operand}_{base} += {}; PIN_ADDRESS({operand}_{base});",
                in_segment * step
            );
        }
        _ = writeln!(c, "        PIN_ADDRESS({operand}); PIN_ADDRESS({operand}_segment);");
    }
    c
}

/// Behind the loop: the rest of the steps follows the last segment.
pub(super) fn end(facts: &Facts<'_>) -> String {
    if facts.segments == 1 {
        return String::new();
    }
    let past = facts.segments - 1;
    format!("    a = FAR(a, {past}, a_segment);\n    b = FAR(b, {past}, b_segment);\n")
}
