//! The cells of a table, line by line.

use planner::{Attributes, Value};
use target_api::{Estimate, Moment};

use crate::csv_columns::{Role, named_unit};
use crate::error::ImportError;
use crate::source::{Options, Source};
use crate::table::{Failed, Found, Row};
use crate::words::Ending;
use crate::{timestamp, words};

/// What all cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
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

/// A point in one number and a comma in another leave open which of them is the decimal sign: `1.500` beside `2,5` may be a
/// thousand and a half, or one and a half. Only with semicolons between columns a comma may be one.
pub(crate) fn decimal_sign(
    source: &Source,
    roles: &[Role],
    header: &[String],
    lines: &[(u64, csv::StringRecord)],
) -> Result<(), ImportError> {
    let kinds = kinds(roles, lines, b';');
    let holds_numbers = |at: usize| match roles[at] {
        Role::Value | Role::Estimate | Role::Extra => true,
        Role::Parameter => kinds[at] == Kind::Float,
        _ => false,
    };
    let columns: Vec<usize> = (0..roles.len()).filter(|at| holds_numbers(*at)).collect();
    let cells = || {
        let each = lines
            .iter()
            .flat_map(|(line, fields)| columns.iter().map(move |at| (*line, *at, fields.get(*at))));
        each.filter_map(|(line, at, cell)| Some((line, at, cell?.trim())))
            .filter(|(_, _, cell)| number(cell, true).is_some())
    };
    let (point, comma) = (
        cells().find(|(_, _, cell)| cell.contains('.')),
        cells().find(|(_, _, cell)| cell.contains(',')),
    );
    let Some(((line, at, point), (other, other_at, comma))) = point.zip(comma) else {
        return Ok(());
    };
    Err(ImportError::DecimalSign {
        file: source.name.clone(),
        point: format!("line {line}: `{}` is `{point}`", header[at]),
        comma: format!("line {other}: `{}` is `{comma}`", header[other_at]),
    })
}

/// What each column's cells are; only of parameters it matters.
pub(crate) fn kinds(roles: &[Role], lines: &[(u64, csv::StringRecord)], separator: u8) -> Vec<Kind> {
    let kind = |at: usize| {
        // An empty cell is a parameter that the configuration does not have.
        let cells = || {
            let cells = lines.iter().filter_map(|(_, line)| line.get(at)).map(str::trim);
            cells.filter(|cell| !cell.is_empty())
        };
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

/// A cell of a column of that kind.
pub(crate) fn typed(cell: &str, kind: Kind, decimal_comma: bool) -> Option<Value> {
    Some(match kind {
        Kind::Integer => Value::Integer(cell.parse().ok()?),
        Kind::Float => Value::Float(number(cell, decimal_comma)?),
        Kind::Boolean => Value::Boolean(boolean(cell)?),
        Kind::Text => Value::text(cell),
    })
}

/// Reads lines.
pub(crate) struct Reader<'a> {
    pub(crate) source: &'a Source,
    pub(crate) options: &'a Options,
    pub(crate) roles: &'a [Role],
    pub(crate) header: &'a [String],
    pub(crate) kinds: Vec<Kind>,
    /// Whether `3,5` is 3.5.
    pub(crate) decimal_comma: bool,
    pub(crate) objective: &'a str,
    pub(crate) larger_is_better: bool,
    pub(crate) unit: &'a str,
}

impl Reader<'_> {
    /// One line as one row.
    pub(crate) fn row(&self, line: u64, fields: &csv::StringRecord) -> Result<Row, ImportError> {
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
                Role::Parameter if given.is_none() => {}
                Role::Parameter => {
                    let name = header.strip_prefix("parameter:").unwrap_or(header);
                    row.configuration.set(
                        name,
                        typed(cell, *kind, self.decimal_comma).ok_or_else(|| bad(format!("`{cell}`")))?,
                    );
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
                // A prediction or another number that is `nan` is none.
                Role::Estimate | Role::Extra if cell.parse::<f64>().is_ok_and(|x| !x.is_finite()) => {}
                Role::Estimate if given.is_some() => row.estimates.push(estimate(header, figure()?)),
                Role::Extra if given.is_some() => {
                    let name = header.strip_prefix("extra:").unwrap_or(header);
                    row.extra.insert(name.to_owned(), figure()?);
                }
                Role::Estimate | Role::Extra | Role::Direction | Role::Ignore => {}
            }
        }
        row.times.extend(row.at.map(|at| (round, at)));
        row.found = self.found(line, &cells, outcome, reason, round)?;
        Ok(row)
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
                    self.options.check_above(self.source, &format!("line {line}"), x)?;
                    let (ranked, name) = (self.options.ranked(x), self.options.ranked_name(self.objective));
                    if self.larger_is_better && ranked <= 0.0 {
                        return Err(ImportError::NotAboveZero {
                            file: self.source.name.clone(),
                            objective: name,
                            place: format!("line {line}"),
                            value: ranked,
                            others: Vec::new(),
                        });
                    }
                    if let Some(reason) = words::no_value(ranked, &name, self.unit) {
                        let how = Failed::RunFailed;
                        return Ok(Found::Failed { how, reason });
                    }
                    samples.push((round, x));
                }
                (None, Some(Ending::Failed(how))) => {
                    let reason = (*cell).to_owned();
                    return Ok(Found::Failed { how, reason });
                }
                (None, _) => {
                    // `nan` and `inf`.
                    let x = cell.parse::<f64>();
                    let reason = x.ok().and_then(|x| words::no_value(x, self.objective, self.unit));
                    let how = Failed::RunFailed;
                    return match reason {
                        Some(reason) => Ok(Found::Failed { how, reason }),
                        None => Err(bad(format!("`{header}` is `{cell}`: expected a number"))),
                    };
                }
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
pub(crate) fn join(row: &mut Row, other: Row) {
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
    for (round, at) in other.times {
        row.times.entry(round).or_insert(at);
    }
    row.at = row.at.max(other.at);
}
