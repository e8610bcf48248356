//! What is asked of Slurm, and the script of an array.

use std::fmt::Write as _;
use std::time::Duration;

use cohort::CohortDir;

/// What the elements of an array need.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    /// Partition; Slurm's default where it is `None`, as for all that follows.
    pub partition: Option<String>,
    /// Account.
    pub account: Option<String>,
    /// Features that nodes must have.
    pub constraint: Option<String>,
    /// Generic resources of an element: `gpu:1`.
    pub gres: Option<String>,
    /// Limit of an element.
    pub time: Option<Duration>,
    /// Elements that run at once, at most.
    pub array_limit: Option<u32>,
    /// Cases of a shard; so many that it takes some minutes where it is `None`.
    pub shard_size: Option<usize>,
    /// Folder on the nodes for what belongs to a node: kept builds and what was measured of it. Words of a shell.
    pub scratch: Option<String>,
    /// Lines of a shell before the worker: `module load gcc`.
    pub setup: Vec<String>,
    /// What the worker is started by: `srun --cpu-bind=cores`.
    pub launcher: Option<String>,
    /// Further arguments of `sbatch`, after all others.
    pub arguments: Vec<String>,
    /// What an array of its own for builds is asked for; shards build for themselves where it is `None`.
    pub builds: Option<Builds>,
}

/// What an array that only builds needs; time, account and scratch are those of the shards.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Builds {
    /// Its partition.
    pub partition: Option<String>,
    /// Further arguments of `sbatch`.
    pub arguments: Vec<String>,
}

/// What the elements of an array do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Build what their shards need, and nothing else.
    Builds,
    /// Everything that is left of their shards.
    Everything,
}

/// The script's exit code where the node does not see the cohort.
pub(super) const NOT_VISIBLE: u8 = 97;

/// The script's exit code where the node can't start the frozen binary.
pub(super) const NOT_STARTED: u8 = 98;

/// The script's exit code where a line of `setup` failed.
pub(super) const SETUP_FAILED: u8 = 99;

/// Time that a worker needs to come to an orderly end, beside what a round may take.
const MARGIN: Duration = Duration::from_secs(10);

impl Settings {
    /// Arguments of `sbatch` for an array of `shards` elements, which must stay away from `bad` nodes. Its script comes
    /// by standard input.
    pub(crate) fn sbatch(&self, name: &str, shards: usize, bad: &[String]) -> Vec<String> {
        let last = shards.saturating_sub(1);
        let at_once = self.array_limit.map_or_else(String::new, |limit| format!("%{limit}"));
        let mut arguments = vec![
            "--parsable".to_owned(),
            format!("--job-name={name}"),
            format!("--array=0-{last}{at_once}"),
            // The script opens its log itself: a folder that is not there would end it without a word.
            "--output=/dev/null".to_owned(),
            "--chdir=/".to_owned(),
            // What is left of a lost node is handed out again with everything else that is left.
            "--no-requeue".to_owned(),
        ];
        let options = [
            ("partition", &self.partition),
            ("account", &self.account),
            ("constraint", &self.constraint),
            ("gres", &self.gres),
        ];
        let given = options.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        arguments.extend(given.map(|(name, value)| format!("--{name}={value}")));
        // Slurm counts in minutes.
        let minutes = |time: Duration| time.as_secs().div_ceil(60).max(1);
        arguments.extend(self.time.map(|time| format!("--time={}", minutes(time))));
        if !bad.is_empty() {
            arguments.push(format!("--exclude={}", bad.join(",")));
        }
        arguments.extend(self.arguments.iter().cloned());
        arguments
    }

    /// The same for elements that only build: no devices, no features of nodes.
    pub(crate) fn for_builds(&self) -> Option<Self> {
        let builds = self.builds.as_ref()?;
        Some(Self {
            partition: builds.partition.clone().or_else(|| self.partition.clone()),
            constraint: None,
            gres: None,
            arguments: builds.arguments.clone(),
            ..self.clone()
        })
    }

    /// The script of the array of `batch`; `round` is the limit of one round, and workers consent to the differences that
    /// are `accepted`.
    pub(crate) fn script(
        &self,
        dir: &CohortDir,
        batch: u32,
        round: Duration,
        accepted: &[String],
        work: Work,
    ) -> String {
        let cohort = quoted(&dir.path().to_string_lossy());
        let relative = |path: std::path::PathBuf| {
            let inner = path.strip_prefix(dir.path()).unwrap_or(&path).to_owned();
            quoted(&inner.to_string_lossy())
        };
        let (manifest, binary, logs) = (
            relative(dir.manifest()),
            relative(dir.binary()),
            relative(dir.batch_logs(batch)),
        );
        let usual = "${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/layout-sweep-$(id -u)";
        let scratch = self.scratch.as_deref().unwrap_or(usual);
        let mut text = format!(
            "#!/bin/sh\n\
             # Written by layout-sweep: each element works on one shard.\n\
             cohort={cohort}\n\
             [ -r \"$cohort\"/{manifest} ] || exit {NOT_VISIBLE}\n\
             exec >>\"$cohort\"/{logs}/\"$SLURM_ARRAY_TASK_ID\".log 2>&1\n\
             echo \"job ${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID on $SLURMD_NODENAME\"\n"
        );
        for line in &self.setup {
            let _ = writeln!(text, "{line} || exit {SETUP_FAILED}");
        }
        let _ = write!(
            text,
            "XDG_CACHE_HOME=\"{scratch}\"\n\
             mkdir -p \"$XDG_CACHE_HOME\" || exit {SETUP_FAILED}\n\
             export XDG_CACHE_HOME\n\
             \"$cohort\"/{binary} --version || exit {NOT_STARTED}\n"
        );
        let launcher = self
            .launcher
            .as_deref()
            .map_or_else(String::new, |launcher| format!("{launcher} "));
        let limit = self
            .worker_limit(round)
            .map_or_else(String::new, |limit| format!(" --time-limit {}s", limit.as_secs()));
        let consent = if accepted.is_empty() {
            String::new()
        } else {
            format!(" --accept {}", quoted(&accepted.join(",")))
        };
        let only = match work {
            Work::Builds => " --builds-only",
            Work::Everything => "",
        };
        let _ = writeln!(
            text,
            "exec {launcher}\"$cohort\"/{binary} run \"$cohort\" --shard {batch}/\"$SLURM_ARRAY_TASK_ID\"{only}{limit}{consent}"
        );
        text
    }

    /// When a worker should begin no further round, so that the last one ends before Slurm ends it.
    fn worker_limit(&self, round: Duration) -> Option<Duration> {
        let time = self.time?;
        let minutes = Duration::from_secs(time.as_secs().div_ceil(60).max(1) * 60);
        Some(minutes.saturating_sub((round + MARGIN).min(minutes / 2)))
    }
}

/// `text` as one word of a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_said_is_left_to_slurm() {
        let plain = Settings::default().sbatch("x", 5, &[]);
        assert!(
            plain.contains(&"--array=0-4".to_owned()) && plain.len() == 6,
            "{plain:?}"
        );
        let settings = Settings {
            partition: Some("gpu".to_owned()),
            gres: Some("gpu:1".to_owned()),
            time: Some(Duration::from_secs(61)),
            array_limit: Some(3),
            arguments: vec!["--requeue".to_owned()],
            ..Settings::default()
        };
        let said = settings.sbatch("x", 1, &["n1".to_owned(), "n7".to_owned()]);
        let last = said.last().map(String::as_str);
        assert_eq!(last, Some("--requeue"), "what a person says comes last, and counts");
        for wanted in [
            "--array=0-0%3",
            "--partition=gpu",
            "--gres=gpu:1",
            "--time=2",
            "--exclude=n1,n7",
        ] {
            assert!(said.iter().any(|one| one == wanted), "{wanted}: {said:?}");
        }
    }

    #[test]
    fn the_script_survives_odd_paths() {
        let folder = tempfile::Builder::new()
            .prefix("it's a \"cohort\" $x ")
            .tempdir()
            .unwrap();
        let node = tempfile::tempdir().unwrap();
        let dir = CohortDir::new(folder.path());
        let binary = dir.binary();
        std::fs::create_dir_all(binary.parent().unwrap()).unwrap();
        std::fs::create_dir_all(dir.batch_logs(2)).unwrap();
        std::fs::write(dir.manifest(), "{}").unwrap();
        std::fs::write(
            &binary,
            "#!/bin/sh\nprintf '%s\\n' \"$@\" \"cache $XDG_CACHE_HOME\" \"$GREETING\"\n",
        )
        .unwrap();
        cohort::mark_script(&binary, b"#!/bin/sh").unwrap();
        let settings = Settings {
            scratch: Some(format!("{}/node-$(echo 7)", node.path().display())),
            setup: vec!["export GREETING=hello".to_owned()],
            launcher: Some("env".to_owned()),
            time: Some(Duration::from_secs(600)),
            ..Settings::default()
        };
        let run = |script: &str| {
            let mut shell = std::process::Command::new("/bin/sh");
            shell
                .args(["-c", script])
                .env("SLURM_ARRAY_TASK_ID", "4")
                .env("SLURM_ARRAY_JOB_ID", "9");
            shell.status().unwrap().code()
        };
        let script = settings.script(
            &dir,
            2,
            Duration::from_secs(60),
            &["machine.it's".to_owned(), "tool.cc".to_owned()],
            Work::Everything,
        );
        assert_eq!(run(&script), Some(0));
        let log = std::fs::read_to_string(dir.batch_logs(2).join("4.log")).unwrap();
        let lines: Vec<&str> = log.lines().collect();
        let own = folder.path().to_str().unwrap();
        for wanted in [
            "run",
            own,
            "--shard",
            "2/4",
            "--time-limit",
            "530s",
            "--accept",
            "machine.it's,tool.cc",
            "hello",
        ] {
            assert!(lines.contains(&wanted), "{wanted}: {log}");
        }
        assert!(log.contains("/node-7\n"), "{log}");

        let failing = Settings {
            setup: vec!["false".to_owned()],
            ..settings.clone()
        };
        assert_eq!(settings.for_builds(), None, "nobody asked for an array of its own");
        let builds = Settings {
            gres: Some("gpu:1".to_owned()),
            builds: Some(Builds {
                partition: Some("cpu".to_owned()),
                arguments: vec!["--mem=1G".to_owned()],
            }),
            ..settings.clone()
        };
        let said = builds.for_builds().unwrap().sbatch("x", 1, &[]);
        let has = |wanted: &str| said.iter().any(|one| one == wanted);
        assert!(
            has("--partition=cpu") && has("--mem=1G") && !has("--gres=gpu:1"),
            "{said:?}"
        );
        assert!(
            builds
                .script(&dir, 2, Duration::ZERO, &[], Work::Builds)
                .contains("--builds-only")
        );
        assert_eq!(
            run(&failing.script(&dir, 2, Duration::ZERO, &[], Work::Builds)),
            Some(i32::from(SETUP_FAILED))
        );
        std::fs::write(&binary, "#!/nowhere").unwrap();
        assert_eq!(run(&script), Some(i32::from(NOT_STARTED)));
        let elsewhere = settings.script(&CohortDir::new("/nowhere"), 2, Duration::ZERO, &[], Work::Builds);
        assert_eq!(run(&elsewhere), Some(i32::from(NOT_VISIBLE)));
    }
}
