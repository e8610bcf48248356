//! A cohort is run by the binary that froze it, whichever is invoked.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use cohort::{CohortError, Frozen, sha256_file};

/// The program that runs, even if its file was replaced meanwhile.
const THIS_BINARY: &str = "/proc/self/exe";

/// Tells the frozen binary that it was handed to, so that two can't hand over to one another for ever.
const MARK: &str = "LAYOUT_SWEEP_HANDED_OVER";

/// What helps when a frozen file was changed. The definition is the same, so a sibling would be the same cohort.
pub(crate) const RESTORE: &str = "restore the file, or freeze a fresh cohort with `--cohort DIR`";

/// Why the frozen binary does not take over.
#[derive(Debug, thiserror::Error)]
pub enum HandOverError {
    /// One of the binaries can't be read.
    #[error(transparent)]
    Cohort(#[from] CohortError),
    /// It is not what was frozen.
    #[error("`{path}` was changed since the cohort was frozen: expected SHA-256 {expected}, found {found}")]
    Changed {
        /// The binary in the cohort.
        path: PathBuf,
        /// Frozen digest.
        expected: String,
        /// Digest now.
        found: String,
    },
    /// It says that it is another one.
    #[error("`{0}` was handed to, and wants to hand over again")]
    Again(PathBuf),
    /// It can't be started.
    #[error("cannot start `{path}`")]
    Start {
        /// The binary in the cohort.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl HandOverError {
    /// The next step: a line for `help:`.
    #[must_use]
    pub fn help(&self) -> &'static str {
        RESTORE
    }
}

/// Returns when this program is the binary that froze the cohort. Otherwise becomes that binary, with `arguments`.
pub fn hand_over(frozen: &Frozen, arguments: &[OsString]) -> Result<(), HandOverError> {
    frozen.continuable()?;
    let path = frozen.dir().binary();
    let Some(wanted) = &frozen.manifest().binary else {
        return Ok(());
    };
    let this = sha256_file(Path::new(THIS_BINARY))?;
    if this.0 == wanted.sha256 {
        return Ok(());
    }
    if std::env::var_os(MARK).is_some() {
        return Err(HandOverError::Again(path));
    }
    let (found, _) = sha256_file(&path)?;
    if found != wanted.sha256 {
        let expected = wanted.sha256.clone();
        return Err(HandOverError::Changed { path, expected, found });
    }
    let source = Command::new(&path).args(arguments).env(MARK, "1").exec();
    Err(HandOverError::Start { path, source })
}
