//! The names of all files inside a cohort. Nothing outside this crate knows them.

use std::path::{Path, PathBuf};

use crate::digest::sha256_hex;
use crate::shard::ShardId;

/// Characters of a case's name that its folder keeps at most.
const SLUG_CHARACTERS: usize = 60;

/// Beginning of the folders among those of the cases that are needed only while rounds run.
const RUNNING: &str = ".running";

/// The folder of a cohort.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CohortDir(PathBuf);

impl CohortDir {
    /// The cohort at `path`; nothing is looked at.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// `manifest.json`.
    #[must_use]
    pub fn manifest(&self) -> PathBuf {
        self.0.join("manifest.json")
    }

    /// `manifest.sha256`: the digest of `manifest.json`, in the form of `sha256sum`.
    #[must_use]
    pub fn manifest_digest(&self) -> PathBuf {
        self.0.join("manifest.sha256")
    }

    /// `cases.jsonl`.
    #[must_use]
    pub fn cases(&self) -> PathBuf {
        self.0.join("cases.jsonl")
    }

    /// `additions/`.
    #[must_use]
    pub fn additions(&self) -> PathBuf {
        self.0.join("additions")
    }

    /// `additions/NNN.json`; `number` counts from 1.
    #[must_use]
    pub fn addition(&self, number: u32) -> PathBuf {
        self.additions().join(format!("{number:03}.json"))
    }

    /// `toolchain/`.
    #[must_use]
    pub fn toolchain(&self) -> PathBuf {
        self.0.join("toolchain")
    }

    /// `toolchain/layout-sweep`: the binary that froze the cohort.
    #[must_use]
    pub fn binary(&self) -> PathBuf {
        self.toolchain().join(Self::BINARY)
    }

    /// Name of the frozen binary in `toolchain/`.
    pub(crate) const BINARY: &str = "layout-sweep";

    /// `sources/`.
    #[must_use]
    pub fn sources(&self) -> PathBuf {
        self.0.join("sources")
    }

    /// `sources/<unit digest>/`: frozen sources of one unit; nothing else may lie there.
    #[must_use]
    pub fn unit_sources(&self, unit: &str) -> PathBuf {
        self.sources().join(unit)
    }

    /// `inputs/`.
    #[must_use]
    pub fn inputs(&self) -> PathBuf {
        self.0.join("inputs")
    }

    /// `inputs/<workload>/`: input data and reference result; nothing else may lie there.
    #[must_use]
    pub fn workload_inputs(&self, workload: &str) -> PathBuf {
        self.inputs().join(workload)
    }

    /// `artifacts/`.
    #[must_use]
    pub fn artifacts(&self) -> PathBuf {
        self.0.join("artifacts")
    }

    /// `artifacts/<key>/`; `key` is the unit's digest, or a [`fresh_key`].
    #[must_use]
    pub fn unit_artifacts(&self, key: &str) -> PathBuf {
        self.artifacts().join(key)
    }

    /// `artifacts/<key>/<artifact>`.
    #[must_use]
    pub fn artifact(&self, key: &str, artifact: &str) -> PathBuf {
        self.unit_artifacts(key).join(artifact)
    }

    /// `artifacts/<key>/build.log`.
    #[must_use]
    pub fn unit_build_log(&self, key: &str) -> PathBuf {
        self.unit_artifacts(key).join("build.log")
    }

    /// `records/`.
    #[must_use]
    pub fn records(&self) -> PathBuf {
        self.0.join("records")
    }

    /// `records/<writer>.jsonl`.
    #[must_use]
    pub fn record_file(&self, writer: &str) -> PathBuf {
        self.records().join(format!("{writer}.jsonl"))
    }

    /// `cases/`.
    #[must_use]
    pub fn case_dirs(&self) -> PathBuf {
        self.0.join("cases")
    }

    /// `cases/<slug>-<digest8>/`.
    #[must_use]
    pub fn case_dir(&self, case: &str) -> PathBuf {
        self.case_dirs().join(case_folder(case))
    }

    /// `command.json` of a case: the commands of its last build and round.
    #[must_use]
    pub fn case_command(&self, case: &str) -> PathBuf {
        self.case_dir(case).join("command.json")
    }

    /// `build.log` of a case.
    #[must_use]
    pub fn case_build_log(&self, case: &str) -> PathBuf {
        self.case_dir(case).join("build.log")
    }

    /// `run.log` of a case.
    #[must_use]
    pub fn case_run_log(&self, case: &str) -> PathBuf {
        self.case_dir(case).join("run.log")
    }

    /// `profile.json` of a case.
    #[must_use]
    pub fn case_profile(&self, case: &str) -> PathBuf {
        self.case_dir(case).join("profile.json")
    }

    /// `cases/.running/`: what is needed only while rounds of the coordinator run; those of a shard have
    /// `cases/.running-BATCH-SHARD/`. Inside the cohort, so that what a kill leaves there is found again.
    #[must_use]
    pub fn running(&self, shard: Option<ShardId>) -> PathBuf {
        let own = shard.map_or_else(String::new, |shard| format!("-{}", stem(shard)));
        self.case_dirs().join(format!("{RUNNING}{own}"))
    }

    /// Everything that [`CohortDir::running`] may have named.
    pub fn all_running(&self) -> std::io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        for entry in fs_err::read_dir(self.case_dirs())? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(RUNNING) {
                found.push(entry.path());
            }
        }
        Ok(found)
    }

    /// `batches/`: what was handed out in shards.
    #[must_use]
    pub fn batches(&self) -> PathBuf {
        self.0.join("batches")
    }

    /// `batches/NNN.json`; `number` counts from 1.
    #[must_use]
    pub fn batch(&self, number: u32) -> PathBuf {
        self.batches().join(format!("{number:03}.json"))
    }

    /// `batches/NNN.job.json`: the array of Slurm that works on it.
    #[must_use]
    pub fn submission(&self, batch: u32) -> PathBuf {
        self.batches().join(format!("{batch:03}.job.json"))
    }

    /// `batches/NNN/`: what the workers of its shards printed, one `SHARD.log` each.
    #[must_use]
    pub fn batch_logs(&self, batch: u32) -> PathBuf {
        self.batches().join(format!("{batch:03}"))
    }

    /// `batches/NNN/SHARD.log`.
    #[must_use]
    pub fn shard_log(&self, shard: ShardId) -> PathBuf {
        self.batch_logs(shard.batch).join(format!("{}.log", shard.shard))
    }

    /// `claims/`: who works on which shard.
    #[must_use]
    pub fn claims(&self) -> PathBuf {
        self.0.join("claims")
    }

    /// `claims/BATCH-SHARD-GENERATION.json`.
    #[must_use]
    pub fn claim(&self, shard: ShardId, generation: u32) -> PathBuf {
        self.claims().join(format!("{}-{generation}.json", stem(shard)))
    }

    /// `claims/BATCH-SHARD-GENERATION.end.json`.
    #[must_use]
    pub fn release(&self, shard: ShardId, generation: u32) -> PathBuf {
        self.claims().join(format!("{}-{generation}.end.json", stem(shard)))
    }

    /// Shard and generation of a claim by the name of its file; `None` for every other name.
    pub(crate) fn claim_of(name: &str) -> Option<(ShardId, u32)> {
        let mut numbers = name.strip_suffix(".json")?.splitn(3, '-').map(str::parse);
        match (numbers.next(), numbers.next(), numbers.next()) {
            (Some(Ok(batch)), Some(Ok(shard)), Some(Ok(generation))) => Some((ShardId { batch, shard }, generation)),
            _ => None,
        }
    }

    /// `coordinator.lock`: locked by the one coordinator that works on the cohort. Readers don't need it.
    #[must_use]
    pub fn coordinator_lock(&self) -> PathBuf {
        self.0.join("coordinator.lock")
    }
}

/// Folder in `artifacts/` of a unit that was built from scratch for `case` alone, a confirmation: the unit's digest and
/// the end of the case's folder.
#[must_use]
pub fn fresh_key(unit: &str, case: &str) -> String {
    format!("{unit}-{}", &sha256_hex(case.as_bytes())[..8])
}

/// Name of a case's folder: what is ASCII-safe of its name, at most 60 characters, and eight digits of the SHA-256 of
/// the whole name, so that names with the same beginning stay apart.
#[must_use]
pub fn case_folder(case: &str) -> String {
    format!("{}-{}", slug(case), &sha256_hex(case.as_bytes())[..8])
}

/// `BATCH-SHARD` with zeros in front, so that names sort as numbers do.
fn stem(shard: ShardId) -> String {
    format!("{:03}-{:05}", shard.batch, shard.shard)
}

/// `text` with `-` for every run of characters that are no ASCII letters, digits, `_`, `.` or `-`; at most 60 characters;
/// never hidden and never empty.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if slug.len() == SLUG_CHARACTERS {
            break;
        }
        let safe = c.is_ascii_alphanumeric() || (matches!(c, '_' | '.') && !slug.is_empty());
        if safe {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let trimmed = slug.trim_end_matches('-');
    if trimmed.is_empty() {
        "case".to_owned()
    } else {
        trimmed.to_owned()
    }
}

/// Whether `path` names a file below its folder: parts joined with `/`, none of them empty, `.` or `..`, and without the
/// characters that end a name or a line.
#[must_use]
pub fn is_inner_path(path: &str) -> bool {
    !path.chars().any(char::is_control)
        && path
            .split('/')
            .all(|part| !matches!(part, "" | "." | "..") && part.len() <= 255)
}

/// Whether `name` names one file or folder inside another.
#[must_use]
pub fn is_inner_name(name: &str) -> bool {
    is_inner_path(name) && !name.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_odd_names() {
        let slugs = [
            ("up 2x3/panels", "up-2x3-panels"),
            ("../../etc/passwd", "etc-passwd"),
            (".hidden", "hidden"),
            ("\"quoted\" 'name'", "quoted-name"),
            ("größer", "gr-er"),
            ("日本", "case"),
            ("", "case"),
            ("a_b.c-d", "a_b.c-d"),
            ("new\nline\0", "new-line"),
        ];
        for (name, expected) in slugs {
            assert_eq!(slug(name), expected, "{name:?}");
            let folder = case_folder(name);
            assert!(is_inner_name(&folder) && folder.is_ascii(), "{folder}");
        }
    }

    #[test]
    fn long_equal_beginnings_stay_apart() {
        let long = "x".repeat(200);
        let (one, two) = (case_folder(&format!("{long}1")), case_folder(&format!("{long}2")));
        assert_eq!(one.len(), 69);
        assert_eq!(one[..60], two[..60]);
        assert_ne!(one, two);
        assert_ne!(case_folder("a b"), case_folder("a/b"));
    }

    #[test]
    fn paths_stay_inside() {
        for good in ["a", "a/b.c", "ä", "with space", "..."] {
            assert!(is_inner_path(good), "{good}");
        }
        for bad in ["", "/a", "a/", "a//b", "..", "a/../b", "./a", "a\0", "a\n"] {
            assert!(!is_inner_path(bad), "{bad:?}");
        }
        assert!(!is_inner_name("a/b"));
    }

    #[test]
    fn claims_are_found_by_their_names() {
        let dir = CohortDir::new("/c");
        let shard = ShardId { batch: 2, shard: 17 };
        let name = |path: PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(name(dir.claim(shard, 3)), "002-00017-3.json");
        assert_eq!(CohortDir::claim_of("002-00017-3.json"), Some((shard, 3)));
        for other in [
            &name(dir.release(shard, 3)),
            "002-00017.json",
            "x-00017-3.json",
            "002-00017-3",
        ] {
            assert_eq!(CohortDir::claim_of(other), None, "{other}");
        }
    }

    #[test]
    fn numbers_of_additions() {
        let dir = CohortDir::new("/c");
        assert_eq!(dir.addition(7), Path::new("/c/additions/007.json"));
        assert_eq!(dir.addition(1234), Path::new("/c/additions/1234.json"));
    }
}
