//! The page of one case's profile: the same timeline as in the report, in a file of its own.

use std::fmt::Write as _;

use serde::Serialize;
use target_api::Timeline;

use super::assets::{ECHARTS, ECHARTS_VERSION, PROFILE_SCRIPTS};
use super::escape::{self, text};
use super::html::head;
use super::timelines::TimelineData;
use crate::error::AnalyzeError;
use crate::format::{one_in, percent, significant, unit_of_time};

/// What a profile page is made from.
#[derive(Debug, Clone, Copy)]
pub struct Profiled<'a> {
    /// The case.
    pub case: &'a str,
    /// Its workload.
    pub workload: &'a str,
    /// Canonical text of its plan.
    pub plan: &'a str,
    /// Its timeline.
    pub timeline: &'a Timeline,
}

#[derive(Serialize)]
struct Data {
    unit: String,
    origin: String,
    timelines: Vec<TimelineData>,
}

/// Writes the page: one self-contained file, as the report is. The same input gives the same bytes.
///
/// Errors: data that can't be written as JSON, which is a bug.
pub fn render_profile(profiled: &Profiled<'_>) -> Result<Vec<u8>, AnalyzeError> {
    let timeline = profiled.timeline;
    let shown = unit_of_time(&timeline.unit, std::iter::once(timeline.end));
    let scaled = shown.and_then(|shown| Some((shown, one_in(shown, &timeline.unit)?)));
    let (unit, one) = scaled.unwrap_or((timeline.unit.as_str(), 1.0));
    let data = Data {
        unit: unit.to_owned(),
        origin: timeline.origin.clone(),
        timelines: vec![TimelineData::new(0, profiled.case, timeline, one)],
    };
    let json = escape::json(&serde_json::to_string(&data)?);
    let mut out = String::with_capacity(json.len() + ECHARTS.len() + 100_000);
    head(&mut out, &text(&format!("{} in time", profiled.case)));
    let _ = write!(
        out,
        "<header><h1>{}</h1><p>workload {} · {} {unit} ({})</p></header>\n<main><pre>{}</pre>\
         <figure id=\"timeline\"><div class=\"chart low\" role=\"img\" aria-label=\"Phases in time\"></div><figcaption>{}. \
         What no phase covers is waiting.</figcaption></figure>",
        text(profiled.case),
        text(profiled.workload),
        significant(timeline.end / one, 4),
        text(&timeline.origin),
        text(profiled.plan),
        text(&timeline.about),
    );
    table(&mut out, timeline, (unit, one));
    let _ = write!(
        out,
        "</main>\n<footer><p>Charts: Apache ECharts {ECHARTS_VERSION}, copyright The Apache Software Foundation, Apache \
         License 2.0.</p></footer>\n<script type=\"application/json\" id=\"data\">{json}</script>\n<script \
         type=\"text/plain\" id=\"echarts\">{ECHARTS}</script>\n<script>\n(() => {{\n\"use strict\";\n"
    );
    for script in PROFILE_SCRIPTS {
        out.push_str(script);
    }
    out.push_str("})();\n</script>\n</body></html>\n");
    Ok(out.into_bytes())
}

/// Time of each lane by phase, and what it waits.
fn table(out: &mut String, timeline: &Timeline, (unit, one): (&str, f64)) {
    let phases = timeline.phases();
    let number = |time: f64| significant(time / one, 4);
    let _ = write!(
        out,
        "<div class=\"scroll\"><table class=\"plain\"><thead><tr><th scope=\"col\">lane<small>{}</small></th>",
        text(unit)
    );
    for phase in phases.iter().copied().chain(["waiting", "busy"]) {
        let _ = write!(out, "<th scope=\"col\" class=\"n\">{}</th>", text(phase));
    }
    out.push_str("</tr></thead><tbody>");
    for lane in &timeline.lanes {
        let _ = write!(out, "<tr><td>{}</td>", text(&lane.name));
        for phase in &phases {
            let _ = write!(out, "<td class=\"n\">{}</td>", number(lane.time_in(phase)));
        }
        let busy = lane.busy();
        let _ = write!(
            out,
            "<td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            number((timeline.end - busy).max(0.0)),
            percent(busy / timeline.end)
        );
    }
    out.push_str("</tbody></table></div>");
}
