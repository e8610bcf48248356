//! Where the logs of cases lie, as seen from the report.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use cohort::CohortDir;
use cohort::paths::case_folder;

use super::escape;

/// Files of a case that the page links to, in the order of their bits.
pub const FILES: [&str; 4] = ["build.log", "run.log", "command.json", "profile.json"];

/// Relative places of the cases' folders, and which of [`FILES`] they have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Links {
    /// The cohort's folder of cases, relative to the report and encoded as in a URL.
    pub base: String,
    /// Folder -> a bit for each file that is there.
    found: BTreeMap<String, u8>,
}

impl Links {
    /// Looks which logs are there. `report` must exist, since links are followed to tell the way from it to the cohort.
    ///
    /// Errors: a folder that can't be read.
    pub fn find(cohort: &CohortDir, report: &Path) -> std::io::Result<Self> {
        let cases = cohort.case_dirs();
        if !cases.is_dir() {
            return Ok(Self::default());
        }
        let base = relative(&fs_err::canonicalize(report)?, &fs_err::canonicalize(&cases)?);
        let mut found = BTreeMap::new();
        for entry in fs_err::read_dir(&cases)? {
            let entry = entry?;
            let has = |file: &&str| entry.path().join(file).is_file();
            let bits = (0..).zip(&FILES).filter(|(_, file)| has(file));
            let bits = bits.fold(0, |bits, (index, _)| bits | (1_u8 << index));
            if let (Ok(folder), true) = (entry.file_name().into_string(), bits != 0) {
                found.insert(folder, bits);
            }
        }
        Ok(Self { base, found })
    }

    /// The folder of a case and the bits of its files.
    pub(crate) fn of(&self, case: &str) -> Option<(String, u8)> {
        if self.found.is_empty() {
            return None;
        }
        let folder = case_folder(case);
        let bits = *self.found.get(&folder)?;
        Some((folder, bits))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }
}

/// The way from one folder to another, both absolute and without links, as a URL.
pub(crate) fn relative(from: &Path, to: &Path) -> String {
    let parts = |path: &Path| -> Vec<String> {
        let normal = path.components().filter(|part| matches!(part, Component::Normal(_)));
        normal
            .map(|part| part.as_os_str().to_string_lossy().into_owned())
            .collect()
    };
    let (from, to): (Vec<String>, Vec<String>) = (parts(&PathBuf::from(from)), parts(&PathBuf::from(to)));
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..".to_owned(), from.len() - common);
    escape::path(&up.chain(to[common..].iter().cloned()).collect::<Vec<String>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_from_report_to_cohort() {
        let way = |from: &str, to: &str| relative(Path::new(from), Path::new(to));
        assert_eq!(way("/a/reports/x", "/a/cohorts/x/cases"), "../../cohorts/x/cases");
        assert_eq!(way("/a/x-report", "/a/it's x/cases"), "../it%27s%20x/cases");
        assert_eq!(way("/a", "/b"), "../b");
    }
}
