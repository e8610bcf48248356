//! The exported file and its header.

use std::fmt::Write as _;

use crate::codegen::gemm_source;
use crate::export::names::prefixed;
use crate::facts::{Facts, contexts};
use crate::geometry::{CpuPlan, Weights};
use crate::harness::harness_sources;
use crate::isa::Isa;
use crate::problem::Product;

/// What callers' memory is aligned to, in bytes: a cache line, and the widest vector.
pub(super) const ALIGNMENT: u64 = 64;

/// One plan as C.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// `NAME.c`.
    pub source: String,
    /// `NAME.h`.
    pub header: String,
}

/// Where a product's buffers lie, in floats from the beginning of the packed weights and of the workspace.
#[derive(Default)]
struct Places {
    panels: u64,
    weights: u64,
    in_place: bool,
    packed: u64,
    scratch: u64,
    output: u64,
}

/// Hands out runs of floats one after another, each at a multiple of the alignment.
#[derive(Default)]
struct Room(u64);

impl Room {
    fn take(&mut self, floats: u64) -> u64 {
        let at = self.0;
        self.0 += floats.next_multiple_of(ALIGNMENT / 4);
        at
    }
}

/// The plan as a C file and its header: functions `NAME_describe`, `NAME_packed_size`, `NAME_workspace_size`,
/// `NAME_pack_weights`, `NAME_open`, `NAME_run`, `NAME_close`.
///
/// `name` is a C identifier, `about` says in lines where the plan and its figures come from. The plan must be legal for
/// `products` (see [`crate::rules`]).
#[must_use]
pub fn exported(isa: Isa, products: &[Product], plan: &CpuPlan, name: &str, about: &[String]) -> Exported {
    let contexts = contexts(isa, products, plan);
    let facts: Vec<Facts<'_>> = contexts.iter().map(|context| Facts::new(*context)).collect();
    let labels: Vec<String> = (products.iter().enumerate())
        .map(|(at, product)| identifier(at, &product.name))
        .collect();
    let title = title(isa, products, plan);
    let frame = Frame {
        isa,
        threads: plan.threads,
        name,
        title: &title,
        about,
    };
    let mut c = frame.begin("/* One product's memory", "/* An attention's memory");
    for (context, label) in contexts.iter().zip(&labels) {
        let text = gemm_source(context)
            .replace("#include \"layout_sweep.h\"\n\n", "")
            .replace(
                "const struct ls_gemm layout_sweep_gemm",
                "static const struct ls_gemm layout_sweep_gemm",
            );
        _ = write!(
            c,
            "\n/* ---- product `{label}` ---- */\n\n{}",
            prefixed(&text, &format!("{label}_"))
        );
    }
    c.push_str(&frame.end_region());
    c.push_str(&constants(&facts, &labels, plan));
    c.push_str(&described(isa, &facts, plan, name, &title, about));
    let parts = [
        &include_str!("../c/exported/control.c").replace("@BUFFERS@", "struct ls_buffers buffers[PRODUCTS]"),
        include_str!("../c/exported/chain.c"),
        include_str!("../c/exported/workers.c"),
        include_str!("../c/exported/chain_interface.c"),
    ];
    c.push_str(&frame.fill(&parts.concat()));
    Exported {
        source: c,
        header: frame.header(include_str!("../c/exported/chain.h")),
    }
}

/// What every exported file has around its kernels.
pub(super) struct Frame<'a> {
    pub(super) isa: Isa,
    pub(super) threads: u32,
    pub(super) name: &'a str,
    pub(super) title: &'a str,
    pub(super) about: &'a [String],
}

impl Frame<'_> {
    /// A template with this file's words.
    pub(super) fn fill(&self, template: &str) -> String {
        let starts = if self.threads > 1 {
            " and starts the workers, which sleep between calls"
        } else {
            ""
        };
        template
            .replace("@TITLE@", &comment_safe(self.title))
            .replace("@ABOUT@", &comment_lines(self.about))
            .replace("@RESTRICT@", &format!("{}_RESTRICT", self.name.to_uppercase()))
            .replace("@NAME_UPPER@", &self.name.to_uppercase())
            .replace("@NAME@", self.name)
            .replace("@THREADS_START@", starts)
    }

    /// The header: what all kernels have, with the parts of one kind in it. A part begins behind `//// NAME` and stands
    /// where the frame says `@NAME@`.
    pub(super) fn header(&self, parts: &str) -> String {
        let mut text = include_str!("../c/exported/header.h").to_owned();
        for part in parts.split("//// ").filter(|part| !part.is_empty()) {
            let (name, content) = part.split_once('\n').unwrap_or((part, ""));
            // `SHARED` stands inside a line.
            let content = if name == "SHARED" { content.trim_end() } else { content };
            text = text.replace(&format!("@{name}@"), content);
        }
        self.fill(&text)
    }

    /// Everything before the kernels: headers, what the compiled code needs, the structures of `layout_sweep.h` that lie
    /// between two of its comments, and the beginning of the part that may use the instruction set.
    pub(super) fn begin(&self, from: &str, to: &str) -> String {
        let mut c = format!("/* {} */\n", comment_safe(self.title));
        _ = write!(c, "#define _GNU_SOURCE\n#include \"{}.h\"\n\n", self.name);
        c.push_str("#include <stdatomic.h>\n#include <stdint.h>\n#include <string.h>\n");
        if self.threads > 1 {
            c.push_str("#include <pthread.h>\n#include <sched.h>\n");
        }
        c.push_str(&architecture(self.isa));
        c.push_str(&structures(from, to));
        c.push_str(&region(self.isa).0);
        c
    }

    /// The end of that part.
    pub(super) fn end_region(&self) -> String {
        region(self.isa).1
    }
}

fn title(isa: Isa, products: &[Product], plan: &CpuPlan) -> String {
    let tokens = products.first().map_or(0, |product| product.extents.tokens);
    let mut text = format!("{tokens} tokens");
    for (n, product) in products.iter().enumerate() {
        if n == 0 {
            _ = write!(text, " x {}", product.extents.inner);
        }
        _ = write!(text, " -> {}", product.extents.features);
        if product.activation.is_some() {
            text.push_str(" -> tanh GELU");
        }
    }
    let s = if plan.threads == 1 { "" } else { "s" };
    _ = write!(
        text,
        ", float32, {isa}, {} thread{s}; a plan of layout-sweep",
        plan.threads
    );
    text
}

/// The prefix of what product `at` defines: a C identifier of its own, also where names differ only by what C has not.
fn identifier(at: usize, name: &str) -> String {
    let words = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    format!("g{at}_{}", name.chars().map(words).collect::<String>())
}

fn comment_safe(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *")
}

fn comment_lines(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!(" * {}", comment_safe(line))).collect();
    lines.join("\n")
}

/// What the compiled code needs, said to the compiler before anything else.
fn architecture(isa: Isa) -> String {
    let (condition, family) = match isa {
        Isa::Avx2 | Isa::Avx512 => ("defined(__x86_64__)", "x86-64"),
        Isa::Neon => ("defined(__aarch64__)", "aarch64"),
        Isa::Plain => ("defined(__x86_64__) || defined(__aarch64__)", "x86-64 or aarch64"),
    };
    let vector = match isa {
        Isa::Avx2 => "\"x\"",
        Isa::Avx512 => "\"v\"",
        Isa::Neon => "\"w\"",
        Isa::Plain => "LS_PLAIN_VECTOR",
    };
    let plain = if isa == Isa::Plain {
        "#if defined(__x86_64__)\n#define LS_PLAIN_VECTOR \"x\"\n#else\n#define LS_PLAIN_VECTOR \"w\"\n#endif\n"
    } else {
        ""
    };
    let runs_here = match isa {
        Isa::Avx2 => "(__builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\"))",
        Isa::Avx512 => "(__builtin_cpu_supports(\"avx512f\") && __builtin_cpu_supports(\"fma\"))",
        Isa::Neon | Isa::Plain => "1",
    };
    format!(
        "\n#if !({condition})\n#error \"this kernel is written for {family}\"\n#endif\n\
         {plain}#if defined(__x86_64__)\n#define LS_COMMENT \"#\"\n#else\n#define LS_COMMENT \"//\"\n#endif\n\
         #define LS_VECTOR {vector}\n#define RUNS_HERE {runs_here}\n\n"
    )
}

/// The structures that harness and objects agree on, between two comments of their header.
fn structures(from: &str, to: &str) -> String {
    let header = harness_sources()
        .into_iter()
        .find(|(path, _)| *path == "layout_sweep.h");
    let text = header.map_or("", |(_, text)| text);
    let from = text.find(from).unwrap_or(0);
    let to = text.find(to).unwrap_or(text.len());
    format!("#define LAYOUT_SWEEP_ABI 1\n\n{}", &text[from..to])
}

/// What opens and closes the part that may use the instruction set: the file needs no flag.
fn region(isa: Isa) -> (String, String) {
    let features = match isa {
        Isa::Avx2 => "avx2,fma",
        Isa::Avx512 => "avx512f,fma",
        Isa::Neon | Isa::Plain => return (String::new(), String::new()),
    };
    (
        format!(
            "#if defined(__clang__)\n\
             #pragma clang attribute push(__attribute__((target(\"{features}\"))), apply_to = function)\n\
             #else\n#pragma GCC push_options\n#pragma GCC target(\"{features}\")\n#endif\n"
        ),
        "\n#if defined(__clang__)\n#pragma clang attribute pop\n#else\n#pragma GCC pop_options\n#endif\n".to_owned(),
    )
}

/// Sizes and places, and the list of products.
fn constants(facts: &[Facts<'_>], labels: &[String], plan: &CpuPlan) -> String {
    let (mut weights, mut workspace) = (Room::default(), Room::default());
    let mut places = Vec::new();
    for (g, facts_of) in facts.iter().enumerate() {
        let extents = facts_of.context.extents;
        let in_place = facts_of.context.geometry.weights == Weights::RowMajor;
        let mut place = Places {
            panels: weights.take(facts_of.panel_floats()),
            in_place,
            packed: workspace.take(facts_of.packed_floats()),
            scratch: workspace.take(facts_of.scratch_floats()),
            ..Places::default()
        };
        if in_place {
            place.weights = weights.take(u64::from(extents.inner) * u64::from(extents.features));
        }
        // A reader in place may touch padding rows that the writer does not have.
        if let Some(next) = facts.get(g + 1) {
            place.output = workspace.take(facts_of.store.floats.max(next.input_floats()));
        }
        places.push(place);
    }
    let mut c = format!(
        "\nenum {{ PRODUCTS = {}, CARRY = {}, ALIGNMENT = {ALIGNMENT} }};\n#define THREADS {}\n",
        facts.len(),
        u8::from(plan.carry),
        plan.threads
    );
    _ = writeln!(c, "#define PACKED_FLOATS ((size_t){})", weights.0);
    _ = writeln!(c, "#define WORKSPACE_FLOATS ((size_t){})\n", workspace.0);
    let names: Vec<String> = labels
        .iter()
        .map(|label| format!("&{label}_layout_sweep_gemm"))
        .collect();
    _ = writeln!(
        c,
        "static const struct ls_gemm *const product[PRODUCTS] = {{{}}};\n",
        names.join(", ")
    );
    c.push_str("/* Where the buffers of each product begin, in floats. */\n");
    c.push_str(
        "static const struct { size_t panels, weights, packed, scratch, output; int in_place; } at[PRODUCTS] = {\n",
    );
    for p in &places {
        _ = writeln!(
            c,
            "    {{{}, {}, {}, {}, {}, {}}},",
            p.panels,
            p.weights,
            p.packed,
            p.scratch,
            p.output,
            u8::from(p.in_place)
        );
    }
    c.push_str("};\n\n");
    c
}

/// The structure that `NAME_describe` hands out.
fn described(isa: Isa, facts: &[Facts<'_>], plan: &CpuPlan, name: &str, title: &str, about: &[String]) -> String {
    let list = |of: fn(&Facts<'_>) -> u32| {
        let words: Vec<String> = facts.iter().map(|facts| of(facts).to_string()).collect();
        words.join(", ")
    };
    let rows = list(|facts| facts.context.extents.inner);
    let columns = list(|facts| facts.context.extents.features);
    let gelu = list(|facts| u32::from(facts.context.geometry.activation.is_some()));
    let mut text = format!("    \"{}\\n\"\n", c_string(title));
    for line in about {
        _ = writeln!(text, "    \"{}\\n\"", c_string(line));
    }
    let tokens = facts.first().map_or(0, |facts| facts.context.extents.tokens);
    format!(
        "static const long weight_rows[PRODUCTS] = {{{rows}}}, weight_columns[PRODUCTS] = {{{columns}}};\n\
         static const int gelu_after[PRODUCTS] = {{{gelu}}};\n\
         static const char about[] =\n{};\n\
         static const struct {name}_description description = {{\n    \
         sizeof(struct {name}_description), about, \"{isa}\", {}, PRODUCTS, {tokens}, {}, {}, weight_rows, weight_columns, gelu_after, {},\n    \
         ALIGNMENT}};\n\n",
        text.trim_end(),
        plan.threads,
        facts.first().map_or(0, |facts| facts.context.extents.inner),
        facts.last().map_or(0, |facts| facts.context.extents.features),
        facts.first().map_or(0, Facts::input_floats),
    )
}

/// The inside of a C string literal.
pub(super) fn c_string(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '"' => "\\\"".to_owned(),
            '\\' => "\\\\".to_owned(),
            '?' => "\\?".to_owned(),
            c if c.is_control() => " ".to_owned(),
            c => c.to_string(),
        })
        .collect()
}
