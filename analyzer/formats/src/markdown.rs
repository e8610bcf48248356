//! A table for people, in Markdown.

use std::fmt::Write as _;

use planner::{counted, grouped};

use crate::from_cohort::median;
use crate::table::{Found, Row, Table, key};

/// Measured configurations by their median, best first, then those that failed with their reasons; parameters of one value
/// are left out of the columns. `origin` says by whom the figures are.
#[must_use]
pub fn to_markdown(table: &Table, origin: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in table.rows.iter().flat_map(|row| row.configuration.iter()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let first = table.rows.first();
    names.retain(|name| {
        let value = first.and_then(|row| row.configuration.get(name));
        table.rows.iter().any(|row| row.configuration.get(name) != value)
    });
    let mut measured: Vec<(&Row, f64, usize)> = table.rows.iter().filter_map(middle).collect();
    measured.sort_by(|a, b| a.1.total_cmp(&b.1));
    if table.larger_is_better {
        measured.reverse();
    }
    let over = if table.larger_is_better {
        "the best over it"
    } else {
        "over the best"
    };
    let mut out = format!("# {}\n\n", escaped(&table.workload));
    let _ = writeln!(
        out,
        "{}, {} of them measured ({}). Values are medians of {}, {} is better; {}: derived.\n",
        counted(table.rows.len(), "configuration"),
        grouped(measured.len()),
        escaped(origin),
        escaped(&table.described(" in ", "")),
        if table.larger_is_better { "more" } else { "less" },
        over
    );
    let mut header = vec!["case".to_owned(), escaped(&table.described(" (", ")"))];
    header.extend([over.to_owned(), "samples".to_owned()]);
    header.extend(names.iter().map(|name| escaped(name)));
    let _ = writeln!(out, "| {} |", header.join(" | "));
    let _ = writeln!(out, "|---|---:|---:|---:|{}", "---|".repeat(names.len()));
    let best = measured.first().map_or(1.0, |(_, value, _)| *value);
    for (row, value, samples) in &measured {
        let mut cells = vec![
            escaped(&name(row)),
            format!("{value}"),
            format!(
                "{:.3}",
                if table.larger_is_better {
                    best / value
                } else {
                    value / best
                }
            ),
            samples.to_string(),
        ];
        let values = names.iter().map(|name| row.configuration.get(name));
        cells.extend(values.map(|value| value.map_or_else(String::new, |value| escaped(&value.to_string()))));
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    let failed: Vec<(&Row, &str, &String)> = table
        .rows
        .iter()
        .filter_map(|row| match &row.found {
            Found::Failed { how, reason } => Some((row, how.word(), reason)),
            Found::Measured { .. } => None,
        })
        .collect();
    if !failed.is_empty() {
        let _ = writeln!(out, "\n| case | outcome | reason |\n|---|---|---|");
        for (row, outcome, reason) in failed {
            let _ = writeln!(out, "| {} | {outcome} | {} |", escaped(&name(row)), escaped(reason));
        }
    }
    out
}

fn name(row: &Row) -> String {
    row.name.clone().unwrap_or_else(|| key(&row.configuration))
}

fn middle(row: &Row) -> Option<(&Row, f64, usize)> {
    let Found::Measured { samples } = &row.found else {
        return None;
    };
    let mut values: Vec<f64> = samples.iter().map(|(_, value)| *value).collect();
    Some((row, median(&mut values)?, values.len()))
}

/// Text that stays within its cell.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '\\' | '`' | '*' | '_' | '<' | '[' | ']' | '#' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
