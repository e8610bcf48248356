//! All records of the cohort: those that were there, and those that this run appends.

use std::collections::{BTreeMap, HashMap};

use cohort::{BuildOutcome, CohortDir, CohortError, Record, RecordKind, RecordWriter, WriterName};

/// Label of a unit -> what the target read from its build.
pub(crate) type Facts = BTreeMap<String, BTreeMap<String, String>>;

/// The name of this process as a writer.
pub(super) fn writer_name(now: jiff::Timestamp) -> WriterName {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    WriterName::new(now, std::process::id(), &host)
}

/// Records in memory and on disk.
pub(crate) struct Log {
    dir: CohortDir,
    name: WriterName,
    /// Made with the first record, so that a run with nothing to do leaves no file.
    writer: Option<RecordWriter>,
    /// What this process says of itself before anything else.
    first: Option<RecordKind>,
    records: Vec<Record>,
    clock: fn() -> jiff::Timestamp,
    /// Facts of builds by case, where there are any.
    facts: HashMap<String, Facts>,
}

impl Log {
    pub(crate) fn new(dir: &CohortDir, name: WriterName, records: Vec<Record>, clock: fn() -> jiff::Timestamp) -> Self {
        let mut facts = HashMap::new();
        for record in &records {
            learn(&mut facts, record);
        }
        Self {
            facts,
            dir: dir.clone(),
            name,
            writer: None,
            first: None,
            records,
            clock,
        }
    }

    /// A record that belongs to no case and comes before the first one that does, if there is any.
    pub(super) fn begin_with(&mut self, kind: RecordKind) {
        self.first = Some(kind);
    }

    pub(crate) fn records(&self) -> &[Record] {
        &self.records
    }

    /// Label of each unit -> facts, from the latest build record of `case`.
    pub(crate) fn facts(&self, case: &str) -> Facts {
        self.facts.get(case).cloned().unwrap_or_default()
    }

    pub(crate) fn now(&self) -> jiff::Timestamp {
        (self.clock)()
    }

    /// Appends a record. It is on disk when this returns, unless it only says that a round begins.
    pub(crate) fn append(&mut self, case: &str, attempt: u32, kind: RecordKind) -> Result<(), CohortError> {
        if let Some(first) = self.first.clone() {
            self.write("", 0, first)?;
            self.first = None;
        }
        self.write(case, attempt, kind)
    }

    fn write(&mut self, case: &str, attempt: u32, kind: RecordKind) -> Result<(), CohortError> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(RecordWriter::create(&self.dir, &self.name)?),
        };
        let record = writer.append((self.clock)(), case, attempt, kind)?;
        learn(&mut self.facts, &record);
        self.records.push(record);
        Ok(())
    }
}

/// Keeps what a build record says, if it says anything.
fn learn(facts: &mut HashMap<String, Facts>, record: &Record) {
    if let RecordKind::Build {
        outcome: BuildOutcome::Built { units },
        ..
    } = &record.kind
    {
        let told = units.iter().filter(|(_, built)| !built.facts.is_empty());
        let told: Facts = told
            .map(|(label, built)| (label.clone(), built.facts.clone()))
            .collect();
        if told.is_empty() {
            facts.remove(&record.case);
        } else {
            facts.insert(record.case.clone(), told);
        }
    }
}
