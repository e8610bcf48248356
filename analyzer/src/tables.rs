//! An analysis on a terminal: at most 100 columns, without colours.

use std::fmt::Write as _;

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use crate::analysis::{Analysis, Judgement, WorkloadRow};
use crate::format::{counted, filled, grouped, one_line, or_dash, percent, ratio_with_interval, significant};
use crate::report::{
    achieves, class_lines, consent_lines, correlation, coverage_lines, disturbed_line, drift_lines, front_lines,
    inversions, limit_lines, origin_line, ratio_line, role, title, together_lines, verdict,
};
use crate::standing::Standing;

/// Columns of a terminal that everything fits into.
pub const WIDTH: u16 = 80;

/// How many cases are listed.
const BEST: usize = 10;

/// How many names a list on the terminal has; the report has all.
const NAMED: usize = 10;

/// Per workload: the ten best cases, the winner and what ties with it, each estimate, what failed and why, what was not
/// explored. Plain text, lines end in LF.
#[must_use]
pub fn render(analysis: &Analysis) -> String {
    let mut out = String::new();
    for workload in &analysis.workloads {
        if !out.is_empty() {
            out.push('\n');
        }
        let heading = if analysis.workloads.len() > 1 {
            format!("{} on {}", one_line(&workload.name), one_line(&analysis.setup.target))
        } else {
            title(analysis, one_line)
        };
        let _ = writeln!(out, "{heading}");
        if let Some(origin) = origin_line(analysis, one_line) {
            wrapped(&mut out, "by whom: ", &origin);
        }
        best(&mut out, analysis, workload);
        answer(&mut out, analysis, workload);
        estimates(&mut out, workload);
        failures(&mut out, workload);
        out.push('\n');
        if let Some(lines) = notable_drift(analysis, workload) {
            wrapped(&mut out, "drift: ", &lines.join(" "));
        }
        let fronts = front_lines(workload, one_line);
        if !fronts.is_empty() {
            wrapped(&mut out, "beside the objective: ", &fronts.join(" "));
        }
        wrapped(&mut out, "explored: ", &coverage_lines(workload).join(" "));
    }
    let classes = class_lines(analysis, one_line);
    if !classes.is_empty() {
        out.push('\n');
        wrapped(&mut out, "machines: ", &classes.join(" "));
    }
    let accepted = consent_lines(analysis, one_line);
    if !accepted.is_empty() {
        out.push('\n');
        wrapped(&mut out, "accepted differences: ", &accepted.join("; "));
    }
    let together = together_lines(analysis, one_line);
    if !together.is_empty() {
        out.push('\n');
        wrapped(&mut out, "all workloads: ", &together.join(" "));
    }
    out
}

/// What a person should know before trusting the figures: nothing where the machine was quiet.
fn notable_drift(analysis: &Analysis, workload: &WorkloadRow) -> Option<Vec<String>> {
    let drift = workload.drift.as_ref()?;
    let changed = drift.test.is_some_and(|test| test.p_two_sided < 0.01);
    (changed || !drift.disturbed.is_empty()).then(|| drift_lines(analysis, workload, one_line))
}

/// A table with a head, whose columns from `numbers` on are aligned to the right.
pub(crate) fn table(head: &[&str], numbers: std::ops::Range<usize>) -> Table {
    let mut table = Table::new();
    let line = LineStyle::none().fill('─').junction('─');
    table.load_style(TableStyle::new().header_separator(line));
    table
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(head);
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        if numbers.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// A table below an empty line.
pub(crate) fn show(out: &mut String, table: &Table) {
    out.push('\n');
    for line in table.to_string().lines() {
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

fn best(out: &mut String, analysis: &Analysis, workload: &WorkloadRow) {
    let ranked = workload.best();
    if ranked.is_empty() {
        return;
    }
    let objective = &analysis.setup.objective;
    let shown = objective.heading();
    let counts = format!("{}s", workload.counts());
    let head = vec!["case", "ratio [95 % interval]", &counts, shown, "GFLOP/s", "of peak"];
    let rows = ranked.iter().take(BEST).map(|(case, figure)| {
        vec![
            one_line(&case.name),
            ratio_with_interval(*figure),
            grouped(case.pairs),
            or_dash(case.value, |v| objective.number(v)),
            or_dash(case.gflops, |rate| significant(rate, 4)),
            or_dash(case.share_of_peak, percent),
        ]
    });
    let (head, rows) = filled(head, rows.collect());
    let mut table = table(&head, 1..6);
    for row in rows {
        table.add_row(row);
    }
    show(out, &table);
    if let Some(line) = ratio_line(analysis) {
        out.push('\n');
        wrapped(out, "ratio: ", &line);
    }
    if let Some(line) = disturbed_line(workload) {
        out.push('\n');
        wrapped(out, "probes: ", &line);
    }
}

fn answer(out: &mut String, analysis: &Analysis, workload: &WorkloadRow) {
    let setup = &analysis.setup;
    let Some(winner) = &workload.winner else {
        wrapped(
            out,
            "winner: ",
            "none, no case has a correct result that can be compared.",
        );
        return;
    };
    let objective = &setup.objective;
    let mut first = if winner.case == workload.control {
        format!("{}, {}.", one_line(&winner.case), role(workload))
    } else {
        let headline = winner.confirmed_ratio.unwrap_or(winner.ratio);
        format!(
            "{}: {}, {}{}.",
            one_line(&winner.case),
            achieves(objective, headline, role(workload), &objective.name),
            counted(headline.samples, workload.counts()),
            if winner.confirmed_ratio.is_some() {
                " of confirmation"
            } else {
                ""
            }
        )
    };
    let (better, role) = (objective.better(), role(workload));
    match workload.standing() {
        None | Some(Standing::Winner) => {}
        Some(Standing::ControlFailed(control)) => {
            let failed = control.outcome.word();
            let _ = write!(first, " No gain can be stated: {role} failed ({failed}).");
        }
        Some(Standing::Another(other, figure)) => {
            let _ = write!(
                first,
                " It is not shown to be {better} than {role}; {} is: {}, {}.",
                one_line(&other.name),
                achieves(objective, figure, role, &objective.name),
                counted(figure.samples, workload.counts())
            );
        }
        Some(Standing::Control | Standing::Unconfirmed(_) | Standing::Nothing) => {
            let _ = write!(first, " No case is shown to be {better} than {role}.");
        }
    }
    let lines = verdict(setup, workload, winner, one_line, NAMED);
    out.push('\n');
    wrapped(
        out,
        "winner: ",
        &std::iter::once(first).chain(lines).collect::<Vec<String>>().join(" "),
    );
    wrapped(out, "limit: ", &limit_lines(analysis, workload, one_line).join(" "));
}

fn estimates(out: &mut String, workload: &WorkloadRow) {
    if workload.estimates.is_empty() {
        return;
    }
    let head = [
        "estimate", "n", "Spearman", "at most", "regret", "top 10", "MdAPE", "inverted",
    ];
    let mut table = table(&head, 1..8);
    for estimate in &workload.estimates {
        table.add_row(estimate_row(one_line(&estimate.name), &estimate.whole));
        for phase in &estimate.phases {
            table.add_row(estimate_row(format!("  {}", one_line(&phase.kind)), &phase.judgement));
        }
    }
    show(out, &table);
}

fn estimate_row(name: String, judged: &Judgement) -> [String; 8] {
    let first_ten = judged.at_k.iter().find(|at| at.k == 10);
    [
        name,
        grouped(judged.samples),
        correlation(judged.spearman, judged.spearman_interval, 2),
        or_dash(judged.ceiling.ceiling, |rho| format!("{rho:.2}")),
        or_dash(judged.regret_ratio, |ratio| format!("{ratio:.3}")),
        or_dash(first_ten, |at| format!("{:.3}", at.regret_ratio)),
        or_dash(judged.mdape_percent, |error| percent(error / 100.0)),
        inversions(judged),
    ]
}

fn failures(out: &mut String, workload: &WorkloadRow) {
    if workload.failures.is_empty() {
        return;
    }
    let mut table = table(&["outcome", "cases", "reason", "which"], 1..2);
    for row in &workload.failures {
        let most = 4;
        let mut which = row
            .cases
            .iter()
            .take(most)
            .map(|case| one_line(case))
            .collect::<Vec<String>>()
            .join(", ");
        if row.cases.len() > most {
            let _ = write!(which, " and {} more", grouped(row.cases.len() - most));
        }
        table.add_row([
            row.outcome.word().to_owned(),
            grouped(row.cases.len()),
            one_line(&row.reason),
            which,
        ]);
    }
    show(out, &table);
}

/// Text after a lead, broken between words, further lines indented. A word that is longer than a line stays whole.
pub(crate) fn wrapped(out: &mut String, lead: &str, text: &str) {
    let mut line = lead.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > usize::from(WIDTH) {
            let _ = writeln!(out, "{}", line.trim_end());
            "  ".clone_into(&mut line);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    let _ = writeln!(out, "{}", line.trim_end());
}
