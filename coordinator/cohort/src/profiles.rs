//! Whether the profiles that runs left beside their cases are those that the records speak of.

use std::collections::BTreeMap;

use crate::digest::sha256_file;
use crate::error::CohortError;
use crate::frozen::{Frozen, Snapshot};
use crate::record::{Record, RecordKind};
use crate::verify::Difference;

/// What was found of all profiles.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Profiles {
    /// Those that are not what a round of their case left, by path.
    pub(crate) differences: Vec<Difference>,
    /// Those of which no record holds a digest: they are of an earlier version, or of a round that never ended.
    pub(crate) unknown: u64,
}

/// What the records of a case say of its profile.
#[derive(Default)]
struct Said<'a> {
    /// Digests by round, in order of time.
    digests: Vec<&'a str>,
    /// Whether a round began since, which may have left another one.
    begun: bool,
}

/// Compares each profile that is there with the digests in the records of its case. One that is gone is no difference: like
/// logs, profiles come and go.
pub(crate) fn check(frozen: &Frozen, records: &[Record]) -> Result<Profiles, CohortError> {
    let mut sorted: Vec<&Record> = records.iter().collect();
    sorted.sort_by_key(|record| (record.at, &record.writer, record.sequence));
    let mut cases: BTreeMap<&str, Said<'_>> = BTreeMap::new();
    for record in sorted {
        match &record.kind {
            RecordKind::Began { .. } => cases.entry(&record.case).or_default().begun = true,
            RecordKind::Run { profile_sha256, .. } => {
                let said = cases.entry(&record.case).or_default();
                if let Some(digest) = profile_sha256 {
                    said.digests.push(digest);
                    said.begun = false;
                }
            }
            _ => {}
        }
    }
    let mut all = Profiles::default();
    for (case, said) in cases {
        let path = frozen.dir().case_profile(case);
        if !path.is_file() {
            continue;
        }
        let (found, _) = sha256_file(&path)?;
        if said.digests.contains(&found.as_str()) {
            continue;
        }
        match said.digests.last().filter(|_| !said.begun) {
            None => all.unknown += 1,
            Some(&expected) => {
                let name = path.strip_prefix(frozen.dir().path()).unwrap_or(&path);
                all.differences.push(Difference {
                    name: name.to_string_lossy().into_owned(),
                    expected: Some(expected.to_owned()),
                    found: Some(found),
                });
            }
        }
    }
    Ok(all)
}

/// Profiles that are not what the rounds of their cases left.
pub fn edited_profiles(snapshot: &Snapshot) -> Result<Vec<Difference>, CohortError> {
    Ok(check(&snapshot.frozen, &snapshot.records.records)?.differences)
}
