//! All figures in one table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use target_kohaku::kernels::Mask;

use crate::figure::{Agreement, Figure, Found, agreement, alike, figures};
use crate::{accuracy, blocks, conversions, inventory, layouts, network, timings, whatif};

/// What is known of one figure.
pub(crate) struct Row {
    pub(crate) figure: Figure,
    pub(crate) found: Found,
}

impl Row {
    /// One word, and a reason where one is needed.
    pub(crate) fn verdict(&self) -> (&'static str, String) {
        let agrees = |value: &Value, note: &str| match agreement(&self.figure.expected, value) {
            Agreement::Exact => ("reproduced", note.to_owned()),
            Agreement::Truncated => {
                let cut = "the published value is cut off, not rounded";
                let note = if note.is_empty() {
                    String::new()
                } else {
                    format!("; {note}")
                };
                ("reproduced", format!("{cut}{note}"))
            }
            Agreement::No => ("differs", "unexpected".to_owned()),
        };
        match &self.found {
            Found::Value(value) => agrees(value, ""),
            Found::Noted(value, note) => agrees(value, note),
            Found::Other(_, reason) => ("differs", (*reason).to_owned()),
            Found::Alike(value, note) => {
                let word = if alike(&self.figure.expected, value) {
                    "same size"
                } else {
                    "differs"
                };
                let mut reason = "operands of the published run are not recorded".to_owned();
                if !note.is_empty() {
                    let _ = write!(reason, "; {note}");
                }
                (word, reason)
            }
            Found::Never(reason) => ("not reproducible", (*reason).to_owned()),
        }
    }
}

fn find(figure: &Figure) -> Found {
    let found = match figure.category.as_str() {
        "layout" => layouts::find(figure),
        "conversion" => conversions::find(figure),
        "timing" => timings::find(figure),
        "accuracy" => accuracy::find(figure),
        _ => inventory::find(figure),
    };
    found
        .or_else(|| network::find(figure))
        .unwrap_or_else(|| panic!("nobody looks for `{}`", figure.name))
}

pub(crate) fn rows() -> Vec<Row> {
    figures()
        .into_iter()
        .map(|figure| {
            let found = find(&figure);
            Row { figure, found }
        })
        .collect()
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string().replace(',', ", "),
    }
}

/// The table as Markdown, with counts at its head.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        *counts.entry(row.verdict().0).or_default() += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(word, n)| format!("{n} {word}")).collect();
    let mut out = format!("{} figures: {}.\n\n", rows.len(), counts.join(", "));
    out.push_str("| section | figure | published | marked | computed | verdict |\n|---|---|---|---|---|---|\n");
    for row in rows {
        let (verdict, reason) = row.verdict();
        let computed = match &row.found {
            Found::Value(value) | Found::Noted(value, _) | Found::Other(value, _) | Found::Alike(value, _) => {
                text(value)
            }
            Found::Never(_) => String::new(),
        };
        let reason = if reason.is_empty() {
            String::new()
        } else {
            format!(": {reason}")
        };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {computed} | {verdict}{reason} |",
            row.figure.section,
            row.figure.name.replace('|', "/"),
            text(&row.figure.expected),
            row.figure.status
        );
    }
    out.push_str(
        "\nTotals in the two price revisions. `published` prices a pass that folds rows as if it were one part of 8,192 \
         elements; `real-span` prices what it covers.\n\n\
         | heads x queries x keys | published | real-span | conversions, real-span |\n|---|---|---|---|\n",
    );
    for ([heads, queries, keys], total, share) in timings::real_spans() {
        let published = conversions::attention(heads, queries, keys).1.total();
        let _ = writeln!(
            out,
            "| {heads} x {queries} x {keys} | {published} | {total} | {share} % |"
        );
    }
    out.push_str(
        "\nMasked keys: 4 heads, 256 queries, 77 keys padded to 128, cycles without conversions in published prices. The \
         public code was run for both query blocks (it gives 171008 and 121600): its mask band takes 11 cycles for 16 \
         elements, one instance for each head. That is what a table of ones and zeros costs, `s + (m c - c)`: three \
         operations on three operands. A table of what is added costs 7.\n\n\
         | query block | a table of ones | a table of what is added |\n|---|---|---|\n",
    );
    for query_block in [64, 256] {
        let [ones, added] = [Mask::Ones, Mask::Added].map(|mask| timings::masked(query_block, mask));
        let _ = writeln!(out, "| {query_block} | {ones} | {added} |");
    }
    out.push_str(
        "\nWhat if the machine were another, in cycles at real spans (modelled), for SDXL's attentions in the default plan. \
         A full-shape epilogue and addresses for staging memory change no cycle of these calls: both transposes stay, and \
         staging is as wide as the memory.\n\n\
         | machine | level 1 self | level 2 self | level 1 cross | level 2 cross |\n|---|---|---|---|---|\n",
    );
    for (name, cycles) in whatif::table() {
        let [a, b, c, d] = cycles;
        let _ = writeln!(out, "| {name} | {a} | {b} | {c} | {d} |");
    }
    out.push_str(&whatif::rewrites());
    out.push_str(&blocks::table());
    out
}
