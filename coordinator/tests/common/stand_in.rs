//! A coordinator in a process of its own, and the processes of its scene.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use cohort::ShardId;
use coordinator::lock::{DeviceLock, Holder, Mode};
use coordinator::sweep::Retry;
use coordinator::{BuildCache, Event, Progress, run};
use rustix::process::{Pid, Signal, kill_process};
use target_api::Exclusive;

use super::scripted::Scene;
use super::{alive, within};

const FOLDER: &str = "STAND_IN_FOLDER";
const CACHE: &str = "STAND_IN_CACHE";
/// File beside the cohort that gets one letter each time it says that it comes to its end.
pub const FINISHING: &str = "finishing";
/// Makes it begin failed cases again.
pub const RETRY: &str = "STAND_IN_RETRY";
/// Whether case and control take turns.
const ALTERNATING: &str = "STAND_IN_ALTERNATING";
/// How many rounds lie side by side, where they do.
const SIDE_BY_SIDE: &str = "STAND_IN_SIDE_BY_SIDE";
/// The shard that it works on, of the first batch.
const SHARD: &str = "STAND_IN_SHARD";

/// What the ignored test `stand_in` of each file does: runs the cohort and ends with the exit code of the program.
pub fn main() {
    let mut scene = Scene::attached(&PathBuf::from(std::env::var(FOLDER).unwrap()));
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u32>().unwrap());
    scene.target.alternating = std::env::var_os(ALTERNATING).is_some();
    if number(SIDE_BY_SIDE).is_some() {
        scene.target.exclusive = Exclusive::Nothing;
    }
    let mut options = scene.options();
    options.jobs = number(SIDE_BY_SIDE).map_or(options.jobs, |jobs| jobs as usize);
    options.shard = number(SHARD).map(|shard| ShardId { batch: 1, shard });
    options.cache = std::env::var_os(CACHE).map(BuildCache::new);
    options.retry = std::env::var_os(RETRY).map(|_| Retry::Failed).into_iter().collect();
    let told = scene.target.calls.with_file_name(FINISHING);
    let mut on_event = |event: &Event<'_>, _: &Progress| {
        if matches!(event, Event::Finishing) {
            let file = std::fs::OpenOptions::new().append(true).create(true).open(&told);
            file.unwrap().write_all(b"x").unwrap();
        }
    };
    let code = match run(&scene.cohort(), &options, None, &mut on_event) {
        Ok(summary) => summary.exit_code(),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:?}");
            error.exit_code()
        }
    };
    std::process::exit(i32::from(code.code()));
}

/// The arguments and variables by which this test program becomes that coordinator.
pub fn prepare(command: &mut Command, scene: &Scene, cache: Option<&Path>) {
    command
        .args(["--exact", "stand_in", "--ignored", "--nocapture"])
        .env(FOLDER, scene.target.calls.parent().unwrap())
        .stdout(Stdio::null());
    if let Some(cache) = cache {
        command.env(CACHE, cache);
    }
    if scene.target.alternating {
        command.env(ALTERNATING, "1");
    }
    if scene.target.exclusive == Exclusive::Nothing {
        command.env(SIDE_BY_SIDE, "4");
    }
}

pub fn start(scene: &Scene) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    prepare(&mut command, scene, None);
    command.stderr(Stdio::null()).spawn().unwrap()
}

/// Starts the worker of a shard of the first batch.
pub fn start_on_shard(scene: &Scene, shard: u32) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    prepare(&mut command, scene, None);
    command
        .env(SHARD, shard.to_string())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Starts one by a shell that first runs `before`; what it says on standard error is kept.
pub fn start_after(before: &str, scene: &Scene) -> Child {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("{before}; exec \"$0\" \"$@\""))
        .arg(std::env::current_exe().unwrap());
    prepare(&mut command, scene, None);
    command.stderr(Stdio::piped()).spawn().unwrap()
}

pub fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Processes that rounds of the scene started.
pub fn running(scene: &Scene) -> Vec<i32> {
    alive(scene.target.calls.to_str().unwrap())
}

/// The program that a process runs.
pub fn name(pid: i32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
    name.unwrap_or_default().trim().to_owned()
}

/// Children of `of`.
pub fn children(of: u32) -> Vec<i32> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let parent = |pid: i32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    pids.filter(|pid| parent(*pid) == Some(of)).collect()
}

pub fn device_lock(scene: &Scene) -> PathBuf {
    scene.target.calls.with_file_name("device.lock")
}

pub fn is_free(path: &Path) -> bool {
    DeviceLock::try_acquire(path, Mode::Exclusive, &Holder::this_process("test", ""))
        .unwrap()
        .is_some()
}

pub fn assert_gone(scene: &Scene) {
    assert!(within(Duration::from_secs(10), || running(scene).is_empty()));
    assert!(within(Duration::from_secs(10), || is_free(&device_lock(scene))));
}
