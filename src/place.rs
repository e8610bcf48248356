//! Where the cohort and the report of a definition lie.

use std::path::{Path, PathBuf};

/// The cohort of `DIR/STEM.toml` is `DIR/STEM/`.
pub(crate) fn cohort_of(definition: &Path) -> PathBuf {
    definition.with_extension("")
}

/// The report of the cohort `DIR/STEM/` is `reports/STEM/` beside a folder called `cohorts`, else `DIR/STEM-report/`.
pub(crate) fn report_of(cohort: &Path) -> PathBuf {
    // `.` and bare names say nothing of the folder around them.
    let bare = cohort.parent().is_none_or(|parent| parent.file_name().is_none()) || cohort.file_name().is_none();
    let whole = if bare { fs_err::canonicalize(cohort).ok() } else { None };
    let cohort = whole.as_deref().unwrap_or(cohort);
    let stem = cohort
        .file_name()
        .map_or_else(|| "cohort".to_owned(), |name| name.to_string_lossy().into_owned());
    let parent = cohort.parent().unwrap_or(Path::new(""));
    if parent.file_name().is_some_and(|name| name == "cohorts") {
        parent.parent().unwrap_or(Path::new("")).join("reports").join(stem)
    } else {
        parent.join(format!("{stem}-report"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_in_cohorts_reports_beside_it() {
        let cohort = cohort_of(Path::new("cohorts/siglip.toml"));
        assert_eq!(cohort, Path::new("cohorts/siglip"));
        assert_eq!(report_of(&cohort), Path::new("reports/siglip"));
        assert_eq!(
            report_of(Path::new("/a/cohorts/siglip")),
            Path::new("/a/reports/siglip")
        );
    }

    #[test]
    fn elsewhere_the_report_lies_beside_the_cohort() {
        assert_eq!(
            report_of(&cohort_of(Path::new("/tmp/x/mine.toml"))),
            Path::new("/tmp/x/mine-report")
        );
        assert_eq!(report_of(Path::new("mine")), Path::new("mine-report"));
    }
}
