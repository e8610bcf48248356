//! The table of cases: its columns, and its first screen as plain HTML. The script fills the same columns in the same
//! words when one scrolls, sorts or filters.

use std::fmt::Write as _;

use super::data::Data;
use super::escape::text;
use crate::format::{UNDEFINED, or_dash, percent, ratio, significant};

/// Rows that are there before any script runs.
const FIRST_ROWS: usize = 40;

/// One column.
pub(crate) struct Column {
    /// What the script knows it by.
    key: String,
    head: String,
    /// What its figures are: `measured`, `derived`, ...; empty for names.
    label: &'static str,
    /// Width in characters.
    width: usize,
    /// Whether its cells are numbers.
    numeric: bool,
}

/// The columns that have anything in them.
pub(crate) fn columns(data: &Data) -> Vec<Column> {
    let cases = &data.cases;
    let mut columns = Vec::new();
    let mut add = |key: &str, head: &str, label: &'static str, width: usize, numeric: bool| {
        columns.push(Column {
            key: key.to_owned(),
            head: head.to_owned(),
            label,
            width,
            numeric,
        });
    };
    let longest = cases
        .name
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or_default();
    add(
        "rank",
        "#",
        "derived",
        cases.name.len().to_string().len().max(3) + 4,
        true,
    );
    add("name", "case", "", longest.clamp(12, 34) + 10, false);
    if data.workloads.len() > 1 {
        add("workload", "workload", "", 18, false);
    }
    add("ratio", "ratio", data.origin, 9, true);
    if cases.lower.iter().any(Option::is_some) {
        add("interval", "95 % interval", "derived", 27, false);
    }
    let head = if data.unit.is_empty() {
        data.objective.clone()
    } else {
        format!("{}, {}", data.objective, data.unit)
    };
    let width = head.chars().count().clamp(11, 28) + 2;
    add("value", &head, data.origin, width, true);
    add("outcome", "outcome", "", 14, false);
    if cases.gflops.iter().any(Option::is_some) {
        add("gflops", "GFLOP/s", "derived", 10, true);
    }
    if cases.share.iter().any(Option::is_some) {
        add("share", "of peak", "derived", 10, true);
    }
    for (index, (name, unit)) in data.estimates().into_iter().enumerate() {
        let head = format!("{name}, {unit}");
        let width = head.chars().count().clamp(11, 24) + 2;
        add(&format!("estimate:{index}"), &head, "modelled", width, true);
    }
    if cases.error.iter().any(Option::is_some) {
        add("error", "max error", data.origin, 13, true);
    }
    // Where no control runs beside the cases, what is counted are no pairs.
    let is_paired = data.workloads.iter().any(|workload| workload.paired);
    add(
        "pairs",
        if is_paired { "pairs" } else { "samples" },
        data.origin,
        10,
        true,
    );
    add("family", "family", "", 14, false);
    add("chosen", "chosen", "", 14, false);
    if cases.folder.iter().any(Option::is_some) {
        add("logs", "logs", "", 20, false);
    }
    columns
}

/// Cases in the table's first order: by rank, those without one at the end in the cohort's order.
fn first_order(data: &Data) -> Vec<usize> {
    let mut order: Vec<usize> = (0..data.cases.name.len()).collect();
    order.sort_by_key(|case| data.cases.rank[*case].unwrap_or(usize::MAX));
    order
}

/// The table: head, first rows.
pub(crate) fn table(out: &mut String, data: &Data, links: &str) {
    let columns = columns(data);
    let width: usize = columns.iter().map(|column| column.width).sum();
    let _ = write!(
        out,
        "<div class=\"grid\" id=\"grid\" tabindex=\"0\" role=\"region\" aria-label=\"Cases: arrow keys move, Enter shows the \
         case, Escape closes it\"><table id=\"table\" style=\"width:{width}ch\" aria-rowcount=\"{}\"><colgroup>",
        data.cases.name.len() + 1
    );
    for column in &columns {
        let _ = write!(out, "<col style=\"width:{}ch\">", column.width);
    }
    out.push_str("</colgroup><thead><tr>");
    for column in &columns {
        let sort = if column.key == "rank" { "ascending" } else { "none" };
        let class = if column.numeric { " class=\"n\"" } else { "" };
        let head = text(&column.head);
        let _ = write!(
            out,
            "<th scope=\"col\" data-key=\"{}\"{class} aria-sort=\"{sort}\">",
            column.key
        );
        if column.key == "logs" {
            let _ = write!(out, "<span>{head}</span></th>");
        } else {
            let label = text(column.label);
            let _ = write!(
                out,
                "<button type=\"button\" title=\"{head}\">{head}<small>{label}</small></button></th>"
            );
        }
    }
    out.push_str("</tr></thead><tbody id=\"rows\">");
    for case in first_order(data).into_iter().take(FIRST_ROWS) {
        row(out, data, links, &columns, case);
    }
    out.push_str("</tbody></table></div>");
}

fn row(out: &mut String, data: &Data, links: &str, columns: &[Column], case: usize) {
    let _ = write!(out, "<tr data-case=\"{case}\">");
    for column in columns {
        let class = match (column.key.as_str(), column.numeric) {
            ("name", _) => " class=\"name\"",
            (_, true) => " class=\"n\"",
            _ => "",
        };
        let _ = write!(out, "<td{class}>");
        match column.key.as_str() {
            "logs" => out.push_str(&log_links(data, links, case)),
            "name" => {
                let name = text(&data.cases.name[case]);
                let _ = write!(out, "<span title=\"{name}\">{name}</span>{}", tag(data, case));
            }
            "outcome" => {
                let word = text(data.cases.outcome.get(case).unwrap_or(UNDEFINED));
                let _ = write!(out, "<span class=\"outcome\" data-outcome=\"{word}\">{word}</span>");
            }
            key => out.push_str(&text(&cell(data, key, case))),
        }
        out.push_str("</td>");
    }
    out.push_str("</tr>");
}

fn tag(data: &Data, case: usize) -> &'static str {
    let workload = &data.workloads[data.cases.workload[case]];
    if workload.winner == Some(case) {
        "<b class=\"tag\">winner</b>"
    } else if workload.control == Some(case) {
        if workload.has_control {
            "<b class=\"tag\">control</b>"
        } else {
            "<b class=\"tag\">reference</b>"
        }
    } else if workload.ties.contains(&case) {
        "<b class=\"tag\">tie</b>"
    } else {
        ""
    }
}

fn log_links(data: &Data, links: &str, case: usize) -> String {
    let Some(folder) = &data.cases.folder[case] else {
        return UNDEFINED.to_owned();
    };
    let mut out = Vec::new();
    for (bit, file) in super::links::FILES.iter().enumerate() {
        if data.cases.logs[case] & (1 << bit) != 0 {
            let word = file.split('.').next().unwrap_or(file);
            out.push(format!(
                "<a href=\"{}/{}/{file}\">{word}</a>",
                text(links),
                text(folder)
            ));
        }
    }
    out.join(" ")
}

/// The words of a cell. The script writes the same.
fn cell(data: &Data, key: &str, case: usize) -> String {
    let cases = &data.cases;
    let count = |count: Option<usize>| or_dash(count, |count| count.to_string());
    let number = |value: Option<f64>, digits: i32| or_dash(value, |value| significant(value, digits));
    match key {
        "rank" => count(cases.rank[case]),
        "workload" => data.workloads[cases.workload[case]].name.clone(),
        "family" => cases.family.get(case).unwrap_or(UNDEFINED).to_owned(),
        "chosen" => cases.chosen.get(case).unwrap_or(UNDEFINED).to_owned(),
        "ratio" => or_dash(cases.ratio[case], ratio),
        "interval" => or_dash(cases.lower[case].zip(cases.upper[case]), |(lower, upper)| {
            format!("{} to {}", ratio(lower), ratio(upper))
        }),
        "value" => number(cases.value[case], 4),
        "gflops" => number(cases.gflops[case], 4),
        "share" => or_dash(cases.share[case], percent),
        "error" => number(cases.error[case], 2),
        "pairs" => count(cases.pairs[case]),
        key => {
            let index = key
                .strip_prefix("estimate:")
                .and_then(|index| index.parse::<usize>().ok());
            let name = index.and_then(|index| data.estimates().get(index).map(|(name, _)| (*name).to_owned()));
            let workload = &data.workloads[cases.workload[case]];
            let column = workload
                .estimates
                .iter()
                .find(|column| Some(&column.name) == name.as_ref());
            number(column.and_then(|column| column.values[case - workload.first]), 4)
        }
    }
}
