//! What the columns of a table are: by what was asked for, else by their headers.

use std::str::FromStr;

use crate::error::ImportError;
use crate::source::{Options, Source};
use crate::words;

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
    /// Whether more of the objective is better: `higher` or `lower`, the same in each line.
    Direction,
    /// A prediction.
    Estimate,
    /// Another number.
    Extra,
    /// Nothing that counts.
    Ignore,
}

/// Words of the roles.
const ROLES: [(&str, Role); 13] = [
    ("value", Role::Value),
    ("parameter", Role::Parameter),
    ("name", Role::Name),
    ("workload", Role::Workload),
    ("family", Role::Family),
    ("outcome", Role::Outcome),
    ("reason", Role::Reason),
    ("round", Role::Round),
    ("at", Role::At),
    ("direction", Role::Direction),
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

/// Units that a header may end in, or be.
const UNITS: [&str; 6] = ["ns", "us", "µs", "ms", "s", "cycles"];

/// Where a header says by itself that its column was measured: `time`, `runtime`, `value`, one of these with a unit, or a unit.
/// The unit is `None` where it does not say that.
#[must_use]
pub fn measured_in(header: &str) -> Option<(String, Option<String>)> {
    let (name, unit) = named_unit(header);
    if UNITS.contains(&name.as_str()) && unit.is_none() {
        return Some((name.clone(), Some(words::unit(&name))));
    }
    is_measured(&name).then_some((name, unit))
}

fn is_measured(name: &str) -> bool {
    matches!(name.to_ascii_lowercase().as_str(), "time" | "runtime" | "value")
}

/// `time_ms`, `time (ms)` and `time [ms]` are `time` in `ms`.
pub(crate) fn named_unit(header: &str) -> (String, Option<String>) {
    let header = header.trim();
    let header = header.strip_prefix("value:").unwrap_or(header);
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

pub(crate) fn roles(source: &Source, options: &Options, header: &[String]) -> Result<Vec<Role>, ImportError> {
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
                "value" if !some(Role::Value) && options.objective.is_none() => return Role::Value,
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
            // Of a table of ours; elsewhere it may be anything.
            "direction"
                if ["outcome", "round", "at"]
                    .iter()
                    .all(|own| header.iter().any(|name| name == own)) =>
            {
                Role::Direction
            }
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

/// Whether a column holds what is to be compared.
fn is_objective(header: &str, options: &Options) -> bool {
    let name = named_unit(header).0;
    match &options.objective {
        Some(wanted) => name == *wanted || header == wanted,
        None => is_measured(&name),
    }
}

/// Columns of one role with their places.
pub(crate) fn of<'a>(roles: &'a [Role], role: Role, header: &'a [String]) -> impl Iterator<Item = (usize, &'a String)> {
    let all = header.iter().enumerate();
    all.filter(move |(at, _)| roles[*at] == role)
}
