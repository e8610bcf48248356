//! Cache files of Kernel Tuner: <https://github.com/KernelTuner/kernel_tuner>.

use std::collections::BTreeMap;

use planner::Attributes;
use serde::Deserialize;
use serde_json::Value as Json;

use crate::error::ImportError;
use crate::json::{self, Ordered};
use crate::registry::{Format, Ranks};
use crate::source::{Options, Source};
use crate::table::{Contents, Failed, Found, Row, Table};
use crate::words::Ending;
use crate::{timestamp, words};

pub(crate) const FORMAT: Format = Format {
    name: "kernel-tuner",
    about: "a cache file of Kernel Tuner",
    suits: |source| source.text().is_ok_and(|text| text.contains("\"tune_params_keys\"")),
    ranks: Ranks::AnyNumber,
    read,
};

/// Everything that the program times is in milliseconds.
const UNIT: &str = "ms";

/// What versions before failures had names wrote as the time of a configuration that failed.
const FAILED_TIME: f64 = 1e20;

/// Times of the tuner's own steps: its name -> ours.
const STEPS: [(&str, &str); 5] = [
    ("compile_time", "compilation_ms"),
    ("verification_time", "validation_ms"),
    ("benchmark_time", "benchmark_ms"),
    ("strategy_time", "search_ms"),
    ("framework_time", "framework_ms"),
];

#[derive(Deserialize)]
struct File {
    device_name: Option<String>,
    kernel_name: Option<String>,
    problem_size: Option<Json>,
    tune_params_keys: Option<Vec<String>>,
    objective: Option<String>,
    cache: Option<Ordered<Ordered<Json>>>,
}

fn read(source: &Source, options: &Options, notes: &mut Vec<String>) -> Result<Contents, ImportError> {
    let file: File = json::document(source, notes)?;
    let (Some(keys), Some(cache)) = (&file.tune_params_keys, &file.cache) else {
        let lacking = [
            ("tune_params_keys", file.tune_params_keys.is_none()),
            ("cache", file.cache.is_none()),
        ];
        let lacking = lacking.into_iter().filter(|(_, lacks)| *lacks).map(|(field, _)| field);
        return Err(source.lacks("the file", &lacking.collect::<Vec<_>>()));
    };
    let objective = options.objective.clone().or(file.objective);
    let objective = objective.unwrap_or_else(|| "time".to_owned());
    let named = STEPS.iter().find(|(own, ours)| objective == *own || objective == *ours);
    let field = named.map_or(objective.as_str(), |(own, _)| own);
    let unit = options.unit.clone().unwrap_or_else(|| unit(field));
    let larger_is_better = words::larger_is_better(source, options, None, field, &unit)?;
    let reader = Reader {
        source,
        options,
        keys,
        cache,
        field,
        larger_is_better,
        unit,
    };
    let mut unreadable = Vec::new();
    let rows = cache
        .0
        .iter()
        .map(|(key, record)| reader.row(key, record, &mut unreadable));
    let rows = rows.collect::<Result<Vec<Row>, ImportError>>()?;
    if let Some(first) = unreadable.first() {
        notes.push(format!(
            "{} times of day can't be read, `{first}` for one",
            unreadable.len()
        ));
    }
    let mut facts = BTreeMap::new();
    facts.extend(file.device_name.map(|device| ("device".to_owned(), device)));
    facts.extend(
        file.problem_size
            .map(|size| ("problem_size".to_owned(), size.to_string())),
    );
    Ok(Contents::Table(Table {
        workload: file.kernel_name.unwrap_or_else(|| "kernel".to_owned()),
        objective: options.ranked_name(field),
        larger_is_better,
        unit: reader.unit,
        facts,
        rows,
    }))
}

/// Numbers of the records that are no parameters: what could be ranked by instead.
fn numbers(cache: &Ordered<Ordered<Json>>, keys: &[String], but: &str) -> Vec<String> {
    let Some((_, first)) = cache.0.first() else {
        return Vec::new();
    };
    let other = first.0.iter().filter(|(name, value)| {
        value.as_f64().is_some_and(|x| x > 0.0)
            && name != but
            && !keys.contains(name)
            && words::by_name(name) != Some(true)
    });
    other.map(|(name, _)| name.clone()).collect()
}

/// The tuner times in milliseconds; what users add has no unit in the file.
fn unit(field: &str) -> String {
    if field == "time" || STEPS.iter().any(|(own, _)| *own == field) {
        UNIT.to_owned()
    } else {
        "1".to_owned()
    }
}

struct Reader<'a> {
    source: &'a Source,
    options: &'a Options,
    keys: &'a [String],
    cache: &'a Ordered<Ordered<Json>>,
    /// The objective's field.
    field: &'a str,
    larger_is_better: bool,
    unit: String,
}

impl Reader<'_> {
    fn row(&self, key: &str, record: &Ordered<Json>, unreadable: &mut Vec<String>) -> Result<Row, ImportError> {
        let place = || format!("configuration `{key}`");
        let mut configuration = Attributes::new();
        for name in self.keys {
            let value = record.get(name).and_then(json::value);
            let value = value.ok_or_else(|| self.source.lacks(place(), &[name]))?;
            configuration.set(name, value);
        }
        let mut row = Row::new(configuration, self.found(key, record)?);
        for (name, value) in &record.0 {
            let Some(x) = value.as_f64().filter(|x| x.is_finite()) else {
                continue;
            };
            if self.keys.contains(name) {
                continue;
            }
            // Its own summary of the repeats, which are ranked by their median here.
            let ours = STEPS
                .iter()
                .find(|(own, _)| own == name)
                .map(|(_, ours)| (*ours).to_owned());
            let own = if name == self.field {
                format!("reported_{name}")
            } else {
                name.clone()
            };
            row.extra.insert(ours.unwrap_or(own), x);
        }
        if let Some(text) = record.get("timestamp").and_then(Json::as_str) {
            row.at = timestamp::parse(text);
            if row.at.is_none() {
                unreadable.push(text.to_owned());
            }
        }
        Ok(row)
    }

    fn found(&self, key: &str, record: &Ordered<Json>) -> Result<Found, ImportError> {
        let word = record.get(self.field).and_then(Json::as_str);
        let word = word.or_else(|| record.get("__error__").and_then(Json::as_str));
        if let Some(word) = word {
            let how = match words::ending(word) {
                Some(Ending::Failed(how)) => how,
                Some(Ending::Right) => {
                    let message = format!("`{}` is the word `{word}`, and no number", self.field);
                    return Err(self.source.bad(format!("configuration `{key}`"), message));
                }
                // Whatever it means, there is no result.
                None => Failed::RunFailed,
            };
            return Ok(Found::Failed {
                how,
                reason: word.to_owned(),
            });
        }
        let repeats = record.get(&format!("{}s", self.field)).and_then(Json::as_array);
        let values: Option<Vec<f64>> = match repeats.filter(|repeats| !repeats.is_empty()) {
            Some(repeats) => repeats.iter().map(Json::as_f64).collect(),
            None => record.get(self.field).and_then(Json::as_f64).map(|x| vec![x]),
        };
        let Some(values) = values else {
            return Err(self.source.lacks(format!("configuration `{key}`"), &[self.field]));
        };
        let failed = |reason| Found::Failed {
            how: Failed::RunFailed,
            reason,
        };
        if values.iter().any(|x| *x >= FAILED_TIME) {
            return Ok(failed(format!("{} of 1e20: it failed", self.field)));
        }
        for x in &values {
            self.options
                .check_above(self.source, &format!("configuration `{key}`"), *x)?;
        }
        let ranked: Vec<f64> = values.iter().map(|x| self.options.ranked(*x)).collect();
        let name = self.options.ranked_name(self.field);
        if let Some(&value) = ranked.iter().find(|x| self.larger_is_better && **x <= 0.0) {
            return Err(ImportError::NotAboveZero {
                file: self.source.name.clone(),
                objective: name,
                place: format!("configuration `{key}`"),
                value,
                others: numbers(self.cache, self.keys, self.field),
            });
        }
        let bad = ranked.iter().find_map(|x| words::no_value(*x, &name, &self.unit));
        Ok(bad.map_or_else(
            || Found::Measured {
                samples: values.iter().map(|x| (0, *x)).collect(),
            },
            failed,
        ))
    }
}
