//! Files beside a definition that belong to what is frozen.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use cohort::Frozen;
use fs_err as fs;
use target_api::{SourceFile, SourcePattern};

/// A pattern that gives no files.
#[derive(Debug)]
pub(crate) struct BadPattern {
    /// Which one, from 0.
    pub(crate) pattern: usize,
    /// Why.
    pub(crate) message: String,
}

/// Files that match, in the folder of the definition at `definition` and below, sorted by path. Cohorts that lie there
/// hold copies of such files: they are left out, as are hidden files and links to folders.
pub(crate) fn beside(definition: &Path, patterns: &[SourcePattern]) -> Result<Vec<SourceFile>, BadPattern> {
    let root = definition.parent().unwrap_or(Path::new(""));
    let root = if root.as_os_str().is_empty() {
        Path::new(".")
    } else {
        root
    };
    let mut files: Vec<SourceFile> = Vec::new();
    for (number, pattern) in patterns.iter().enumerate() {
        let bad = |message: String| BadPattern {
            pattern: number,
            message,
        };
        let mut paths = Vec::new();
        if pattern.is_wild() {
            // Only folders below the part without wildcards can hold a match.
            let folder = pattern.0.split('/').take_while(|part| !part.contains(['*', '?']));
            let folder = folder.collect::<Vec<_>>().join("/");
            below(root, &folder, &mut paths).map_err(|error| bad(error.to_string()))?;
            paths.retain(|path| pattern.matches(path));
        } else {
            paths.push(pattern.0.clone());
        }
        if paths.is_empty() {
            return Err(bad(format!("`{}` matches no file in `{}`", pattern.0, root.display())));
        }
        for path in paths {
            if files.iter().all(|file| file.path != path) {
                let text = fs::read_to_string(root.join(&path)).map_err(|error| bad(error.to_string()))?;
                files.push(SourceFile { path, text });
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Paths of all files in `folder` and below, relative to `root`.
fn below(root: &Path, folder: &str, paths: &mut Vec<String>) -> io::Result<()> {
    let here = root.join(folder);
    if !here.is_dir() || here.join("cases.jsonl").is_file() {
        return Ok(());
    }
    for entry in fs::read_dir(&here)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else {
            continue;
        };
        let path = if folder.is_empty() {
            name.to_owned()
        } else {
            format!("{folder}/{name}")
        };
        if entry.file_type()?.is_dir() {
            below(root, &path, paths)?;
        } else if entry.path().is_file() {
            paths.push(path);
        }
    }
    Ok(())
}

/// What differs between frozen copies and files of today, in words, by path: `kernels/a.c` is not as it was frozen.
pub(crate) fn changes(copies: &[SourceFile], files: &[SourceFile]) -> Vec<String> {
    let of = |all: &[SourceFile], path: &str| all.iter().find(|file| file.path == path).map(|file| file.text.clone());
    let paths: BTreeSet<&str> = copies.iter().chain(files).map(|file| file.path.as_str()).collect();
    let word = |path: &str| match (of(copies, path), of(files, path)) {
        (Some(copy), Some(file)) if copy == file => None,
        (Some(_), Some(_)) => Some(format!("`{path}` is not as it was frozen")),
        (Some(_), None) => Some(format!("`{path}` is gone")),
        (None, _) => Some(format!("`{path}` is new")),
    };
    paths.into_iter().filter_map(word).collect()
}

/// The frozen ones of a cohort: those of the unit that all its cases share.
pub(crate) fn frozen(frozen: &Frozen) -> io::Result<Vec<SourceFile>> {
    let manifest = frozen.manifest();
    let Some(unit) = manifest
        .units
        .iter()
        .find(|unit| Some(&unit.digest) == manifest.harness.as_ref())
    else {
        return Ok(Vec::new());
    };
    let folder = frozen.dir().unit_sources(&unit.digest);
    let read = |path: &String| {
        Ok(SourceFile {
            path: path.clone(),
            text: fs::read_to_string(folder.join(path))?,
        })
    };
    unit.files.iter().map(|file| read(&file.path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(texts: &[&str]) -> Vec<SourcePattern> {
        texts.iter().map(|text| SourcePattern((*text).to_owned())).collect()
    }

    #[test]
    fn files_are_found_below_and_cohorts_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        for path in [
            "k/a.c",
            "k/x/b.c",
            "k/a.h",
            "other/c.c",
            "k/.hidden.c",
            "k/frozen/d.c",
            "k/frozen/cases.jsonl",
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        }
        let definition = folder.path().join("d.toml");
        let found = |texts: &[&str]| {
            let files = beside(&definition, &patterns(texts));
            files.map(|files| files.into_iter().map(|file| file.path).collect::<Vec<_>>())
        };
        assert_eq!(
            found(&["k/**/*.c", "k/a.c", "k/a.h"]).unwrap(),
            ["k/a.c", "k/a.h", "k/x/b.c"]
        );
        assert_eq!(found(&["**/*.c"]).unwrap(), ["k/a.c", "k/x/b.c", "other/c.c"]);
        let error = found(&["k/a.c", "k/*.f90"]).unwrap_err();
        assert_eq!(error.pattern, 1);
        assert!(error.message.contains("`k/*.f90` matches no file"), "{}", error.message);
        assert!(found(&["missing.c"]).is_err());
    }
}
