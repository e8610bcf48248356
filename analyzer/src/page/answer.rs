//! What the page says first: the plan to take, how sure that is, and how to repeat it.

use std::fmt::Write as _;

use planner::Attributes;
use planner::select::plan_to_toml;

use super::escape::{lines, shell, text};
use super::html::Input;
use super::models::table;
use crate::analysis::{Analysis, CaseRow, Winner, WorkloadRow};
use crate::format::{UNDEFINED, counted, or_dash, percent, significant};
use crate::report::{Form, chosen_by, headline, limit_lines, limit_table, undecided, verdict};

/// Beyond so many characters a line is folded.
const LONG: usize = 320;

/// A case's name that shows the case when it is clicked.
pub(crate) fn case_link(name: &str) -> String {
    let name = text(name);
    format!("<a class=\"case\" href=\"#cases\" data-name=\"{name}\">{name}</a>")
}

/// The answer for one workload.
pub(crate) fn answer(out: &mut String, input: &Input<'_>, workload: &WorkloadRow) {
    let analysis = input.analysis;
    let decided = workload
        .winner
        .as_ref()
        .and_then(|winner| Some((winner, workload.case(&winner.case)?)));
    let Some((winner, case)) = decided else {
        let (headline, left) = undecided(&analysis.setup, workload);
        let mut lines = vec![text(headline)];
        lines.extend(left.map(|line| text(&line)));
        if workload.has_failures() {
            lines.push("<a href=\"#rejected\">See what failed.</a>".to_owned());
        }
        let _ = write!(out, "<p class=\"headline\">{}</p>", lines.join(" "));
        return;
    };
    let form = Form {
        case: &case_link,
        plain: &text,
        strong: &|words| format!("<b>{words}</b>"),
    };
    let said = headline(analysis, workload, winner, &form);
    let _ = write!(out, "<p class=\"headline\">{said}</p>");
    figures(out, analysis, workload, winner, case);
    out.push_str("<ul class=\"verdict\">");
    if let Some(line) = chosen_by(analysis, workload, winner) {
        let _ = write!(out, "<li>{}</li>", text(&line));
    }
    for line in verdict(&analysis.setup, workload, winner, str::to_owned, usize::MAX) {
        let _ = write!(out, "<li>{}</li>", folded(&line));
    }
    let limits = limit_lines(analysis, workload, str::to_owned).join(" ");
    let _ = write!(
        out,
        "<li>{}</li><li>Chosen because: {}</li></ul>",
        text(&limits),
        folded(&case.because)
    );
    limit_rows(out, analysis, workload);
    repeat(out, input, workload, case);
}

fn figures(out: &mut String, analysis: &Analysis, workload: &WorkloadRow, winner: &Winner, case: &CaseRow) {
    let objective = &analysis.setup.objective;
    let (shown, _) = objective.shown_unit();
    let origin = analysis.setup.origin();
    let with_unit = |number: String, unit: &str| {
        if number == UNDEFINED || unit.is_empty() {
            number
        } else {
            format!("{number} <i>{}</i>", text(unit))
        }
    };
    let normalised = workload.median_peak_gflops.is_some();
    let mut all = vec![
        (
            "its time",
            with_unit(or_dash(case.value, |v| objective.number(v)), shown),
            origin,
        ),
        (
            match (workload.has_control, normalised) {
                (true, true) => "the control’s, normalised",
                (false, true) => "the reference’s, normalised",
                (true, false) => "the control’s",
                (false, false) => "the reference’s",
            },
            with_unit(or_dash(workload.control_value, |v| objective.number(v)), shown),
            if normalised { "derived" } else { origin },
        ),
    ];
    let own = format!("its {}", text(&analysis.setup.objective.name));
    all[0].0 = &own;
    if let Some(rate) = case.gflops {
        all.push(("rate", with_unit(significant(rate, 4), "GFLOP/s"), "derived"));
    }
    if let Some(share) = case.share_of_limit {
        all.push(("of the limit (roofline)", percent(share), "derived"));
    }
    if let Some(noise) = workload.noise {
        let range = or_dash(noise.range(), |(low, high)| format!("{low:.3} to {high:.3}"));
        all.push(("control against itself, 90 % of pairs", range, origin));
    }
    if winner.case != workload.control && workload.varies && analysis.setup.imported.is_none() {
        let state = match winner.confirmed.len() {
            0 => "no".to_owned(),
            builds => format!("yes, {}", counted(builds, "fresh build")),
        };
        all.push(("confirmed", state, origin));
    }
    out.push_str("<dl class=\"figures\">");
    for (name, figure, label) in all {
        let _ = write!(out, "<div><dt>{name}</dt><dd>{figure}</dd><small>{label}</small></div>");
    }
    out.push_str("</dl>");
}

/// What no plan can beat, resource by resource.
fn limit_rows(out: &mut String, analysis: &Analysis, workload: &WorkloadRow) {
    let Some((heads, rows)) = limit_table(analysis, workload, text) else {
        return;
    };
    let heads: Vec<_> = heads
        .iter()
        .map(|(head, label, numeric)| (head.as_str(), *label, *numeric))
        .collect();
    out.push_str("<details><summary>The limits, level by level</summary>");
    table(out, &heads, &rows);
    out.push_str("</details>");
}

/// A line of text; a long one shows its beginning and opens.
pub(crate) fn folded(line: &str) -> String {
    if line.chars().count() <= LONG {
        return text(line);
    }
    let beginning: String = line.chars().take(LONG).collect();
    format!(
        "<details><summary>{} …</summary>{}</details>",
        text(&beginning),
        text(line)
    )
}

fn repeat(out: &mut String, input: &Input<'_>, workload: &WorkloadRow, case: &CaseRow) {
    let definition = shell(&input.analysis.setup.definition_path);
    // What others measured has no definition here, and nothing to run.
    if input.analysis.setup.imported.is_some() {
        return;
    }
    let parameters = input.parameters.get(&workload.name);
    out.push_str("<h4>Repeat it</h4>");
    if !case.chosen.is_adaptive() {
        // The definition names it.
        let command = format!("layout-sweep try {definition} --case {}", shell(&case.name));
        out.push_str(&code(&command));
    } else if parameters.is_some() {
        let of = if input.analysis.workloads.len() > 1 {
            format!(" --workload {}", shell(&workload.name))
        } else {
            String::new()
        };
        out.push_str(&code(&format!("layout-sweep try {definition} --plan plan.toml{of}")));
    } else {
        let name = shell(&case.name);
        let command = format!("layout-sweep sweep {definition}   # the sweep adds {name} by itself");
        out.push_str(&code(&command));
    }
    let _ = write!(out, "<h4>Its plan</h4>{}", code(&case.plan));
    let chosen: Attributes = case
        .attributes
        .iter()
        .filter(|(name, _)| parameters.is_none_or(|all| all.iter().any(|one| one == name)))
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    if !chosen.is_empty() {
        let summary = if parameters.is_some() {
            "The plan as TOML, for <code>plan.toml</code>"
        } else {
            "Its attributes as TOML: some may follow from others"
        };
        let toml = code(&plan_to_toml(&chosen));
        let _ = write!(out, "<details><summary>{summary}</summary>{toml}</details>");
    }
}

/// Text to copy.
pub(crate) fn code(content: &str) -> String {
    format!(
        "<div class=\"code\"><button type=\"button\" class=\"copy\" hidden>copy</button><pre>{}</pre></div>",
        lines(content.trim_end())
    )
}
