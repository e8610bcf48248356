//! Folders of the published sweep's form: `manifest.json`, and `result.json` in a folder for each case.

use std::collections::BTreeMap;

use planner::{Attributes, Value};
use serde_json::Value as Json;
use target_api::{Estimate, Moment};

use crate::error::ImportError;
use crate::json::{self, Ordered};
use crate::registry::{Format, Ranks};
use crate::source::{Options, Source};
use crate::table::{Contents, Failed, Found, Row, Table};
use crate::words;

pub(crate) const FORMAT: Format = Format {
    name: "published",
    about: "a folder of the published sweep's form: manifest.json, */result.json",
    suits: |source| source.folder && source.parts.iter().any(|part| part.path.ends_with(RESULT)),
    ranks: Ranks::Counts,
    read,
};

/// Name of a case's file.
const RESULT: &str = "/result.json";

/// What is ranked, if nothing else is asked for: the first of these that all passing cases have.
const OBJECTIVES: [&str; 2] = ["renderer_cycles", "cycles"];

/// Predictions of the whole time. All need the compiled program.
const ESTIMATES: [&str; 3] = ["compact_cycles", "expanded_cycles", "refined_cycles"];

/// Fields that are no numbers of the run.
const OTHER: [&str; 3] = ["status", "hardware_pass", "seconds"];

fn read(source: &Source, options: &Options, notes: &mut Vec<String>) -> Result<Contents, ImportError> {
    let mut results: Vec<(&str, Ordered<Json>)> = Vec::new();
    let mut manifest: Option<Ordered<Json>> = None;
    let mut cut: Vec<String> = Vec::new();
    for part in &source.parts {
        let failed = |error: serde_json::Error| ImportError::Json {
            file: format!("{}/{}", source.name, part.path),
            message: error.to_string(),
        };
        let parsed = serde_json::from_str(&part.text);
        if part.path == "manifest.json" {
            manifest = Some(parsed.map_err(failed)?);
        } else if part.path.ends_with(RESULT) {
            match parsed {
                Ok(result) => results.push((&part.path, result)),
                // A driver that was killed leaves the file that it was writing without its end.
                Err(error) if error.is_eof() => cut.push(format!("`{}`", part.path)),
                Err(error) => return Err(failed(error)),
            }
        }
    }
    if !cut.is_empty() {
        notes.push(format!(
            "cut off, so that their cases count as not measured: {}",
            cut.join(", ")
        ));
    }
    let objective = match &options.objective {
        Some(objective) => objective.clone(),
        None => objective(&results, notes).to_owned(),
    };
    let mut crosses = 0;
    let mut rows = Vec::new();
    for (path, result) in &results {
        if let Some(manifest) = &manifest {
            same_plan(source, path, result, manifest)?;
        }
        let mut row = row(source, path, result, &objective)?;
        // Chosen by results: no prediction is judged by them.
        if row.name.as_ref().is_some_and(|name| name.starts_with("cross-")) {
            crosses += usize::from(!row.estimates.is_empty());
            row.estimates.clear();
        }
        rows.push(row);
    }
    if crosses > 0 {
        notes.push(format!(
            "{crosses} crosses were chosen by results: their predictions are left out"
        ));
    }
    let mut facts = BTreeMap::new();
    match &manifest {
        None => notes.push(format!(
            "`{}` has no `manifest.json`: nothing says what was to be run",
            source.name
        )),
        Some(manifest) => {
            for (name, value) in &manifest.0 {
                if let Some(word) = value.as_str() {
                    facts.insert(name.clone(), word.to_owned());
                }
            }
            let missing = missing(manifest, &rows);
            if !missing.is_empty() {
                notes.push(format!(
                    "cases of the manifest without a result: {}",
                    missing.join(", ")
                ));
            }
        }
    }
    let unit = options.unit.clone().unwrap_or_else(|| "cycles".to_owned());
    Ok(Contents::Table(Table {
        workload: source.name.rsplit('/').next().unwrap_or(&source.name).to_owned(),
        larger_is_better: words::larger_is_better(source, options, None, &objective, &unit)?,
        unit,
        objective,
        facts,
        rows,
    }))
}

/// The cropped cycles where every passing case has them, else the full ones: one sweep is ranked by one number.
fn objective(results: &[(&str, Ordered<Json>)], notes: &mut Vec<String>) -> &'static str {
    let passed = || {
        let all = results.iter().map(|(_, result)| result);
        all.filter(|result| result.get("hardware_pass").and_then(Json::as_bool) == Some(true))
    };
    let lacking = |field: &str| {
        passed()
            .filter(|result| result.get(field).and_then(Json::as_f64).is_none())
            .count()
    };
    let [cropped, full] = OBJECTIVES;
    match (lacking(cropped), lacking(full)) {
        (lack, 0) if lack > 0 => {
            if lack < passed().count() {
                notes.push(format!(
                    "{lack} passing cases lack `{cropped}`: all are ranked by `{full}`"
                ));
            }
            full
        }
        _ => cropped,
    }
}

/// The plan of a result, where the manifest gives one for its case: another is not that case.
fn same_plan(source: &Source, path: &str, result: &Ordered<Json>, manifest: &Ordered<Json>) -> Result<(), ImportError> {
    let name = result.get("name").and_then(Json::as_str);
    let cases = manifest.get("cases").and_then(Json::as_array);
    let mut cases = cases.into_iter().flatten();
    let Some(case) = cases.find(|case| name.is_some() && case.get("name").and_then(Json::as_str) == name) else {
        return Ok(());
    };
    for field in ["constraints", "up", "down"] {
        if let (Some(wanted), Some(found)) = (case.get(field), result.get(field))
            && wanted != found
        {
            return Err(source.bad(
                path,
                format!("its `{field}` is not that of the manifest: the result of another case"),
            ));
        }
    }
    Ok(())
}

/// Cases that the manifest lists and that have no result.
fn missing(manifest: &Ordered<Json>, rows: &[Row]) -> Vec<String> {
    let cases = manifest.get("cases").and_then(Json::as_array);
    let names = cases
        .into_iter()
        .flatten()
        .filter_map(|case| case.get("name")?.as_str());
    let missing = names.filter(|name| rows.iter().all(|row| row.name.as_deref() != Some(name)));
    missing.map(|name| format!("`{name}`")).collect()
}

/// Groups as the published figures colour them.
fn family(name: &str) -> &str {
    match name.split_once('-').map_or(name, |(word, _)| word) {
        "default" | "historical" | "control" => "baseline",
        word => word,
    }
}

fn row(source: &Source, path: &str, result: &Ordered<Json>, objective: &str) -> Result<Row, ImportError> {
    let folder = path.trim_end_matches(RESULT);
    let name = result.get("name").and_then(Json::as_str).unwrap_or(folder).to_owned();
    let configuration = configuration(result);
    if configuration.is_empty() {
        return Err(source.lacks(path, &["up", "down"]));
    }
    let mut row = Row::new(configuration, found(source, path, result, objective)?);
    row.family = Some(family(&name).to_owned());
    row.name = Some(name);
    for (field, value) in &result.0 {
        let Some(x) = value.as_f64() else { continue };
        if ESTIMATES.contains(&field.as_str()) {
            row.estimates.push(Estimate {
                name: field.trim_end_matches("_cycles").to_owned(),
                value: x,
                unit: "cycles".to_owned(),
                moment: Moment::Build,
                parts: Vec::new(),
            });
        } else if field != objective && !OTHER.contains(&field.as_str()) {
            row.extra.insert(field.clone(), x);
        }
    }
    Ok(row)
}

/// Fields of `up` and `down` as `up.k`, `down.k`; the tile mapping where there is one.
fn configuration(result: &Ordered<Json>) -> Attributes {
    let mut attributes = Attributes::new();
    for side in ["up", "down"] {
        let Some(Json::Object(plan)) = result.get(side) else {
            continue;
        };
        for (field, value) in plan {
            if let Some(value) = json::value(value) {
                attributes.set(&format!("{side}.{field}"), value);
            }
        }
    }
    match result.get("mapping") {
        Some(Json::String(mapping)) => attributes.set("mapping", Value::text(mapping)),
        // Tile by tile: a name that is the same for the same list.
        Some(list @ Json::Array(_)) => {
            let digest = cohort::sha256_hex(list.to_string().as_bytes());
            attributes.set("mapping", Value::text(&format!("list-{}", &digest[..8])));
        }
        _ => {}
    }
    attributes
}

fn found(source: &Source, path: &str, result: &Ordered<Json>, objective: &str) -> Result<Found, ImportError> {
    let passed = result.get("hardware_pass").and_then(Json::as_bool);
    let status = result.get("status").ok_or_else(|| source.lacks(path, &["status"]))?;
    let shown = status.as_str().map_or_else(|| status.to_string(), str::to_owned);
    let failed = |how, reason: String| Ok(Found::Failed { how, reason });
    match (passed, status.as_i64()) {
        (None, _) => Err(source.lacks(path, &["hardware_pass"])),
        (Some(true), _) => {
            let value = result.get(objective).and_then(Json::as_f64);
            let value = value.ok_or_else(|| source.lacks(path, &[objective]))?;
            match words::no_value(value, objective, "cycles") {
                None => Ok(Found::Measured {
                    samples: vec![(0, value)],
                }),
                Some(reason) => failed(Failed::RunFailed, reason),
            }
        }
        (Some(false), _) if shown == "timeout" => failed(Failed::TimedOut, "status timeout".to_owned()),
        // It ran, and did not pass the check.
        (Some(false), _)
            if OBJECTIVES
                .iter()
                .any(|field| result.get(field).is_some_and(Json::is_number)) =>
        {
            failed(Failed::Incorrect, format!("it ran without a pass (status {shown})"))
        }
        // As the published analyzer counts it: the compiler says no.
        (Some(false), Some(code)) if code != 0 => {
            failed(Failed::Rejected, format!("status {code}: no candidate was built"))
        }
        (Some(false), _) => failed(Failed::RunFailed, format!("no pass (status {shown})")),
    }
}
