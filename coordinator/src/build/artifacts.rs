//! Artifacts that are there already.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use cohort::{BuildOutcome, CohortDir, CohortError, Record, RecordKind, UnitBuilt, UnitRef, sha256_file};
use fs_err as fs;

/// Folders inside `artifacts/` that a build works in begin so.
pub(super) const WORK_PREFIX: &str = ".building-";

/// What is known of the artifacts on disk.
#[derive(Debug, Default)]
pub(crate) struct Artifacts {
    /// What the latest build record says of each unit.
    recorded: HashMap<String, UnitBuilt>,
    /// Units whose artifact was hashed or built by this run.
    checked: HashMap<String, UnitBuilt>,
}

/// What lies on disk for a unit.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The artifact that the records speak of.
    Good,
    /// Nothing, or an artifact that no record speaks of: its build was cut off before its record.
    Nothing,
    /// Something else than the records speak of.
    Damaged(String),
}

impl Artifacts {
    /// What records say.
    pub(crate) fn new(records: &[Record]) -> Self {
        Self {
            recorded: recorded(records),
            checked: HashMap::new(),
        }
    }

    /// The artifact of a unit, if this run knows it to be good.
    pub(super) fn get(&self, unit: &str) -> Option<&UnitBuilt> {
        self.checked.get(unit)
    }

    /// The same for a build record: what it took is told once.
    pub(super) fn take(&mut self, unit: &str) -> Option<UnitBuilt> {
        let built = self.checked.get_mut(unit)?;
        let told = built.clone();
        built.build_ms = None;
        Some(told)
    }

    /// A unit was built.
    pub(super) fn add(&mut self, built: UnitBuilt) {
        self.checked.insert(built.unit.clone(), built);
    }

    /// Hashes what lies on disk, once per run.
    pub(super) fn look(&mut self, dir: &CohortDir, unit: &UnitRef) -> Result<Found, CohortError> {
        if self.checked.contains_key(&unit.digest) {
            return Ok(Found::Good);
        }
        let path = dir.artifact(&unit.digest, &unit.artifact);
        let Some(recorded) = self.recorded.get(&unit.digest) else {
            return Ok(Found::Nothing);
        };
        if !path.is_file() {
            return Ok(Found::Damaged(format!("`{}` is gone", path.display())));
        }
        let (found, _) = sha256_file(&path)?;
        if found != recorded.artifact_sha256 {
            let expected = &recorded.artifact_sha256;
            let path = path.display();
            return Ok(Found::Damaged(format!(
                "`{path}`: SHA-256 {expected} on record, {found} found"
            )));
        }
        self.checked.insert(unit.digest.clone(), recorded.clone());
        Ok(Found::Good)
    }
}

/// Makes the synced folder `from`, with the artifact at `artifact` in it, the unit's folder.
pub(super) fn put_in_place(dir: &CohortDir, unit: &str, from: &Path, artifact: &Path) -> std::io::Result<()> {
    let sync = |path: &Path| fs::File::open(path)?.sync_all();
    sync(artifact)?;
    sync(from)?;
    let place = dir.unit_artifacts(unit);
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::rename(from, &place)?;
    sync(&dir.artifacts())
}

/// What the latest build record says of each unit.
fn recorded(records: &[Record]) -> HashMap<String, UnitBuilt> {
    let mut recorded = HashMap::new();
    for record in records {
        if let RecordKind::Build {
            outcome: BuildOutcome::Built { units },
            ..
        } = &record.kind
        {
            for built in units.values() {
                let built = UnitBuilt {
                    build_ms: None,
                    ..built.clone()
                };
                recorded.insert(built.unit.clone(), built);
            }
        }
    }
    recorded
}

/// How long what a killed coordinator left running may take to end: its guards end it as soon as they notice.
const PATIENCE: Duration = Duration::from_secs(15);

/// Removes folders that killed builds worked in. Only for the holder of the cohort's lock, and before anything is built:
/// a build that is still being ended would write into the folder of its successor.
pub(crate) fn remove_leftovers(dir: &CohortDir) -> std::io::Result<()> {
    for entry in fs::read_dir(dir.artifacts())? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with(WORK_PREFIX) {
            continue;
        }
        let deadline = Instant::now() + PATIENCE;
        while let Some(pid) = works_in(&entry.path()) {
            if Instant::now() > deadline {
                let folder = entry.path();
                let message = format!("process {pid} of an earlier run still works in `{}`", folder.display());
                return Err(std::io::Error::other(message));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        fs::remove_dir_all(entry.path())?;
    }
    Ok(())
}

/// A process whose working folder lies in `folder`.
fn works_in(folder: &Path) -> Option<String> {
    std::fs::read_dir("/proc").ok()?.flatten().find_map(|entry| {
        let place = std::fs::read_link(entry.path().join("cwd")).ok()?;
        place
            .starts_with(folder)
            .then(|| entry.file_name().to_string_lossy().into_owned())
    })
}
