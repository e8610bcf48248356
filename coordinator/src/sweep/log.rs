//! All records of the cohort: those that were there, and those that this run appends.

use cohort::{CohortDir, CohortError, Record, RecordKind, RecordWriter, WriterName};

/// Records in memory and on disk.
pub(crate) struct Log {
    dir: CohortDir,
    name: WriterName,
    /// Made with the first record, so that a run with nothing to do leaves no file.
    writer: Option<RecordWriter>,
    records: Vec<Record>,
    clock: fn() -> jiff::Timestamp,
}

impl Log {
    pub(crate) fn new(dir: &CohortDir, records: Vec<Record>, clock: fn() -> jiff::Timestamp) -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Self {
            dir: dir.clone(),
            name: WriterName::new(clock(), std::process::id(), &host),
            writer: None,
            records,
            clock,
        }
    }

    pub(crate) fn records(&self) -> &[Record] {
        &self.records
    }

    pub(crate) fn now(&self) -> jiff::Timestamp {
        (self.clock)()
    }

    /// Appends a record. It is on disk when this returns, unless it only says that a round begins.
    pub(crate) fn append(&mut self, case: &str, attempt: u32, kind: RecordKind) -> Result<(), CohortError> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(RecordWriter::create(&self.dir, &self.name)?),
        };
        self.records.push(writer.append((self.clock)(), case, attempt, kind)?);
        Ok(())
    }
}
