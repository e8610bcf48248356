//! The two register micro-kernels: `rows x query_panel` accumulators, rows broadcast, queries in vectors.
//!
//! Scores: rows are keys, the inner axis is the width. Results: rows are columns of values, the inner axis is the keys.
//! Each exists once for whole tiles and once for the last one of its axis, so nothing is read or written beyond an edge.
//! Steps are the groups of multiply-adds of [`crate::codegen`], which no compiler can spill.

use std::fmt::Write as _;

use crate::assembly::MARKER;
use crate::attention::facts::{Facts, Walk};
use crate::attention::geometry::{Maximum, Scores};

/// What becomes of the accumulators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Epilogue {
    /// Scores are stored; where asked for, maxima `m` grow with them.
    Scores { maximum: bool },
    /// A first result is stored.
    Store,
    /// Later key blocks are added.
    Add,
    /// They are added to what is there times `factor`.
    Rescale,
}

impl Epilogue {
    fn parameter(self) -> &'static str {
        match self {
            Self::Scores { maximum: true } => ", float *m",
            Self::Rescale => ", const float *factor",
            _ => "",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Scores { maximum: true } => "c = a b; m = the larger of m and the scores of its query",
            Self::Scores { maximum: false } | Self::Store => "c = a b",
            Self::Add => "c = c + a b",
            Self::Rescale => "c = factor c + a b",
        }
    }
}

/// All kernels that a geometry calls.
pub(super) fn kernels(facts: &Facts<'_>) -> String {
    let g = facts.context.geometry;
    let (last_keys, last_values) = facts.last_heights();
    let maximum = g.maximum == Maximum::Tile;
    let mut c = String::new();
    let both = |name: &str, walk: Walk, height: u32, last: u32, tiles: u32, epilogue: Epilogue, c: &mut String| {
        if tiles > 1 || last == height {
            c.push_str(&kernel(facts, name, walk, height, epilogue));
        }
        if last != height {
            c.push_str(&kernel(facts, &format!("{name}_last"), walk, last, epilogue));
        }
    };
    let key_tiles = facts.context.extents.keys.div_ceil(g.key_height);
    both(
        "scores",
        facts.keys,
        g.key_height,
        last_keys,
        key_tiles,
        Epilogue::Scores { maximum },
        &mut c,
    );
    let mut results = vec![("values_store", Epilogue::Store)];
    if g.key_blocks > 1 {
        results.push(match g.scores {
            Scores::Whole => ("values_add", Epilogue::Add),
            Scores::Online => ("values_rescale", Epilogue::Rescale),
        });
    }
    for (name, epilogue) in results {
        both(
            name,
            facts.values,
            g.value_height,
            last_values,
            facts.value_tiles,
            epilogue,
            &mut c,
        );
    }
    c
}

/// One kernel of `height` rows.
fn kernel(facts: &Facts<'_>, name: &str, walk: Walk, height: u32, epilogue: Epilogue) -> String {
    let (vectors, unroll) = (facts.vectors, facts.context.geometry.unroll);
    let mut c = format!(
        "/* {}. */\nstatic __attribute__((noinline)) void {name}(const float *a, const float *b, float *c, long k{})\n{{\n",
        epilogue.about(),
        epilogue.parameter()
    );
    for i in 0..height {
        let row: Vec<String> = (0..vectors).map(|v| format!("c{i}_{v} = {{0}}")).collect();
        _ = writeln!(c, "    vec {};", row.join(", "));
    }
    // A compiler that knows the depth may unroll the loop away, and the marker with it.
    c.push_str("    __asm__(\"\" : \"+r\"(k));\n");
    _ = writeln!(c, "    for (; k >= {unroll}; k -= {unroll}) {{");
    for u in 0..unroll {
        step(facts, walk, height, u, &mut c);
    }
    advance(walk, facts, unroll, &mut c);
    _ = writeln!(c, "        __asm__ volatile(LS_COMMENT \" {MARKER}{name}\");\n    }}");
    if unroll > 1 {
        c.push_str("    for (; k > 0; k--) {\n");
        step(facts, walk, height, 0, &mut c);
        advance(walk, facts, 1, &mut c);
        c.push_str("    }\n");
    }
    store(facts, height, epilogue, &mut c);
    c.push_str("}\n\n");
    c
}

fn step(facts: &Facts<'_>, walk: Walk, height: u32, u: u32, c: &mut String) {
    let u = u64::from(u);
    c.push_str("        {\n");
    let panel = u64::from(facts.context.geometry.query_panel);
    let lanes = u64::from(facts.context.isa.lanes());
    for v in 0..facts.vectors {
        let at = u * panel + u64::from(v) * lanes;
        _ = writeln!(c, "            vec y{v} = load(b + {at}); PIN(y{v});");
    }
    let held: Vec<String> = (0..facts.vectors).map(|v| format!("y{v}")).collect();
    for i in 0..height {
        let sums: Vec<String> = (0..facts.vectors).map(|v| format!("c{i}_{v}")).collect();
        let at = u64::from(i) * walk.row + u * walk.step;
        _ = writeln!(c, "            ROW(a[{at}], {}, {});", sums.join(", "), held.join(", "));
    }
    c.push_str("        }\n");
}

fn advance(walk: Walk, facts: &Facts<'_>, steps: u32, c: &mut String) {
    let steps = u64::from(steps);
    let panel = u64::from(facts.context.geometry.query_panel);
    _ = writeln!(c, "        a += {}; b += {};", steps * walk.step, steps * panel);
}

fn store(facts: &Facts<'_>, height: u32, epilogue: Epilogue, c: &mut String) {
    let panel = facts.context.geometry.query_panel;
    let lanes = facts.context.isa.lanes();
    for v in 0..facts.vectors {
        if epilogue == Epilogue::Rescale {
            _ = writeln!(c, "    const vec f{v} = load(factor + {});", v * lanes);
        }
    }
    for i in 0..height {
        for v in 0..facts.vectors {
            let at = format!("c + {}", i * panel + v * lanes);
            let value = match epilogue {
                Epilogue::Scores { .. } | Epilogue::Store => format!("c{i}_{v}"),
                Epilogue::Add => format!("load({at}) + c{i}_{v}"),
                Epilogue::Rescale => format!("load({at}) * f{v} + c{i}_{v}"),
            };
            _ = writeln!(c, "    store({at}, {value});");
        }
    }
    if epilogue != (Epilogue::Scores { maximum: true }) {
        return;
    }
    for v in 0..facts.vectors {
        let mut largest: Vec<String> = (0..height).map(|i| format!("c{i}_{v}")).collect();
        largest.push(format!("load(m + {})", v * lanes));
        // A balanced tree: half as deep as a chain.
        while largest.len() > 1 {
            let pairs = largest.chunks(2).map(|pair| match pair {
                [a, b] => format!("higher({a}, {b})"),
                rest => rest.concat(),
            });
            largest = pairs.collect();
        }
        _ = writeln!(c, "    store(m + {}, {});", v * lanes, largest.concat());
    }
}
