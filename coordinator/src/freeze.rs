//! From chosen cases to a cohort on disk.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use cohort::{CohortDir, CohortError, Draft, Frozen, HARNESS, Header};
use target_api::{BuildUnit, InputSet};

use crate::exit::ExitCode;
use crate::sweep::NewCases;

/// Everything that a cohort is made of.
pub struct FreezeRequest {
    /// What the manifest says.
    pub header: Header,
    /// Cases in order, with what they are built from; [`cohort::Case::units`] is filled in from there.
    pub cases: NewCases,
    /// What is built once for all cases.
    pub harness: Option<BuildUnit>,
    /// Input data and reference result of each workload.
    pub inputs: Vec<(String, InputSet)>,
    /// Path and canonical text of the cost table that was given beside the definition, if one was.
    pub costs: Option<(String, String)>,
    /// The program that will run the cohort: it is copied.
    pub binary: PathBuf,
}

/// Why there is no cohort.
#[derive(Debug, thiserror::Error)]
pub enum FreezeError {
    /// Nothing to measure.
    #[error("there are no cases: nothing would be measured")]
    Empty,
    /// Two parts of a case have one label, or one has the harness's.
    #[error("case `{case}` is built from two units called `{label}`")]
    LabelTwice {
        /// The case.
        case: String,
        /// The label.
        label: String,
    },
    /// The files.
    #[error(transparent)]
    Cohort(#[from] CohortError),
}

impl FreezeError {
    /// What the program should end with: 1 where the system has no room, 2 for what the caller can mend.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self.full() {
            Some(_) => ExitCode::Failure,
            None => ExitCode::Usage,
        }
    }

    /// The next step, where it is known: a line for `help:`.
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        self.full()
    }

    /// What to do, where there is no room for the files.
    fn full(&self) -> Option<&'static str> {
        let Self::Cohort(error) = self else { return None };
        match error.system()?.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some(
                "make room on that disk, or freeze on another one with `--cohort DIR`; nothing of the cohort was left behind",
            ),
            ErrorKind::FileTooLarge => Some(
                "raise the limit on the size of files (`ulimit -f`), or freeze on another disk with `--cohort DIR`; nothing \
                 of the cohort was left behind",
            ),
            _ => None,
        }
    }
}

/// Writes the cohort into `folder`, whole or not at all. Units that several cases share are there once.
pub fn freeze(folder: &Path, request: FreezeRequest) -> Result<Frozen, FreezeError> {
    if request.cases.is_empty() {
        return Err(FreezeError::Empty);
    }
    let mut draft = Draft::new(request.header, request.binary);
    if let Some((file, table)) = request.costs {
        draft.set_costs(&file, table);
    }
    if let Some(harness) = request.harness {
        draft.set_harness(harness)?;
    }
    for (workload, inputs) in request.inputs {
        draft.set_inputs(&workload, inputs)?;
    }
    for (mut case, units) in request.cases {
        let mut labels = BTreeSet::from([HARNESS.to_owned()]);
        case.units.clear();
        for unit in units {
            let label = unit.label.clone();
            if !labels.insert(label.clone()) {
                let case = case.name;
                return Err(FreezeError::LabelTwice { case, label });
            }
            case.units.insert(label, draft.add_unit(unit)?);
        }
        draft.add_case(case);
    }
    Ok(draft.freeze(&CohortDir::new(folder), std::process::id())?)
}

/// Revision that is checked out where `folder` lies, read from the repository's files; `None` where there is none.
#[must_use]
pub fn git_revision(folder: &Path) -> Option<String> {
    let folder = fs_err::canonicalize(folder).ok()?;
    let git = folder
        .ancestors()
        .map(|parent| parent.join(".git"))
        .find(|git| git.exists())?;
    // In a worktree it is a file that says where the folder is, and branches lie in the common folder.
    let git = match std::fs::read_to_string(&git) {
        Ok(text) => git.parent()?.join(text.trim().strip_prefix("gitdir: ")?),
        Err(_) => git,
    };
    let common = match std::fs::read_to_string(git.join("commondir")) {
        Ok(text) => git.join(text.trim()),
        Err(_) => git.clone(),
    };
    let head = std::fs::read_to_string(git.join("HEAD")).ok()?;
    let Some(name) = head.trim().strip_prefix("ref: ") else {
        return Some(head.trim().to_owned());
    };
    if let Ok(revision) = std::fs::read_to_string(common.join(name)) {
        return Some(revision.trim().to_owned());
    }
    let packed = std::fs::read_to_string(common.join("packed-refs")).ok()?;
    packed
        .lines()
        .find_map(|line| Some(line.strip_suffix(name)?.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_of_branches_packed_branches_and_worktrees() {
        let folder = tempfile::tempdir().unwrap();
        let (git, inner) = (folder.path().join(".git"), folder.path().join("a/b"));
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::create_dir_all(git.join("refs/heads")).unwrap();
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(git_revision(&inner), None);
        std::fs::write(
            git.join("packed-refs"),
            "# pack\n0123 refs/heads/mainly\n4567 refs/heads/main\n",
        )
        .unwrap();
        assert_eq!(git_revision(&inner).as_deref(), Some("4567"));
        std::fs::write(git.join("refs/heads/main"), "89ab\n").unwrap();
        assert_eq!(git_revision(&inner).as_deref(), Some("89ab"));

        let tree = git.join("worktrees/t");
        std::fs::create_dir_all(&tree).unwrap();
        std::fs::write(tree.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(tree.join("commondir"), "../..\n").unwrap();
        let other = folder.path().join("other");
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join(".git"), format!("gitdir: {}\n", tree.display())).unwrap();
        assert_eq!(git_revision(&other).as_deref(), Some("89ab"));
        std::fs::write(git.join("HEAD"), "cdef\n").unwrap();
        assert_eq!(git_revision(&inner).as_deref(), Some("cdef"));
    }
}
