//! Which cases a cohort has, and which rounds are wanted of each: manifest, cases and additions put together and
//! checked against one another.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::addition::{Addition, AdditionKind};
use crate::case::Case;
use crate::digest::is_sha256;
use crate::manifest::{Manifest, UnitRef};
use crate::paths::{is_inner_name, is_inner_path};

/// Cases, controls, units or additions that don't fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what each variant and field is")]
pub enum LayoutError {
    #[error("`manifest.json` counts {expected} cases, but `cases.jsonl` has {found}")]
    CaseCount { expected: u64, found: u64 },
    #[error("case `{case}` is there twice")]
    CaseTwice { case: String },
    #[error("workload `{workload}` is there twice")]
    WorkloadTwice { workload: String },
    #[error("case `{case}` belongs to workload `{workload}`, which the manifest doesn't have")]
    UnknownWorkload { case: String, workload: String },
    #[error("control `{control}` of workload `{workload}` is not among its initial cases")]
    NoControl { workload: String, control: String },
    #[error("case `{case}` repeats `{of}`, which is no earlier case of its workload")]
    UnknownRepeated { case: String, of: String },
    #[error("the manifest names no binary, which only what was imported lacks")]
    NoBinary,
    #[error("no rounds or no pairs are wanted of the cases")]
    NothingToMeasure,
    #[error("case `{case}` needs unit {unit}, which is not described")]
    UnknownUnit { case: String, unit: String },
    #[error("the harness {unit} is not among the units")]
    UnknownHarness { unit: String },
    #[error("`{digest}` is no SHA-256 in 64 lower-case hex digits")]
    BadDigest { digest: String },
    #[error("`{path}` can't be the name of a file in a cohort")]
    BadPath { path: String },
    #[error("addition {found} stands where addition {expected} should")]
    AdditionNumber { expected: u32, found: u32 },
    #[error("addition {number} adds crosses, but an earlier one has done so already")]
    CrossedTwice { number: u32 },
    #[error("addition {number} grants rounds to `{case}`, which it can't: {why}")]
    Grant {
        number: u32,
        case: String,
        why: &'static str,
    },
}

/// Where a case comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// `cases.jsonl`.
    Initial,
    /// The addition of this number.
    Addition(u32),
}

/// A case and what is wanted of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry<'a> {
    pub(crate) case: &'a Case,
    pub(crate) source: Source,
    pub(crate) control: bool,
    /// Pairs of each wanted round, in order.
    pub(crate) wanted: Vec<u32>,
}

/// All cases in order: initial ones as in `cases.jsonl`, then those of the additions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layout<'a> {
    pub(crate) entries: Vec<Entry<'a>>,
    /// For look-ups only; order never comes from it.
    pub(crate) index: HashMap<&'a str, usize>,
    pub(crate) crossed: bool,
    controls: HashMap<&'a str, Option<&'a str>>,
    units: HashSet<&'a str>,
}

impl<'a> Layout<'a> {
    /// Puts everything together. Near-linear in the number of cases.
    pub(crate) fn new(
        manifest: &'a Manifest,
        cases: &'a [Case],
        additions: &'a [Addition],
    ) -> Result<Self, LayoutError> {
        let found = cases.len() as u64;
        if found != manifest.cases {
            return Err(LayoutError::CaseCount {
                expected: manifest.cases,
                found,
            });
        }
        Self::of_part(manifest, cases, additions)
    }

    /// The same of some of the cases.
    pub(crate) fn of_part(
        manifest: &'a Manifest,
        cases: &'a [Case],
        additions: &'a [Addition],
    ) -> Result<Self, LayoutError> {
        let mut layout = Self::default();
        if manifest.measure.rounds == 0 || manifest.measure.pairs == 0 {
            return Err(LayoutError::NothingToMeasure);
        }
        check_files(manifest)?;
        layout.know_units(&manifest.units)?;
        if let Some(unit) = manifest
            .harness
            .as_ref()
            .filter(|unit| !layout.units.contains(unit.as_str()))
        {
            return Err(LayoutError::UnknownHarness { unit: unit.clone() });
        }
        for entry in &manifest.workloads {
            let workload = entry.workload.name.as_str();
            if layout.controls.insert(workload, entry.control.as_deref()).is_some() {
                return Err(LayoutError::WorkloadTwice {
                    workload: workload.to_owned(),
                });
            }
        }
        let wanted = vec![manifest.measure.pairs; manifest.measure.rounds as usize];
        for case in cases {
            layout.push(case, Source::Initial, wanted.clone())?;
        }
        for entry in &manifest.workloads {
            let Some(control) = &entry.control else { continue };
            let known = layout.index.get(control.as_str()).map(|&at| layout.entries[at].case);
            if known.is_none_or(|control| control.workload != entry.workload.name) {
                let (workload, control) = (entry.workload.name.clone(), control.clone());
                return Err(LayoutError::NoControl { workload, control });
            }
        }
        for (expected, addition) in (1..).zip(additions) {
            if addition.number != expected {
                return Err(LayoutError::AdditionNumber {
                    expected,
                    found: addition.number,
                });
            }
            layout.grow(addition, &wanted)?;
        }
        Ok(layout)
    }

    fn grow(&mut self, addition: &'a Addition, wanted: &[u32]) -> Result<(), LayoutError> {
        let number = addition.number;
        match &addition.kind {
            AdditionKind::Crosses { cases, units } => {
                if std::mem::replace(&mut self.crossed, true) {
                    return Err(LayoutError::CrossedTwice { number });
                }
                self.know_units(units)?;
                cases
                    .iter()
                    .try_for_each(|case| self.push(case, Source::Addition(number), wanted.to_vec()))
            }
            AdditionKind::Finalists { rounds } => {
                for (case, pairs) in rounds {
                    let Some(&at) = self.index.get(case.as_str()) else {
                        return Err(grant(number, case, "there is no such case"));
                    };
                    check_grant(number, case, pairs)?;
                    self.entries[at].wanted.extend(pairs);
                }
                Ok(())
            }
            AdditionKind::Confirmation { cases, rounds } => self.confirm(number, cases, rounds),
        }
    }

    fn confirm(
        &mut self,
        number: u32,
        cases: &'a [Case],
        rounds: &BTreeMap<String, Vec<u32>>,
    ) -> Result<(), LayoutError> {
        for case in cases {
            let Some(pairs) = rounds.get(&case.name) else {
                return Err(grant(
                    number,
                    &case.name,
                    "it confirms a case, but no rounds are listed",
                ));
            };
            check_grant(number, &case.name, pairs)?;
            if case.repeat_of.is_none() {
                return Err(grant(number, &case.name, "it repeats no case"));
            }
            self.push(case, Source::Addition(number), pairs.clone())?;
        }
        let own: HashSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        match rounds.keys().find(|case| !own.contains(case.as_str())) {
            Some(case) => Err(grant(number, case, "a confirmation only measures cases of its own")),
            None => Ok(()),
        }
    }

    fn push(&mut self, case: &'a Case, source: Source, wanted: Vec<u32>) -> Result<(), LayoutError> {
        let Some(control) = self.controls.get(case.workload.as_str()) else {
            let (case, workload) = (case.name.clone(), case.workload.clone());
            return Err(LayoutError::UnknownWorkload { case, workload });
        };
        if let Some(of) = &case.repeat_of {
            let repeated = self.index.get(of.as_str()).map(|&at| self.entries[at].case);
            if repeated.is_none_or(|repeated| repeated.workload != case.workload) {
                return Err(LayoutError::UnknownRepeated {
                    case: case.name.clone(),
                    of: of.clone(),
                });
            }
        }
        if let Some(unit) = case.units.values().find(|unit| !self.units.contains(unit.as_str())) {
            return Err(LayoutError::UnknownUnit {
                case: case.name.clone(),
                unit: unit.clone(),
            });
        }
        if self.index.insert(&case.name, self.entries.len()).is_some() {
            return Err(LayoutError::CaseTwice {
                case: case.name.clone(),
            });
        }
        let control = source == Source::Initial && *control == Some(case.name.as_str());
        self.entries.push(Entry {
            case,
            source,
            control,
            wanted,
        });
        Ok(())
    }

    fn know_units(&mut self, units: &'a [UnitRef]) -> Result<(), LayoutError> {
        for unit in units {
            check_digest(&unit.digest)?;
            for file in &unit.files {
                check_digest(&file.sha256)?;
                check_path(is_inner_path(&file.path), &file.path)?;
            }
            check_path(is_inner_path(&unit.artifact), &unit.artifact)?;
            unit.inspect
                .iter()
                .try_for_each(|path| check_path(is_inner_path(path), path))?;
            self.units.insert(&unit.digest);
        }
        Ok(())
    }
}

/// Names of files come from the manifest of a cohort that somebody may have sent: none may lead out of its folder.
fn check_files(manifest: &Manifest) -> Result<(), LayoutError> {
    if manifest.binary.is_some() == manifest.imported.is_some() {
        return Err(LayoutError::NoBinary);
    }
    for file in manifest.inputs.iter().chain(&manifest.binary) {
        check_digest(&file.sha256)?;
        check_path(is_inner_path(&file.path), &file.path)?;
    }
    let names = manifest.workloads.iter().map(|entry| &entry.workload.name);
    names
        .into_iter()
        .try_for_each(|name| check_path(is_inner_name(name), name))
}

fn check_digest(digest: &str) -> Result<(), LayoutError> {
    if is_sha256(digest) {
        Ok(())
    } else {
        Err(LayoutError::BadDigest {
            digest: digest.to_owned(),
        })
    }
}

fn check_path(good: bool, path: &str) -> Result<(), LayoutError> {
    if good {
        Ok(())
    } else {
        Err(LayoutError::BadPath { path: path.to_owned() })
    }
}

fn check_grant(number: u32, case: &str, pairs: &[u32]) -> Result<(), LayoutError> {
    if pairs.is_empty() || pairs.contains(&0) {
        return Err(grant(number, case, "no rounds, or a round without pairs"));
    }
    Ok(())
}

fn grant(number: u32, case: &str, why: &'static str) -> LayoutError {
    LayoutError::Grant {
        number,
        case: case.to_owned(),
        why,
    }
}
