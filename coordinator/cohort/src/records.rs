//! Record files: appended to by one writer each, read by everybody.

use std::borrow::Cow;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Deserialize;

use crate::chain;
use crate::error::CohortError;
use crate::paths::CohortDir;
use crate::record::{Record, RecordKind};

/// Who writes a record file; also the stem of the file's name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WriterName(String);

impl WriterName {
    /// `<utc time>-<pid>-<host>`: unique as long as no process starts twice within a microsecond under one number.
    /// Of the host only ASCII letters, digits, `_` and `-` are kept.
    #[must_use]
    pub fn new(started: Timestamp, pid: u32, host: &str) -> Self {
        let time = started.to_string().replace(':', "").replace('.', "-");
        let host: String = host
            .chars()
            .filter(|&c| c.is_ascii_alphanumeric() || "_-".contains(c))
            .take(64)
            .collect();
        Self(format!("{time}-{pid}-{host}"))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Appends records to a file of its own.
#[derive(Debug)]
pub struct RecordWriter {
    path: PathBuf,
    file: fs_err::File,
    writer: String,
    sequence: u64,
    /// Digest of the last line.
    chain: String,
    /// Length of the whole lines.
    length: u64,
    broken: bool,
}

impl RecordWriter {
    /// Creates the writer's file; an error when there is one of this name.
    pub fn create(dir: &CohortDir, writer: &WriterName) -> Result<Self, CohortError> {
        let path = dir.record_file(writer.as_str());
        let file = fs_err::OpenOptions::new().append(true).create_new(true).open(&path)?;
        crate::write::sync_folder(&dir.records())?;
        Ok(Self {
            path,
            file,
            writer: writer.0.clone(),
            sequence: 0,
            chain: String::new(),
            length: 0,
            broken: false,
        })
    }

    /// Appends one record with one `write` and syncs it, unless it only says that a round begins.
    ///
    /// After an error the record is not in the file: what was written of it is taken back. Where even that fails, the
    /// writer takes nothing more (a reader drops the torn line).
    pub fn append(&mut self, at: Timestamp, case: &str, attempt: u32, kind: RecordKind) -> Result<Record, CohortError> {
        if self.broken {
            return Err(CohortError::WriterBroken {
                path: self.path.clone(),
            });
        }
        let synced = !matches!(kind, RecordKind::Began { .. });
        let (writer, sequence, case) = (self.writer.clone(), self.sequence, case.to_owned());
        let record = Record {
            writer,
            sequence,
            at,
            case,
            attempt,
            kind,
        };
        let (line, chain) = record_line(&record, &self.chain)?;
        if let Err(error) = self.write_line(&line, synced) {
            self.take_back();
            return Err(error.into());
        }
        self.sequence += 1;
        self.chain = chain;
        self.length += line.len() as u64;
        Ok(record)
    }

    /// Path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn write_line(&mut self, line: &[u8], synced: bool) -> std::io::Result<()> {
        let written = self.file.write(line)?;
        if written < line.len() {
            let message = format!(
                "`{}`: only {written} of {} bytes were written",
                self.path.display(),
                line.len()
            );
            return Err(std::io::Error::new(std::io::ErrorKind::WriteZero, message));
        }
        if synced { self.file.sync_data() } else { Ok(()) }
    }

    fn take_back(&mut self) {
        // In append mode the next line goes to the new end.
        self.broken = self
            .file
            .set_len(self.length)
            .and_then(|()| self.file.sync_data())
            .is_err();
    }
}

/// A last line without a newline: its writer was killed, or is still writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The record file.
    pub file: PathBuf,
    /// Length of what was dropped.
    pub bytes: u64,
}

/// All records of a cohort.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Records {
    /// By writer and sequence number.
    pub records: Vec<Record>,
    /// Torn last lines.
    pub dropped: Vec<Dropped>,
}

impl Records {
    fn drop_torn(&mut self, file: PathBuf, bytes: u64) {
        if bytes > 0 {
            self.dropped.push(Dropped { file, bytes });
        }
    }
}

/// Reads all record files in the order of their names. No lock is needed while a run goes on.
///
/// A last line without newline is dropped and reported; any other line that is no record, has another writer than the
/// file, or not the next sequence number is an error with file and line.
pub fn read_records(dir: &CohortDir) -> Result<Records, CohortError> {
    let mut all = Records::default();
    for writer in record_files(dir)? {
        read_file(&dir.record_file(&writer), &writer, &mut all)?;
    }
    Ok(all)
}

/// What tells whose record a line is, without the rest of it.
#[derive(Deserialize)]
pub(crate) struct Head<'a> {
    #[serde(borrow)]
    writer: Cow<'a, str>,
    sequence: u64,
    #[serde(borrow)]
    pub(crate) case: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) record: Cow<'a, str>,
}

/// What becomes of a line.
pub(crate) enum Wanted {
    /// It is one of the records.
    Record,
    /// It is read, and handed over by itself.
    Apart,
    /// It is only known to be a record of its writer.
    Nothing,
}

/// The same of those that `wanted` takes by their heads.
pub(crate) fn read_records_of(
    dir: &CohortDir,
    wanted: impl Fn(&Head<'_>) -> Wanted,
    mut apart: impl FnMut(Record),
) -> Result<Records, CohortError> {
    let mut all = Records::default();
    for writer in record_files(dir)? {
        let path = dir.record_file(&writer);
        let torn = read_raw_lines(&path, |line, text| {
            let head: Head<'_> = parse_line(&path, line, text)?;
            check_head(&path, &writer, line - 1, &head.writer, head.sequence)?;
            match wanted(&head) {
                Wanted::Record => all.records.push(parse_line(&path, line, text)?),
                Wanted::Apart => apart(parse_line(&path, line, text)?),
                Wanted::Nothing => {}
            }
            Ok(())
        })?;
        all.drop_torn(path, torn);
    }
    Ok(all)
}

/// Writers that have a file, in order.
pub(crate) fn record_files(dir: &CohortDir) -> Result<Vec<String>, CohortError> {
    let mut names = Vec::new();
    for entry in fs_err::read_dir(dir.records())? {
        let entry = entry?;
        let malformed = |message: &str| CohortError::Malformed {
            path: entry.path(),
            message: message.to_owned(),
        };
        let name = entry
            .file_name()
            .into_string()
            .map_err(|_| malformed("not a record file"))?;
        if name.starts_with('.') {
            continue;
        }
        let writer = name
            .strip_suffix(".jsonl")
            .ok_or_else(|| malformed("not a record file"))?;
        names.push(writer.to_owned());
    }
    names.sort_unstable();
    Ok(names)
}

/// The record of a line without its newline, the one of this number from 0 in the file of `writer`.
pub(crate) fn check_line(path: &Path, writer: &str, number: u64, line: &[u8]) -> Result<Record, CohortError> {
    let record = serde_json::from_slice(line).map_err(|error| bad_line(path, number + 1, error.to_string()))?;
    check_record(path, writer, number, &record)?;
    Ok(record)
}

fn check_record(path: &Path, writer: &str, number: u64, record: &Record) -> Result<(), CohortError> {
    check_head(path, writer, number, &record.writer, record.sequence)
}

fn check_head(path: &Path, writer: &str, number: u64, own: &str, sequence: u64) -> Result<(), CohortError> {
    if own != writer {
        return Err(bad_line(path, number + 1, format!("its writer is `{own}`")));
    }
    if sequence != number {
        let message = format!("expected sequence number {number}, found {sequence}");
        return Err(bad_line(path, number + 1, message));
    }
    Ok(())
}

fn bad_line(path: &Path, line: u64, message: String) -> CohortError {
    CohortError::BadLine {
        path: path.to_owned(),
        line,
        message,
    }
}

fn read_file(path: &Path, writer: &str, all: &mut Records) -> Result<(), CohortError> {
    let torn = read_lines(path, |line, record: Record| {
        check_record(path, writer, line - 1, &record)?;
        all.records.push(record);
        Ok(())
    })?;
    all.drop_torn(path.to_owned(), torn);
    Ok(())
}

/// Reads a file line by line as JSON and hands each to `take` with its number from 1. Gives the length of what follows
/// the last newline.
pub(crate) fn read_lines<T: serde::de::DeserializeOwned>(
    path: &Path,
    mut take: impl FnMut(u64, T) -> Result<(), CohortError>,
) -> Result<u64, CohortError> {
    read_raw_lines(path, |line, text| take(line, parse_line(path, line, text)?))
}

/// A line of that number, from 1, as JSON.
pub(crate) fn parse_line<'a, T: serde::Deserialize<'a>>(
    path: &Path,
    line: u64,
    text: &'a [u8],
) -> Result<T, CohortError> {
    serde_json::from_slice(text).map_err(|error| bad_line(path, line, error.to_string()))
}

/// The same without reading anything into the lines, which come without their newlines.
pub(crate) fn read_raw_lines(
    path: &Path,
    mut take: impl FnMut(u64, &[u8]) -> Result<(), CohortError>,
) -> Result<u64, CohortError> {
    let mut reader = BufReader::with_capacity(1 << 16, fs_err::File::open(path)?);
    let mut buffer = Vec::new();
    for line in 1.. {
        buffer.clear();
        let length = reader.read_until(b'\n', &mut buffer)? as u64;
        if buffer.pop_if(|last| *last == b'\n').is_none() {
            return Ok(length);
        }
        take(line, &buffer)?;
    }
    Ok(0)
}

/// A record as a line with its newline, after one of digest `previous`, and its digest.
pub(crate) fn record_line(record: &Record, previous: &str) -> Result<(Vec<u8>, String), CohortError> {
    let mut line = to_line(record, || format!("a record of case `{}`", record.case))?;
    let digest = chain::seal(previous, &mut line);
    Ok((line, digest))
}

/// `value` as one line with its newline, checked to be read back as it is: a number that is not finite, say, would be
/// written as `null` and make the whole file unreadable.
pub(crate) fn to_line<T>(value: &T, what: impl Fn() -> String) -> Result<Vec<u8>, CohortError>
where
    T: serde::Serialize + serde::de::DeserializeOwned + PartialEq,
{
    let unwritable = |message: String| CohortError::Unwritable { what: what(), message };
    let mut line = serde_json::to_vec(value).map_err(|e| unwritable(e.to_string()))?;
    let back: T = serde_json::from_slice(&line).map_err(|e| unwritable(e.to_string()))?;
    if back != *value {
        return Err(unwritable("it reads differently".to_owned()));
    }
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_cannot_be_taken_back_is_the_last() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CohortDir::new(folder.path());
        fs_err::create_dir(dir.records()).unwrap();
        let mut writer = RecordWriter::create(&dir, &WriterName::new(Timestamp::UNIX_EPOCH, 1, "h")).unwrap();
        let retry = || RecordKind::Retry {
            because: "x".to_owned(),
        };
        // Through this handle the file can be neither written nor cut.
        writer.file = fs_err::File::open(writer.path()).unwrap();
        let first = writer.append(Timestamp::UNIX_EPOCH, "c", 2, retry()).unwrap_err();
        assert!(matches!(first, CohortError::Io(_)), "{first}");
        writer.file = fs_err::OpenOptions::new().append(true).open(writer.path()).unwrap();
        let second = writer.append(Timestamp::UNIX_EPOCH, "c", 2, retry()).unwrap_err();
        assert!(matches!(second, CohortError::WriterBroken { .. }), "{second}");
    }
}
