//! A folder with a definition, and the binary.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// The definition that ends within seconds.
pub(crate) const QUICK: &str = include_str!("../../cohorts/quick-gemm-cpu.toml");

/// A folder that goes away, with a device lock of its own, so that tests can run side by side.
pub(crate) struct Bench {
    folder: TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("layout-sweep it's ä test ")
            .tempdir()
            .unwrap();
        fs_err::create_dir(folder.path().join("cohorts")).unwrap();
        Self { folder }
    }

    /// With the quick definition as `cohorts/quick.toml`.
    pub(crate) fn quick() -> Self {
        let bench = Self::new();
        bench.define("quick", QUICK);
        bench
    }

    pub(crate) fn define(&self, stem: &str, text: &str) {
        fs_err::write(self.path(&format!("cohorts/{stem}.toml")), text).unwrap();
    }

    pub(crate) fn path(&self, inner: &str) -> PathBuf {
        self.folder.path().join(inner)
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The binary with `arguments`, ready to start in the folder. Probes of the machine are shared between tests.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
        let mut command = Command::new(env!("CARGO_BIN_EXE_layout-sweep"));
        command
            .args(arguments)
            .current_dir(self.root())
            .env("XDG_CACHE_HOME", cache)
            .env("NO_COLOR", "1");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs and expects this exit code; gives standard output and standard error.
    #[track_caller]
    pub(crate) fn expect(&self, code: i32, arguments: &[&str]) -> (String, String) {
        let output = self.run(arguments);
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(
            output.status.code(),
            Some(code),
            "{arguments:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}"
        );
        (stdout, stderr)
    }

    /// JSON that a command prints.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.expect(0, arguments).0).unwrap()
    }

    /// All lines of all record files of a cohort.
    pub(crate) fn records(&self, cohort: &str) -> Vec<serde_json::Value> {
        let Ok(entries) = std::fs::read_dir(self.path(cohort).join("records")) else {
            return Vec::new();
        };
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let mut records = Vec::new();
        for file in files {
            let text = fs_err::read_to_string(file).unwrap();
            let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
            records.extend(
                whole
                    .lines()
                    .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()),
            );
        }
        records
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Every file below `folder` with its content.
pub(crate) fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs_err::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((path.clone(), fs_err::read(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

/// Processes whose command line or working folder names `folder`, this test's own excluded.
pub(crate) fn processes_of(folder: &Path) -> Vec<String> {
    let wanted = folder.to_string_lossy().into_owned();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let pid = entry.file_name().to_string_lossy().into_owned();
        if pid.parse::<u32>().is_err() || pid == std::process::id().to_string() {
            continue;
        }
        let line = std::fs::read(entry.path().join("cmdline"))
            .map(|bytes| text(&bytes))
            .unwrap_or_default();
        let place = std::fs::read_link(entry.path().join("cwd")).map(|p| p.to_string_lossy().into_owned());
        if line.contains(&wanted) || place.is_ok_and(|place| place.contains(&wanted)) {
            found.push(format!("{pid}: {}", line.replace('\0', " ")));
        }
    }
    found
}
