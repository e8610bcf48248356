//! A cohort before it is frozen.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use target_api::{BuildUnit, InputSet, Machine};

use crate::case::Case;
use crate::digest::{sha256_hex, unit_digest};
use crate::error::CohortError;
use crate::manifest::{ChosenFrom, FileDigest, FrozenCosts, Imported, Measure, Origin, UnitRef, WorkloadEntry};
use crate::paths::{is_inner_name, is_inner_path};
use crate::record::{Record, RecordKind};

/// What the manifest says apart from what is derived from cases, units, inputs and the binary.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    /// The target's name.
    pub target: String,
    /// What is minimised: name and unit.
    pub objective: (String, String),
    /// See [`crate::Manifest::inverse_of`].
    pub inverse_of: Option<(String, String)>,
    /// The definition's text, whole.
    pub definition: String,
    /// Options of the target as they are in force.
    pub options: BTreeMap<String, String>,
    /// Workloads with their controls, in the definition's order.
    pub workloads: Vec<WorkloadEntry>,
    /// How much is measured.
    pub measure: Measure,
    /// Screened geometries: `workload/operation/orientation` -> how many, in decimal.
    pub screened: BTreeMap<String, String>,
    /// What cases were chosen from.
    pub chosen_from: ChosenFrom,
    /// The machine, with the tools that units are built with.
    pub machine: Machine,
    /// Where it comes from.
    pub origin: Origin,
}

/// Writer of the records that an import brings.
pub(crate) const IMPORTER: &str = "import";

/// A cohort that is assembled in memory. [`Draft::freeze`] makes it one on disk.
#[derive(Debug, Clone)]
pub struct Draft {
    pub(crate) header: Header,
    pub(crate) binary: Option<PathBuf>,
    pub(crate) imported: Option<Imported>,
    pub(crate) costs: Option<FrozenCosts>,
    pub(crate) units: BTreeMap<String, BuildUnit>,
    pub(crate) harness: Option<String>,
    pub(crate) inputs: BTreeMap<String, InputSet>,
    pub(crate) cases: Vec<Case>,
    /// What somebody else measured.
    pub(crate) records: Vec<Record>,
}

impl Draft {
    /// Without cases. `binary` is the program that becomes part of the cohort; it is copied when the cohort is frozen.
    pub fn new(header: Header, binary: impl Into<PathBuf>) -> Self {
        Self::with(header, Some(binary.into()), None)
    }

    /// What somebody else measured, without cases. Nothing of it can be run here, so it has no program.
    #[must_use]
    pub fn of_import(header: Header, imported: Imported) -> Self {
        Self::with(header, None, Some(imported))
    }

    fn with(header: Header, binary: Option<PathBuf>, imported: Option<Imported>) -> Self {
        Self {
            header,
            binary,
            imported,
            costs: None,
            units: BTreeMap::new(),
            harness: None,
            inputs: BTreeMap::new(),
            cases: Vec::new(),
            records: Vec::new(),
        }
    }

    /// Adds something that is built, once, and gives its digest for [`Case::units`].
    pub fn add_unit(&mut self, unit: BuildUnit) -> Result<String, CohortError> {
        check_unit(&unit)?;
        let digest = unit_digest(&unit, &self.header.machine.tools);
        self.units.entry(digest.clone()).or_insert(unit);
        Ok(digest)
    }

    /// Adds the unit that is built once for all cases.
    pub fn set_harness(&mut self, unit: BuildUnit) -> Result<String, CohortError> {
        let digest = self.add_unit(unit)?;
        self.harness = Some(digest.clone());
        Ok(digest)
    }

    /// Sets the cost table (its path and canonical text) that estimates were made with.
    pub fn set_costs(&mut self, file: &str, table: String) {
        self.costs = Some(FrozenCosts {
            file: file.to_owned(),
            sha256: sha256_hex(table.as_bytes()),
            table,
        });
    }

    /// Sets input data and reference result of a workload.
    pub fn set_inputs(&mut self, workload: &str, inputs: InputSet) -> Result<(), CohortError> {
        check(is_inner_name(workload), workload)?;
        inputs
            .files
            .iter()
            .try_for_each(|input| check(is_inner_name(&input.name), &input.name))?;
        self.inputs.insert(workload.to_owned(), inputs);
        Ok(())
    }

    /// Adds a case. Whether it fits is checked when the cohort is frozen.
    pub fn add_case(&mut self, case: Case) {
        self.cases.push(case);
    }

    /// Adds what is known of the first attempt at a case of an import. Whether it fits is checked when the cohort is
    /// frozen; a draft that is no import takes none.
    pub fn add_record(&mut self, at: Timestamp, case: &str, kind: RecordKind) -> Result<(), CohortError> {
        if self.imported.is_none() {
            return Err(CohortError::NoImport { case: case.to_owned() });
        }
        self.records.push(Record {
            writer: IMPORTER.to_owned(),
            sequence: self.records.len() as u64,
            at,
            case: case.to_owned(),
            attempt: 1,
            kind,
        });
        Ok(())
    }
}

/// Checks that no file of `unit` leads out of its folder and that none stands in another's place.
pub(crate) fn check_unit(unit: &BuildUnit) -> Result<(), CohortError> {
    let mut paths: Vec<_> = unit.sources.iter().map(|source| source.path.as_str()).collect();
    paths.sort_unstable();
    if let Some(twice) = paths.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(CohortError::BadPath {
            path: twice[0].to_owned(),
        });
    }
    let names = unit.inspect.iter().chain([&unit.artifact]).map(String::as_str);
    paths
        .into_iter()
        .chain(names)
        .try_for_each(|path| check(is_inner_path(path), path))
}

/// What the manifest or an addition says of `unit`.
pub(crate) fn unit_ref(digest: &str, unit: &BuildUnit) -> UnitRef {
    let files = unit.sources.iter().map(|source| FileDigest {
        path: source.path.clone(),
        sha256: sha256_hex(source.text.as_bytes()),
        bytes: source.text.len() as u64,
    });
    let mut files: Vec<_> = files.collect();
    files.sort_unstable();
    UnitRef {
        digest: digest.to_owned(),
        files,
        steps: unit.steps.clone(),
        artifact: unit.artifact.clone(),
        inspect: unit.inspect.clone(),
    }
}

fn check(good: bool, path: &str) -> Result<(), CohortError> {
    if good {
        Ok(())
    } else {
        Err(CohortError::BadPath { path: path.to_owned() })
    }
}
