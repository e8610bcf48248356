//! The page as a whole.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::answer::answer;
use super::assets::{ECHARTS, ECHARTS_VERSION, SCRIPTS, STYLE};
use super::data::{Data, WorkloadData};
use super::escape::{self, text};
use super::links::{FILES, Links};
use super::models::models;
use target_api::Timeline;

use super::{grid, sections};
use crate::analysis::{Analysis, WorkloadRow};
use crate::calibration::of_cohort;
use crate::error::AnalyzeError;
use crate::format::counted;
use crate::report::{self, class_lines, consent_lines, origin_line, ratio_line, together_lines};

/// What a page is made from.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The analysis.
    pub analysis: &'a Analysis,
    /// Where the logs lie.
    pub links: &'a Links,
    /// For each workload the attributes that are a plan's parameters, as far as known.
    pub parameters: &'a BTreeMap<String, Vec<String>>,
    /// Timelines of some cases, by name; see [`super::timelines()`].
    pub timelines: &'a BTreeMap<String, Timeline>,
}

/// Charts: the id, the heading, what is shown and where its figures come from.
const CHARTS: &[(&str, &str, &str)] = &[
    (
        "calibration",
        "Predicted against measured",
        "Each mark is a case that was measured and predicted; both axes are logarithmic. On the diagonal a prediction is \
         right; a score has no diagonal, only its order means anything. Hollow marks were chosen by results and judge no \
         estimate.",
    ),
    (
        "ranking",
        "Ranking",
        "Median of the paired ratios to the control and its 95 % interval, best first; left of 1 is better than the \
         control. A case without an interval has too few pairs.",
    ),
    (
        "pareto",
        "Beside the objective",
        "Each mark is a measured case: its ratio to the control, and a second number of which less is better. The line joins the \
         cases that no other one beats in both.",
    ),
    (
        "drift",
        "The control over the sweep",
        "Every round measures the control beside a case: the median of its calls. What moves here is the machine, not a \
         plan. Rounds far from the median are marked; their values are kept, since paired ratios cancel what disturbs \
         both calls alike.",
    ),
    (
        "phases",
        "Where the time goes",
        "Medians of the phases of each case, best first, the control beside them. Medians of parts need not add up to the \
         median of the whole.",
    ),
    (
        "timeline",
        "One case’s phases in time",
        "The phases of the shown case above those of its control: worker by worker or tile by tile where its run left a \
         profile (what no phase covers is waiting), else its medians one after another.",
    ),
    (
        "regret",
        "Regret against budget",
        "How far the best of the first cases that an estimate would try is from the best sample, by how many are tried; \
         beside it what trying at random gives on average.",
    ),
    (
        "residuals",
        "Residuals by attribute",
        "Predicted over measured, divided by the median of that over all samples, by the value of one attribute: where the \
         boxes differ, the estimate misjudges what the attribute does. Attributes are listed by the share of the \
         residuals’ variance that they explain beyond chance; boxes from 3 samples on.",
    ),
    (
        "parallel",
        "Attributes of all cases",
        "One line per measured case through the values of its attributes to its ratio; the more a line stands out, the better the \
         case. Drag along an axis to keep only lines that pass there.",
    ),
];

/// Writes the page: the same input gives the same bytes.
///
/// Errors: data that can't be written as JSON, which is a bug.
pub fn render(input: &Input<'_>) -> Result<Vec<u8>, AnalyzeError> {
    let data = Data::of(input.analysis, input.links, input.timelines);
    let json = escape::json(&serde_json::to_string(&data)?);
    let mut out = String::with_capacity(json.len() + ECHARTS.len() + 400_000);
    head(&mut out, &title(input.analysis));
    top(&mut out, input, &data);
    charts(&mut out, &data);
    bottom(&mut out, input.analysis);
    let _ = write!(
        out,
        "<aside id=\"detail\" aria-live=\"polite\" aria-label=\"The shown case\" hidden></aside>\n<script \
         type=\"application/json\" id=\"data\" data-links=\"{}\" data-files=\"{}\">{json}</script>\n",
        text(&input.links.base),
        FILES.join(" "),
    );
    // Not run at once: the table works before the chart library is read.
    let _ = write!(
        out,
        "<script type=\"text/plain\" id=\"echarts\">{ECHARTS}</script>\n<script>\n(() => {{\n\"use strict\";\n"
    );
    for script in SCRIPTS {
        out.push_str(script);
    }
    out.push_str("})();\n</script>\n</body></html>\n");
    Ok(out.into_bytes())
}

fn title(analysis: &Analysis) -> String {
    text(&report::title(analysis, str::to_owned))
}

/// Everything before the body; `title` is HTML.
pub(super) fn head(out: &mut String, title: &str) {
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src \
         'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'\">\
         <link rel=\"icon\" href=\"data:,\"><style>{STYLE}</style></head><body>\n"
    );
}

fn per_workload(out: &mut String, analysis: &Analysis, write: impl Fn(&mut String, &WorkloadRow)) {
    for workload in &analysis.workloads {
        if analysis.workloads.len() > 1 {
            let _ = write!(out, "<h3>Workload {}</h3>", text(&workload.name));
        }
        write(out, workload);
    }
}

fn top(out: &mut String, input: &Input<'_>, data: &Data) {
    let analysis = input.analysis;
    let setup = &analysis.setup;
    let machine = setup
        .machine
        .get("cpu_model")
        .map(|model| format!(" · {}", text(model)));
    let _ = write!(
        out,
        "<a class=\"skip\" href=\"#cases\">Skip to the cases</a><header><h1>{}</h1><p>{} · {}{} · frozen {}</p><nav \
         aria-label=\"Sections\">{}</nav></header>\n<main><section id=\"answer\"><h2>The answer</h2>",
        title(analysis),
        counted(data.cases.name.len(), "case"),
        text(data.origin),
        machine.unwrap_or_default(),
        text(&setup.frozen_at.chars().take(10).collect::<String>()),
        navigation(analysis, data),
    );
    sections::list(
        out,
        &origin_line(analysis, str::to_owned)
            .into_iter()
            .collect::<Vec<String>>(),
    );
    sections::list(out, &class_lines(analysis, str::to_owned));
    let consents = consent_lines(analysis, str::to_owned).into_iter();
    let together = consents.map(|line| format!("Accepted: {line}"));
    let together: Vec<String> = together.chain(together_lines(analysis, str::to_owned)).collect();
    sections::list(out, &together);
    per_workload(out, analysis, |out, workload| answer(out, input, workload));
    out.push_str("</section>\n<section id=\"cases\"><h2>Cases</h2><div id=\"filter\" class=\"filter\" hidden></div>");
    grid::table(out, data, &input.links.base);
    if let Some(line) = ratio_line(analysis) {
        let _ = write!(out, "<p class=\"note\">{}</p>", text(&line));
    }
    out.push_str(
        "<p class=\"note\" id=\"shown\" role=\"status\"></p><noscript><p class=\"note\">These are the best cases. Sorting, \
         filters and charts need scripts; all cases are in <a href=\"summary.csv\">summary.csv</a>.</p></noscript>\
         </section>\n",
    );
    if analysis.workloads.iter().any(WorkloadRow::has_models) {
        out.push_str("<section id=\"models\"><h2>Models: which to trust</h2>");
        per_workload(out, analysis, |out, workload| models(out, analysis, workload));
        out.push_str("</section>\n");
    }
}

/// Links to the sections that have something to say.
fn navigation(analysis: &Analysis, data: &Data) -> String {
    let any = |has: fn(&WorkloadRow) -> bool| analysis.workloads.iter().any(has);
    let links = [
        ("answer", "Answer", true),
        ("cases", "Cases", true),
        ("models", "Models", any(WorkloadRow::has_models)),
        ("charts", "Charts", CHARTS.iter().any(|(id, ..)| is_drawn(id, data))),
        ("rejected", "Rejected", any(WorkloadRow::has_failures)),
        ("explored", "Not explored", true),
        ("setup", "How measured", true),
        ("meaning", "Meaning", true),
    ];
    let mut out = String::new();
    for (id, name, _) in links.iter().filter(|(_, _, is_there)| *is_there) {
        let _ = write!(out, "<a href=\"#{id}\">{name}</a>");
    }
    out
}

/// Whether there is anything to draw: a chart without data is left out.
fn is_drawn(chart: &str, data: &Data) -> bool {
    let any = |has: &dyn Fn(&WorkloadData) -> bool| data.workloads.iter().any(has);
    match chart {
        "calibration" | "regret" | "residuals" => any(&|workload| !workload.estimates.is_empty()),
        "pareto" => any(&|workload| !workload.fronts.is_empty()),
        "drift" => any(&|workload| !workload.drift.seconds.is_empty()),
        "phases" => any(&|workload| !workload.phases.is_empty()),
        "timeline" => !data.timelines.is_empty() || any(&|workload| !workload.phases.is_empty()),
        "parallel" => any(&|workload| !workload.attributes.is_empty()),
        _ => data.cases.ratio.iter().any(Option::is_some),
    }
}

fn charts(out: &mut String, data: &Data) {
    let drawn: Vec<_> = CHARTS.iter().filter(|(id, ..)| is_drawn(id, data)).collect();
    let hidden = if drawn.is_empty() { " hidden" } else { "" };
    let _ = write!(
        out,
        "<section id=\"charts\"{hidden}><h2>Charts</h2><div id=\"choice\" class=\"filter\" hidden></div>"
    );
    // Without any control there is a reference that ratios refer to.
    let has_control = data.workloads.iter().any(|workload| workload.has_control);
    let named = |what: &str| {
        if has_control {
            what.to_owned()
        } else {
            what.replace("control", "reference")
        }
    };
    for (id, heading, what) in drawn {
        let (heading, what) = (named(heading), named(what));
        let _ = write!(
            out,
            "<figure id=\"{id}\"><h3>{heading}</h3><div class=\"controls\"></div><div class=\"chart\" role=\"img\" \
             aria-label=\"{heading}\"></div><figcaption>{what}</figcaption></figure>"
        );
    }
    out.push_str("</section>\n");
}

fn bottom(out: &mut String, analysis: &Analysis) {
    of_cohort::html(out, &analysis.calibrations, &|own| text(own));
    if analysis.workloads.iter().any(WorkloadRow::has_failures) {
        out.push_str("<section id=\"rejected\"><h2>Rejected and failed</h2>");
        per_workload(out, analysis, sections::rejected);
        out.push_str("</section>\n");
    }
    out.push_str("<section id=\"explored\"><h2>What was not explored</h2>");
    per_workload(out, analysis, sections::explored);
    out.push_str("</section>\n<section id=\"setup\"><h2>How it was measured</h2>");
    sections::setup(out, analysis);
    out.push_str("</section>\n<section id=\"meaning\"><h2>What the figures mean</h2>");
    sections::meaning(out, analysis);
    let _ = write!(
        out,
        "</section></main>\n<footer><p>Beside this page lie <a href=\"report.md\">report.md</a>, <a \
         href=\"summary.csv\">summary.csv</a> (every digit) and <a href=\"statistics.json\">statistics.json</a>. Numbers \
         here have six significant digits. Charts: Apache ECharts {ECHARTS_VERSION}, copyright The Apache Software \
         Foundation, Apache License 2.0.</p></footer>\n"
    );
}
