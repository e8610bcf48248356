//! Everything about a cohort that can be checked without running anything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::Serialize;
use target_api::{Estimate, Moment};

use crate::digest::sha256_file;
use crate::error::CohortError;
use crate::frozen::{Frozen, Snapshot};
use crate::paths::fresh_key;
use crate::profiles;
use crate::record::{BuildOutcome, HARNESS, Record, RecordKind, UnitBuilt};
use crate::state::{Outcome, State};
use crate::verify::{Difference, verify_counting};

/// What was checked, and what is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// Everything that differs: first files of the cohort, then estimates, then artifacts, then profiles.
    pub differences: Vec<Difference>,
    /// Additions whose chain was walked.
    pub additions: u64,
    /// Records that were read.
    pub records: u64,
    /// Of these, records of versions that gave no digest to a line: nothing says whether they were edited.
    pub undigested: u64,
    /// Profiles of which no record holds a digest: nothing says whether they were edited.
    pub unknown_profiles: u64,
    /// Estimates whose moment was checked.
    pub estimates: u64,
    /// Artifacts that were hashed again.
    pub artifacts: u64,
    /// Artifacts of finished cases that are gone. No difference: what was measured stands in records, and whoever needs
    /// the artifact again builds it from the frozen sources and compares it with the digest on record.
    pub gone: Vec<PathBuf>,
}

/// Checks files against their digests, the chain of additions and that of the records; that every round follows a build of its attempt; that
/// estimates of moment `plan` stand with the cases and those of moment `build` with the builds, so none can have seen a
/// result; and hashes every artifact and profile that a record speaks of and that is there.
///
/// # Errors
///
/// What makes the cohort unreadable: a broken chain, a bad line, a record that can't be (a round without a build before
/// it, say).
pub fn audit(snapshot: &Snapshot) -> Result<Audit, CohortError> {
    let (frozen, records) = (&snapshot.frozen, &snapshot.records.records);
    let state = snapshot.state()?;
    let gone = gone_artifacts(frozen, records, &state);
    let (mut differences, undigested) = verify_counting(frozen, &mut |path| Ok(sha256_file(path)?.0))?;
    let mut estimates = 0;
    let mut check = |place: String, found: &[Estimate], moment: Moment| {
        estimates += found.len() as u64;
        let wrong = found.iter().filter(|estimate| estimate.moment != moment);
        differences.extend(wrong.map(|estimate| Difference {
            name: format!("{place}: estimate `{}`", estimate.name),
            expected: Some(word(moment).to_owned()),
            found: Some(word(estimate.moment).to_owned()),
        }));
    };
    for case in frozen.cases() {
        check(format!("case `{}`", case.name), &case.estimates, Moment::Plan);
    }
    for record in records {
        if let RecordKind::Build { estimates, .. } = &record.kind {
            let place = format!("record {} of `records/{}.jsonl`", record.sequence, record.writer);
            check(place, estimates, Moment::Build);
        }
    }
    let units: BTreeMap<_, _> = frozen.units().map(|unit| (unit.digest.as_str(), unit)).collect();
    let built = built_artifacts(frozen, records);
    let mut hashed = 0;
    for (key, built) in &built {
        let artifact = units.get(built.unit.as_str()).map(|unit| unit.artifact.as_str());
        let path = frozen.dir().artifact(key, artifact.unwrap_or_default());
        if !path.is_file() {
            continue;
        }
        hashed += 1;
        let (found, _) = sha256_file(&path)?;
        if found != built.artifact_sha256 {
            let name = path.strip_prefix(frozen.dir().path()).unwrap_or(&path);
            differences.push(Difference {
                name: name.to_string_lossy().into_owned(),
                expected: Some(built.artifact_sha256.clone()),
                found: Some(found),
            });
        }
    }
    let profiles = profiles::check(frozen, records)?;
    differences.extend(profiles.differences);
    Ok(Audit {
        differences,
        additions: frozen.additions().len() as u64,
        records: records.len() as u64,
        undigested,
        unknown_profiles: profiles.unknown,
        estimates,
        artifacts: hashed,
        gone,
    })
}

/// Artifacts that finished cases were measured with and that are not there any more, sorted. Those of cases that are
/// left are built when they are needed; they are no news.
#[must_use]
pub fn gone_artifacts(frozen: &Frozen, records: &[Record], state: &State<'_>) -> Vec<PathBuf> {
    let units: BTreeMap<_, _> = frozen.units().map(|unit| (unit.digest.as_str(), unit)).collect();
    let built = built_artifacts(frozen, records);
    let confirmations = frozen.confirmations();
    let measured = state
        .cases()
        .iter()
        .filter(|case| case.outcome() == Some(Outcome::Correct));
    let mut gone = BTreeSet::new();
    for case in measured {
        let name = case.case.name.as_str();
        for digest in case.case.units.values() {
            let key = if confirmations.contains_key(name) {
                fresh_key(digest, name)
            } else {
                digest.clone()
            };
            let (Some(unit), true) = (units.get(digest.as_str()), built.contains_key(&key)) else {
                continue;
            };
            let path = frozen.dir().artifact(&key, &unit.artifact);
            if !path.is_file() {
                gone.insert(path);
            }
        }
    }
    gone.into_iter().collect()
}

/// What the latest build record says of each artifact, by the name of its folder in `artifacts/`.
#[must_use]
pub fn built_artifacts<'a>(
    frozen: &Frozen,
    records: impl IntoIterator<Item = &'a Record>,
) -> BTreeMap<String, UnitBuilt> {
    let confirmations = frozen.confirmations();
    let mut artifacts = BTreeMap::new();
    for record in records {
        let RecordKind::Build {
            outcome: BuildOutcome::Built { units },
            ..
        } = &record.kind
        else {
            continue;
        };
        let fresh = confirmations.contains_key(record.case.as_str());
        for (label, built) in units {
            let key = if fresh && label != HARNESS {
                fresh_key(&built.unit, &record.case)
            } else {
                built.unit.clone()
            };
            artifacts.insert(key, built.clone());
        }
    }
    artifacts
}

fn word(moment: Moment) -> &'static str {
    match moment {
        Moment::Plan => "moment `plan`",
        Moment::Build => "moment `build`",
    }
}
