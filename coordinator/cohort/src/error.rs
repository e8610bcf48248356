//! What can go wrong with a cohort on disk.

use std::path::{Path, PathBuf};

use crate::layout::LayoutError;
use crate::state::StateError;

/// An error of the files of a cohort.
#[derive(Debug, thiserror::Error)]
pub enum CohortError {
    /// The operating system says no; the message names the path.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The operating system says no.
    #[error("can't {action} `{path}`")]
    File {
        /// What was tried.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },
    /// A file must not be there yet.
    #[error("`{path}` exists already")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file whose content can't be read.
    #[error("`{path}`: {message}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A line whose content can't be read.
    #[error("`{path}`, line {line}: {message}")]
    BadLine {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: u64,
        /// What is wrong.
        message: String,
    },
    /// Something that would not be the same when it is read again (a number that is not finite, say).
    #[error("{what} can't be written: it would not be read back as it is ({message})")]
    Unwritable {
        /// What.
        what: String,
        /// What happens when it is read.
        message: String,
    },
    /// A format that this version can't read.
    #[error("`{path}` has format {found}; this version reads format {expected}")]
    Format {
        /// The manifest.
        path: PathBuf,
        /// What it says.
        found: u64,
        /// What this version knows.
        expected: u32,
    },
    /// A file is not what was frozen.
    #[error("`{path}` was changed: expected SHA-256 {expected}, found {found}")]
    Changed {
        /// The file.
        path: PathBuf,
        /// Frozen digest.
        expected: String,
        /// Digest now.
        found: String,
    },
    /// A folder that should become a cohort is one.
    #[error("`{path}` is a cohort already")]
    AlreadyFrozen {
        /// The folder.
        path: PathBuf,
    },
    /// A folder that should become a cohort holds something else.
    #[error("`{path}` is not empty and no cohort: it holds `{entry}`")]
    SomethingElse {
        /// The folder.
        path: PathBuf,
        /// One thing that it holds.
        entry: String,
    },
    /// A folder that should be a cohort isn't one.
    #[error("`{path}` is no cohort: it has no `{missing}`")]
    NoCohort {
        /// The folder.
        path: PathBuf,
        /// What it lacks.
        missing: String,
    },
    /// Two freezes of one cohort at once.
    #[error("`{path}` is being frozen by another process")]
    BeingFrozen {
        /// The folder that the other one works in.
        path: PathBuf,
    },
    /// A path that would lead out of its folder, or that no file can have.
    #[error("`{path}` can't be the name of a file in a cohort")]
    BadPath {
        /// The path.
        path: String,
    },
    /// Cases, controls, units or additions that don't fit together.
    #[error("`{path}`: {problem}")]
    Layout {
        /// The cohort.
        path: PathBuf,
        /// What doesn't fit; no cause of its own, since the message says it.
        problem: LayoutError,
    },
    /// Records that don't fit the cohort.
    #[error("`{path}`: {problem}")]
    State {
        /// The cohort.
        path: PathBuf,
        /// What doesn't fit.
        problem: Box<StateError>,
    },
    /// What was imported has no program that could measure more of it.
    #[error("`{path}` was imported from `{file}`: it can be analysed, never continued")]
    Imported {
        /// The cohort.
        path: PathBuf,
        /// Where its figures come from.
        file: String,
    },
    /// A draft that is no import was given figures.
    #[error("case `{case}` is to be measured: a draft that is no import takes no records")]
    NoImport {
        /// The case.
        case: String,
    },
    /// An earlier write failed and could not be taken back.
    #[error("`{path}` takes no more records: an earlier write failed and could not be taken back")]
    WriterBroken {
        /// The record file.
        path: PathBuf,
    },
    /// Two cases that would share a folder.
    #[error("cases `{first}` and `{second}` would share the folder `{folder}`: rename one")]
    SharedFolder {
        /// One case.
        first: String,
        /// The other.
        second: String,
        /// The folder's name.
        folder: String,
    },
}

impl CohortError {
    /// Whether files of the cohort are not what was once written: nothing that the machine or the user does now.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Malformed { .. }
                | Self::BadLine { .. }
                | Self::Format { .. }
                | Self::Changed { .. }
                | Self::Layout { .. }
                | Self::State { .. }
        )
    }

    /// The same error about files of the folder `to` instead of `from`, in which they were made.
    #[must_use]
    pub(crate) fn elsewhere(self, from: &Path, to: &Path) -> Self {
        let moved = |path: PathBuf| path.strip_prefix(from).map_or(path.clone(), |below| to.join(below));
        match self {
            Self::Io(error) => {
                // The kind is kept; causes become words of the message.
                let mut text = error.to_string();
                let mut cause = std::error::Error::source(&error);
                while let Some(inner) = cause {
                    text = format!("{text}: {inner}");
                    cause = inner.source();
                }
                let text = text.replace(&from.display().to_string(), &to.display().to_string());
                Self::Io(std::io::Error::new(error.kind(), text))
            }
            Self::File { action, path, source } => Self::File {
                action,
                path: moved(path),
                source,
            },
            Self::Layout { path, problem } => Self::Layout {
                path: moved(path),
                problem,
            },
            Self::State { path, problem } => Self::State {
                path: moved(path),
                problem,
            },
            other => other,
        }
    }

    /// What the operating system said, where it was that.
    #[must_use]
    pub fn system(&self) -> Option<&std::io::Error> {
        match self {
            Self::Io(error) | Self::File { source: error, .. } => Some(error),
            _ => None,
        }
    }
}
