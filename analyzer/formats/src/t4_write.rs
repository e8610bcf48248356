//! A table as T4 results, with the keys that the schema names.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};

use crate::from_cohort::{ExportError, median};
use crate::t4::STEPS;
use crate::table::{Found, Row, Table};

/// Version of the schema.
const VERSION: &str = "1.0.0";

/// One result per configuration, every sample of it as a runtime. Names stand beside what the schema has; estimates are
/// left out. Keys of a configuration keep their order.
pub fn to_t4(table: &Table) -> Result<String, ExportError> {
    let mut out = String::from("{\n");
    let mut metadata = Map::new();
    for (name, value) in &table.facts {
        metadata.insert(name.clone(), json!(value));
    }
    if is_time(&table.unit) {
        metadata.insert("timeunit".to_owned(), json!(table.unit));
    }
    metadata.insert("workload".to_owned(), json!(table.workload));
    // The schema has no place for it.
    let direction = if table.larger_is_better { "higher" } else { "lower" };
    metadata.insert("direction".to_owned(), json!(direction));
    let written = |error: serde_json::Error| ExportError::Write(error.to_string());
    let text = |value: &Json| serde_json::to_string(value).map_err(written);
    // Writing to a string can't fail.
    _ = write!(
        out,
        "\"schema_version\": \"{VERSION}\",\n\"metadata\": {},\n\"results\": [",
        text(&Json::Object(metadata))?
    );
    for (at, row) in table.rows.iter().enumerate() {
        out.push_str(if at == 0 { "\n" } else { ",\n" });
        // By hand, since the order of parameters is theirs, not the alphabet's.
        let configuration = serde_json::to_string(&row.configuration).map_err(written)?;
        let mut rest = text(&result(table, row))?;
        rest.remove(0);
        _ = write!(out, "{{\"configuration\": {configuration}, {rest}");
    }
    out.push_str("\n]\n}\n");
    Ok(out)
}

/// Whether a unit is one of time; cycles and rates are none.
fn is_time(unit: &str) -> bool {
    matches!(unit, "ns" | "us" | "ms" | "s")
}

fn result(table: &Table, row: &Row) -> Json {
    let mut times = Map::new();
    for (ours, schema, _) in STEPS {
        if let Some(x) = row.extra.get(ours) {
            times.insert(schema.to_owned(), json!(x));
        }
    }
    let reported = format!("reported_{}", table.objective);
    let unit = &table.unit;
    let is_time = is_time(unit);
    let (invalidity, correctness, value) = match &row.found {
        Found::Measured { samples } => {
            let mut values: Vec<f64> = samples.iter().map(|(_, value)| *value).collect();
            if is_time {
                times.insert("runtimes".to_owned(), json!(values));
            }
            let value = match (row.extra.get(&reported), table.objective.as_str()) {
                (Some(x), "time") => json!(x),
                (None, "time") => json!(median(&mut values)),
                // Only of a time the schema has a place for repeats.
                _ if values.len() == 1 => json!(values[0]),
                _ => json!(values),
            };
            ("correct", 1, value)
        }
        Found::Failed { how, reason } => (how.t4(), 0, json!(reason)),
    };
    let mut measurements = vec![json!({"name": table.objective, "value": value, "unit": unit})];
    let steps = |name: &str| STEPS.iter().any(|(ours, _, _)| *ours == name);
    let others = row.extra.iter().filter(|(name, _)| **name != reported && !steps(name));
    measurements.extend(others.map(|(name, x)| {
        let (name, unit) = with_unit(name);
        json!({"name": name, "value": x, "unit": unit})
    }));
    let mut result = json!({
        "times": times,
        "invalidity": invalidity,
        "correctness": correctness,
        "measurements": measurements,
        "objectives": [table.objective],
    });
    if let Some(map) = result.as_object_mut() {
        map.extend(row.at.map(|at| ("timestamp".to_owned(), json!(at.to_string()))));
        // The schema has no place for names.
        map.extend(row.name.as_ref().map(|name| ("name".to_owned(), json!(name))));
    }
    result
}

/// Name and unit of another number: `energy (J)`; without brackets the name alone.
fn with_unit(name: &str) -> (&str, &str) {
    let found = name.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
    found.unwrap_or((name, ""))
}
