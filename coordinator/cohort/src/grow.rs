//! What a cohort is asked to grow by, before it is written.

use std::collections::{BTreeMap, BTreeSet};

use target_api::{BuildUnit, Tool};

use crate::addition::AdditionKind;
use crate::case::Case;
use crate::digest::unit_digest;
use crate::draft::{check_unit, unit_ref};
use crate::error::CohortError;
use crate::paths::CohortDir;
use crate::write::{mark_script, sync_folder, write_atomic};

/// An addition with the sources that it needs.
#[derive(Debug, Clone, PartialEq)]
pub enum Growth {
    /// Crosses of the fastest choices of each operation.
    Crosses {
        /// The new cases; [`Case::units`] as [`unit_digest`] gives them.
        cases: Vec<Case>,
        /// Units that they need; those that the cohort has already may be among them.
        units: Vec<BuildUnit>,
    },
    /// More rounds for cases that can still win.
    Finalists {
        /// Case -> pairs of each further round, in order.
        rounds: BTreeMap<String, Vec<u32>>,
    },
    /// Fresh builds of winner and control, measured again.
    Confirmation {
        /// The new cases: each repeats one that exists.
        cases: Vec<Case>,
        /// New case -> pairs of each of its rounds.
        rounds: BTreeMap<String, Vec<u32>>,
    },
}

/// Sources by digest.
pub(crate) struct Sources(BTreeMap<String, BuildUnit>);

impl Growth {
    pub(crate) fn describe(
        self,
        tools: &[Tool],
        known: &BTreeSet<&str>,
    ) -> Result<(AdditionKind, Sources), CohortError> {
        let mut sources = BTreeMap::new();
        let kind = match self {
            Self::Crosses { cases, units } => {
                for unit in units {
                    check_unit(&unit)?;
                    let digest = unit_digest(&unit, tools);
                    if !known.contains(digest.as_str()) {
                        sources.insert(digest, unit);
                    }
                }
                let units = sources.iter().map(|(digest, unit)| unit_ref(digest, unit)).collect();
                AdditionKind::Crosses { cases, units }
            }
            Self::Finalists { rounds } => AdditionKind::Finalists { rounds },
            Self::Confirmation { cases, rounds } => AdditionKind::Confirmation { cases, rounds },
        };
        Ok((kind, Sources(sources)))
    }
}

impl Sources {
    /// Writes all files. What is there already has the same content, since the digest is that of the content; a kill
    /// in between is made good by the next call.
    pub(crate) fn write(&self, dir: &CohortDir) -> Result<(), CohortError> {
        for (digest, unit) in &self.0 {
            let folder = dir.unit_sources(digest);
            for source in &unit.sources {
                let path = folder.join(&source.path);
                if let Some(parent) = path.parent() {
                    fs_err::create_dir_all(parent)?;
                }
                write_atomic(&path, source.text.as_bytes())?;
                mark_script(&path, source.text.as_bytes())?;
            }
        }
        sync_folder(&dir.sources())
    }
}
