//! From draft to frozen cohort, in one step or not at all.

use std::collections::HashMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::digest::{Hasher, HashingWriter, sha256_file, sha256_hex};
use crate::draft::{Draft, IMPORTER, unit_ref};
use crate::error::CohortError;
use crate::frozen::{Frozen, Snapshot};
use crate::layout::Layout;
use crate::manifest::{FileDigest, Manifest};
use crate::paths::{CohortDir, case_folder};
use crate::records::{record_line, to_line};
use crate::write::{create_synced, mark_script, sync_folder};

impl Draft {
    /// Writes the cohort into a folder beside `dir` and renames it into place, so that a kill leaves no half cohort.
    /// What kills of earlier freezes left is removed first. `dir` must not exist or be empty; `pid` is the caller's
    /// process, so that two freezes don't meet.
    pub fn freeze(self, dir: &CohortDir, pid: u32) -> Result<Frozen, CohortError> {
        let (parent, name) = parent_and_name(dir.path())?;
        fs_err::create_dir_all(parent)?;
        check_vacant(dir)?;
        remove_leftovers(dir)?;
        let half = Half::create(parent.join(format!("{}{pid}", leftover_prefix(&name))))?;
        let written = CohortDir::new(&half.path);
        // Whoever reads a message knows the cohort's folder, not this one, which is gone by then.
        let told = |error: CohortError| error.elsewhere(&half.path, dir.path());
        self.write(&written).map_err(told)?;
        // Read back before anybody sees it.
        let Snapshot { frozen, records } = Snapshot::read(&written).map_err(told)?;
        frozen.state(&records.records).map_err(|problem| CohortError::State {
            path: dir.path().to_owned(),
            problem: Box::new(problem),
        })?;
        check_vacant(dir)?;
        fs_err::rename(&half.path, dir.path())?;
        half.moved();
        sync_folder(parent)?;
        Ok(frozen.moved_to(dir))
    }

    fn write(self, to: &CohortDir) -> Result<(), CohortError> {
        let mut folders = vec![to.additions(), to.toolchain(), to.sources(), to.inputs()];
        folders.extend([to.artifacts(), to.records(), to.case_dirs()]);
        folders.iter().try_for_each(fs_err::create_dir)?;
        check_case_folders(self.cases.iter().map(|case| case.name.as_str()))?;
        let (cases_sha256, cases) = (self.write_cases(&to.cases())?, self.cases.len() as u64);
        let mut units = Vec::with_capacity(self.units.len());
        for (digest, unit) in &self.units {
            for source in &unit.sources {
                let path = to.unit_sources(digest).join(&source.path);
                create_synced(&path, source.text.as_bytes())?;
                mark_script(&path, source.text.as_bytes())?;
            }
            units.push(unit_ref(digest, unit));
        }
        let mut inputs = Vec::new();
        for (workload, set) in &self.inputs {
            for file in &set.files {
                create_synced(&to.workload_inputs(workload).join(&file.name), &file.bytes)?;
                let (path, bytes) = (format!("{workload}/{}", file.name), file.bytes.len() as u64);
                inputs.push(FileDigest {
                    path,
                    sha256: sha256_hex(&file.bytes),
                    bytes,
                });
            }
        }
        inputs.sort_unstable();
        let binary = match &self.binary {
            Some(binary) => Some(copy_binary(binary, &to.binary())?),
            None => None,
        };
        self.write_records(to)?;
        let header = self.header;
        let manifest = Manifest {
            format: Manifest::FORMAT,
            target: header.target,
            objective: header.objective,
            inverse_of: header.inverse_of,
            definition: header.definition,
            options: header.options,
            costs: self.costs,
            workloads: header.workloads,
            measure: header.measure,
            screened: header.screened,
            chosen_from: header.chosen_from,
            cases,
            cases_sha256,
            units,
            harness: self.harness,
            inputs,
            binary,
            imported: self.imported,
            machine: header.machine,
            origin: header.origin,
        };
        Layout::new(&manifest, &self.cases, &[]).map_err(|problem| CohortError::Layout {
            path: to.path().to_owned(),
            problem,
        })?;
        let line = to_line(&manifest, || "the manifest".to_owned())?;
        create_synced(&to.manifest(), &line)?;
        let digest = format!("{}  manifest.json\n", sha256_hex(&line));
        create_synced(&to.manifest_digest(), digest.as_bytes())?;
        sync_folders_below(to.path())
    }

    /// What an import brings, whole: a kill can't leave a part of it.
    fn write_records(&self, to: &CohortDir) -> Result<(), CohortError> {
        if self.records.is_empty() {
            return Ok(());
        }
        let file = fs_err::File::create_new(to.record_file(IMPORTER))?;
        let mut out = BufWriter::with_capacity(1 << 16, file);
        let mut chain = String::new();
        for record in &self.records {
            let (line, digest) = record_line(record, &chain)?;
            out.write_all(&line)?;
            chain = digest;
        }
        let file = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok(())
    }

    fn write_cases(&self, path: &Path) -> Result<String, CohortError> {
        let inner = BufWriter::with_capacity(1 << 16, fs_err::File::create_new(path)?);
        let mut out = HashingWriter {
            inner,
            hasher: Hasher::new(),
        };
        for case in &self.cases {
            out.write_all(&to_line(case, || format!("case `{}`", case.name))?)?;
        }
        let HashingWriter { inner, hasher } = out;
        let file = inner.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok(hasher.finish())
    }
}

/// Eight digits of a digest stand in the folder's name, so two among very many cases could meet.
pub(crate) fn check_case_folders<'a>(cases: impl Iterator<Item = &'a str>) -> Result<(), CohortError> {
    let mut folders: HashMap<String, &str> = HashMap::new();
    for case in cases {
        let folder = case_folder(case);
        match folders.get(&folder) {
            Some(&first) if first != case => {
                let (first, second) = (first.to_owned(), case.to_owned());
                return Err(CohortError::SharedFolder { first, second, folder });
            }
            _ => _ = folders.insert(folder, case),
        }
    }
    Ok(())
}

fn copy_binary(from: &Path, to: &Path) -> Result<FileDigest, CohortError> {
    fs_err::copy(from, to)?;
    fs_err::File::open(to)?.sync_all()?;
    let (sha256, bytes) = sha256_file(to)?;
    Ok(FileDigest {
        path: CohortDir::BINARY.to_owned(),
        sha256,
        bytes,
    })
}

fn check_vacant(dir: &CohortDir) -> Result<(), CohortError> {
    let path = dir.path().to_owned();
    let mut entries = match fs_err::read_dir(dir.path()) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(e.into()),
    };
    if dir.manifest().exists() {
        return Err(CohortError::AlreadyFrozen { path });
    }
    match entries.next() {
        None => Ok(()),
        Some(entry) => {
            let entry = entry?.file_name().to_string_lossy().into_owned();
            Err(CohortError::SomethingElse { path, entry })
        }
    }
}

/// Removes what killed freezes of `dir` left beside it; folders that a living process works in stay.
pub fn remove_leftovers(dir: &CohortDir) -> Result<(), CohortError> {
    let (parent, name) = parent_and_name(dir.path())?;
    let prefix = leftover_prefix(&name);
    for entry in fs_err::read_dir(parent)? {
        let entry = entry?;
        let found = entry.file_name();
        let pid = found.to_str().and_then(|found| found.strip_prefix(&prefix));
        if pid.is_none_or(|pid| pid.is_empty() || !pid.bytes().all(|b| b.is_ascii_digit())) {
            continue;
        }
        match remove_if_left(&entry.path()) {
            // Its maker was quicker: it is in its place now, or gone.
            Err(CohortError::Io(e)) if e.kind() == std::io::ErrorKind::NotFound => {}
            other => other?,
        }
    }
    Ok(())
}

/// The maker of such a folder holds a lock on it for as long as it lives.
fn remove_if_left(folder: &Path) -> Result<(), CohortError> {
    let opened = fs_err::File::open(folder)?;
    if opened.file().try_lock().is_ok() {
        fs_err::remove_dir_all(folder)?;
    }
    Ok(())
}

fn leftover_prefix(name: &str) -> String {
    format!(".{name}.freezing-")
}

fn parent_and_name(path: &Path) -> Result<(&Path, String), CohortError> {
    let bad = || CohortError::BadPath {
        path: path.display().to_string(),
    };
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(bad)?;
    let parent = path.parent().ok_or_else(bad)?;
    let parent = if parent.as_os_str().is_empty() {
        Path::new(".")
    } else {
        parent
    };
    Ok((parent, name.to_owned()))
}

fn sync_folders_below(folder: &Path) -> Result<(), CohortError> {
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders_below(&entry.path())?;
        }
    }
    sync_folder(folder)
}

/// A folder that is removed again unless it was moved into place.
struct Half {
    path: PathBuf,
    /// Locked, so that others can tell it from what a kill left.
    lock: Option<fs_err::File>,
}

impl Half {
    fn create(path: PathBuf) -> Result<Self, CohortError> {
        match fs_err::create_dir(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => return Err(CohortError::BeingFrozen { path }),
            other => other?,
        }
        let lock = fs_err::File::open(&path)?;
        if lock.file().try_lock().is_err() {
            return Err(CohortError::BeingFrozen { path });
        }
        Ok(Self { path, lock: Some(lock) })
    }

    fn moved(mut self) {
        self.lock = None;
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        if self.lock.is_some() {
            // Nothing can be reported from here; the next freeze removes it as a leftover.
            _ = fs_err::remove_dir_all(&self.path);
        }
    }
}
