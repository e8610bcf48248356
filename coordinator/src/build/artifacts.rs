//! Artifacts that are there already.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::{Duration, Instant};

use cohort::{CohortDir, CohortError, Frozen, Record, ShardId, UnitBuilt, UnitRef, built_artifacts, sha256_file};
use fs_err as fs;

use crate::sweep::Piece;

/// Folders inside `artifacts/` that a build works in begin so.
const WORK_PREFIX: &str = ".building-";

/// The folder in `artifacts/` that a unit is built in. Its name is the same each time, so that paths in artifacts are;
/// only those of shards differ, since several may build one unit at once.
pub(super) fn work_name(unit: &str, shard: Option<ShardId>) -> String {
    let beginning = unit.get(..16).unwrap_or(unit);
    format!("{WORK_PREFIX}{beginning}{}", work_suffix(shard))
}

fn work_suffix(shard: Option<ShardId>) -> String {
    shard.map_or_else(String::new, |id| format!("-{}.{}", id.batch, id.shard))
}

/// What is known of the artifacts on disk.
#[derive(Debug, Default)]
pub(crate) struct Artifacts {
    /// What the latest build record says of each, by the name of its folder.
    recorded: BTreeMap<String, UnitBuilt>,
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
    pub(crate) fn new<'a>(frozen: &Frozen, records: impl IntoIterator<Item = &'a Record>) -> Self {
        Self {
            recorded: built_artifacts(frozen, records),
            checked: HashMap::new(),
        }
    }

    /// The artifact in the folder `key`, if this run knows it to be good.
    pub(crate) fn get(&self, key: &str) -> Option<&UnitBuilt> {
        self.checked.get(key)
    }

    /// Digest of the artifact in the folder `key`, as far as records or this run tell.
    pub(crate) fn sha256(&self, key: &str) -> Option<&str> {
        let known = self.checked.get(key).or_else(|| self.recorded.get(key));
        known.map(|built| built.artifact_sha256.as_str())
    }

    /// The same for a build record: what it took is told once. What was built from scratch is compared with what the
    /// cohort had.
    pub(super) fn take(&mut self, piece: Piece<'_>) -> Option<UnitBuilt> {
        let key = piece.key();
        let first = piece.fresh_for.and_then(|_| {
            let known = self.checked.get(piece.unit).or_else(|| self.recorded.get(piece.unit))?;
            Some(known.artifact_sha256.clone())
        });
        let built = self.checked.get_mut(&key)?;
        let mut told = built.clone();
        built.build_ms = None;
        told.reproduces = first.map(|first| first == told.artifact_sha256);
        Some(told)
    }

    /// The artifact in the folder `key` was built.
    pub(super) fn add(&mut self, key: String, built: UnitBuilt) {
        self.checked.insert(key, built);
    }

    /// Hashes what lies on disk, once per run.
    pub(super) fn look(&mut self, dir: &CohortDir, unit: &UnitRef, key: &str) -> Result<Found, CohortError> {
        if self.checked.contains_key(key) {
            return Ok(Found::Good);
        }
        let path = dir.artifact(key, &unit.artifact);
        let Some(recorded) = self.recorded.get(key) else {
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
        let build_ms = None;
        let recorded = UnitBuilt {
            build_ms,
            reproduces: None,
            ..recorded.clone()
        };
        self.checked.insert(key.to_owned(), recorded);
        Ok(Found::Good)
    }
}

/// Makes the synced folder `from`, with the artifact at `artifact` in it, the folder `key` of the artifacts.
pub(super) fn put_in_place(dir: &CohortDir, key: &str, from: &Path, artifact: &Path) -> std::io::Result<()> {
    let sync = |path: &Path| fs::File::open(path)?.sync_all();
    sync(artifact)?;
    sync(from)?;
    let place = dir.unit_artifacts(key);
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::rename(from, &place)?;
    sync(&dir.artifacts())
}

/// How long what a killed coordinator left running may take to end: its guards end it as soon as they notice.
const PATIENCE: Duration = Duration::from_secs(15);

/// Makes the synced folder `from` the folder `key` of the artifacts, unless another worker did so before: then that
/// one's artifact counts, whose digest this gives.
pub(super) fn put_first(
    dir: &CohortDir,
    key: &str,
    from: &Path,
    artifact: &str,
) -> Result<Option<String>, CohortError> {
    let sync = |path: &Path| fs::File::open(path)?.sync_all();
    sync(&from.join(artifact))?;
    sync(from)?;
    let place = dir.unit_artifacts(key);
    // A folder that is not empty is never replaced by a rename.
    match std::fs::rename(from, &place) {
        Ok(()) => sync(&dir.artifacts()).map(|()| None).map_err(CohortError::from),
        Err(_) if place.join(artifact).is_file() => Ok(Some(sha256_file(&place.join(artifact))?.0)),
        Err(_) => {
            // Something of that name is there, but no artifact: what damage left.
            put_in_place(dir, key, from, &from.join(artifact))?;
            Ok(None)
        }
    }
}

/// Removes folders that killed builds worked in: of this shard, or of all, which is only for the holder of the cohort's
/// lock and of all shards. Before anything is built: a build that is still being ended would write into the folder of
/// its successor.
pub(crate) fn remove_leftovers(dir: &CohortDir, shard: Option<ShardId>) -> std::io::Result<()> {
    let suffix = work_suffix(shard);
    // Somebody may have deleted them to make room: they are built again.
    fs::create_dir_all(dir.artifacts())?;
    for entry in fs::read_dir(dir.artifacts())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !(name.starts_with(WORK_PREFIX) && name.ends_with(&suffix)) {
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
