//! Commands under guards, and looking for what they left.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "each test file uses its own part"
)]

pub mod scripted;
pub mod stand_in;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use coordinator::guard::LockRequest;
use coordinator::lock::Mode;
use coordinator::process::Launcher;
use target_api::CommandSpec;

/// Variable by which a test knows its own processes.
pub const MARK: &str = "COORDINATOR_TEST_MARK";

pub fn launcher() -> Launcher {
    let mut launcher = Launcher::new(env!("CARGO_BIN_EXE_coordinator-guard"));
    launcher.grace = Duration::from_millis(300);
    launcher
}

/// CPU time that this process alone has used (its children's is not in it).
pub fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.try_into().unwrap())
}

pub fn shell(script: &str, mark: &str) -> CommandSpec {
    CommandSpec {
        program: "/bin/sh".to_owned(),
        arguments: vec!["-c".to_owned(), script.to_owned()],
        environment: BTreeMap::from([(MARK.to_owned(), mark.to_owned())]),
    }
}

pub fn lock(path: &Path, mode: Mode) -> LockRequest {
    LockRequest {
        path: path.to_owned(),
        mode,
        cohort: "test-cohort".to_owned(),
        case: "test-case".to_owned(),
        timeout_ms: Some(20_000),
    }
}

/// Processes that carry `mark`, zombies apart.
pub fn alive(mark: &str) -> Vec<i32> {
    let wanted = format!("{MARK}={mark}");
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let environment = std::fs::read(entry.path().join("environ")).ok()?;
            environment
                .split(|b| *b == 0)
                .any(|one| one == wanted.as_bytes())
                .then_some(pid)
        })
        .collect()
}

/// Waits until `condition` holds; false after `limit`.
pub fn within(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < limit {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// The parent of a process.
pub fn parent(pid: i32) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let rest = stat.rsplit_once(')').unwrap().1;
    rest.split_whitespace().nth(1).unwrap().parse().unwrap()
}

pub fn outputs(folder: &Path) -> (PathBuf, PathBuf) {
    (folder.join("out"), folder.join("err"))
}
