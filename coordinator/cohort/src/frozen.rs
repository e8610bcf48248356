//! A frozen cohort, read and checked.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::addition::{Addition, AdditionKind};
use crate::case::Case;
use crate::chain;
use crate::digest::{sha256_file, sha256_hex};
use crate::error::CohortError;
use crate::freeze::check_case_folders;
use crate::grow::Growth;
use crate::layout::Layout;
use crate::manifest::{Manifest, UnitRef};
use crate::paths::CohortDir;
use crate::record::{BuildOutcome, Record, RecordKind};
use crate::records::{Records, Wanted, parse_line, read_lines, read_raw_lines, read_records, read_records_of};
use crate::state::{State, StateError, fold, state};
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
    /// Whether only some of the cases were read.
    part: bool,
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
        Self::open_with(dir, None)
    }

    /// The same with the initial cases that `wanted` names, the controls of all workloads, and whatever one of these or an
    /// addition repeats; cases of additions are all there. The digest of the whole file is checked all the same.
    pub fn open_part(dir: &CohortDir, wanted: &HashSet<String>) -> Result<Self, CohortError> {
        Self::open_with(dir, Some(wanted))
    }

    /// How many initial cases the manifest counts.
    pub fn cases_in(dir: &CohortDir) -> Result<u64, CohortError> {
        #[derive(Deserialize)]
        struct Count {
            cases: u64,
        }
        Ok(read_manifest::<Count>(dir)?.0.cases)
    }

    fn open_with(dir: &CohortDir, wanted: Option<&HashSet<String>>) -> Result<Self, CohortError> {
        let (manifest, bytes) = read_manifest::<Manifest>(dir)?;
        let mut frozen = Self {
            dir: dir.clone(),
            manifest,
            cases: Vec::new(),
            additions: Vec::new(),
            written_manifest: written_manifest(dir)?,
            chain: vec![sha256_hex(&bytes)],
            part: wanted.is_some(),
        };
        frozen.read_additions()?;
        check_cases_file(dir, &frozen.manifest)?;
        frozen.cases = match wanted {
            None => read_cases(dir)?,
            Some(wanted) => frozen.read_some(wanted)?,
        };
        frozen.check()?;
        Ok(frozen)
    }

    /// Initial cases of a part. What additions say of others is left out as well.
    fn read_some(&mut self, wanted: &HashSet<String>) -> Result<Vec<Case>, CohortError> {
        let mut names: HashSet<String> = wanted.clone();
        names.extend(self.manifest.workloads.iter().filter_map(|entry| entry.control.clone()));
        let added = self.additions.iter().flat_map(|addition| addition.kind.cases());
        names.extend(added.filter_map(|case| case.repeat_of.clone()));
        let mut cases = some_cases(&self.dir, &names)?;
        // What a case repeats stands before it, and rarely is part of this.
        loop {
            let repeated = cases.iter().filter_map(|case| case.repeat_of.clone());
            let missing: Vec<String> = repeated.filter(|name| !names.contains(name)).collect();
            if missing.is_empty() {
                break;
            }
            names.extend(missing);
            cases = some_cases(&self.dir, &names)?;
        }
        let added = self.additions.iter().flat_map(|addition| addition.kind.cases());
        let known: HashSet<String> = cases.iter().chain(added).map(|case| case.name.clone()).collect();
        for addition in &mut self.additions {
            if let AdditionKind::Finalists { rounds } = &mut addition.kind {
                rounds.retain(|case, _| known.contains(case));
            }
        }
        Ok(cases)
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
        if self.part {
            let layout = Layout::of_part(&self.manifest, &self.cases, &self.additions)?;
            return fold(layout, records);
        }
        state(&self.manifest, &self.cases, &self.additions, records)
    }

    /// Whether only some of the cases were read ([`Frozen::open_part`]).
    #[must_use]
    pub fn is_part(&self) -> bool {
        self.part
    }

    /// Digests of `manifest.json` and of each addition's file.
    pub(crate) fn chain(&self) -> &[String] {
        &self.chain
    }

    /// Grows the cohort by an addition, which is written once and never changed. Sources of new units are written
    /// before it. Only the coordinator that holds the cohort's lock may do this.
    pub fn grow(&mut self, at: Timestamp, reason: &str, growth: Growth) -> Result<&Addition, CohortError> {
        self.continuable()?;
        if self.part {
            return Err(CohortError::Malformed {
                path: self.dir.path().to_owned(),
                message: "whoever has read only some of its cases can't add any".to_owned(),
            });
        }
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
            records: chain::heads(&self.dir)?,
            kind,
        };
        let mut line = crate::records::to_line(&addition, || format!("addition {number}"))?;
        chain::seal("", &mut line);
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
        let layout = if self.part {
            Layout::of_part(&self.manifest, &self.cases, &self.additions)
        } else {
            Layout::new(&self.manifest, &self.cases, &self.additions)
        };
        layout.map_err(|problem| CohortError::Layout {
            path: self.dir.path().to_owned(),
            problem,
        })?;
        if self.additions.iter().any(|addition| !addition.kind.cases().is_empty()) {
            check_case_folders(self.cases().map(|case| case.name.as_str()))?;
        }
        Ok(())
    }

    /// Numbers of the additions that are there, ascending.
    fn addition_numbers(dir: &CohortDir) -> Result<Vec<u32>, CohortError> {
        let mut numbers = Vec::new();
        for entry in fs_err::read_dir(dir.additions())? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            let number = name.strip_suffix(".json").and_then(|number| number.parse::<u32>().ok());
            match number.filter(|&number| dir.addition(number) == path) {
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
        Ok(numbers)
    }

    fn read_additions(&mut self) -> Result<(), CohortError> {
        for number in Self::addition_numbers(&self.dir)? {
            let path = self.dir.addition(number);
            let bytes = fs_err::read(&path)?;
            let addition: Addition = parse(&path, &bytes)?;
            if let Err((expected, found)) = chain::unsealed(&bytes) {
                return Err(CohortError::Changed { path, expected, found });
            }
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

    /// What a worker of some cases needs: the cohort as by [`Frozen::open_part`], the records of these cases and those of no
    /// case, and apart from them the build records of other cases that tell of an artifact which these share.
    ///
    /// Of all other lines only writer, number and case are looked at.
    pub fn read_part(dir: &CohortDir, wanted: &HashSet<String>) -> Result<(Self, Vec<Record>), CohortError> {
        fs_err::metadata(dir.manifest()).map_err(|e| no_cohort(dir, e))?;
        let mut frozen = Frozen::open_part(dir, wanted)?;
        let (records, others) = read_some_records(dir, &frozen)?;
        // Records may tell of an addition that was written before them, and after the first look.
        if Frozen::addition_numbers(dir)?.len() != frozen.additions.len() {
            frozen = Frozen::open_part(dir, wanted)?;
        }
        Ok((Self { frozen, records }, others))
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

/// The manifest, or what `T` has of it, and its bytes.
fn read_manifest<T: DeserializeOwned>(dir: &CohortDir) -> Result<(T, Vec<u8>), CohortError> {
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
    Ok((parse(&path, &bytes)?, bytes))
}

fn check_cases_file(dir: &CohortDir, manifest: &Manifest) -> Result<(), CohortError> {
    let path = dir.cases();
    let (found, _) = sha256_file(&path)?;
    if found == manifest.cases_sha256 {
        return Ok(());
    }
    Err(CohortError::Changed {
        path,
        expected: manifest.cases_sha256.clone(),
        found,
    })
}

fn read_cases(dir: &CohortDir) -> Result<Vec<Case>, CohortError> {
    let mut cases = Vec::new();
    let torn = read_lines(&dir.cases(), |_, case| {
        cases.push(case);
        Ok(())
    })?;
    whole_cases(dir, torn)?;
    Ok(cases)
}

/// The cases of these names, in the order of the file.
fn some_cases(dir: &CohortDir, names: &HashSet<String>) -> Result<Vec<Case>, CohortError> {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
    }
    let mut cases = Vec::new();
    let torn = read_raw_lines(&dir.cases(), |number, line| {
        let head: Head<'_> = parse_line(&dir.cases(), number, line)?;
        if names.contains(head.name.as_ref()) {
            cases.push(parse_line(&dir.cases(), number, line)?);
        }
        Ok(())
    })?;
    whole_cases(dir, torn)?;
    Ok(cases)
}

fn whole_cases(dir: &CohortDir, torn: u64) -> Result<(), CohortError> {
    if torn == 0 {
        return Ok(());
    }
    Err(CohortError::Malformed {
        path: dir.cases(),
        message: "its last line has no newline".to_owned(),
    })
}

/// The records of the cases of a part and of no case, and build records of other cases that tell of artifacts it needs.
fn read_some_records(dir: &CohortDir, frozen: &Frozen) -> Result<(Records, Vec<Record>), CohortError> {
    let cases: HashSet<&str> = frozen.cases().map(|case| case.name.as_str()).collect();
    let units = frozen.cases().flat_map(|case| case.units.values());
    let units: HashSet<&str> = units.chain(&frozen.manifest.harness).map(String::as_str).collect();
    let mut others = Vec::new();
    let records = read_records_of(
        dir,
        |head| {
            if head.case.is_empty() || cases.contains(head.case.as_ref()) {
                Wanted::Record
            } else if head.record == "build" && !units.is_empty() {
                Wanted::Apart
            } else {
                Wanted::Nothing
            }
        },
        |record| {
            let RecordKind::Build {
                outcome: BuildOutcome::Built { units: built },
                ..
            } = &record.kind
            else {
                return;
            };
            if built.values().any(|built| units.contains(built.unit.as_str())) {
                others.push(record);
            }
        },
    )?;
    Ok((records, others))
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
