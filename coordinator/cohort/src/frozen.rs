//! A frozen cohort, read and checked.

use std::collections::HashMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::addition::{Addition, AdditionKind};
use crate::case::Case;
use crate::digest::{sha256_file, sha256_hex};
use crate::error::CohortError;
use crate::freeze::check_case_folders;
use crate::grow::Growth;
use crate::layout::Layout;
use crate::manifest::{Manifest, UnitRef};
use crate::paths::CohortDir;
use crate::record::Record;
use crate::records::{Records, read_lines, read_records};
use crate::state::{State, StateError, state};
use crate::write::create_once;

/// A cohort on disk: manifest, cases and additions, checked against one another. It only grows.
#[derive(Debug, Clone, PartialEq)]
pub struct Frozen {
    dir: CohortDir,
    manifest: Manifest,
    cases: Vec<Case>,
    additions: Vec<Addition>,
    /// What `manifest.sha256` says.
    written_manifest: Option<String>,
    /// Digests of `manifest.json` and of each addition's file.
    chain: Vec<String>,
}

/// What every format has.
#[derive(Deserialize)]
struct AnyFormat {
    format: u64,
}

impl Frozen {
    /// Reads a cohort and checks its format, the digest of `cases.jsonl`, the chain of additions, and that everything
    /// fits together. Needs no lock.
    pub fn open(dir: &CohortDir) -> Result<Self, CohortError> {
        let path = dir.manifest();
        if !path.exists() {
            return Err(CohortError::NoCohort {
                path: dir.path().to_owned(),
                missing: "manifest.json".to_owned(),
            });
        }
        let bytes = fs_err::read(&path)?;
        let AnyFormat { format: found } = parse(&path, &bytes)?;
        if found != u64::from(Manifest::FORMAT) {
            return Err(CohortError::Format {
                path,
                found,
                expected: Manifest::FORMAT,
            });
        }
        let manifest: Manifest = parse(&path, &bytes)?;
        let cases = read_cases(dir, &manifest)?;
        let mut frozen = Self {
            dir: dir.clone(),
            manifest,
            cases,
            additions: Vec::new(),
            written_manifest: written_manifest(dir)?,
            chain: vec![sha256_hex(&bytes)],
        };
        frozen.read_additions()?;
        frozen.check()?;
        Ok(frozen)
    }

    /// Where it lies.
    #[must_use]
    pub fn dir(&self) -> &CohortDir {
        &self.dir
    }

    /// The digest that `manifest.json` was written with; `None` for cohorts that are older than its file.
    #[must_use]
    pub fn written_manifest(&self) -> Option<&str> {
        self.written_manifest.as_deref()
    }

    /// The manifest.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The initial cases.
    #[must_use]
    pub fn initial_cases(&self) -> &[Case] {
        &self.cases
    }

    /// What it grew by, in order.
    #[must_use]
    pub fn additions(&self) -> &[Addition] {
        &self.additions
    }

    /// All cases: initial ones, then those of the additions.
    pub fn cases(&self) -> impl Iterator<Item = &Case> {
        self.cases
            .iter()
            .chain(self.additions.iter().flat_map(|addition| addition.kind.cases()))
    }

    /// Everything that is built: units of the manifest, then those of the additions.
    pub fn units(&self) -> impl Iterator<Item = &UnitRef> {
        self.manifest
            .units
            .iter()
            .chain(self.additions.iter().flat_map(|addition| addition.kind.units()))
    }

    /// Every confirmation, with the confirmation of the control that it is compared with; `None` for those of the control
    /// itself: they are compared with what they repeat.
    #[must_use]
    pub fn confirmations(&self) -> HashMap<&str, Option<&Case>> {
        let entries = self.manifest.workloads.iter();
        let controls: HashMap<_, _> = entries
            .filter_map(|entry| Some((entry.workload.name.as_str(), entry.control.as_deref()?)))
            .collect();
        let mut confirmations = HashMap::new();
        for addition in &self.additions {
            let AdditionKind::Confirmation { cases, .. } = &addition.kind else {
                continue;
            };
            let of_control = |case: &&Case| case.repeat_of.as_deref() == controls.get(case.workload.as_str()).copied();
            let mut count: HashMap<&str, usize> = HashMap::new();
            for case in cases {
                if of_control(&case) {
                    confirmations.insert(case.name.as_str(), None);
                    continue;
                }
                let count = count.entry(&case.workload).or_default();
                let mut own = cases.iter().filter(|one| one.workload == case.workload);
                let control = own.by_ref().filter(of_control).nth(*count);
                *count += 1;
                confirmations.insert(&case.name, control);
            }
        }
        confirmations
    }

    /// Whether more of it can be measured.
    ///
    /// # Errors
    ///
    /// [`CohortError::Imported`] where somebody else measured it.
    pub fn continuable(&self) -> Result<(), CohortError> {
        self.manifest.imported.as_ref().map_or(Ok(()), |imported| {
            Err(CohortError::Imported {
                path: self.dir.path().to_owned(),
                file: imported.file.clone(),
            })
        })
    }

    /// What is done, left and lost.
    pub fn state<'a>(&'a self, records: &'a [Record]) -> Result<State<'a>, StateError> {
        state(&self.manifest, &self.cases, &self.additions, records)
    }

    /// Digests of `manifest.json` and of each addition's file.
    pub(crate) fn chain(&self) -> &[String] {
        &self.chain
    }

    /// Grows the cohort by an addition, which is written once and never changed. Sources of new units are written
    /// before it. Only the coordinator that holds the cohort's lock may do this.
    pub fn grow(&mut self, at: Timestamp, reason: &str, growth: Growth) -> Result<&Addition, CohortError> {
        self.continuable()?;
        let number = u32::try_from(self.chain.len()).map_err(|_| CohortError::Malformed {
            path: self.dir.additions(),
            message: "too many additions".to_owned(),
        })?;
        let known = self.units().map(|unit| unit.digest.as_str()).collect();
        let (kind, sources) = growth.describe(&self.manifest.machine.tools, &known)?;
        let previous_sha256 = self.chain.last().cloned().unwrap_or_default();
        let addition = Addition {
            number,
            previous_sha256,
            reason: reason.to_owned(),
            at,
            kind,
        };
        let line = crate::records::to_line(&addition, || format!("addition {number}"))?;
        self.additions.push(addition);
        let written = self.check().and_then(|()| {
            sources.write(&self.dir)?;
            create_once(&self.dir.addition(number), &line)
        });
        if let Err(error) = written {
            self.additions.pop();
            return Err(error);
        }
        self.chain.push(sha256_hex(&line));
        Ok(&self.additions[self.additions.len() - 1])
    }

    /// The same cohort after its folder was renamed.
    pub(crate) fn moved_to(mut self, dir: &CohortDir) -> Self {
        self.dir = dir.clone();
        self
    }

    fn check(&self) -> Result<(), CohortError> {
        if let Some(costs) = &self.manifest.costs {
            let found = sha256_hex(costs.table.as_bytes());
            if found != costs.sha256 {
                return Err(CohortError::Malformed {
                    path: self.dir.manifest(),
                    message: format!("its cost table has digest {found}, expected {}", costs.sha256),
                });
            }
        }
        Layout::new(&self.manifest, &self.cases, &self.additions).map_err(|problem| CohortError::Layout {
            path: self.dir.path().to_owned(),
            problem,
        })?;
        if self.additions.iter().any(|addition| !addition.kind.cases().is_empty()) {
            check_case_folders(self.cases().map(|case| case.name.as_str()))?;
        }
        Ok(())
    }

    fn read_additions(&mut self) -> Result<(), CohortError> {
        let mut numbers = Vec::new();
        for entry in fs_err::read_dir(self.dir.additions())? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            let number = name.strip_suffix(".json").and_then(|number| number.parse::<u32>().ok());
            match number.filter(|&number| self.dir.addition(number) == path) {
                Some(number) => numbers.push(number),
                None => {
                    return Err(CohortError::Malformed {
                        path,
                        message: "not an addition".to_owned(),
                    });
                }
            }
        }
        numbers.sort_unstable();
        for number in numbers {
            let path = self.dir.addition(number);
            let bytes = fs_err::read(&path)?;
            let addition: Addition = parse(&path, &bytes)?;
            let (expected, before) = (self.chain.len(), &self.chain[self.chain.len() - 1]);
            if addition.number != number || expected as u64 != u64::from(number) {
                let message = format!("addition {} stands where addition {expected} should", addition.number);
                return Err(CohortError::Malformed { path, message });
            }
            if addition.previous_sha256 != *before {
                let path = if number == 1 {
                    self.dir.manifest()
                } else {
                    self.dir.addition(number - 1)
                };
                let (expected, found) = (addition.previous_sha256, before.clone());
                return Err(CohortError::Changed { path, expected, found });
            }
            self.additions.push(addition);
            self.chain.push(sha256_hex(&bytes));
        }
        Ok(())
    }
}

/// A cohort with its records, as a reader sees it at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// The cohort.
    pub frozen: Frozen,
    /// Its records.
    pub records: Records,
}

impl Snapshot {
    /// Reads a cohort that may be growing meanwhile. Records are read first: what they refer to was written before
    /// them, so it is there when the additions are read.
    pub fn read(dir: &CohortDir) -> Result<Self, CohortError> {
        fs_err::metadata(dir.manifest()).map_err(|e| no_cohort(dir, e))?;
        let records = read_records(dir)?;
        Ok(Self {
            frozen: Frozen::open(dir)?,
            records,
        })
    }

    /// What is done, left and lost.
    pub fn state(&self) -> Result<State<'_>, CohortError> {
        let failed = |problem| CohortError::State {
            path: self.frozen.dir.path().to_owned(),
            problem: Box::new(problem),
        };
        self.frozen.state(&self.records.records).map_err(failed)
    }
}

/// The first word of `manifest.sha256`, as `sha256sum` writes and reads it.
fn written_manifest(dir: &CohortDir) -> Result<Option<String>, CohortError> {
    let path = dir.manifest_digest();
    if !path.exists() {
        return Ok(None);
    }
    let text = fs_err::read_to_string(path)?;
    Ok(Some(text.split_whitespace().next().unwrap_or_default().to_owned()))
}

fn read_cases(dir: &CohortDir, manifest: &Manifest) -> Result<Vec<Case>, CohortError> {
    let path = dir.cases();
    let (found, _) = sha256_file(&path)?;
    if found != manifest.cases_sha256 {
        return Err(CohortError::Changed {
            path,
            expected: manifest.cases_sha256.clone(),
            found,
        });
    }
    let mut cases = Vec::new();
    let torn = read_lines(&path, |_, case| {
        cases.push(case);
        Ok(())
    })?;
    if torn > 0 {
        return Err(CohortError::Malformed {
            path,
            message: "its last line has no newline".to_owned(),
        });
    }
    Ok(cases)
}

fn no_cohort(dir: &CohortDir, error: std::io::Error) -> CohortError {
    match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => CohortError::NoCohort {
            path: dir.path().to_owned(),
            missing: "manifest.json".to_owned(),
        },
        _ => error.into(),
    }
}

fn parse<T: DeserializeOwned>(path: &std::path::Path, bytes: &[u8]) -> Result<T, CohortError> {
    serde_json::from_slice(bytes).map_err(|e| CohortError::Malformed {
        path: path.to_owned(),
        message: e.to_string(),
    })
}

impl AdditionKind {
    /// New cases.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        match self {
            Self::Crosses { cases, .. } | Self::Confirmation { cases, .. } => cases,
            Self::Finalists { .. } => &[],
        }
    }

    /// New units.
    #[must_use]
    pub fn units(&self) -> &[UnitRef] {
        match self {
            Self::Crosses { units, .. } => units,
            Self::Finalists { .. } | Self::Confirmation { .. } => &[],
        }
    }
}
