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
        Self::start_with(&["2"])
    }

    /// The same with further words for the script.
    fn start_with(words: &[&str]) -> Option<Self> {
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
        let started = cluster.script(&["start"], words);
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

/// A text as TOML writes it.
fn toml_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A definition of one command; the rest is the same in all of them.
#[derive(Default)]
struct Definition<'a> {
    /// Before `[command]`.
    head: &'a str,
    /// Arguments of the run, as TOML writes them.
    run: &'a str,
    /// Further keys of `[command]`. Without `devices` among them runs of one test lie one after another.
    command: &'a str,
    /// How many cases, of x from 1.
    cases: u32,
    rounds: u32,
    shard_size: u32,
    /// Further keys of `[executor]`.
    executor: &'a str,
}

impl Definition<'_> {
    fn write(&self, bench: &Bench, stem: &str) {
        let Self {
            head,
            run,
            command,
            cases,
            rounds,
            shard_size,
            executor,
        } = self;
        let devices = if command.contains("devices") {
            String::new()
        } else {
            format!("devices = [\"slurm-test-{stem}\"]")
        };
        // Words of a shell, inside double quotes: a quote of the other kind needs no care.
        let nodes = bench.path("node-");
        let nodes = nodes.display();
        let text = format!(
            r#"target = "command"
{head}
[command]
run = {run}
{devices}
{command}

[command.result]
time = {{ regex = '^ns=(\d+)$', unit = "ns" }}
pass = {{ regex = '^pass$' }}
objective = "time"

[parameters]
x = "1:{cases}:1"

[explore]
exhaustive = {{ limit = 1000 }}

[measure]
rounds = {rounds}
finalists = 0

[executor]
kind = "slurm"
shard_size = {shard_size}
scratch = "{nodes}$SLURMD_NODENAME"
{executor}"#
        );
        bench.define(stem, &text);
    }
}

/// Cases that take a fifth of a second each and always give the same; `executor` is as in [`Definition`].
fn define(bench: &Bench, stem: &str, cases: u32, executor: &str) {
    let run = r#"["sh", "-c", "sleep 0.2; echo ns=$((100 + $1)); echo pass", "sh", "{x}"]"#;
    let definition = Definition {
        run,
        cases,
        rounds: 2,
        shard_size: 3,
        executor,
        ..Definition::default()
    };
    definition.write(bench, stem);
    bench.expect(0, &["freeze", &format!("cohorts/{stem}.toml")]);
}

/// Cases that run this command; `command` is as in [`Definition`].
fn define_running(bench: &Bench, stem: &str, cases: u32, run: &str, rounds: u32, command: &str) {
    let definition = Definition {
        run,
        command,
        cases,
        rounds,
        shard_size: 3,
        ..Definition::default()
    };
    definition.write(bench, stem);
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

/// What an array left that ended while nobody watched is said as if somebody had, and no case takes the time of one array
/// after another.
#[test]
fn an_array_that_ended_unwatched_is_judged_before_the_next_one() {
    let Some(cluster) = Cluster::start() else { return };
    let bench = Bench::new();
    // One case never ends.
    let run = "echo \"$1\" >>\"$2/calls\"; case $1 in 2) sleep 300;; esac; echo ns=$((100 + $1)); echo pass";
    let command = format!(
        "[\"sh\", \"-c\", {}, \"sh\", \"{{x}}\", \"{{cohort}}\"]",
        toml_text(run)
    );
    define_running(&bench, "unseen", 2, &command, 2, "timeout = { run = \"300s\" }");
    let cohort = "cohorts/unseen";
    let hung = || {
        let calls = fs_err::read_to_string(bench.path("cohorts/unseen/calls")).unwrap_or_default();
        calls.lines().filter(|call| *call == "2").count()
    };
    // The third time without an end fails it.
    for times in 1..=3 {
        let mut child = cluster.start_run(&bench, &["run", cohort, "--shard-size", "1"]);
        wait_until("the case hangs", || hung() == times);
        let began = || rounds(&bench, cohort, "began");
        wait_until("that is on record", || {
            began().values().max() == u32::try_from(times).ok().as_ref()
        });
        child.kill().unwrap();
        child.wait().unwrap();
        let said = fs_err::read_to_string(bench.path("said")).unwrap();
        assert_eq!(said.contains("is over and left cases"), times > 1, "{said}");
        let jobs = cluster.slurm("squeue", &["--noheader", "--format=%F"]);
        let array = jobs.lines().next().unwrap().trim();
        cluster.slurm("scancel", &["--signal=KILL", "--full", array]);
        wait_until("the array is over", || {
            cluster.slurm("squeue", &["--noheader"]).trim().is_empty()
        });
    }
    let said = cluster.expect(&bench, 3, &["run", cohort]);
    assert!(
        said.contains("(batch 3) is over and left cases") && said.contains("left: shard 3/"),
        "{said}"
    );
    assert_eq!(hung(), 3, "it is not begun a fourth time");
    let failed = bench.json(&["status", cohort, "--format", "json"]);
    assert_eq!(
        (&failed["counts"]["correct"], &failed["counts"]["run_failed"]),
        (&1.into(), &1.into()),
        "{failed}"
    );
    let reasons = failed["failures"].to_string();
    assert!(reasons.contains("had begun 3 times without an end"), "{failed}");
    let left = fs_err::read_dir(bench.path("cohorts/unseen/cases")).unwrap();
    let names: Vec<String> = left
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert!(names.iter().all(|name| !name.starts_with('.')), "{names:?}");
    // Nothing is left any more.
    let again = cluster.expect(&bench, 3, &["run", cohort]);
    assert!(!again.contains("left"), "{again}");
}

/// The controller forgets an array whose workers were killed (a stand-in for `scontrol` says so of this one), and the
/// accounting (another one: this Slurm has none) still knows how it ended.
#[test]
fn what_the_controller_forgot_the_accounting_tells() {
    let Some(cluster) = Cluster::start() else { return };
    let bench = Bench::new();
    define(&bench, "forgot", 4, "");
    let cohort = "cohorts/forgot";
    let (hold, forgets) = (bench.path("hold"), bench.path("forgets"));
    let folders = std::env::var("PATH").unwrap_or_default();
    let programs = bench.path("programs");
    fs_err::create_dir(&programs).unwrap();
    let scontrol = format!(
        "#!/bin/sh\nwhile [ -e \"{0}\" ]; do sleep 0.05; done\n\
         case \"$*\" in *\"show job $(cat \"{1}\" 2>/dev/null || echo none)\"*)\n\
         echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1;; esac\n\
         PATH=\"{folders}\" exec scontrol \"$@\"\n",
        hold.display(),
        forgets.display()
    );
    let sacct = format!(
        "#!/bin/sh\narray=$(cat \"{}\") || exit 1\necho \"${{array}}_0|TIMEOUT|0:15|n1\"\necho \"${{array}}_1|TIMEOUT|0:15|n2\"\n",
        forgets.display()
    );
    for (name, text) in [("scontrol", scontrol), ("sacct", sacct)] {
        fs_err::write(programs.join(name), text).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs_err::set_permissions(programs.join(name), mode).unwrap();
    }
    let log = std::fs::File::create(bench.path("said")).unwrap();
    let mut run = cluster
        .command(&bench, &["run", cohort])
        .env("PATH", format!("{}:{folders}", programs.display()))
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap();
    wait_until("something was measured", || !rounds(&bench, cohort, "run").is_empty());
    fs_err::write(&hold, "").unwrap();
    let arrays = cluster.slurm("squeue", &["--noheader", "--states=all", "--format=%F"]);
    let array = arrays.lines().next().unwrap().trim();
    cluster.slurm("scancel", &["--signal=KILL", "--full", array]);
    wait_until("the array is gone", || {
        cluster.slurm("squeue", &["--noheader"]).trim().is_empty()
    });
    fs_err::write(&forgets, array).unwrap();
    fs_err::remove_file(&hold).unwrap();
    let status = run.wait().unwrap();
    let said = fs_err::read_to_string(bench.path("said")).unwrap();
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(
        said.contains("its time limit was over") && !said.contains("knows no more"),
        "{said}"
    );
    let ended = rounds(&bench, cohort, "run");
    assert!(
        ended.len() == 8 && ended.values().all(|&times| times == 1),
        "{ended:?}\n{said}"
    );
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

/// What a node lacks is no case's fault: nothing fails for it, and another node does what is left.
#[test]
fn a_node_without_a_compiler_fails_no_case() {
    let Some(cluster) = Cluster::start() else { return };
    let bench = Bench::new();
    let compiler = bench.path("bin/slurm-test-cc");
    fs_err::create_dir(bench.path("bin")).unwrap();
    fs_err::write(&compiler, "#!/bin/sh\necho x >\"$1\"\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs_err::set_permissions(&compiler, mode).unwrap();
    let path = format!("{}:{}", bench.path("bin").display(), std::env::var("PATH").unwrap());
    let setup = toml_text(&format!("[ $SLURMD_NODENAME = n1 ] || export PATH=\"{path}\""));
    let definition = Definition {
        run: r#"["sh", "-c", "sleep 0.3; test -s \"$2\" && echo ns=$((100 + $1)) && echo pass", "sh", "{x}", "{artifact}"]"#,
        command: "build = [\"slurm-test-cc\", \"{artifact}\"]",
        cases: 6,
        rounds: 2,
        shard_size: 1,
        executor: &format!("setup = [{setup}]\n"),
        ..Definition::default()
    };
    definition.write(&bench, "lacks");
    let with_compiler = |arguments: &[&str]| {
        let mut command = cluster.command(&bench, arguments);
        let output = command.env("PATH", &path).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    with_compiler(&["freeze", "cohorts/lacks.toml"]);
    // Jobs have the environment of whoever submits them: here without the compiler.
    let cohort = "cohorts/lacks";
    let said = cluster.expect(&bench, 0, &["run", cohort]);
    assert!(
        said.contains("`slurm-test-cc` (`command.build[0]`) can't be started on this machine"),
        "{said}"
    );
    assert!(said.contains("nothing more goes to node `n1`"), "{said}");
    let status = bench.json(&["status", cohort, "--format", "json"]);
    assert_eq!(
        (&status["counts"]["correct"], &status["counts"]["build_failed"]),
        (&6.into(), &0.into())
    );
    assert!(
        rounds(&bench, cohort, "run").values().all(|&times| times == 1),
        "{said}"
    );
}

/// Ends the running element of this shard by its time limit: Slurm takes half a minute to look.
fn end_by_time(cluster: &Cluster, shard: u32) {
    let job = cluster.slurm("squeue", &["--noheader", "--states=running", "--format=%i"]);
    let own = format!("_{shard}");
    let job = job
        .lines()
        .map(str::trim)
        .find(|job| job.ends_with(&own))
        .unwrap()
        .to_owned();
    cluster.slurm("scontrol", &["update", &format!("JobId={job}"), "EndTime=now+1"]);
}

#[test]
fn what_slurm_takes_away_is_run_again_and_what_takes_too_much_fails() {
    let Some(cluster) = Cluster::start() else { return };
    // One case hangs the first time, one always takes more memory than a job has.
    let run = "sleep 0.2; case $1 in 2) [ -e \"$2/hung\" ] || (: >\"$2/hung\"; sleep 300);; \
               3) head -c 600M /dev/zero | tail | wc -c; sleep 20;; esac; echo ns=$((100 + $1)); echo pass";
    let bench = Bench::new();
    let command = format!(
        "[\"sh\", \"-c\", {}, \"sh\", \"{{x}}\", \"{{cohort}}\"]",
        toml_text(run)
    );
    define_running(&bench, "taken", 4, &command, 2, "timeout = { run = \"300s\" }");
    let cohort = "cohorts/taken";
    let mut child = cluster.start_run(&bench, &["run", cohort, "--shard-size", "1"]);
    wait_until("a case hangs", || bench.path("cohorts/taken/hung").exists());
    let began = |case: &str| {
        let begun = rounds(&bench, cohort, "began").into_iter();
        begun
            .filter(|((name, _), _)| name.contains(case))
            .map(|(_, times)| times)
            .sum::<u32>()
    };
    end_by_time(&cluster, 1);
    let status = child.wait().unwrap();
    let said = fs_err::read_to_string(bench.path("said")).unwrap();
    assert_eq!(status.code(), Some(3), "{said}");
    let ended = rounds(&bench, cohort, "run");
    assert!(ended.values().all(|&times| times == 1), "{ended:?}");
    // Two rounds of each but of the one that never ended, which is failed once it was lost three times.
    assert_eq!(ended.len(), 7, "{said}");
    assert_eq!(began("all-00002"), 3, "{said}");
    assert_eq!(began("all-00001"), 3, "one round was lost: {said}");
    assert!(said.contains("time limit"), "{said}");
    let failed = bench.json(&["status", cohort, "--format", "json"]);
    assert_eq!(
        (&failed["counts"]["correct"], &failed["counts"]["run_failed"]),
        (&3.into(), &1.into()),
        "{failed}"
    );
}

/// The kernel holds jobs to their memory, as on most clusters: it kills what takes too much, and Slurm says at the end of the
/// job that it was out of memory, whatever else became of it.
#[test]
fn out_of_memory_is_an_outcome_of_the_case_and_a_reason_of_the_job() {
    let controller = Path::new("/sys/fs/cgroup/memory/memory.limit_in_bytes");
    if !controller.exists() || !rustix::process::getuid().is_root() {
        std::io::stderr()
            .write_all(
                b"SKIPPED: no memory controller of cgroups (version 1) here, so the kernel can't end a job for its memory; \
                  that Slurm's word for it is understood is tested in `coordinator/src/slurm`\n",
            )
            .unwrap();
        return;
    }
    let Some(cluster) = Cluster::start_with(&["2", "cgroup"]) else {
        return;
    };
    let bench = Bench::new();
    let run =
        "case $1 in 2) head -c 600M /dev/zero | tail >/dev/null || exit 9;; esac; echo ns=$((100 + $1)); echo pass";
    let command = format!("[\"sh\", \"-c\", {}, \"sh\", \"{{x}}\"]", toml_text(run));
    define_running(&bench, "memory", 3, &command, 2, "");
    let cohort = "cohorts/memory";
    let said = cluster.expect(&bench, 3, &["run", cohort]);
    let failed = bench.json(&["status", cohort, "--format", "json"]);
    assert_eq!(
        (&failed["counts"]["correct"], &failed["counts"]["run_failed"]),
        (&2.into(), &1.into()),
        "{failed}\n{said}"
    );
    assert!(
        rounds(&bench, cohort, "run").values().all(|&times| times == 1),
        "{said}"
    );
    let jobs = cluster.slurm("scontrol", &["--oneliner", "show", "job"]);
    assert!(jobs.contains("JobState=OUT_OF_MEMORY"), "{jobs}");
    assert_eq!(said.matches("(batch ").count(), 1, "the worker saw to it: {said}");

    // What comes before the worker is not a case's: the job never gets as far.
    let setup = "setup = [\"tail /dev/zero\"]\n";
    define(&bench, "greedy", 2, setup);
    let said = cluster.expect(&bench, 3, &["run", "cohorts/greedy"]);
    assert!(
        said.contains("it took more memory than it was given") && said.contains("nothing was measured by"),
        "{said}"
    );
}

/// An element that Slurm takes back and starts again claims its shard anew and does what is left of it.
#[test]
fn a_requeued_element_goes_on_with_its_shard() {
    let Some(cluster) = Cluster::start() else { return };
    let bench = Bench::new();
    define(&bench, "again", 6, "");
    let cohort = "cohorts/again";
    let mut run = cluster.start_run(&bench, &["run", cohort, "--slurm=--requeue"]);
    wait_until("something was measured", || rounds(&bench, cohort, "run").len() >= 2);
    let running = cluster.slurm("squeue", &["--noheader", "--states=running", "--format=%i"]);
    let element = running.lines().next().unwrap().trim().to_owned();
    cluster.slurm("scontrol", &["requeue", &element]);
    let status = run.wait().unwrap();
    let said = fs_err::read_to_string(bench.path("said")).unwrap();
    assert_eq!(status.code(), Some(0), "{said}");
    let ended = rounds(&bench, cohort, "run");
    assert!(
        ended.len() == 12 && ended.values().all(|&times| times == 1),
        "{ended:?}\n{said}"
    );
    let begun: u32 = rounds(&bench, cohort, "began").values().sum();
    assert!((12..=13).contains(&begun), "{begun}: {said}");
    assert_eq!(said.matches("(batch ").count(), 1, "the same array did it: {said}");
    let shards = bench.json(&["shards", cohort, "--format", "json"]);
    let again = shards
        .as_array()
        .unwrap()
        .iter()
        .find(|shard| shard["claim"]["worker"]["job"]["id"] == element.as_str())
        .unwrap();
    assert_eq!(
        (
            &again["claim"]["generation"],
            &again["claim"]["worker"]["job"]["restarts"]
        ),
        (&2.into(), &1.into()),
        "{again}"
    );
}

/// One worker that a signal ended before it began is no reason to leave its node alone; a second one is.
#[test]
fn a_node_is_given_up_when_it_kills_a_second_worker() {
    let Some(cluster) = Cluster::start() else { return };
    let bench = Bench::new();
    let kill = format!(
        "! mkdir \"{}\" 2>/dev/null || kill -KILL $$",
        bench.path("once").display()
    );
    let kills = format!("setup = [{}]\n", toml_text(&kill));
    define(&bench, "one", 6, &kills);
    let said = cluster.expect(&bench, 0, &["run", "cohorts/one", "--slurm=--nodelist=n1"]);
    assert!(said.contains("a signal ended it before it began"), "{said}");
    assert!(!said.contains("nothing more goes to node"), "{said}");
    assert_eq!(rounds(&bench, "cohorts/one", "run").len(), 12, "{said}");

    define(
        &bench,
        "each",
        6,
        "setup = [\"[ $SLURMD_NODENAME != n1 ] || kill -KILL $$\"]\n",
    );
    let said = cluster.expect(&bench, 0, &["run", "cohorts/each", "--shard-size", "1"]);
    assert!(said.contains("nothing more goes to node `n1`"), "{said}");
    assert_eq!(rounds(&bench, "cohorts/each", "run").len(), 12, "{said}");
}

#[test]
fn preempted_shards_are_handed_out_again() {
    let Some(cluster) = Cluster::start() else { return };
    let bench = Bench::new();
    define(&bench, "out", 8, "");
    let cohort = "cohorts/out";
    let mut child = cluster.start_run(&bench, &["run", cohort, "--shard-size", "2"]);
    wait_until("something was measured", || rounds(&bench, cohort, "run").len() >= 2);
    let urgent = [
        "--partition=urgent",
        "--nodes=2",
        "--exclusive",
        "--output=/dev/null",
        "--wrap=sleep 1",
    ];
    cluster.slurm("sbatch", &urgent);
    let status = child.wait().unwrap();
    let said = fs_err::read_to_string(bench.path("said")).unwrap();
    assert_eq!(status.code(), Some(0), "{said}");
    let ended = rounds(&bench, cohort, "run");
    assert!(
        ended.len() == 16 && ended.values().all(|&times| times == 1),
        "{ended:?}\n{said}"
    );
    // Each of four workers may have begun one that its job did not let it end.
    let begun: u32 = rounds(&bench, cohort, "began").values().sum();
    assert!((16..=20).contains(&begun), "{begun}: {said}");
    assert!(
        said.contains("it was preempted") && said.matches("(batch ").count() == 2,
        "{said}"
    );
}

#[test]
fn filters_consents_and_repetitions_go_with_arrays_too() {
    let Some(cluster) = Cluster::start() else { return };
    let bench = Bench::new();
    let tool = bench.path("tool");
    fs_err::write(&tool, "cc 1\n").unwrap();
    let run = "[\"sh\", \"-c\", \"echo ns=$((100 + $1)); echo pass\", \"sh\", \"{x}\"]";
    let probe = format!(
        "probe = {{ compiler = [\"cat\", {}] }}",
        toml_text(tool.to_str().unwrap())
    );
    define_running(&bench, "some", 6, run, 2, &probe);
    let cohort = "cohorts/some";
    let names: Vec<String> = {
        let cases = bench.json(&["plan", "cohorts/some.toml", "--format", "json"]);
        let each = cases.as_array().unwrap().iter();
        each.map(|case| case["name"].as_str().unwrap().to_owned()).collect()
    };
    let done = || {
        let done: std::collections::BTreeSet<String> = rounds(&bench, cohort, "run")
            .into_keys()
            .map(|(case, _)| case)
            .collect();
        done.into_iter().collect::<Vec<_>>()
    };
    let refused = cluster.expect(&bench, 2, &["run", cohort, "--only", "nothing-like-that"]);
    assert!(refused.contains("the cohort has no such case"), "{refused}");
    cluster.expect(&bench, 0, &["run", cohort, "--only", &names[1]]);
    assert_eq!(done(), [names[1].clone()]);
    cluster.expect(
        &bench,
        0,
        &["run", cohort, "--exclude", &format!("{},{}", names[0], names[2])],
    );
    assert_eq!(done().len(), 4);

    // Another compiler: no node takes it, unless somebody consents.
    fs_err::write(&tool, "cc 2\n").unwrap();
    let refused = cluster.expect(&bench, 3, &["run", cohort]);
    assert!(
        refused.contains("tool.compiler.output") && refused.contains("nothing was measured by"),
        "{refused}"
    );
    assert_eq!(done().len(), 4);
    let refused = cluster.expect(&bench, 2, &["run", cohort, "--accept", "manifest.json"]);
    assert!(refused.contains("manifest.json"), "{refused}");
    cluster.expect(&bench, 0, &["run", cohort, "--accept", "tool.compiler.output"]);
    assert_eq!(done().len(), 6);
    let consents = bench.records(cohort);
    assert!(consents.iter().any(|record| record["record"] == "accept-difference"));

    cluster.expect(&bench, 0, &["run", cohort, "--retry", &names[3]]);
    let times = rounds(&bench, cohort, "run");
    assert!(
        times
            .iter()
            .all(|((case, _), &times)| times == 1 + u32::from(*case == names[3])),
        "{times:?}"
    );
}

/// Products on the CPU: the crosses of the fastest choices are formed once all initial cases are done, by the one that hands
/// out, and are an array of their own.
#[test]
fn crosses_are_a_next_array() {
    let Some(cluster) = Cluster::start() else { return };
    let bench = Bench::new();
    let scratch = toml_text(bench.path("node").to_str().unwrap());
    let executor =
        format!("\n[executor]\nkind = \"slurm\"\nshard_size = 4\nscratch = {scratch}\narguments = [\"--mem=900\"]\n");
    let mlp = "target = \"cpu\"\ncontrol = \"plain\"\n[cpu]\nthreads = 1\n\
               [[workload]]\nname = \"small\"\nkind = \"mlp\"\ntokens = 64\nfeatures = 64\nhidden = 96\n\
               [[case]]\nname = \"plain\"\nfamily = \"control\"\nreason = \"the default plan\"\nplan = {}\n\
               [explore]\nadaptive = { cross = 2 }\nvary = [{ from = \"plain\", attribute = \"up.inner\", values = [2] },\n\
               { from = \"plain\", attribute = \"down.inner\", values = [2] }]\n\
               [measure]\nrounds = 1\npairs = 2\nfinalists = 0\n";
    bench.define("small", &format!("{mlp}{executor}"));
    bench.expect(0, &["freeze", "cohorts/small.toml"]);
    let said = cluster.expect(&bench, 0, &["run", "cohorts/small"]);
    let addition = fs_err::read_to_string(bench.path("cohorts/small/additions/001.json")).unwrap();
    let addition: serde_json::Value = serde_json::from_str(&addition).unwrap();
    let crosses = addition["cases"].as_array().unwrap();
    assert!(!crosses.is_empty(), "{addition}");
    let records = bench.records("cohorts/small");
    let writers = |case: &str| {
        let own = records
            .iter()
            .filter(|record| record["record"] == "run" && record["case"] == case);
        own.map(|record| record["writer"].to_string())
            .collect::<std::collections::BTreeSet<_>>()
    };
    let first = writers("plain");
    for cross in crosses {
        let own = writers(cross["name"].as_str().unwrap());
        assert!(!own.is_empty() && own.is_disjoint(&first), "{cross}: {own:?}\n{said}");
    }
    assert!(said.matches("(batch ").count() >= 2, "{said}");
}

/// Two nodes that say something else of their device, on one of which the order of the cases is the other way round.
fn define_unlike(bench: &Bench) {
    let run = "sleep 0.4; case $SLURMD_NODENAME in n2) echo ns=$((900 - 10 * $1));; *) echo ns=$((100 + 10 * $1));; esac; echo pass";
    let definition = Definition {
        head: "control = \"middle\"\n[[case]]\nname = \"middle\"\nplan = { x = 4 }\n",
        run: &format!("[\"sh\", \"-c\", {}, \"sh\", \"{{x}}\"]", toml_text(run)),
        command: "probe = { device = [\"sh\", \"-c\", \"echo device of $SLURMD_NODENAME\"] }",
        cases: 8,
        rounds: 2,
        shard_size: 1,
        executor: "unlike = [\"tool.device.output\"]\n",
    };
    definition.write(bench, "unlike");
}

/// Value and x of the cases that a report has measured, the best first; the best one's x must be that of its winner, unless
/// the control is, which was measured beside each of them.
fn unlike_cases(report: &serde_json::Value) -> Vec<(f64, i32)> {
    let workload = &report["workloads"][0];
    let cases = workload["cases"].as_array().unwrap();
    let x = |case: &serde_json::Value| i32::try_from(case["attributes"]["x"].as_i64().unwrap()).unwrap();
    let measured = cases.iter().filter(|case| case["pairs"] != 0);
    let mut found: Vec<(f64, i32)> = measured
        .map(|case| (case["value"].as_f64().unwrap(), x(case)))
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let winner = &workload["winner"]["case"];
    let winner = x(cases.iter().find(|case| case["name"] == *winner).unwrap());
    assert!(winner == found[0].1 || winner == 4, "{winner}: {found:?}");
    found
}

#[test]
fn unlike_nodes_are_measured_apart() {
    let Some(cluster) = Cluster::start() else { return };
    let bench = Bench::new();
    define_unlike(&bench);
    let on_first = |arguments: &[&str]| {
        let output = bench.command(arguments).env("SLURMD_NODENAME", "n1").output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    };
    on_first(&["freeze", "cohorts/unlike.toml"]);
    let cohort = "cohorts/unlike";
    cluster.expect(&bench, 0, &["run", cohort]);
    on_first(&["verify", cohort]);
    let records = bench.records(cohort);
    let others: std::collections::BTreeSet<&str> = records
        .iter()
        .filter(|record| record["record"] == "machine")
        .map(|record| record["writer"].as_str().unwrap())
        .collect();
    let measured: Vec<_> = records.iter().filter(|record| record["record"] == "run").collect();
    let on_other = measured
        .iter()
        .filter(|record| others.contains(record["writer"].as_str().unwrap()));
    let apart = on_other.count();
    assert!(
        apart > 0 && apart < measured.len() && measured.len() == 16,
        "{records:?}"
    );

    let (said, _) = bench.expect(0, &["analyze", cohort, "--report", "report"]);
    let cases = |place: &str| {
        let report: serde_json::Value = serde_json::from_slice(&fs_err::read(bench.path(place)).unwrap()).unwrap();
        assert_eq!(report["setup"]["classes"].as_array().unwrap().len(), 2);
        unlike_cases(&report)
    };
    let (here, there) = (
        cases("report/statistics.json"),
        cases("report/machine-1/statistics.json"),
    );
    assert_eq!(
        (here.len() + there.len(), there.len() * 2),
        (8, apart),
        "no case stands in both"
    );
    let is = |value: f64, expected: i32| (value - f64::from(expected)).abs() < 0.1;
    assert!(here.iter().all(|&(value, x)| is(value, 100 + 10 * x)), "{here:?}");
    assert!(there.iter().all(|&(value, x)| is(value, 900 - 10 * x)), "{there:?}");
    assert!(
        said.matches("machines: This is about").count() == 2 && said.contains("class 1 of machines"),
        "{said}"
    );
    let told = text(&bench.run(&["explain", cohort, "middle", "middle"]).stderr);
    assert!(told.contains("machines of other classes"), "{told}");
}

#[test]
fn builds_are_an_array_of_their_own_before_the_shards() {
    let Some(cluster) = Cluster::start() else { return };
    let bench = Bench::new();
    let build = "echo \"built {x}\" >>\"$2\"; echo x >\"$1\"";
    let built = bench.path("built");
    let more = format!(
        "build = [\"sh\", \"-c\", {}, \"sh\", \"{{artifact}}\", {}, \"{{x}}\"]",
        toml_text(&build.replace("{x}", "$3")),
        toml_text(built.to_str().unwrap())
    );
    let run = "[\"sh\", \"-c\", \"test -s \\\"$2\\\" && echo ns=$((100 + $1)) && echo pass\", \"sh\", \"{x}\", \"{artifact}\"]";
    define_running(&bench, "apart", 4, run, 2, &more);
    let definition = bench.path("cohorts/apart.toml");
    let text = fs_err::read_to_string(&definition).unwrap() + "build_partition = \"urgent\"\n";
    fs_err::write(&definition, text).unwrap();
    bench.expect(0, &["freeze", "cohorts/apart.toml", "--new"]);
    let cohort = "cohorts/apart-2";
    let said = cluster.expect(&bench, 0, &["run", cohort]);
    let records = bench.records(cohort);
    let of = |kind: &'static str| records.iter().filter(move |record| record["record"] == kind);
    let writers = |kind: &'static str| {
        of(kind)
            .map(|record| record["writer"].to_string())
            .collect::<std::collections::BTreeSet<_>>()
    };
    assert!(writers("build").is_disjoint(&writers("run")), "{records:?}\n{said}");
    assert_eq!((of("build").count(), of("run").count()), (4, 8), "{said}");
    assert_eq!(
        fs_err::read_to_string(&built).unwrap().lines().count(),
        4,
        "each was built once"
    );
    let jobs = cluster.slurm("squeue", &["--noheader", "--states=all", "--format=%j %P"]);
    let builders = jobs.lines().filter(|job| job.trim().ends_with("-builds urgent"));
    assert_eq!(builders.count(), 2, "one for each shard: {jobs}");
}

#[test]
fn a_shard_runs_on_the_devices_that_slurm_gave_it() {
    let Some(cluster) = Cluster::start() else { return };
    let bench = Bench::new();
    let own = |number: u32| format!("slurm-test-gpu-{number}-{}", std::process::id());
    let run = "[\"sh\", \"-c\", \"sleep 0.4; echo device=$2 sees=$CUDA_VISIBLE_DEVICES; echo ns=$((100 + $1)); echo pass\", \
               \"sh\", \"{x}\", \"{device}\"]";
    let devices = format!("devices = [\"{}\", \"{}\"]", own(0), own(1));
    define_running(&bench, "gpus", 6, run, 1, &devices);
    let cohort = "cohorts/gpus";
    // Two shards at once on one node, each with one of its two devices.
    let arguments = [
        "run",
        cohort,
        "--shard-size",
        "3",
        "--slurm=--gres=gpu:1",
        "--slurm=--nodelist=n1",
    ];
    cluster.expect(&bench, 0, &arguments);
    let mut used = std::collections::BTreeSet::new();
    for record in bench.records(cohort).iter().filter(|record| record["record"] == "run") {
        used.insert(record["device"].as_str().unwrap().to_owned());
    }
    assert_eq!(used, [own(0), own(1)].into(), "records name the node's devices");
    let mut seen = std::collections::BTreeSet::new();
    for folder in fs_err::read_dir(bench.path("cohorts/gpus/cases")).unwrap() {
        let log = fs_err::read_to_string(folder.unwrap().path().join("run.log")).unwrap();
        let line = log.lines().find(|line| line.starts_with("device=")).unwrap();
        seen.insert(line.to_owned());
    }
    // A program counts what it sees from zero.
    let expected = [0, 1].map(|number| format!("device={} sees={number}", own(0)));
    assert_eq!(seen, expected.into());
    for number in [0, 1] {
        std::fs::remove_file(coordinator::lock::device_lock_path(&own(number))).unwrap();
    }
}

/// A job that may use some cores only pins its workers to these, whatever the cores of the frozen machine were.
#[test]
fn a_shard_pins_itself_to_the_cores_that_it_may_use() {
    let bench = Bench::quick();
    let status = fs_err::read_to_string("/proc/self/status").unwrap();
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
        .unwrap()
        .trim();
    let last = list.rsplit([',', '-']).next().unwrap();
    if list == last {
        std::io::stderr()
            .write_all(b"SKIPPED: this process may use one CPU only, so none is another\n")
            .unwrap();
        return;
    }
    let lock = bench.path("device.lock").display().to_string();
    bench.expect(0, &["freeze", "cohorts/quick.toml"]);
    bench.expect(0, &["shards", "cohorts/quick", "--hand-out", "--size", "2"]);
    let run = ["run", "cohorts/quick", "--shard", "1/0", "--device-lock", &lock];
    let on_one = |slurm: bool| {
        let inner = bench.command(&run);
        let mut command = Command::new("taskset");
        command
            .args(["-c", last])
            .arg(inner.get_program())
            .args(inner.get_args())
            .current_dir(bench.root());
        for (name, value) in inner.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        if slurm {
            command.env("SLURM_JOB_ID", "1");
        }
        command.output().unwrap()
    };
    let output = on_one(true);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let measured = bench.records("cohorts/quick");
    let mut runs = measured
        .iter()
        .filter(|record| record["record"] == "run" && record["outcome"] == "correct");
    assert!(
        runs.next()
            .is_some_and(|run| run.to_string().contains(&format!("\"cores\":\"{last}\""))),
        "{measured:?}"
    );
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
