//! What lies in the cache, and removing it.

use std::path::Path;
use std::time::{Duration, SystemTime};

use fs_err as fs;
use serde::Serialize;

use super::{BuildCache, CacheError, ENTRY, MAKING};
use crate::lock::Holder;

/// A build in the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CacheEntry {
    /// Digest of the unit.
    pub unit: String,
    /// Size of its files in bytes.
    pub bytes: u64,
    /// When it was made or last copied; `None` where the file system can't tell.
    pub used: Option<jiff::Timestamp>,
    /// Who makes or copies it now.
    pub locked_by: Option<Holder>,
}

/// What was removed from the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// Entries.
    pub entries: u64,
    /// Bytes of their files, and of what killed builders left.
    pub bytes: u64,
    /// Entries that were in use, and stayed.
    pub in_use: u64,
}

impl BuildCache {
    /// All entries, by digest. A cache that is not there is empty.
    pub fn entries(&self) -> Result<Vec<CacheEntry>, CacheError> {
        let mut entries = Vec::new();
        for unit in self.units("")? {
            let folder = self.folder().join(&unit);
            let used = std::fs::metadata(folder.join(ENTRY))
                .and_then(|meta| meta.modified())
                .ok();
            entries.push(CacheEntry {
                bytes: size(&folder)?,
                used: used.and_then(|time| jiff::Timestamp::try_from(time).ok()),
                locked_by: self.holder(&unit),
                unit,
            });
        }
        Ok(entries)
    }

    /// Removes entries that were not used for `older_than` (all when `None`), and what killed builders left. What is
    /// locked stays.
    pub fn prune(&self, older_than: Option<Duration>) -> Result<Pruned, CacheError> {
        let mut pruned = Pruned::default();
        let me = Holder::this_process("layout-sweep cache --prune", "");
        for unit in self.units(MAKING)? {
            // Locking removes what was left there, if it was left.
            let bytes = size(&self.folder().join(format!("{MAKING}{unit}")))?;
            if self.try_lock(&unit, &me)?.is_some() {
                pruned.bytes += bytes;
            }
        }
        for unit in self.units("")? {
            let folder = self.folder().join(&unit);
            if !older_than.is_none_or(|limit| is_older(&folder, limit)) {
                continue;
            }
            let Some(_locked) = self.try_lock(&unit, &me)? else {
                pruned.in_use += 1;
                continue;
            };
            let bytes = size(&folder)?;
            fs::remove_dir_all(&folder)?;
            // While the lock is held: who waits for this file finds that it is gone and makes another.
            fs::remove_file(self.lock_path(&unit))?;
            pruned.entries += 1;
            pruned.bytes += bytes;
        }
        Ok(pruned)
    }

    /// Digests in the names of folders that begin with `prefix`, sorted.
    fn units(&self, prefix: &str) -> Result<Vec<String>, CacheError> {
        let entries = match fs::read_dir(self.folder()) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut units = Vec::new();
        for entry in entries {
            let entry = entry?;
            let digest = entry
                .file_name()
                .to_str()
                .and_then(|name| name.strip_prefix(prefix))
                .map(str::to_owned);
            let digest = digest.filter(|name| name.len() == 64 && name.bytes().all(|b| b.is_ascii_hexdigit()));
            if let (Some(unit), true) = (digest, entry.file_type()?.is_dir()) {
                units.push(unit);
            }
        }
        units.sort_unstable();
        Ok(units)
    }
}

/// Whether the entry was last used at least `limit` ago. One whose time lies in the future (a clock was set back) is not
/// old; one without a time is damaged, and is.
fn is_older(folder: &Path, limit: Duration) -> bool {
    let used = std::fs::metadata(folder.join(ENTRY)).and_then(|meta| meta.modified());
    used.map_or(true, |used| {
        SystemTime::now().duration_since(used).is_ok_and(|age| age >= limit)
    })
}

/// Bytes of the files below `folder`; what vanishes meanwhile counts nothing.
fn size(folder: &Path) -> Result<u64, CacheError> {
    let mut bytes = 0;
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() {
            size(&entry.path())?
        } else {
            std::fs::metadata(entry.path()).map_or(0, |meta| meta.len())
        };
    }
    Ok(bytes)
}
