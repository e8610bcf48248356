//! Tables with named columns: comma, semicolon or tab between them.

use std::collections::{BTreeMap, HashMap};
use std::str::FromStr;

use planner::{Attributes, Value};
use target_api::{Estimate, Moment};

use crate::error::ImportError;
use crate::registry::Format;
use crate::source::{Options, Source};
use crate::table::{Contents, Failed, Found, Row, Table, text};
use crate::words::Ending;
use crate::{t4, timestamp, words};

pub(crate) const FORMAT: Format = Format {
    name: "csv",
    about: "a table with named columns (CSV), one line per configuration or per sample",
    suits: |source| {
        source.text().is_ok_and(|text| {
            let header = text.lines().next().unwrap_or_default();
            !text.trim_start().starts_with(['{', '[']) && separator(header).is_some()
        })
    },
    read,
};

/// What a column is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// A sample of the objective; several columns are several samples.
    Value,
    /// Something that was varied.
    Parameter,
    /// The configuration's name.
    Name,
    /// The workload.
    Workload,
    /// Group in plots and tables.
    Family,
    /// How it ended.
    Outcome,
    /// Why it failed.
    Reason,
    /// Round of a sample, from 0.
    Round,
    /// When it was measured.
    At,
    /// A prediction.
    Estimate,
    /// Another number.
    Extra,
    /// Nothing that counts.
    Ignore,
}

/// Words of the roles.
const ROLES: [(&str, Role); 12] = [
    ("value", Role::Value),
    ("parameter", Role::Parameter),
    ("name", Role::Name),
    ("workload", Role::Workload),
    ("family", Role::Family),
    ("outcome", Role::Outcome),
    ("reason", Role::Reason),
    ("round", Role::Round),
    ("at", Role::At),
    ("estimate", Role::Estimate),
    ("extra", Role::Extra),
    ("ignore", Role::Ignore),
];

/// `ROLE=HEADER` on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// What it is.
    pub role: Role,
    /// Its header.
    pub header: String,
}

impl FromStr for Column {
    type Err = ImportError;

    fn from_str(word: &str) -> Result<Self, ImportError> {
        let failed = |message: String| ImportError::Column {
            column: word.to_owned(),
            message,
        };
        let (role, header) = word
            .split_once('=')
            .ok_or_else(|| failed("expected `ROLE=HEADER`".to_owned()))?;
        let known = ROLES.iter().find(|(own, _)| *own == role);
        let (_, role) = known.ok_or_else(|| {
            let roles: Vec<&str> = ROLES.iter().map(|(own, _)| *own).collect();
            failed(format!(
                "no role is called `{role}`: expected one of {}",
                roles.join(", ")
            ))
        })?;
        let (role, header) = (*role, header.to_owned());
        Ok(Self { role, header })
    }
}

/// The separator that is most frequent outside quotes.
fn separator(header: &str) -> Option<u8> {
    let count = |separator: char| {
        let mut quoted = false;
        let outside = header.chars().filter(|&c| {
            quoted ^= c == '"';
            c == separator && !quoted
        });
        outside.count()
    };
    let all = [(',', b','), (';', b';'), ('\t', b'\t')];
    let most = all
        .into_iter()
        .map(|(c, byte)| (count(c), byte))
        .rev()
        .max_by_key(|(count, _)| *count)?;
    (most.0 > 0).then_some(most.1)
}

/// `time_ms`, `time (ms)` and `time [ms]` are `time` in `ms`.
pub(crate) fn named_unit(header: &str) -> (String, Option<String>) {
    const UNITS: [&str; 6] = ["ns", "us", "µs", "ms", "s", "cycles"];
    let header = header.trim();
    for (open, close) in [('(', ')'), ('[', ']')] {
        if let Some((name, unit)) = header.strip_suffix(close).and_then(|rest| rest.rsplit_once(open)) {
            return (name.trim_end().to_owned(), Some(words::unit(unit)));
        }
    }
    if let Some((name, unit)) = header.rsplit_once('_')
        && !name.is_empty()
        && UNITS.contains(&unit)
    {
        return (name.to_owned(), Some(words::unit(unit)));
    }
    (header.to_owned(), None)
}

fn read(source: &Source, options: &Options, notes: &mut Vec<String>) -> Result<Contents, ImportError> {
    let (header, lines, separator) = lines(source, notes)?;
    let roles = roles(source, options, &header)?;
    let values: Vec<&String> = of(&roles, Role::Value, &header).map(|(_, header)| header).collect();
    let Some(first) = values.first() else {
        return Err(source.lacks(
            "the header",
            &["a column with what is to be minimised (`--column value=HEADER`)"],
        ));
    };
    let (objective, unit) = named_unit(first);
    let unit = options.unit.clone().or(unit);
    let unit = unit.ok_or_else(|| ImportError::NoUnit {
        file: source.name.clone(),
        column: (*first).clone(),
    })?;
    if words::more_is_better(&objective) {
        return Err(ImportError::MoreIsBetter {
            file: source.name.clone(),
            objective,
            others: Vec::new(),
        });
    }
    let reader = Reader {
        source,
        roles: &roles,
        header: &header,
        kinds: kinds(&roles, &lines, separator),
        decimal_comma: separator == b';',
        objective: &objective,
        unit: &unit,
    };
    let mut rows: Vec<Row> = Vec::new();
    let mut known: HashMap<(Option<String>, Option<String>, String), usize> = HashMap::new();
    for (line, fields) in &lines {
        let row = reader.row(*line, fields)?;
        // Lines of one configuration are samples of it.
        let key = (row.workload.clone(), row.name.clone(), text(&row.configuration));
        if let Some(&at) = known.get(&key) {
            join(&mut rows[at], row);
        } else {
            known.insert(key, rows.len());
            rows.push(row);
        }
    }
    Ok(Contents::Table(Table {
        workload: t4::stem(&source.name),
        objective,
        unit,
        facts: BTreeMap::new(),
        rows,
    }))
}

/// Lines with their numbers.
type Lines = Vec<(u64, csv::StringRecord)>;

fn lines(source: &Source, notes: &mut Vec<String>) -> Result<(Vec<String>, Lines, u8), ImportError> {
    let text = source.text()?;
    let separator = separator(text.lines().next().unwrap_or_default());
    let separator = separator.ok_or_else(|| source.bad("line 1", "expected a header of several columns"))?;
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .flexible(true)
        .from_reader(text.as_bytes());
    let failed = |error: csv::Error| source.bad("a line", error.to_string());
    let header: Vec<String> = reader
        .headers()
        .map_err(failed)?
        .iter()
        .map(|one| one.trim().to_owned())
        .collect();
    if let Some(twice) = header.iter().enumerate().find(|(at, one)| header[..*at].contains(one)) {
        return Err(source.bad("line 1", format!("two columns are called `{}`", twice.1)));
    }
    let mut lines: Lines = Vec::new();
    for record in reader.records() {
        let record = record.map_err(failed)?;
        lines.push((record.position().map_or(0, csv::Position::line), record));
    }
    let ended = text.ends_with('\n') || text.ends_with('\r');
    if let Some((line, last)) = lines.last()
        && !ended
        && last.len() < header.len()
    {
        notes.push(format!(
            "`{}` is cut off: line {line} was dropped, it has {} of {} columns",
            source.name,
            last.len(),
            header.len()
        ));
        lines.pop();
    }
    for (line, record) in &lines {
        if record.len() != header.len() {
            let message = format!("{} columns, the header has {}", record.len(), header.len());
            return Err(source.bad(format!("line {line}"), message));
        }
    }
    Ok((header, lines, separator))
}

fn roles(source: &Source, options: &Options, header: &[String]) -> Result<Vec<Role>, ImportError> {
    for column in &options.columns {
        if !header.contains(&column.header) {
            return Err(ImportError::NoColumn {
                file: source.name.clone(),
                column: column.header.clone(),
                has: header.to_vec(),
            });
        }
    }
    let said = |wanted: &str| {
        options
            .columns
            .iter()
            .find(|column| column.header == wanted)
            .map(|column| column.role)
    };
    let some = |role: Role| options.columns.iter().any(|column| column.role == role);
    let guessed = |name: &String| -> Role {
        if let Some(prefix) = name.split_once(':').map(|(prefix, _)| prefix) {
            match prefix {
                "estimate" => return Role::Estimate,
                "extra" => return Role::Extra,
                "parameter" => return Role::Parameter,
                _ => {}
            }
        }
        let named = match name.to_ascii_lowercase().as_str() {
            "name" | "case" => Role::Name,
            "workload" => Role::Workload,
            "family" => Role::Family,
            "outcome" | "invalidity" | "status" => Role::Outcome,
            "reason" => Role::Reason,
            "round" => Role::Round,
            "at" | "timestamp" => Role::At,
            _ => {
                return if is_objective(name, options) && !some(Role::Value) {
                    Role::Value
                } else {
                    Role::Parameter
                };
            }
        };
        if some(named) { Role::Parameter } else { named }
    };
    let chosen = some(Role::Parameter);
    let all = header.iter().map(|name| {
        let role = said(name).unwrap_or_else(|| guessed(name));
        // Where parameters are listed, whatever else is there is none.
        if chosen && role == Role::Parameter && said(name).is_none() {
            Role::Ignore
        } else {
            role
        }
    });
    Ok(all.collect())
}

fn is_objective(header: &str, options: &Options) -> bool {
    let name = named_unit(header).0;
    match &options.objective {
        Some(wanted) => name == *wanted || header == wanted,
        None => matches!(name.to_ascii_lowercase().as_str(), "time" | "runtime" | "value"),
    }
}

fn of<'a>(roles: &'a [Role], role: Role, header: &'a [String]) -> impl Iterator<Item = (usize, &'a String)> {
    let all = header.iter().enumerate();
    all.filter(move |(at, _)| roles[*at] == role)
}

/// What all cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer,
    Float,
    Boolean,
    Text,
}

fn boolean(cell: &str) -> Option<bool> {
    match cell {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// A number; with semicolons between columns `3,5` is 3.5, as spreadsheets write it in much of the world.
fn number(cell: &str, decimal_comma: bool) -> Option<f64> {
    let plain = cell.parse::<f64>().ok();
    let found = plain.or_else(|| {
        let comma = decimal_comma && cell.matches(',').count() == 1 && !cell.contains('.');
        if comma {
            cell.replace(',', ".").parse().ok()
        } else {
            None
        }
    });
    found.filter(|x| x.is_finite())
}

fn kinds(roles: &[Role], lines: &Lines, separator: u8) -> Vec<Kind> {
    let kind = |at: usize| {
        let cells = || lines.iter().filter_map(|(_, line)| line.get(at)).map(str::trim);
        if cells().all(|cell| cell.parse::<i64>().is_ok()) {
            Kind::Integer
        } else if cells().all(|cell| number(cell, separator == b';').is_some()) {
            Kind::Float
        } else if cells().all(|cell| boolean(cell).is_some()) {
            Kind::Boolean
        } else {
            Kind::Text
        }
    };
    let all = roles.iter().enumerate();
    all.map(|(at, role)| if *role == Role::Parameter { kind(at) } else { Kind::Text })
        .collect()
}

struct Reader<'a> {
    source: &'a Source,
    roles: &'a [Role],
    header: &'a [String],
    kinds: Vec<Kind>,
    decimal_comma: bool,
    objective: &'a str,
    unit: &'a str,
}

impl Reader<'_> {
    fn row(&self, line: u64, fields: &csv::StringRecord) -> Result<Row, ImportError> {
        let bad = |message: String| self.source.bad(format!("line {line}"), message);
        let mut row = Row::new(Attributes::new(), Found::Measured { samples: Vec::new() });
        let (mut cells, mut outcome, mut reason, mut round) = (Vec::new(), None, None, 0);
        for ((cell, role), (header, kind)) in fields.iter().zip(self.roles).zip(self.header.iter().zip(&self.kinds)) {
            let cell = cell.trim();
            let given = (!cell.is_empty()).then(|| cell.to_owned());
            let figure = || {
                number(cell, self.decimal_comma)
                    .ok_or_else(|| bad(format!("`{header}` is `{cell}`: expected a number")))
            };
            match role {
                Role::Value => cells.push((header, cell)),
                Role::Parameter => {
                    let name = header.strip_prefix("parameter:").unwrap_or(header);
                    row.configuration
                        .set(name, self.typed(cell, *kind).ok_or_else(|| bad(format!("`{cell}`")))?);
                }
                Role::Name => row.name = given,
                Role::Workload => row.workload = given,
                Role::Family => row.family = given,
                Role::Outcome => outcome = given,
                Role::Reason => reason = given,
                Role::Round => {
                    if given.is_some() {
                        let whole = cell.parse::<u32>().ok().filter(|round| *round < 1_000_000);
                        round =
                            whole.ok_or_else(|| bad(format!("`{header}` is `{cell}`: expected a round, from 0")))?;
                    }
                }
                Role::At => {
                    if given.is_some() {
                        let at = timestamp::parse(cell);
                        row.at =
                            Some(at.ok_or_else(|| bad(format!("`{header}` is `{cell}`: expected a time (RFC 3339)")))?);
                    }
                }
                Role::Estimate if given.is_some() => row.estimates.push(estimate(header, figure()?)),
                Role::Extra if given.is_some() => {
                    let name = header.strip_prefix("extra:").unwrap_or(header);
                    row.extra.insert(name.to_owned(), figure()?);
                }
                Role::Estimate | Role::Extra | Role::Ignore => {}
            }
        }
        row.found = self.found(line, &cells, outcome, reason, round)?;
        Ok(row)
    }

    fn typed(&self, cell: &str, kind: Kind) -> Option<Value> {
        Some(match kind {
            Kind::Integer => Value::Integer(cell.parse().ok()?),
            Kind::Float => Value::Float(number(cell, self.decimal_comma)?),
            Kind::Boolean => Value::Boolean(boolean(cell)?),
            Kind::Text => Value::text(cell),
        })
    }

    fn found(
        &self,
        line: u64,
        cells: &[(&String, &str)],
        outcome: Option<String>,
        reason: Option<String>,
        round: u32,
    ) -> Result<Found, ImportError> {
        let bad = |message: String| self.source.bad(format!("line {line}"), message);
        let ended = match &outcome {
            Some(word) => words::ending(word).ok_or_else(|| {
                bad(format!("the outcome is `{word}`: expected correct, rejected, build-failed, run-failed, timed-out or incorrect"))
            })?,
            None => Ending::Right,
        };
        if let Ending::Failed(how) = ended {
            let words = reason.or(outcome).unwrap_or_default();
            return Ok(Found::Failed { how, reason: words });
        }
        let mut samples = Vec::new();
        for (header, cell) in cells.iter().filter(|(_, cell)| !cell.is_empty()) {
            match (number(cell, self.decimal_comma), words::ending(cell)) {
                (Some(x), _) => {
                    if let Some(reason) = words::no_value(x, self.objective, self.unit) {
                        let how = Failed::RunFailed;
                        return Ok(Found::Failed { how, reason });
                    }
                    samples.push((round, x));
                }
                (None, Some(Ending::Failed(how))) => {
                    let reason = (*cell).to_owned();
                    return Ok(Found::Failed { how, reason });
                }
                (None, _) => return Err(bad(format!("`{header}` is `{cell}`: expected a number"))),
            }
        }
        if samples.is_empty() {
            return Err(bad(format!(
                "no `{}`, and no outcome that says why",
                cells.first().map_or(self.objective, |(header, _)| header.as_str())
            )));
        }
        Ok(Found::Measured { samples })
    }
}

/// `estimate:roofline (ms)` is a prediction in ms; without a unit only its order means anything.
fn estimate(header: &str, value: f64) -> Estimate {
    let (name, unit) = named_unit(header.strip_prefix("estimate:").unwrap_or(header));
    Estimate {
        name,
        value,
        unit: unit.unwrap_or_else(|| "score".to_owned()),
        moment: Moment::Plan,
        parts: Vec::new(),
    }
}

/// A further line of a configuration. A failure stays, and a wrong result before all others.
fn join(row: &mut Row, other: Row) {
    match (&mut row.found, other.found) {
        (Found::Measured { samples }, Found::Measured { samples: more }) => {
            samples.extend(more);
            samples.sort_by_key(|(round, _)| *round);
        }
        (
            Found::Failed { how, .. },
            Found::Failed {
                how: Failed::Incorrect,
                reason,
            },
        ) if *how != Failed::Incorrect => {
            row.found = Found::Failed {
                how: Failed::Incorrect,
                reason,
            };
        }
        (Found::Failed { .. }, _) => {}
        (found, failed) => *found = failed,
    }
    for (name, x) in other.extra {
        row.extra.entry(name).or_insert(x);
    }
    row.at = row.at.or(other.at);
}
