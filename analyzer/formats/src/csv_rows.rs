//! A table whose columns mean what their names say to whoever reads it: names and typed cells, line by line.

use planner::Value;

use crate::csv_cells::{decimal_sign, kinds, typed};
use crate::csv_columns::Role;
use crate::csv_file::lines;
use crate::error::ImportError;
use crate::source::Source;

/// The cells of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// Names of the columns.
    pub header: Vec<String>,
    /// Number of the line, and its cells that are not empty with the names of their columns.
    pub lines: Vec<(u64, Vec<(String, Value)>)>,
}

/// Reads a table with named columns: comma, semicolon or tab between them, with semicolons a comma as the decimal sign. All
/// cells of a column are of one type. What had to be left out is added to `notes`.
///
/// Errors: no table, a line with fewer or more cells than the header, decimal signs that can't be told, no lines.
pub fn rows(source: &Source, notes: &mut Vec<String>) -> Result<Rows, ImportError> {
    let (header, lines, separator) = lines(source, notes)?;
    // To a table as such every column is a parameter.
    let roles = vec![Role::Parameter; header.len()];
    if separator == b';' {
        decimal_sign(source, &roles, &header, &lines)?;
    }
    let kinds = kinds(&roles, &lines, separator);
    let row = |(line, fields): &(u64, csv::StringRecord)| {
        let cells = header
            .iter()
            .zip(&kinds)
            .zip(fields)
            .filter_map(|((name, kind), cell)| {
                let cell = cell.trim();
                let value = typed(cell, *kind, separator == b';').filter(|_| !cell.is_empty());
                value.map(|value| (name.clone(), value))
            });
        (*line, cells.collect())
    };
    Ok(Rows {
        lines: lines.iter().map(row).collect(),
        header,
    })
}
