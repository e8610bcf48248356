//! Lock files: what is accepted, and that unlocking is explicit.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests too")]

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use coordinator::lock::{DeviceLock, Holder, LOCK_FOLDER, LockError, Mode, device_lock_path, holder, prepare};

fn me() -> Holder {
    Holder::this_process("cohort", "case")
}

fn take(path: &Path, mode: Mode) -> Option<DeviceLock> {
    DeviceLock::try_acquire(path, mode, &me()).unwrap()
}

#[test]
fn exclusive_and_shared() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.lock");
    let one = take(&path, Mode::Exclusive).unwrap();
    assert!(take(&path, Mode::Exclusive).is_none() && take(&path, Mode::Shared).is_none());
    assert_eq!(holder(&path).unwrap().case, "case");
    drop(one);
    assert_eq!(holder(&path), None);
    assert_eq!(std::fs::read(&path).unwrap(), b"");
    let (_two, _three) = (take(&path, Mode::Shared).unwrap(), take(&path, Mode::Shared).unwrap());
    assert!(take(&path, Mode::Exclusive).is_none());
}

#[test]
fn a_prepared_lock_can_be_taken_by_another_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.lock");
    prepare(&path).unwrap();
    let flock = |path: &Path| Command::new("flock").arg("-n").arg(path).arg("true").status().unwrap();
    assert!(flock(&path).success());
    let held = take(&path, Mode::Exclusive).unwrap();
    prepare(&path).unwrap();
    assert!(!flock(&path).success(), "preparing does not let go of a lock");
    assert_eq!(holder(&path).unwrap().case, "case");
    drop(held);
}

#[test]
fn text_of_a_killed_holder_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.lock");
    std::fs::write(&path, r#"{"pid":4194999,"cohort":"gone","case":"x"}"#).unwrap();
    assert_eq!(holder(&path), None);
    let _builds = take(&path, Mode::Shared).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"");
}

/// A child between fork and exec keeps the descriptor, and a lock that is only closed stays with it.
#[test]
fn unlocked_before_closing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.lock");
    let done = Arc::new(AtomicBool::new(false));
    let spawner = std::thread::spawn({
        let done = Arc::clone(&done);
        move || {
            for _ in 0..300 {
                Command::new("/bin/true").status().unwrap();
            }
            done.store(true, Ordering::Relaxed);
        }
    });
    let mut still_held = 0;
    while !done.load(Ordering::Relaxed) {
        still_held += u32::from(take(&path, Mode::Exclusive).is_none());
    }
    spawner.join().unwrap();
    assert_eq!(still_held, 0);
}

#[test]
fn links_pipes_and_folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (victim, link, hard) = (
        folder.path().join("v"),
        folder.path().join("l"),
        folder.path().join("h"),
    );
    std::fs::write(&victim, "precious").unwrap();
    symlink(&victim, &link).unwrap();
    let refused = |path: &Path| {
        matches!(
            DeviceLock::try_acquire(path, Mode::Exclusive, &me()),
            Err(LockError::NotPlain(_))
        )
    };
    assert!(refused(&link));
    std::fs::hard_link(&victim, &hard).unwrap();
    assert!(refused(&hard));
    let pipe = folder.path().join("p");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(refused(&pipe));
    assert!(refused(folder.path()));
    assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
}

#[test]
fn every_device_has_a_file_of_its_own() {
    let names = ["host-cpu", "gpu/0", "gpu%2f0", "gpu 0", ".", "..", "ä"];
    let paths: std::collections::BTreeSet<_> = names.iter().map(|name| device_lock_path(name)).collect();
    assert_eq!(paths.len(), names.len());
    assert!(paths.iter().all(|path| path.parent() == Some(Path::new(LOCK_FOLDER))));
    assert_eq!(device_lock_path("host-cpu").file_name().unwrap(), "host-cpu.lock");
    let long = |end: &str| device_lock_path(&format!("{}{end}", "x".repeat(300)));
    assert_ne!(long("a"), long("b"));
    assert!(long("a").file_name().unwrap().len() < 200);
}

#[test]
fn the_machine_wide_folder_is_for_everybody() {
    let path = device_lock_path(&format!("coordinator-test-{}", std::process::id()));
    let lock = take(&path, Mode::Exclusive).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&path), 0o666);
    assert_eq!(mode(Path::new(LOCK_FOLDER)), 0o1777);
    drop(lock);
    std::fs::remove_file(&path).unwrap();
}
