//! `layout-sweep profile`: where the time of a case went.

use std::path::PathBuf;

use analyzer::page::{Profiled, render_profile};
use clap::Args;
use cohort::{Case, Snapshot};
use coordinator::ExitCode;
use serde::Serialize;
use target_api::{Lane, Meeting, Span, Timeline};
use target_ipu21::profile::{Profile, Summary, summary};

use crate::amounts;
use crate::explain::unreadable;
use crate::failure::Failure;
use crate::freeze::read;
use crate::output::{Format, narrate, print, print_json, table};
use crate::profile_tiles::show;
use crate::registry::target;

/// Arguments of `profile`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The cohort's folder.
    cohort: PathBuf,
    /// The case.
    case: String,
    /// Write the timeline as a page, too: phases over workers or tiles.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// How to print: JSON has every worker's spans, or every tile and every kernel call.
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    profile: &'a Profile,
    summary: Summary,
}

#[derive(Serialize)]
struct Worked<'a> {
    #[serde(flatten)]
    timeline: &'a Timeline,
    work: &'a [amounts::Row],
}

/// What each phase of the timeline did; empty for targets that do not tell.
fn work(snapshot: &Snapshot, case: &Case, timeline: &Timeline) -> Result<Vec<amounts::Row>, Failure> {
    let Some(own) = amounts::amounts(snapshot, case) else {
        return Ok(Vec::new());
    };
    let dataset = analyzer::dataset(snapshot).map_err(unreadable)?;
    let lanes = timeline.lanes.len().max(1) as f64;
    let mean = |phase: &str| timeline.lanes.iter().map(|lane| lane.time_in(phase)).sum::<f64>() / lanes;
    let times: Vec<(String, f64)> = (timeline.phases().into_iter())
        .map(|phase| (phase.to_owned(), mean(phase)))
        .collect();
    Ok(amounts::rows(&own, &times, amounts::peak(&dataset, &case.workload)))
}

/// Shows the profile that the last run of a case left beside it, else the medians of its phases.
pub(crate) fn execute(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let snapshot = read(&arguments.cohort)?;
    let name = &arguments.case;
    let case = snapshot.frozen.cases().find(|case| case.name == *name);
    let case = case.ok_or_else(|| Failure::usage(format!("the cohort has no case `{name}`")))?;
    let timeline = match timeline(&snapshot, name)? {
        Some(timeline) => timeline,
        None => medians(&snapshot, name)?,
    };
    match (tile_profile(&snapshot, name)?, arguments.format) {
        (Some(profile), Format::Json) => print_json(&Whole {
            summary: summary(&profile),
            profile: &profile,
        })?,
        (Some(profile), Format::Table) => show(&profile, &summary(&profile)),
        (None, form) => {
            let rows = work(&snapshot, case, &timeline)?;
            match form {
                Format::Json => print_json(&Worked {
                    timeline: &timeline,
                    work: &rows,
                })?,
                Format::Table => {
                    show_timeline(case, &timeline);
                    if !rows.is_empty() {
                        print(&amounts::show(&[(name, &rows)]));
                    }
                }
            }
        }
    }
    if let Some(path) = &arguments.html {
        let page = render_profile(&Profiled {
            case: name,
            workload: &case.workload,
            plan: &case.plan.text,
            timeline: &timeline,
        });
        let failed = |error| Failure::because(ExitCode::Usage, format!("`{}` can't be written", path.display()), error);
        cohort::write_atomic(path, &page.map_err(unreadable)?).map_err(failed)?;
        narrate(&format!("written: `{}`", path.display()));
    }
    Ok(ExitCode::Done)
}

/// What a run left beside its case; `None` where there is nothing.
fn profile_text(snapshot: &Snapshot, case: &str) -> Result<Option<String>, Failure> {
    let path = snapshot.frozen.dir().case_profile(case);
    match fs_err::read_to_string(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::because(ExitCode::Usage, "the profile can't be read", error)),
    }
}

fn damaged(case: &str, error: impl std::error::Error + 'static) -> Failure {
    let message = format!("the profile of `{case}` is damaged, or another version of this program wrote it");
    Failure::because(ExitCode::Usage, message, error)
        .help("`run --retry NAME` measures the case again, and writes it anew")
}

/// The timeline of a case, where its run left a profile that its target can read.
pub(crate) fn timeline(snapshot: &Snapshot, case: &str) -> Result<Option<Timeline>, Failure> {
    let Some(target) = target(&snapshot.frozen.manifest().target) else {
        return Ok(None);
    };
    match profile_text(snapshot, case)? {
        None => Ok(None),
        Some(text) => target.timeline(&text).map_err(|error| damaged(case, error)),
    }
}

/// The whole profile of a case of the tile array.
fn tile_profile(snapshot: &Snapshot, case: &str) -> Result<Option<Profile>, Failure> {
    if snapshot.frozen.manifest().target != "ipu21" {
        return Ok(None);
    }
    let text = profile_text(snapshot, case)?;
    let profile = text.map(|text| serde_json::from_str(&text).map_err(|error| damaged(case, error)));
    profile.transpose()
}

/// One lane of the medians of a case's phases: what is known where no profile lies.
fn medians(snapshot: &Snapshot, name: &str) -> Result<Timeline, Failure> {
    let dataset = analyzer::dataset(snapshot).map_err(unreadable)?;
    let mut cases = dataset.workloads.iter().flat_map(|workload| &workload.cases);
    let case = cases
        .find(|case| case.name == name)
        .filter(|case| !case.phases.is_empty());
    let case = case.ok_or_else(|| {
        Failure::usage(format!(
            "there is no profile of `{name}`, and no phases of it were measured"
        ))
        .help("profiles are written by the runs of the CPU and of a unit model; phases by targets that know some")
    })?;
    let mut spans = Vec::new();
    let mut end = 0.0;
    for phase in &case.phases {
        // What no span covers is waiting.
        if phase.kind != "wait" {
            spans.push(Span {
                phase: phase.name.clone(),
                start: end,
                end: end + phase.median,
            });
        }
        end += phase.median;
    }
    Ok(Timeline {
        about: "no profile lies beside the case: medians of its phases, one after another".to_owned(),
        origin: dataset.setup.origin().to_owned(),
        unit: dataset.setup.objective.unit.clone(),
        end,
        lanes: vec![Lane {
            name: "all".to_owned(),
            spans,
        }],
        meetings: Vec::new(),
    })
}

/// Time of each lane by phase.
fn show_timeline(case: &Case, timeline: &Timeline) {
    print(&format!(
        "{}\n{}: {:.0} {}; {}\n",
        case.plan.text, timeline.origin, timeline.end, timeline.unit, timeline.about
    ));
    let phases = timeline.phases();
    let rows = timeline.lanes.iter().map(|lane| {
        let mut row = vec![lane.name.clone()];
        row.extend(phases.iter().map(|phase| format!("{:.0}", lane.time_in(phase))));
        row.push(format!("{:.0}", (timeline.end - lane.busy()).max(0.0)));
        row
    });
    let mut header = vec!["lane"];
    header.extend(&phases);
    header.push("waiting");
    print(&table(&header, rows.collect()));
    if timeline.meetings.is_empty() {
        return;
    }
    let last = timeline.meetings.len() - 1;
    let spread = |meeting: &Meeting| format!("{:.0}", meeting.spread());
    let told: Vec<String> = timeline.meetings[..last].iter().map(spread).collect();
    let barriers = if told.is_empty() {
        "no barrier".to_owned()
    } else {
        format!("barriers {}", told.join(", "))
    };
    print(&format!(
        "spread of arrival, last less first worker ({}, {}): {barriers}; the end {}",
        timeline.unit,
        timeline.origin,
        spread(&timeline.meetings[last])
    ));
}
