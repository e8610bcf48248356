//! Tables with named columns: comma, semicolon or tab between them.

use std::collections::{BTreeMap, HashMap};

use crate::csv_cells::{Reader, decimal_sign, join, kinds};
use crate::csv_columns::{Role, named_unit, of, roles};
use crate::error::ImportError;
use crate::registry::{Format, Ranks};
use crate::source::{Options, Source};
use crate::table::{Contents, Row, Table, text};
use crate::{t4, words};

pub(crate) const FORMAT: Format = Format {
    name: "csv",
    about: "a table with named columns (CSV), one line per configuration or per sample",
    suits: |source| {
        source.text().is_ok_and(|text| {
            let header = text.lines().next().unwrap_or_default();
            !text.trim_start().starts_with(['{', '[']) && separator(header).is_some()
        })
    },
    ranks: Ranks::AnyNumber,
    read,
};

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
    if separator == b';' {
        decimal_sign(source, &roles, &header, &lines)?;
    }
    let said = direction(source, &roles, &lines)?;
    let larger_is_better = words::larger_is_better(source, options, said, &objective, &unit)?;
    let reader = Reader {
        source,
        options,
        roles: &roles,
        header: &header,
        kinds: kinds(&roles, &lines, separator),
        decimal_comma: separator == b';',
        objective: &objective,
        larger_is_better,
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
        objective: options.ranked_name(&objective),
        larger_is_better,
        unit,
        facts: BTreeMap::new(),
        rows,
    }))
}

/// What the column of directions says.
fn direction(source: &Source, roles: &[Role], lines: &Lines) -> Result<Option<bool>, ImportError> {
    let Some(at) = roles.iter().position(|role| *role == Role::Direction) else {
        return Ok(None);
    };
    let mut said = None;
    for (line, fields) in lines {
        let cell = fields.get(at).unwrap_or_default().trim();
        let higher = match cell {
            "higher" => true,
            "lower" => false,
            "" => continue,
            _ => {
                let message = format!("the direction is `{cell}`: expected `higher` or `lower`");
                return Err(source.bad(format!("line {line}"), message));
            }
        };
        if said.is_some_and(|said| said != higher) {
            return Err(source.bad(format!("line {line}"), "another direction than in the lines before"));
        }
        said = Some(higher);
    }
    Ok(said)
}

/// Lines with their numbers.
type Lines = Vec<(u64, csv::StringRecord)>;

/// The header, the lines below it, at least one, and the separator.
pub(crate) fn lines(source: &Source, notes: &mut Vec<String>) -> Result<(Vec<String>, Lines, u8), ImportError> {
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
    // Where a writer was stopped, no number of the last line can be told from the beginning of a longer one.
    if let Some((line, last)) = lines.last()
        && !ended
    {
        let note = if last.len() < header.len() {
            format!(
                "`{}` is cut off: line {line} was dropped, it has {} of {} columns",
                source.name,
                last.len(),
                header.len()
            )
        } else {
            format!(
                "`{}` does not end with a line break, as if it were cut off: line {line} was dropped; give it one if it is whole",
                source.name
            )
        };
        if lines.len() == 1 {
            return Err(source.bad("the only line", note));
        }
        notes.push(note);
        lines.pop();
    }
    if lines.is_empty() {
        return Err(source.bad("line 1", "there is no line below the header"));
    }
    for (line, record) in &lines {
        if record.len() != header.len() {
            let message = format!("{} columns, the header has {}", record.len(), header.len());
            return Err(source.bad(format!("line {line}"), message));
        }
    }
    Ok((header, lines, separator))
}
