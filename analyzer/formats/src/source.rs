//! From bytes to text.

use std::io::Read;

use flate2::read::MultiGzDecoder;

use crate::csv_columns::Column;
use crate::error::ImportError;

/// One file of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its path, relative to the source's folder; the file's name where the source is one file.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// What is read: a file, or a folder of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its name, for messages.
    pub name: String,
    /// Its files, by path; one for a file.
    pub parts: Vec<Part>,
    /// Whether it is a folder.
    pub folder: bool,
}

impl Source {
    /// The text of the only file.
    ///
    /// Errors: it is a folder.
    pub fn text(&self) -> Result<&str, ImportError> {
        match self.parts.as_slice() {
            [only] if !self.folder => Ok(&only.text),
            _ => Err(self.bad("the source", "is a folder, and this format is one file")),
        }
    }

    pub(crate) fn bad(&self, place: impl Into<String>, message: impl Into<String>) -> ImportError {
        ImportError::Bad {
            file: self.name.clone(),
            place: place.into(),
            message: message.into(),
        }
    }

    pub(crate) fn lacks(&self, place: impl Into<String>, fields: &[&str]) -> ImportError {
        ImportError::Lacks {
            file: self.name.clone(),
            place: place.into(),
            fields: fields.iter().map(|&field| field.to_owned()).collect(),
        }
    }
}

/// How a file is read where it leaves something open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// The number to rank by; the file's own objective otherwise.
    pub objective: Option<String>,
    /// Its unit, where the file does not say it.
    pub unit: Option<String>,
    /// Whether more of it is better; otherwise what the file, its name and its unit say.
    pub larger_is_better: Option<bool>,
    /// What is ranked by is how far the number lies above this one: for scores that reach zero or lie below it, of which there
    /// is no ratio. Their order stays; ratios are of the distance, and the objective's name says so.
    pub above: Option<f64>,
    /// What the columns of a table are.
    pub columns: Vec<Column>,
}

impl Options {
    /// What is ranked by of a number in the file.
    pub(crate) fn ranked(&self, number: f64) -> f64 {
        self.above.map_or(number, |above| number - above)
    }

    /// Refuses a number of the file that does not lie above the one it is ranked by.
    pub(crate) fn check_above(&self, source: &Source, place: &str, number: f64) -> Result<(), ImportError> {
        match self.above {
            Some(above) if number <= above => Err(ImportError::NotBelowAll {
                file: source.name.clone(),
                above,
                place: place.to_owned(),
                least: number,
                instead: None,
            }),
            _ => Ok(()),
        }
    }

    /// What that is called.
    pub(crate) fn ranked_name(&self, objective: &str) -> String {
        match self.above {
            Some(above) => format!("{objective} above {above}"),
            None => objective.to_owned(),
        }
    }
}

/// The text of `bytes`, unpacked if they are gzip, without a byte-order mark, and what had to be left out.
pub fn unpack(file: &str, bytes: Vec<u8>) -> Result<(String, Vec<String>), ImportError> {
    let mut notes = Vec::new();
    let mut bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        gunzip(file, &bytes, &mut notes)?
    } else {
        bytes
    };
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((text, notes)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            // A character that the end cuts in two belongs to a record that is cut off as well.
            if error.utf8_error().error_len().is_none() {
                let mut bytes = error.into_bytes();
                bytes.truncate(at);
                return Ok((String::from_utf8_lossy(&bytes).into_owned(), notes));
            }
            let file = file.to_owned();
            Err(ImportError::NoText { file, at })
        }
    }
}

fn gunzip(file: &str, packed: &[u8], notes: &mut Vec<String>) -> Result<Vec<u8>, ImportError> {
    let mut text = Vec::new();
    // What was unpacked before an error stays in `text`.
    match MultiGzDecoder::new(packed).read_to_end(&mut text) {
        Ok(_) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof && !text.is_empty() => {
            notes.push(format!(
                "`{file}` ends in the middle of its compressed data: {} bytes could be unpacked",
                text.len()
            ));
            Ok(text)
        }
        Err(error) => Err(ImportError::Gzip {
            file: file.to_owned(),
            message: error.to_string(),
        }),
    }
}
