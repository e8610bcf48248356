//! The formats.

use crate::error::ImportError;
use crate::source::{Options, Source};
use crate::table::Contents;

/// Reads a source; what had to be left out or assumed goes to the notes.
type Read = fn(&Source, &Options, &mut Vec<String>) -> Result<Contents, ImportError>;

/// What a format ranks configurations by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranks {
    /// Any number of its files.
    AnyNumber,
    /// Counts, which are above zero.
    Counts,
    /// Nothing: it holds no results.
    Nothing,
}

/// A format that can be read.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Its name on the command line and in manifests.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Whether a source looks like it.
    pub suits: fn(&Source) -> bool,
    /// What it ranks by.
    pub ranks: Ranks,
    /// Reads it.
    pub read: Read,
}

/// Every format, in the order in which a source is looked at.
pub static FORMATS: &[Format] = &[
    crate::kernel_tuner::FORMAT,
    crate::t4::FORMAT,
    crate::t1::FORMAT,
    crate::published::FORMAT,
    crate::csv_file::FORMAT,
];

fn names() -> Vec<&'static str> {
    FORMATS.iter().map(|format| format.name).collect()
}

/// The format called `name`.
pub fn find(name: &str) -> Result<&'static Format, ImportError> {
    let found = FORMATS.iter().find(|format| format.name == name);
    found.ok_or_else(|| ImportError::NoFormat {
        name: name.to_owned(),
        known: names(),
    })
}

/// The first format that `source` looks like.
pub fn suiting(source: &Source) -> Result<&'static Format, ImportError> {
    let found = FORMATS.iter().find(|format| (format.suits)(source));
    found.ok_or_else(|| ImportError::Unknown {
        file: source.name.clone(),
        known: names(),
    })
}

/// Reads `source` as `format`; the notes say what was left out or assumed.
pub fn read(format: &Format, source: &Source, options: &Options) -> Result<(Contents, Vec<String>), ImportError> {
    let mut notes = Vec::new();
    if let Some(above) = options.above
        && (!above.is_finite() || format.ranks != Ranks::AnyNumber)
    {
        return Err(ImportError::Above {
            file: source.name.clone(),
            above,
            format: format.name,
        });
    }
    let mut contents = (format.read)(source, options, &mut notes).map_err(|error| match error {
        ImportError::NotBelowAll { above, .. } => crate::above::least(format, source, options, above).unwrap_or(error),
        error => error,
    })?;
    if let Contents::Table(table) = &mut contents {
        if table.rows.is_empty() {
            return Err(ImportError::Empty {
                file: source.name.clone(),
            });
        }
        if let Some(above) = options.above {
            crate::above::rank(table, above, source, &mut notes)?;
        }
    }
    Ok((contents, notes))
}
