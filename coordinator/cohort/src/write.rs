//! Files that are there whole or not at all.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::error::CohortError;

/// Temporary files begin with this; readers of folders skip them, as they skip every hidden file.
const TEMPORARY_PREFIX: &str = ".writing-";

/// Writes `bytes` to `path`, replacing what is there: temporary file in the same folder, sync, rename, sync of the
/// folder. On an error the old file is as it was and no temporary file is left.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), CohortError> {
    let (folder, file) = written_beside(path, bytes)?;
    file.persist(path).map_err(|e| failed("write", path, e.error))?;
    sync_folder(folder)
}

/// Like [`write_atomic`], but an existing `path` is an error and stays as it is.
pub fn create_once(path: &Path, bytes: &[u8]) -> Result<(), CohortError> {
    let (folder, file) = written_beside(path, bytes)?;
    file.persist_noclobber(path).map_err(|e| match e.error.kind() {
        std::io::ErrorKind::AlreadyExists => CohortError::Exists { path: path.to_owned() },
        _ => failed("write", path, e.error),
    })?;
    sync_folder(folder)
}

/// Makes the file at `path` executable for whoever may read it, if its content begins with `#!`.
pub fn mark_script(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if bytes.starts_with(b"#!") {
        let mode = fs_err::metadata(path)?.permissions().mode();
        let executable = std::fs::Permissions::from_mode(mode | ((mode & 0o444) >> 2));
        fs_err::set_permissions(path, executable)?;
    }
    Ok(())
}

/// Makes the names in `folder` durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), CohortError> {
    Ok(fs_err::File::open(folder)?.sync_all()?)
}

/// Creates `path`, which must not exist, and its folders below `root`; synced, but the folders aren't.
pub(crate) fn create_synced(path: &Path, bytes: &[u8]) -> Result<(), CohortError> {
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder)?;
    }
    let mut file = fs_err::File::create_new(path)?;
    file.write_all(bytes)?;
    Ok(file.sync_all()?)
}

fn written_beside<'p>(path: &'p Path, bytes: &[u8]) -> Result<(&'p Path, NamedTempFile), CohortError> {
    let folder = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => {
            return Err(CohortError::BadPath {
                path: path.display().to_string(),
            });
        }
    };
    // As for every other new file, the umask decides who may read it; a temporary file would be the owner's alone.
    let mut file = tempfile::Builder::new()
        .prefix(TEMPORARY_PREFIX)
        .permissions(std::fs::Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(|e| failed("write", path, e))?;
    file.write_all(bytes).map_err(|e| failed("write", path, e))?;
    file.as_file().sync_all().map_err(|e| failed("sync", path, e))?;
    Ok((folder, file))
}

fn failed(action: &'static str, path: &Path, source: std::io::Error) -> CohortError {
    CohortError::File {
        action,
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs_err::read_dir(folder).unwrap();
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn replaces_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        write_atomic(&path, b"one").unwrap();
        write_atomic(&path, b"2").unwrap();
        assert_eq!(fs_err::read(&path).unwrap(), b"2");
        assert_eq!(names(folder.path()), ["f"]);
    }

    #[test]
    fn creates_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        create_once(&path, b"one").unwrap();
        let error = create_once(&path, b"two").unwrap_err();
        assert!(matches!(error, CohortError::Exists { .. }), "{error}");
        assert_eq!(fs_err::read(&path).unwrap(), b"one");
        assert_eq!(names(folder.path()), ["f"]);
    }

    #[test]
    fn leaves_nothing_on_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        fs_err::create_dir_all(path.join("by a folder")).unwrap();
        assert!(write_atomic(&path, b"x").is_err());
        assert_eq!(names(folder.path()), ["taken"]);
        let error = write_atomic(&folder.path().join("missing/f"), b"x").unwrap_err();
        assert!(error.to_string().contains("missing/f`"), "{error}");
        assert_eq!(names(folder.path()), ["taken"]);
    }
}
