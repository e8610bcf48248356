//! Noting that a command ended well, before anybody is told: who is told may be dead.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use cohort::sha256_file;
use fs_err as fs;

use super::protocol::{EndNote, Ended, GuardRequest};

/// Writes the note if one is wanted and the end was good. Whole or not at all: it is renamed into place.
pub(super) fn write(request: &GuardRequest, ended: &Ended) -> io::Result<()> {
    let Some(wanted) = request.note.as_ref().filter(|_| is_good(ended)) else {
        return Ok(());
    };
    let note = EndNote {
        token: wanted.token.clone(),
        ended: ended.clone(),
        sha256: digests(&wanted.files)?,
    };
    let half = wanted.path.with_extension("half");
    fs::write(&half, serde_json::to_vec(&note)?)?;
    fs::rename(&half, &wanted.path)
}

/// Name -> SHA-256 of those files that are there.
pub(crate) fn digests(files: &BTreeMap<String, PathBuf>) -> io::Result<BTreeMap<String, String>> {
    let there = files.iter().filter(|(_, path)| path.is_file());
    there
        .map(|(name, path)| Ok((name.clone(), sha256_file(path).map_err(io::Error::other)?.0)))
        .collect()
}

fn is_good(ended: &Ended) -> bool {
    ended.exit_code == Some(0)
        && !ended.timed_out
        && !ended.cancelled
        && ended.left_behind.is_empty()
        && ended.stdout_dropped == 0
        && ended.capture_error.is_none()
        && ended.hook_error.is_none()
}
