//! Whether a cohort still is what was frozen, as far as files and words can tell.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use target_api::{Machine, Tool};

use crate::chain;
use crate::digest::sha256_file;
use crate::error::CohortError;
use crate::frozen::Frozen;
use crate::manifest::FileDigest;

/// What gives the SHA-256 of a file.
type Digest<'d> = &'d mut dyn FnMut(&Path) -> Result<String, CohortError>;

/// Something that is not as it was frozen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Difference {
    /// What: a path in the cohort, `machine.<entry>` or `tool.<name>`.
    pub name: String,
    /// Frozen digest or value; `None` when it was not there.
    pub expected: Option<String>,
    /// Digest or value now; `None` when it is gone.
    pub found: Option<String>,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (expected, found) = (self.expected.as_deref(), self.found.as_deref());
        write!(
            f,
            "`{}`: expected {}, found {}",
            self.name,
            expected.unwrap_or("nothing"),
            found.unwrap_or("nothing")
        )
    }
}

/// Differences of manifest, cases, additions, binary, records, inputs and sources, in this order and by name within each. A
/// file that was added to a folder of sources or inputs is a difference too: a compiler might find it first. That the
/// manifest's own digest is gone shows once records have digests: versions that gave them none did not write it.
pub fn verify(frozen: &Frozen) -> Result<Vec<Difference>, CohortError> {
    verify_by(frozen, &mut |path| Ok(sha256_file(path)?.0))
}

/// The same, with the digests of the binary, inputs and sources from `digest`: whoever has just hashed them may know them.
pub fn verify_by(frozen: &Frozen, digest: Digest<'_>) -> Result<Vec<Difference>, CohortError> {
    Ok(verify_counting(frozen, digest)?.0)
}

/// Records that were edited, removed or moved after they were written, by file and line. What is missing at the end of a file,
/// or whole, is found as far as the last addition saw it.
pub fn edited_records(frozen: &Frozen) -> Result<Vec<Difference>, CohortError> {
    Ok(chain::check(frozen.dir(), frozen.additions())?.differences)
}

/// The same, and how many records have no digest.
pub(crate) fn verify_counting(frozen: &Frozen, digest: Digest<'_>) -> Result<(Vec<Difference>, u64), CohortError> {
    let (dir, manifest) = (frozen.dir(), frozen.manifest());
    let mut differences = Vec::new();
    let mut plainly = |path: &Path| Ok(sha256_file(path)?.0);
    let mut expect = |name: String, expected: &str, digest: Digest<'_>| {
        let found = digest_if_there(&dir.path().join(&name), digest)?;
        if found.as_deref() != Some(expected) {
            differences.push(Difference {
                name,
                expected: Some(expected.to_owned()),
                found,
            });
        }
        Ok::<(), CohortError>(())
    };
    let name_of = |path: &Path| {
        path.strip_prefix(dir.path())
            .unwrap_or(path)
            .to_string_lossy()
            .into_owned()
    };
    for (number, sha256) in (0..).zip(frozen.chain()) {
        let written = frozen.written_manifest().filter(|_| number == 0);
        let sha256 = written.unwrap_or(sha256);
        let path = if number == 0 {
            dir.manifest()
        } else {
            dir.addition(number)
        };
        expect(name_of(&path), sha256, &mut plainly)?;
        if number == 0 {
            expect(name_of(&dir.cases()), &manifest.cases_sha256, &mut plainly)?;
        }
    }
    if let Some(binary) = &manifest.binary {
        expect(name_of(&dir.binary()), &binary.sha256, digest)?;
    }
    let chained = chain::check(dir, frozen.additions())?;
    // Whoever gives records their digest wrote that of the manifest before.
    if frozen.written_manifest().is_none() && chained.sealed {
        differences.push(Difference {
            name: name_of(&dir.manifest_digest()),
            expected: Some("the digest that `manifest.json` was written with".to_owned()),
            found: None,
        });
    }
    differences.extend(chained.differences);
    differences.extend(folder_differences(
        &dir.inputs(),
        &name_of(&dir.inputs()),
        &manifest.inputs,
        digest,
    )?);
    for unit in frozen.units() {
        let folder = dir.unit_sources(&unit.digest);
        differences.extend(folder_differences(&folder, &name_of(&folder), &unit.files, digest)?);
    }
    Ok((differences, chained.without))
}

/// Entries of the machine's class that differ, as `machine.<entry>`, tools whose digest differs, as `tool.<name>`, and of
/// those that are the same files, what they say of themselves, as `tool.<name>.output`: a wrapper stays what it was when the
/// compiler behind it changes.
#[must_use]
pub fn machine_differences(frozen: &Machine, now: &Machine) -> Vec<Difference> {
    let tools = |machine: &Machine| -> BTreeMap<String, String> {
        machine
            .tools
            .iter()
            .map(|tool| (tool.name.clone(), tool.sha256.clone()))
            .collect()
    };
    let mut differences = map_differences("machine.", &frozen.class, &now.class);
    differences.extend(map_differences("tool.", &tools(frozen), &tools(now)));
    let same = |tool: &&Tool| now.tool(&tool.name).is_some_and(|other| other.sha256 == tool.sha256);
    let said = frozen.tools.iter().filter(same).filter_map(|tool| {
        let other = now.tool(&tool.name)?;
        let (expected, found) = first_difference(tool, other)?;
        Some(Difference {
            name: format!("tool.{}.output", tool.name),
            expected,
            found,
        })
    });
    differences.extend(said);
    differences
}

/// The first line in which two tools say something else of themselves. Of one that was frozen with its first line alone only
/// that is known.
fn first_difference(frozen: &Tool, now: &Tool) -> Option<(Option<String>, Option<String>)> {
    if frozen.version != now.version {
        return Some((Some(frozen.version.clone()), Some(now.version.clone())));
    }
    let now = now.output.as_deref().unwrap_or(&now.version);
    let (frozen, now) = first_differing(frozen.output.as_ref()?.lines(), now.lines())?;
    Some((frozen.map(str::to_owned), now.map(str::to_owned)))
}

/// The first line that is not the same in both; `None` where one has ended.
fn first_differing<'a>(
    mut frozen: impl Iterator<Item = &'a str>,
    mut now: impl Iterator<Item = &'a str>,
) -> Option<(Option<&'a str>, Option<&'a str>)> {
    loop {
        match (frozen.next(), now.next()) {
            (None, None) => return None,
            (a, b) if a == b => {}
            different => return Some(different),
        }
    }
}

fn map_differences(prefix: &str, frozen: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> Vec<Difference> {
    let keys: std::collections::BTreeSet<_> = frozen.keys().chain(now.keys()).collect();
    let differs = keys.into_iter().filter(|key| frozen.get(*key) != now.get(*key));
    differs
        .map(|key| Difference {
            name: format!("{prefix}{key}"),
            expected: frozen.get(key).cloned(),
            found: now.get(key).cloned(),
        })
        .collect()
}

fn folder_differences(
    folder: &Path,
    name: &str,
    files: &[FileDigest],
    digest: Digest<'_>,
) -> Result<Vec<Difference>, CohortError> {
    let expected = files
        .iter()
        .map(|file| (file.path.clone(), file.sha256.clone()))
        .collect();
    let mut found = BTreeMap::new();
    if folder.exists() {
        digest_below(folder, "", &mut found, digest)?;
    }
    Ok(map_differences(&format!("{name}/"), &expected, &found))
}

fn digest_below(
    folder: &Path,
    prefix: &str,
    found: &mut BTreeMap<String, String>,
    digest: Digest<'_>,
) -> Result<(), CohortError> {
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        // Links are followed: what a compiler would read is what counts.
        if fs_err::metadata(entry.path())?.is_dir() {
            digest_below(&entry.path(), &format!("{name}/"), found, digest)?;
        } else {
            found.insert(name, digest(&entry.path())?);
        }
    }
    Ok(())
}

fn digest_if_there(path: &Path, digest: Digest<'_>) -> Result<Option<String>, CohortError> {
    match digest(path) {
        Ok(sha256) => Ok(Some(sha256)),
        Err(CohortError::Io(e)) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}
