//! The plain parts of the page: reasons of rejection, what was not explored, how it was measured, what figures mean.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::answer::{case_link, folded};
use super::escape::text;
use crate::analysis::{Analysis, WorkloadRow};
use crate::dataset::Outcome;
use crate::format::{grouped, one_line};
use crate::report::{coverage_lines, disturbed_line, drift_lines, figures, front_lines, objective_line, workload_line};

/// Names of failed cases that are shown before they are folded.
const NAMES: usize = 12;

/// What kind of reason it is: the name of the rule that refused, or the reason without the place of its log.
fn kind(reason: &str) -> &str {
    let rule = reason
        .split_once("refused by rule `")
        .and_then(|(_, rest)| rest.split_once('`'));
    let without_log = reason.split_once("; log `").map_or(reason, |(why, _)| why);
    rule.map_or(without_log, |(rule, _)| rule)
}

/// Outcomes, kinds of reasons, how many, which.
pub(crate) fn rejected(out: &mut String, workload: &WorkloadRow) {
    if workload.failures.is_empty() {
        out.push_str("<p class=\"empty\">None: every case that was run has a result.</p>");
        return;
    }
    let mut groups: BTreeMap<(Outcome, &str), (&str, Vec<String>)> = BTreeMap::new();
    for row in &workload.failures {
        let group = groups.entry((row.outcome, kind(&row.reason)));
        let (_, names) = group.or_insert_with(|| (&row.reason, Vec::new()));
        names.extend(row.cases.iter().cloned());
    }
    let most = groups.values().map(|(_, names)| names.len()).max().unwrap_or(1);
    let mut rows: Vec<_> = groups.into_iter().collect();
    rows.sort_by_key(|(_, (_, names))| std::cmp::Reverse(names.len()));
    out.push_str(
        "<div class=\"scroll\"><table class=\"plain reasons\"><thead><tr><th scope=\"col\">outcome</th><th scope=\"col\" \
         class=\"n\">cases</th><th scope=\"col\">reason</th><th scope=\"col\">which</th></tr></thead><tbody>",
    );
    for ((outcome, kind), (example, names)) in rows {
        let word = outcome.word();
        let share = 100 * names.len() / most;
        let links = |names: &[String]| {
            names
                .iter()
                .map(|name| case_link(name))
                .collect::<Vec<String>>()
                .join(", ")
        };
        let which = if names.len() > NAMES {
            format!(
                "{}, <details><summary>{} more</summary>{}</details>",
                links(&names[..NAMES]),
                grouped(names.len() - NAMES),
                // A page of twenty thousand links would be slow to no end: the table filters by reason.
                links(&names[NAMES..names.len().min(NAMES + 200)])
            )
        } else {
            links(&names)
        };
        let why = match (kind, names.len()) {
            ("", _) => "-".to_owned(),
            (kind, 1) if kind.len() < example.len() => format!("<b>{}</b>: {}", text(kind), folded(example)),
            (kind, _) if kind.len() < example.len() => {
                format!("<b>{}</b>, for one: {}", text(kind), folded(example))
            }
            (kind, _) => folded(kind),
        };
        let _ = write!(
            out,
            "<tr><td><span class=\"outcome\" data-outcome=\"{word}\">{word}</span></td><td class=\"n\">{}<span \
             class=\"bar\" style=\"width:{share}%\"></span></td><td>{why}</td><td>{which}</td></tr>",
            grouped(names.len()),
        );
    }
    out.push_str("</tbody></table></div>");
}

/// Sentences as a list.
pub(crate) fn list(out: &mut String, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    out.push_str("<ul class=\"verdict\">");
    for line in lines {
        let _ = write!(out, "<li>{}</li>", folded(line));
    }
    out.push_str("</ul>");
}

/// What was looked at, and what was not.
pub(crate) fn explored(out: &mut String, workload: &WorkloadRow) {
    let lines = coverage_lines(workload).into_iter().chain(disturbed_line(workload));
    let lines = lines.chain(front_lines(workload, one_line));
    list(out, &lines.collect::<Vec<String>>());
    let screened = &workload.coverage.screened;
    if screened.is_empty() {
        return;
    }
    out.push_str(
        "<div class=\"scroll\"><table class=\"plain\"><thead><tr><th scope=\"col\">operation</th><th \
         scope=\"col\">orientation</th><th scope=\"col\" class=\"n\">screened geometries<small>derived</small></th></tr>\
         </thead><tbody>",
    );
    for row in screened {
        let _ = write!(
            out,
            "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td></tr>",
            text(&row.operation),
            text(&row.orientation),
            grouped(&row.count)
        );
    }
    out.push_str("</tbody></table></div>");
}

/// How everything was measured.
pub(crate) fn setup(out: &mut String, analysis: &Analysis) {
    let setup = &analysis.setup;
    out.push_str("<ul class=\"verdict\">");
    for workload in &analysis.workloads {
        let _ = write!(
            out,
            "<li>{}</li>",
            workload_line(workload, case_or_name(workload), text)
        );
    }
    let _ = write!(
        out,
        "<li>{}</li><li>Definition {}, revision {}, frozen {}</li></ul>",
        objective_line(analysis, text),
        text(&setup.definition_path),
        text(setup.git_revision.as_deref().unwrap_or("-")),
        text(&setup.frozen_at),
    );
    for workload in &analysis.workloads {
        list(out, &drift_lines(analysis, workload, str::to_owned));
    }
    pairs(out, "Machine (class)", &setup.machine);
    pairs(out, "Machine (instance)", &setup.instance);
    pairs(out, "Options", &setup.options);
    let tools = setup.tools.iter().map(|tool| {
        let line = format!("{} ({}, SHA-256 {})", tool.version, tool.path, tool.sha256);
        (tool.name.clone(), line)
    });
    pairs(out, "Tools", &tools.collect());
}

/// A link for the control, plain text for the workload.
fn case_or_name(workload: &WorkloadRow) -> impl Fn(&str) -> String {
    let control = workload.control.clone();
    move |name| if name == control { case_link(name) } else { text(name) }
}

fn pairs(out: &mut String, title: &str, map: &BTreeMap<String, String>) {
    if map.is_empty() {
        return;
    }
    let _ = write!(out, "<h4>{title}</h4><dl class=\"pairs\">");
    for (key, value) in map {
        let _ = write!(out, "<dt>{}</dt><dd>{}</dd>", text(key), folded(value));
    }
    out.push_str("</dl>");
}

/// Text in which what stands between backticks is code.
fn code_spans(words: &str) -> String {
    let parts = words.split('`').map(text).enumerate();
    let tag = |(at, part): (usize, String)| {
        if at % 2 == 1 {
            format!("<code>{part}</code>")
        } else {
            part
        }
    };
    parts.map(tag).collect()
}

/// What each figure means.
pub(crate) fn meaning(out: &mut String, analysis: &Analysis) {
    out.push_str("<dl class=\"pairs\">");
    for (figure, label, meaning) in figures(analysis) {
        let _ = write!(
            out,
            "<dt>{}<small>{}</small></dt><dd>{}</dd>",
            text(figure),
            text(label),
            code_spans(&meaning)
        );
    }
    out.push_str("</dl>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_one_kind_stand_together() {
        let refused = |tile: u32| format!("unit `p`: refused by rule `sram`: tile {tile}; log `cases/a/build.log`");
        assert_eq!(kind(&refused(1)), kind(&refused(2)));
        assert_eq!(kind(&refused(1)), "sram");
        assert_eq!(kind("signal 11; log `cases/b/run.log`"), "signal 11");
        assert_eq!(kind(""), "");
    }
}
