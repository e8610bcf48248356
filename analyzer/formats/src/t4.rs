//! T4 results, the common format of the autotuning community:
//! <https://github.com/odgaard/TuningSchema>, branch T4, version 1.0.0.

use std::collections::BTreeMap;

use planner::Attributes;
use serde::Deserialize;
use serde_json::Value as Json;

use crate::error::ImportError;
use crate::json::{self, Ordered};
use crate::registry::{Format, Ranks};
use crate::source::{Options, Source};
use crate::table::{Contents, Failed, Found, NO_UNIT, Row, Table};
use crate::words::Ending;
use crate::{timestamp, words};

pub(crate) const FORMAT: Format = Format {
    name: "t4",
    about: "results in the FAIR format T4 (JSON)",
    suits: |source| {
        source
            .text()
            .is_ok_and(|text| text.trim_start().starts_with('{') && text.contains("\"results\""))
    },
    ranks: Ranks::AnyNumber,
    read,
};

/// Times of the tuner's own steps: ours -> as the schema names them, as files in use name them.
pub(crate) const STEPS: [(&str, &str, &str); 4] = [
    ("compilation_ms", "compilation_time", "compilation"),
    ("framework_ms", "framework", "framework_time"),
    ("search_ms", "search_algorithm", "search_algorithm_time"),
    ("validation_ms", "validation", "validation_time"),
];

#[derive(Deserialize)]
struct File {
    metadata: Option<Ordered<Json>>,
    results: Option<Vec<Entry>>,
}

#[derive(Deserialize)]
struct Entry {
    timestamp: Option<String>,
    configuration: Option<Ordered<Json>>,
    times: Option<Ordered<Json>>,
    invalidity: Option<String>,
    /// In files of ours.
    name: Option<String>,
    correctness: Option<f64>,
    #[serde(default)]
    measurements: Vec<Measured>,
    #[serde(default)]
    objectives: Vec<String>,
}

#[derive(Deserialize)]
struct Measured {
    name: String,
    value: Json,
    unit: Option<String>,
}

fn read(source: &Source, options: &Options, notes: &mut Vec<String>) -> Result<Contents, ImportError> {
    let file: File = json::document(source, notes)?;
    let entries = file.results.ok_or_else(|| source.lacks("the file", &["results"]))?;
    let metadata = file.metadata.unwrap_or_default();
    let said = |name: &str| metadata.get(name).and_then(Json::as_str).map(str::to_owned);
    let own = entries.iter().find_map(|entry| entry.objectives.first().cloned());
    let is_own = options.objective.is_none() || options.objective == own;
    let objective = options.objective.clone().or(own).unwrap_or_else(|| "time".to_owned());
    let unit = unit(&entries, &objective, options, said("timeunit").as_deref());
    // A file of ours says which way; others by what they measure.
    let direction = match said("direction").as_deref() {
        Some(_) if !is_own => None,
        Some("higher") => Some(true),
        Some("lower") => Some(false),
        _ => None,
    };
    let larger_is_better = words::larger_is_better(source, options, direction, &objective, &unit)?;
    let reader = Reader {
        source,
        options,
        objective: &objective,
        larger_is_better,
        unit: &unit,
    };
    let mut unreadable = Vec::new();
    let rows = entries.iter().enumerate();
    let rows = rows.map(|(at, entry)| reader.row(at, entry, &mut unreadable));
    let rows = rows.collect::<Result<Vec<Row>, ImportError>>()?;
    if let Some(first) = unreadable.first() {
        notes.push(format!(
            "{} times of day can't be read, `{first}` for one",
            unreadable.len()
        ));
    }
    let facts = metadata
        .0
        .iter()
        .filter(|(name, _)| !["timeunit", "workload", "direction"].contains(&name.as_str()));
    let fact = |(name, value): &(String, Json)| {
        let words = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (name.clone(), words)
    };
    Ok(Contents::Table(Table {
        workload: said("workload").unwrap_or_else(|| stem(&source.name)),
        facts: facts.map(fact).collect(),
        larger_is_better,
        objective: options.ranked_name(&objective),
        unit,
        rows,
    }))
}

/// The file's name without its endings.
pub(crate) fn stem(name: &str) -> String {
    let file = name.rsplit('/').next().unwrap_or(name);
    let stem = file
        .trim_end_matches(".gz")
        .trim_end_matches(".json")
        .trim_end_matches(".csv");
    if stem.is_empty() { "results" } else { stem }.to_owned()
}

/// Numbers that could be ranked by instead.
fn others(entry: &Entry, objective: &str) -> Vec<String> {
    let other = entry
        .measurements
        .iter()
        .filter(|one| one.name != objective && one.value.as_f64().is_some());
    let mut others: Vec<String> = other.map(|one| one.name.clone()).collect();
    if runtimes(entry).is_some_and(|times| !times.is_empty()) {
        others.push("time".to_owned());
    }
    others
}

fn unit(entries: &[Entry], objective: &str, options: &Options, timeunit: Option<&str>) -> String {
    if let Some(unit) = &options.unit {
        return unit.clone();
    }
    let measured = entries.iter().flat_map(|entry| &entry.measurements);
    let mut said = measured
        .filter(|one| one.name == objective)
        .filter_map(|one| one.unit.as_deref());
    let said = said.find(|unit| !unit.trim().is_empty());
    match said {
        Some(unit) => words::unit(unit),
        // The schema's times are in milliseconds unless the file says otherwise.
        None if objective == "time" => words::unit(timeunit.unwrap_or("ms")),
        None => NO_UNIT.to_owned(),
    }
}

fn runtimes(entry: &Entry) -> Option<Vec<f64>> {
    let times = entry.times.as_ref()?.get("runtimes")?.as_array()?;
    times.iter().map(Json::as_f64).collect()
}

struct Reader<'a> {
    source: &'a Source,
    options: &'a Options,
    objective: &'a str,
    larger_is_better: bool,
    unit: &'a str,
}

impl Reader<'_> {
    fn row(&self, at: usize, entry: &Entry, unreadable: &mut Vec<String>) -> Result<Row, ImportError> {
        let place = || format!("result {}", at + 1);
        let (Some(given), Some(invalidity)) = (&entry.configuration, &entry.invalidity) else {
            let lacking = [
                ("configuration", entry.configuration.is_none()),
                ("invalidity", entry.invalidity.is_none()),
            ];
            let lacking = lacking.into_iter().filter(|(_, lacks)| *lacks).map(|(field, _)| field);
            return Err(self.source.lacks(place(), &lacking.collect::<Vec<_>>()));
        };
        let mut configuration = Attributes::new();
        for (name, value) in &given.0 {
            let value = json::value(value).ok_or_else(|| self.source.lacks(place(), &[name]))?;
            configuration.set(name, value);
        }
        let ended = words::ending(invalidity).ok_or_else(|| {
            let message = format!("`invalidity` is `{invalidity}`: expected timeout, compile, runtime, correctness, constraints or correct");
            self.source.bad(place(), message)
        })?;
        let mut row = Row::new(configuration, self.found(&place, entry, ended)?);
        row.name.clone_from(&entry.name);
        self.extras(entry, &mut row.extra);
        if let Some(text) = &entry.timestamp {
            row.at = timestamp::parse(text);
            if row.at.is_none() {
                unreadable.push(text.clone());
            }
        }
        Ok(row)
    }

    fn found(&self, place: &dyn Fn() -> String, entry: &Entry, ended: Ending) -> Result<Found, ImportError> {
        let measured = entry.measurements.iter().find(|one| one.name == self.objective);
        let failed = |how, reason| Found::Failed { how, reason };
        if let Ending::Failed(how) = ended {
            let word = measured.and_then(|one| one.value.as_str());
            return Ok(failed(how, word.unwrap_or(how.t4()).to_owned()));
        }
        if entry.correctness.is_some_and(|share| share < 1.0) {
            let reason = format!("correctness of {}", entry.correctness.unwrap_or_default());
            return Ok(failed(Failed::Incorrect, reason));
        }
        let values = match (self.objective, runtimes(entry)) {
            // The repeats behind the one time.
            ("time", Some(times)) if !times.is_empty() => times,
            _ => {
                let Some(one) = measured else {
                    let fields = [
                        format!("measurements[name = {}]", self.objective),
                        "times.runtimes".to_owned(),
                    ];
                    let lacks = if self.objective == "time" {
                        &fields[..]
                    } else {
                        &fields[..1]
                    };
                    return Err(self
                        .source
                        .lacks(place(), &lacks.iter().map(String::as_str).collect::<Vec<_>>()));
                };
                let values = match &one.value {
                    Json::Array(all) => all.iter().map(Json::as_f64).collect(),
                    one => one.as_f64().map(|x| vec![x]),
                };
                values.filter(|all: &Vec<f64>| !all.is_empty()).ok_or_else(|| {
                    let message = format!("`{}` of a correct result is {}, no number", self.objective, one.value);
                    self.source.bad(place(), message)
                })?
            }
        };
        for x in &values {
            self.options.check_above(self.source, &place(), *x)?;
        }
        let ranked: Vec<f64> = values.iter().map(|x| self.options.ranked(*x)).collect();
        let name = self.options.ranked_name(self.objective);
        if let Some(&value) = ranked.iter().find(|x| self.larger_is_better && **x <= 0.0) {
            return Err(ImportError::NotAboveZero {
                file: self.source.name.clone(),
                objective: name,
                place: place(),
                value,
                others: others(entry, self.objective),
            });
        }
        let bad = ranked.iter().find_map(|x| words::no_value(*x, &name, self.unit));
        Ok(bad.map_or_else(
            || Found::Measured {
                samples: values.iter().map(|x| (0, *x)).collect(),
            },
            |reason| failed(Failed::RunFailed, reason),
        ))
    }

    fn extras(&self, entry: &Entry, extra: &mut BTreeMap<String, f64>) {
        for one in &entry.measurements {
            let Some(x) = one.value.as_f64().filter(|x| x.is_finite()) else {
                continue;
            };
            // The file's own summary of its repeats, which are ranked by their median here.
            let name = if one.name == self.objective {
                format!("reported_{}", one.name)
            } else {
                match one.unit.as_deref().map(str::trim).filter(|unit| !unit.is_empty()) {
                    Some(unit) => format!("{} ({unit})", one.name),
                    None => one.name.clone(),
                }
            };
            extra.insert(name, x);
        }
        for (ours, schema, used) in STEPS {
            let times = entry.times.as_ref();
            let given = times.and_then(|times| times.get(schema).or_else(|| times.get(used)));
            if let Some(x) = given.and_then(Json::as_f64) {
                extra.insert(ours.to_owned(), x);
            }
        }
    }
}
