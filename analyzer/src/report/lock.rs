//! One writer per report folder. The only module of this crate that knows `fs2`.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::AnalyzeError;

/// The lock of a report folder, an OS lock on a hidden file in it: it ends with its holder, however that ends. The file
/// goes away with the lock, so that a report holds nothing but a report.
pub(super) struct ReportLock {
    file: fs_err::File,
    path: PathBuf,
}

impl ReportLock {
    /// Takes the lock. Error: [`AnalyzeError::InUse`] if somebody has it.
    pub(super) fn take(folder: &Path) -> Result<Self, AnalyzeError> {
        let in_use = || AnalyzeError::InUse {
            report: folder.to_owned(),
        };
        let path = folder.join(".lock");
        let file = fs_err::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)?;
        match fs2::FileExt::try_lock_exclusive(file.file()) {
            Ok(()) => {}
            Err(error) if error.raw_os_error() == fs2::lock_contended_error().raw_os_error() => return Err(in_use()),
            Err(error) => return Err(error.into()),
        }
        // Between opening and locking its last holder may have removed it: then the next one locks another file.
        let held = file.metadata()?.ino();
        match fs_err::metadata(&path) {
            Ok(there) if there.ino() == held => Ok(Self { file, path }),
            Ok(_) => Err(in_use()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(in_use()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for ReportLock {
    /// Removes the file, then unlocks: a child between fork and exec may keep the descriptor, so that closing is not
    /// enough. A file that can't be removed holds nobody up: the lock is not the file.
    fn drop(&mut self) {
        let _ = fs_err::remove_file(&self.path);
        let _ = fs2::FileExt::unlock(self.file.file());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let first = ReportLock::take(folder.path()).unwrap();
        assert!(matches!(
            ReportLock::take(folder.path()),
            Err(AnalyzeError::InUse { .. })
        ));
        drop(first);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        // What a kill leaves behind is no lock.
        drop(ReportLock::take(folder.path()).unwrap());
        ReportLock::take(folder.path()).unwrap();
    }
}
