//! Digests that this node has computed of a cohort's files: workers of many shards of one cohort, one after another on a
//! node, hash inputs and sources once. A file is the same as long as its length, its inode and the times of its last
//! change are; whatever writes to it moves the time of the inode, which no program can set.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use cohort::{CohortDir, CohortError, sha256_file, sha256_hex, write_atomic};
use fs_err as fs;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A file that changed within so many seconds before it was hashed is hashed again: the next change could carry the same
/// time, since clocks of file systems are coarse and those of servers differ.
const SETTLED_S: i64 = 5;

/// What makes a file the one that was hashed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    device: u64,
    inode: u64,
    bytes: u64,
    modified_ns: i128,
    changed_ns: i128,
    sha256: String,
}

/// Digests by path, kept in a file of this node.
pub(super) struct NodeDigests {
    file: PathBuf,
    known: BTreeMap<PathBuf, Seen>,
    now: Timestamp,
    /// How many files were read.
    pub(super) hashed: u64,
}

impl NodeDigests {
    /// Those of `dir` that are kept in `cache`, a folder of this node. What can't be read there is computed anew.
    pub(super) fn open(cache: &Path, dir: &CohortDir, now: Timestamp) -> Self {
        let name = sha256_hex(dir.path().as_os_str().as_encoded_bytes());
        let file = cache.join("verified").join(format!("{name}.json"));
        let known = fs::read(&file)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Self {
            file,
            known: known.unwrap_or_default(),
            now,
            hashed: 0,
        }
    }

    /// SHA-256 of the file at `path`.
    pub(super) fn digest(&mut self, path: &Path) -> Result<String, CohortError> {
        let meta = fs::metadata(path)?;
        let nanoseconds = |seconds: i64, more: i64| i128::from(seconds) * 1_000_000_000 + i128::from(more);
        let mut seen = Seen {
            device: meta.dev(),
            inode: meta.ino(),
            bytes: meta.len(),
            modified_ns: nanoseconds(meta.mtime(), meta.mtime_nsec()),
            changed_ns: nanoseconds(meta.ctime(), meta.ctime_nsec()),
            sha256: String::new(),
        };
        if let Some(known) = self.known.get(path) {
            seen.sha256.clone_from(&known.sha256);
            if seen == *known {
                return Ok(seen.sha256);
            }
        }
        self.hashed += 1;
        seen.sha256 = sha256_file(path)?.0;
        let sha256 = seen.sha256.clone();
        if self.now.as_second() - meta.ctime() >= SETTLED_S {
            self.known.insert(path.to_owned(), seen);
        } else {
            self.known.remove(path);
        }
        Ok(sha256)
    }

    /// Keeps them for the next worker. What can't be kept costs that one some time, and nothing else.
    pub(super) fn keep(&self) {
        let Some(folder) = self.file.parent().filter(|_| self.hashed > 0) else {
            return;
        };
        if let (Ok(()), Ok(bytes)) = (fs::create_dir_all(folder), serde_json::to_vec(&self.known)) {
            _ = write_atomic(&self.file, &bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_hashed_once_until_they_change() {
        let (cache, cohort) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let dir = CohortDir::new(cohort.path());
        let (one, two) = (cohort.path().join("one"), cohort.path().join("two"));
        fs::write(&one, "1").unwrap();
        fs::write(&two, "2").unwrap();
        let worker = |after_s: i64| {
            let now = Timestamp::now() + jiff::SignedDuration::from_secs(after_s);
            let mut digests = NodeDigests::open(cache.path(), &dir, now);
            let found = [&one, &two].map(|path| digests.digest(path).unwrap());
            digests.keep();
            (digests.hashed, found)
        };
        let digests = |one: &str, two: &str| [sha256_hex(one.as_bytes()), sha256_hex(two.as_bytes())];
        assert_eq!(
            worker(0),
            (2, digests("1", "2")),
            "what was written just now is not trusted"
        );
        assert_eq!(worker(60), (2, digests("1", "2")));
        assert_eq!(
            worker(60),
            (0, digests("1", "2")),
            "the second worker of a node reads nothing"
        );
        // As long, and with the time that it had.
        let before = fs::metadata(&two).unwrap().modified().unwrap();
        fs::write(&two, "3").unwrap();
        std::fs::File::options()
            .write(true)
            .open(&two)
            .unwrap()
            .set_modified(before)
            .unwrap();
        assert_eq!(worker(60), (1, digests("1", "3")));
        // Another file in its place.
        fs::write(cohort.path().join("new"), "4").unwrap();
        fs::rename(cohort.path().join("new"), &one).unwrap();
        assert_eq!(worker(60), (1, digests("4", "3")));
        // A damaged file of the node decides nothing.
        fs::write(
            fs::read_dir(cache.path().join("verified"))
                .unwrap()
                .next()
                .unwrap()
                .unwrap()
                .path(),
            "{",
        )
        .unwrap();
        assert_eq!(worker(60), (2, digests("4", "3")));
    }
}
