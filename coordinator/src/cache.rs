//! The machine-wide cache of builds: one folder per unit, named after the unit's digest, which covers sources, steps and
//! tools, so what lies there is what a build would give.
//!
//! An entry appears by the rename of a whole folder. Whoever makes, reads or removes it holds its lock, so that two
//! coordinators build it once; what a killed builder left is removed by the next holder. A cohort gets a copy, never a
//! link: editing one never touches the other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cohort::{CohortError, sha256_file, sha256_hex, write_atomic};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use target_api::Captured;

use crate::lock::{DeviceLock, Holder, LockError, Mode};

mod entries;

pub use entries::{CacheEntry, Pruned};

/// Folders that an entry is made in begin so.
const MAKING: &str = ".making-";

/// The copy of the artifact; its own name is the cohort's business.
const ARTIFACT: &str = "artifact";
const CAPTURED: &str = "captured.json";
const ENTRY: &str = "entry.json";

/// Why the cache can't be used. A build then goes on without it.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The lock of an entry.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Its files.
    #[error(transparent)]
    Cohort(#[from] CohortError),
    /// Its files.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// `entry.json`, written last.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    /// Digest of the unit.
    unit: String,
    artifact_sha256: String,
    /// Of `captured.json`.
    captured_sha256: String,
    /// Wall time of the build.
    build_ms: u64,
}

/// `captured.json`: what the target reads after the steps, and the log.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    stdout: String,
    stderr: String,
    /// The inspected text files.
    files: BTreeMap<String, String>,
    log: String,
}

/// A folder of builds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildCache {
    folder: PathBuf,
}

/// What lies in the cache for a unit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Cached {
    /// It was copied.
    Copied(Captured),
    /// Nothing.
    Nothing,
    /// Something else than was put there; it has been removed.
    Damaged(String),
}

/// An entry, whether it exists or not, that nobody else makes, reads or removes meanwhile.
#[derive(Debug)]
pub(crate) struct Locked {
    folder: PathBuf,
    making: PathBuf,
    unit: String,
    _lock: DeviceLock,
}

impl BuildCache {
    /// The cache in `folder`, which is made when it is first used.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// `$XDG_CACHE_HOME/layout-sweep/builds`, else `~/.cache/layout-sweep/builds`; `None` where neither is known.
    #[must_use]
    pub fn usual_folder() -> Option<PathBuf> {
        let absolute = |name: &str| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
        Some(base.join("layout-sweep").join("builds"))
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn lock_path(&self, unit: &str) -> PathBuf {
        self.folder.join(format!("{unit}.lock"))
    }

    /// Who builds `unit` now, where that can be told.
    pub(crate) fn holder(&self, unit: &str) -> Option<Holder> {
        crate::lock::holder(&self.lock_path(unit))
    }

    /// Locks the entry of `unit`; `None` while somebody else has it.
    pub(crate) fn try_lock(&self, unit: &str, holder: &Holder) -> Result<Option<Locked>, CacheError> {
        fs::create_dir_all(&self.folder)?;
        let path = self.lock_path(unit);
        let Some(lock) = DeviceLock::try_acquire(&path, Mode::Exclusive, holder)? else {
            return Ok(None);
        };
        // Who removes an entry removes its lock file too: then this lock means nothing.
        if !lock.is_of(&path) {
            return Ok(None);
        }
        let making = self.folder.join(format!("{MAKING}{unit}"));
        if making.exists() {
            fs::remove_dir_all(&making)?;
        }
        Ok(Some(Locked {
            folder: self.folder.join(unit),
            making,
            unit: unit.to_owned(),
            _lock: lock,
        }))
    }
}

impl Locked {
    /// Copies the artifact to `artifact` and the log to `log`, if all of it is what was put there.
    pub(crate) fn copy_to(&self, artifact: &Path, log: &Path) -> Result<Cached, CacheError> {
        if !self.folder.exists() {
            return Ok(Cached::Nothing);
        }
        let kept = match self.read() {
            Ok(kept) => kept,
            Err(why) => {
                fs::remove_dir_all(&self.folder)?;
                return Ok(Cached::Damaged(why));
            }
        };
        if let Some(parent) = artifact.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::copy(self.folder.join(ARTIFACT), artifact)?;
        let text = format!("[layout-sweep: a copy from the build cache; its log:]\n{}", kept.log);
        fs::write(log, text)?;
        // The time of the last use, for who removes what is old. Without it the entry only looks older than it is.
        let now = std::time::SystemTime::now();
        let _ = std::fs::File::open(self.folder.join(ENTRY)).and_then(|file| file.set_modified(now));
        Ok(Cached::Copied(Captured {
            stdout: kept.stdout,
            stderr: kept.stderr,
            exit_code: Some(0),
            files: kept.files,
            ..Captured::default()
        }))
    }

    /// What is there, or how it differs from what was put there.
    fn read(&self) -> Result<Kept, String> {
        let damaged = |name: &str, why: String| format!("`{}`: {why}", self.folder.join(name).display());
        let text = |name: &str| fs::read(self.folder.join(name)).map_err(|error| crate::errors::chain(&error));
        let entry: Entry = serde_json::from_slice(&text(ENTRY)?).map_err(|error| damaged(ENTRY, error.to_string()))?;
        let compare = |name: &str, expected: &str, found: &str| {
            let same = expected == found;
            let why = || damaged(name, format!("SHA-256 {expected} on record, {found} found"));
            if same { Ok(()) } else { Err(why()) }
        };
        if entry.unit != self.unit {
            return Err(damaged(ENTRY, format!("it is the entry of unit {}", entry.unit)));
        }
        let captured = text(CAPTURED)?;
        compare(CAPTURED, &entry.captured_sha256, &sha256_hex(&captured))?;
        let artifact = sha256_file(&self.folder.join(ARTIFACT)).map_err(|error| crate::errors::chain(&error))?;
        compare(ARTIFACT, &entry.artifact_sha256, &artifact.0)?;
        serde_json::from_slice(&captured).map_err(|error| damaged(CAPTURED, error.to_string()))
    }

    /// Puts a finished build in, in the place of what may be there.
    pub(crate) fn put(
        &self,
        artifact: &Path,
        log: &Path,
        captured: &Captured,
        took: Duration,
    ) -> Result<(), CacheError> {
        let made = self.make(artifact, log, captured, took);
        if made.is_err() && self.making.exists() {
            // The error is told; what can't be removed now is removed by the next holder of the lock.
            let _ = fs::remove_dir_all(&self.making);
        }
        made
    }

    fn make(&self, artifact: &Path, log: &Path, captured: &Captured, took: Duration) -> Result<(), CacheError> {
        let sync = |path: &Path| fs::File::open(path)?.sync_all();
        fs::create_dir(&self.making)?;
        let copy = self.making.join(ARTIFACT);
        fs::copy(artifact, &copy)?;
        sync(&copy)?;
        let log = String::from_utf8_lossy(&fs::read(log)?).into_owned();
        let (stdout, stderr, files) = (captured.stdout.clone(), captured.stderr.clone(), captured.files.clone());
        let kept = serde_json::to_vec(&Kept {
            stdout,
            stderr,
            files,
            log,
        })
        .map_err(std::io::Error::from)?;
        write_atomic(&self.making.join(CAPTURED), &kept)?;
        let entry = Entry {
            unit: self.unit.clone(),
            artifact_sha256: sha256_file(&copy)?.0,
            captured_sha256: sha256_hex(&kept),
            build_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        };
        let mut line = serde_json::to_vec(&entry).map_err(std::io::Error::from)?;
        line.push(b'\n');
        write_atomic(&self.making.join(ENTRY), &line)?;
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)?;
        }
        fs::rename(&self.making, &self.folder)?;
        self.folder.parent().map_or(Ok(()), sync)?;
        Ok(())
    }
}
