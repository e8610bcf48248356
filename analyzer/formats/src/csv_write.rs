//! A table as CSV, one line per sample, as `csv_file` reads it.

use std::collections::BTreeSet;

use planner::Value;

use crate::from_cohort::ExportError;
use crate::table::{Found, Row, Table};

/// Headers that mean something of their own; a parameter of such a name is written with a prefix.
const OWN: [&str; 14] = [
    "name",
    "case",
    "workload",
    "family",
    "outcome",
    "invalidity",
    "status",
    "reason",
    "round",
    "at",
    "timestamp",
    "direction",
    "runtime",
    "value",
];

/// Name, family, outcome, reason, parameters, round, time of day, direction, the objective with its unit, then estimates and other numbers.
/// Numbers have all their digits. A failed configuration is one line without a value.
pub fn to_csv(table: &Table) -> Result<String, ExportError> {
    let mut parameters: Vec<&str> = Vec::new();
    let (mut estimates, mut extras) = (BTreeSet::new(), BTreeSet::new());
    for row in &table.rows {
        for (name, _) in row.configuration.iter() {
            if !parameters.contains(&name) {
                parameters.push(name);
            }
        }
        estimates.extend(row.estimates.iter().map(|one| (one.name.as_str(), one.unit.as_str())));
        extras.extend(row.extra.keys());
    }
    let (objective, unit) = (&table.objective, &table.unit);
    // What is not ranked by unless somebody says so is marked.
    let value = if matches!(objective.as_str(), "time" | "runtime" | "value") {
        format!("{objective} ({unit})")
    } else {
        format!("value:{objective} ({unit})")
    };
    let direction = if table.larger_is_better { "higher" } else { "lower" };
    let mut header: Vec<String> = ["name", "workload", "family", "outcome", "reason"]
        .map(str::to_owned)
        .into();
    header.extend(parameters.iter().map(|name| parameter(name, objective)));
    header.extend(["round".to_owned(), "at".to_owned(), "direction".to_owned(), value]);
    header.extend(estimates.iter().map(|(name, unit)| match *unit {
        "score" => format!("estimate:{name}"),
        unit => format!("estimate:{name} ({unit})"),
    }));
    header.extend(extras.iter().map(|name| format!("extra:{name}")));
    let mut out = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| ExportError::Write(error.to_string());
    out.write_record(&header).map_err(failed)?;
    for row in &table.rows {
        let (word, reason) = match &row.found {
            Found::Measured { .. } => ("correct", ""),
            Found::Failed { how, reason } => (how.word(), reason.as_str()),
        };
        let samples: Vec<Option<(u32, f64)>> = match &row.found {
            Found::Measured { samples } => samples.iter().copied().map(Some).collect(),
            Found::Failed { .. } => vec![None],
        };
        for sample in samples {
            let mut line: Vec<String> = Vec::with_capacity(header.len());
            line.extend([row.name.clone().unwrap_or_default(), table.workload.clone()]);
            line.extend([
                row.family.clone().unwrap_or_default(),
                word.to_owned(),
                reason.to_owned(),
            ]);
            line.extend(parameters.iter().map(|name| cell(row.configuration.get(name))));
            line.push(sample.map_or_else(String::new, |(round, _)| round.to_string()));
            let at = sample.and_then(|(round, _)| row.times.get(&round).copied()).or(row.at);
            line.push(at.map_or_else(String::new, |at| at.to_string()));
            line.push(direction.to_owned());
            line.push(sample.map_or_else(String::new, |(_, value)| format!("{value:?}")));
            line.extend(estimates.iter().map(|(name, unit)| estimate(row, name, unit)));
            line.extend(
                extras
                    .iter()
                    .map(|name| row.extra.get(*name).map_or_else(String::new, |x| format!("{x:?}"))),
            );
            out.write_record(&line).map_err(failed)?;
        }
    }
    let bytes = out
        .into_inner()
        .map_err(|error| ExportError::Write(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| ExportError::Write(error.to_string()))
}

fn parameter(name: &str, objective: &str) -> String {
    let own = OWN.contains(&name.to_ascii_lowercase().as_str()) || name.contains(':');
    if own || crate::csv_columns::named_unit(name).0 == objective {
        format!("parameter:{name}")
    } else {
        name.to_owned()
    }
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None => String::new(),
        Some(Value::Float(x)) => format!("{x:?}"),
        Some(other) => other.to_string(),
    }
}

fn estimate(row: &Row, name: &str, unit: &str) -> String {
    let found = row.estimates.iter().find(|one| one.name == name && one.unit == unit);
    found.map_or_else(String::new, |one| format!("{:?}", one.value))
}
