//! Cohorts on a real Slurm, which a script starts on this one host: the controller, two nodes, the loopback.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Bench, text};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/slurm-on-one-host");

/// A Slurm of its own, until it is dropped.
struct Cluster {
    folder: tempfile::TempDir,
}

impl Cluster {
    /// `None` where this machine can't have one: that is said aloud, and an error in CI.
    fn start() -> Option<Self> {
        let there = |command: &str| {
            let folders = std::env::var_os("PATH").unwrap_or_default();
            let mut folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
            folders.push("/usr/sbin".into());
            folders.iter().any(|folder| folder.join(command).exists())
        };
        let missing = ["slurmctld", "slurmd", "sbatch", "munged"]
            .into_iter()
            .find(|command| !there(command));
        let root = rustix::process::getuid().is_root();
        if missing.is_some() || !root {
            let why = missing.map_or("not root".to_owned(), |command| format!("`{command}` is missing"));
            assert!(
                std::env::var_os("CI").is_none_or(|ci| ci != "true"),
                "no Slurm to test with ({why}): install the Debian packages slurm-wlm and munge"
            );
            // Not by `eprintln!`, which is only heard of tests that fail.
            let line =
                format!("SKIPPED: no Slurm to test with ({why}): the Debian packages slurm-wlm and munge bring it\n");
            std::io::stderr().write_all(line.as_bytes()).unwrap();
            return None;
        }
        let folder = tempfile::Builder::new().prefix("slurm-").tempdir().unwrap();
        let cluster = Self { folder };
        let started = cluster.script(&["start"], &["2"]);
        assert!(
            started.status.success(),
            "{}{}",
            text(&started.stdout),
            text(&started.stderr)
        );
        Some(cluster)
    }

    fn script(&self, action: &[&str], more: &[&str]) -> Output {
        let mut command = Command::new(SCRIPT);
        // Daemons keep what they inherit: nobody must wait for their ends of a pipe.
        let said = self.folder.path().join("said");
        let file = std::fs::File::create(&said).unwrap();
        command
            .args(action)
            .arg(self.folder.path())
            .args(more)
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file);
        let status = command.status().unwrap();
        Output {
            status,
            stdout: fs_err::read(said).unwrap(),
            stderr: Vec::new(),
        }
    }

    fn conf(&self) -> PathBuf {
        self.folder.path().join("slurm.conf")
    }

    fn command(&self, bench: &Bench, arguments: &[&str]) -> Command {
        let mut command = bench.command(arguments);
        command.env("SLURM_CONF", self.conf());
        command
    }

    /// Runs and expects this exit code; gives standard error.
    #[track_caller]
    fn expect(&self, bench: &Bench, code: i32, arguments: &[&str]) -> String {
        let output = self.command(bench, arguments).output().unwrap();
        let said = format!("{}\n{}", text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{said}");
        text(&output.stderr)
    }

    fn start_run(&self, bench: &Bench, arguments: &[&str]) -> Child {
        let log = std::fs::File::create(bench.path("said")).unwrap();
        let mut command = self.command(bench, arguments);
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        command.spawn().unwrap()
    }

    fn slurm(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program)
            .args(arguments)
            .env("SLURM_CONF", self.conf())
            .output()
            .unwrap();
        text(&output.stdout)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let stopped = self.script(&["stop"], &[]);
        let good = stopped.status.success() || std::thread::panicking();
        assert!(good, "{}", text(&stopped.stdout));
    }
}

/// Cases that take a fifth of a second each and always give the same. Runs of one test lie one after another.
fn define(bench: &Bench, stem: &str, cases: u32, more: &str) {
    let nodes = bench.path("node-");
    let text = format!(
        r#"target = "command"

[command]
run = ["sh", "-c", "sleep 0.2; echo ns=$((100 + $1)); echo pass", "sh", "{{x}}"]
devices = ["slurm-test-{stem}"]

[command.result]
time = {{ regex = '^ns=(\d+)$', unit = "ns" }}
pass = {{ regex = '^pass$' }}
objective = "time"

[parameters]
x = "1:{cases}:1"

[explore]
exhaustive = {{ limit = 1000 }}

[measure]
rounds = 2
finalists = 0

[executor]
kind = "slurm"
shard_size = 3
scratch = "{}$SLURMD_NODENAME"
{more}"#,
        // Words of a shell, inside double quotes: a quote of the other kind needs no care.
        nodes.display()
    );
    bench.define(stem, &text);
    bench.expect(0, &["freeze", &format!("cohorts/{stem}.toml")]);
}

fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !condition() {
        assert!(Instant::now() < deadline, "gave up waiting until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// How often each round of each case has a record of this kind.
fn rounds(bench: &Bench, cohort: &str, kind: &str) -> BTreeMap<(String, u64), u32> {
    let mut rounds = BTreeMap::new();
    for record in bench.records(cohort) {
        if record["record"] == kind {
            let key = (
                record["case"].as_str().unwrap().to_owned(),
                record["round"].as_u64().unwrap(),
            );
            *rounds.entry(key).or_insert(0) += 1;
        }
    }
    rounds
}

/// Jobs of claims that were not released, by node.
fn held(bench: &Bench, cohort: &str) -> Vec<String> {
    let shards = bench.json(&["shards", cohort, "--format", "json"]);
    let held = shards
        .as_array()
        .unwrap()
        .iter()
        .filter(|shard| shard["state"] == "held");
    held.map(|shard| shard["claim"]["worker"]["job"]["node"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_node_that_is_lost_costs_the_rounds_that_ran_on_it() {
    let Some(cluster) = Cluster::start() else { return };
    let bench = Bench::new();
    define(&bench, "lost", 12, "");
    let cohort = "cohorts/lost";
    let mut run = cluster.start_run(&bench, &["run", cohort]);
    wait_until("the second node works", || {
        let half = rounds(&bench, cohort, "run").len() >= 6;
        half && held(&bench, cohort).iter().any(|node| node == "n2")
    });
    let lost = cluster.script(&["lose"], &["n2"]);
    assert!(lost.status.success(), "{}", text(&lost.stdout));
    let status = run.wait().unwrap();
    let said = fs_err::read_to_string(bench.path("said")).unwrap();
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(said.contains("its node failed") && said.contains("batch 2"), "{said}");

    // Nothing is lost, and nothing was run twice beyond what ran on that node: one round at a time, by the device's lock.
    let ended = rounds(&bench, cohort, "run");
    assert_eq!(ended.len(), 24, "{said}");
    assert!(ended.values().all(|&times| times == 1), "{ended:?}");
    let begun: u32 = rounds(&bench, cohort, "began").values().sum();
    assert!((24..=25).contains(&begun), "{begun} rounds were begun");
    let status = bench.json(&["status", cohort, "--format", "json"]);
    assert_eq!(
        (&status["counts"]["correct"], &status["rounds_left"]),
        (&12.into(), &0.into())
    );
    // The same command finds nothing to do, with and without the cluster.
    cluster.expect(&bench, 0, &["run", cohort]);
    cluster.expect(&bench, 0, &["run", cohort, "--executor", "local"]);
    assert_eq!(rounds(&bench, cohort, "run"), ended);
    bench.expect(0, &["analyze", cohort]);
}

#[test]
fn a_coordinator_that_dies_finds_its_array_again() {
    let Some(cluster) = Cluster::start() else { return };
    let bench = Bench::new();
    define(&bench, "dies", 6, "");
    let cohort = "cohorts/dies";
    let mut run = cluster.start_run(&bench, &["run", cohort]);
    wait_until("something was measured", || !rounds(&bench, cohort, "run").is_empty());
    run.kill().unwrap();
    run.wait().unwrap();
    // Meanwhile nobody else can work on what the shards hold.
    let busy = cluster.expect(&bench, 5, &["run", cohort, "--executor", "local"]);
    assert!(busy.contains("is held by job"), "{busy}");
    let said = cluster.expect(&bench, 0, &["run", cohort]);
    assert!(said.contains("still works on batch 1"), "{said}");
    let ended = rounds(&bench, cohort, "run");
    assert!(
        ended.len() == 12 && ended.values().all(|&times| times == 1),
        "{ended:?}"
    );
    let jobs = cluster.slurm("squeue", &["--noheader", "--states=all", "--format=%F"]);
    let arrays: std::collections::BTreeSet<&str> = jobs.lines().collect();
    assert_eq!(arrays.len(), 1, "one array did it all: {jobs}");
}

#[test]
fn an_interrupted_array_is_cancelled_when_asked_twice() {
    let Some(cluster) = Cluster::start() else { return };
    let bench = Bench::new();
    define(&bench, "stop", 30, "array_limit = 1\n");
    let cohort = "cohorts/stop";
    let mut run = cluster.start_run(&bench, &["run", cohort]);
    wait_until("something was measured", || !rounds(&bench, cohort, "run").is_empty());
    let said = || fs_err::read_to_string(bench.path("said")).unwrap();
    let press = |run: &Child| {
        let pid = rustix::process::Pid::from_child(run);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    };
    press(&run);
    wait_until("it asked", || said().contains("Ctrl-C again"));
    press(&run);
    assert_eq!(run.wait().unwrap().code(), Some(130), "{}", said());
    let alive = cluster.slurm("squeue", &["--noheader"]);
    assert!(alive.trim().is_empty(), "{alive}");
    let before = rounds(&bench, cohort, "run");
    assert!(before.len() < 60);

    // What a node can't do is said, and which node it was.
    let nowhere = ["run", cohort, "--slurm", "--partition=nowhere"];
    let refused = cluster.expect(&bench, 2, &nowhere);
    assert!(
        refused.contains("Slurm refuses the array: invalid partition specified: nowhere"),
        "{refused}"
    );
    assert!(refused.contains("help: `sinfo`"), "{refused}");
    fs_err::rename(bench.path("cohorts/stop/toolchain"), bench.path("cohorts/stop/gone")).unwrap();
    let broken = cluster.expect(&bench, 4, &["run", cohort]);
    assert!(broken.contains("toolchain/layout-sweep"), "{broken}");
    fs_err::rename(bench.path("cohorts/stop/gone"), bench.path("cohorts/stop/toolchain")).unwrap();
    assert_eq!(rounds(&bench, cohort, "run"), before);
}

#[test]
fn what_nodes_can_not_do_is_said_with_their_names() {
    let Some(cluster) = Cluster::start() else { return };
    let bench = Bench::new();
    define(
        &bench,
        "bad",
        4,
        "setup = [\"test $SLURMD_NODENAME != n1 || { echo error: no modules here; false; }\"]\n",
    );
    let cohort = "cohorts/bad";
    let said = cluster.expect(&bench, 0, &["run", cohort]);
    assert!(said.contains("its `setup` failed: error: no modules here"), "{said}");
    assert!(said.contains("nothing more goes to node `n1`"), "{said}");
    assert_eq!(rounds(&bench, cohort, "run").len(), 8);

    define(
        &bench,
        "all",
        4,
        "setup = [\"echo error: no modules anywhere; false\"]\n",
    );
    let said = cluster.expect(&bench, 3, &["run", "cohorts/all"]);
    assert!(
        said.contains("nothing was measured by") && said.contains("no modules anywhere"),
        "{said}"
    );
    assert!(rounds(&bench, "cohorts/all", "run").is_empty());
}

#[test]
fn without_slurm_the_message_says_so() {
    let bench = Bench::new();
    define(&bench, "none", 2, "");
    let mut command = bench.command(&["run", "cohorts/none", "--executor", "slurm"]);
    let output = command.env("PATH", Path::new("/nowhere")).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("there is no Slurm here") && said.contains("help:"),
        "{said}"
    );
}
