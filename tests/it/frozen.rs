//! A cohort is run by the program that froze it, and can be looked at from another shell meanwhile.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::command::{runs, scripted};
use crate::support::{Bench, text};

const RUN: &str = "run = [\"./run.sh\", \"{n}\"]";

/// This program with a byte more: it does the same and is another one.
fn another_program(bench: &Bench) -> std::path::PathBuf {
    let path = bench.path("another layout-sweep");
    // Written by another process: a file that this one has open for writing is busy in whatever other tests fork just then.
    let write = "cat \"$1\" > \"$2\" && echo >> \"$2\" && chmod +x \"$2\"";
    let status = Command::new("/bin/sh")
        .args(["-c", write, "write", env!("CARGO_BIN_EXE_layout-sweep")])
        .arg(&path)
        .status();
    assert!(status.unwrap().success());
    path
}

fn by(bench: &Bench, program: &std::path::Path, arguments: &[&str]) -> Command {
    let usual = bench.command(arguments);
    let mut command = Command::new(program);
    command.args(arguments).current_dir(bench.root());
    command.envs(usual.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

/// Waits until a round of `cohort` has begun.
fn until_it_runs(bench: &Bench, cohort: &str, child: &mut Child) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while bench.records(cohort).iter().all(|record| record["record"] != "began") {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it began anything");
        assert!(Instant::now() < deadline, "it never began");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_program_that_froze_a_cohort_runs_it() {
    let bench = scripted("sleep 1; echo \"time=$1 pass\"", RUN);
    bench.expect(0, &["freeze", "cohorts/script.toml"]);
    let lock = bench.path("device.lock").display().to_string();
    let another = another_program(&bench);
    let frozen = bench
        .path("cohorts/script/toolchain/layout-sweep")
        .canonicalize()
        .unwrap();
    let run = ["run", "cohorts/script", "--only", "all-00000", "--device-lock", &lock];
    let mut child = by(&bench, &another, &run)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until_it_runs(&bench, "cohorts/script", &mut child);
    let program = std::fs::read_link(format!("/proc/{}/exe", child.id())).unwrap();
    assert_eq!(program, frozen, "the same process goes on as the frozen program");
    assert!(child.wait().unwrap().success());
    assert_eq!(runs(&bench, "cohorts/script").len(), 2);

    // A frozen program that was changed takes nothing over.
    fs_err::set_permissions(&frozen, PermissionsExt::from_mode(0o755)).unwrap();
    let mut file = fs_err::OpenOptions::new().append(true).open(&frozen).unwrap();
    file.write_all(b"\n\n").unwrap();
    drop(file);
    for program in [&another, &env!("CARGO_BIN_EXE_layout-sweep").into()] {
        let output = by(&bench, program, &["run", "cohorts/script", "--device-lock", &lock])
            .output()
            .unwrap();
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{stderr}");
        assert!(
            stderr.contains("toolchain/layout-sweep") && stderr.contains("help: "),
            "{stderr}"
        );
    }
    assert_eq!(runs(&bench, "cohorts/script").len(), 2, "nothing was run");
}

#[test]
fn status_shows_what_runs_and_watches_it_to_its_end() {
    let bench = scripted("case $1 in 2) exit 7;; esac; sleep 1; echo \"time=$1 pass\"", RUN);
    bench.expect(0, &["freeze", "cohorts/script.toml"]);
    let lock = bench.path("device.lock").display().to_string();
    let run = ["run", "cohorts/script", "--device-lock", &lock];
    let mut child = bench
        .command(&run)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until_it_runs(&bench, "cohorts/script", &mut child);
    let status = ["status", "cohorts/script", "--device-lock", &lock];
    let seen = bench.json(&[&status[..], &["--format", "json"]].concat());
    assert_eq!(seen["coordinator"]["pid"], child.id());
    assert!(seen["rounds_left"].as_u64().unwrap() > 0, "{seen}");
    // Between two rounds nothing runs; it does most of the time.
    let deadline = Instant::now() + Duration::from_secs(30);
    let shown = loop {
        let (stdout, _) = bench.expect(0, &status);
        if stdout.contains("on `host-cpu`: `all-") {
            break stdout;
        }
        assert!(Instant::now() < deadline, "{stdout}");
    };
    assert!(shown.contains(&format!("running: pid {}", child.id())), "{shown}");
    assert!(
        shown.lines().all(|line| line.chars().count() <= 80),
        "readable at 80 columns: {shown}"
    );
    // It goes on until nothing is left, and disturbs nobody.
    let (watched, _) = bench.expect(0, &[&status[..], &["--watch", "--every", "1"]].concat());
    assert!(watched.matches("running: pid").count() > 1, "{watched}");
    assert!(
        watched.ends_with('\n') && watched.contains("left: 0 builds, 0 rounds"),
        "{watched}"
    );
    assert!(watched.contains("failed: all-00001: "), "{watched}");
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!(runs(&bench, "cohorts/script").len(), 11);
}
