//! Locks between processes: one per device, one per cohort. The only module that knows `fs2`.
//!
//! They are `flock` locks, so that `flock(1)` shares them and the kernel ends them with their holder: a lock *file* that
//! was left behind means nothing. The text in the file only says who holds it.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use cohort::sha256_hex;
use fs_err as fs;
use serde::{Deserialize, Serialize};

/// Folder of the device locks: local to the machine and the same for every user and coordinator on it.
pub const LOCK_FOLDER: &str = "/tmp/layout-sweep-locks";

/// Name of the device that the host's own CPU is.
pub const HOST_DEVICE: &str = "host-cpu";

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Alone: measurements.
    Exclusive,
    /// Beside other shared holders: builds.
    Shared,
}

/// Who holds a lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Process that holds it.
    pub pid: u32,
    /// The cohort it works for, or the program's name where it is not one of ours.
    pub cohort: String,
    /// The case that it runs.
    #[serde(default)]
    pub case: String,
    /// Since when; `None` where it is not one of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<jiff::Timestamp>,
}

impl Holder {
    /// This process, from now on.
    #[must_use]
    pub fn this_process(cohort: &str, case: &str) -> Self {
        Self {
            pid: std::process::id(),
            cohort: cohort.to_owned(),
            case: case.to_owned(),
            since: Some(jiff::Timestamp::now()),
        }
    }
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "pid {} (`{}`", self.pid, self.cohort)?;
        if !self.case.is_empty() {
            write!(f, ", case `{}`", self.case)?;
        }
        match self.since {
            Some(since) => write!(f, ", since {since})"),
            None => write!(f, ")"),
        }
    }
}

/// Why a lock can't be used.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The folder is a link or no folder.
    #[error("lock folder `{0}` is not a folder (a link is refused)")]
    Folder(PathBuf),
    /// The file is a link, a device, a pipe, or shared with another name.
    #[error("lock file `{0}` is not a plain file with one name (links are refused)")]
    NotPlain(PathBuf),
    /// Opening or locking failed.
    #[error("cannot use lock file `{path}`")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// File of the lock of `device`, in [`LOCK_FOLDER`]. Different devices have different files: bytes that don't belong in
/// a file name are written as `%` and two hex digits, and long names end in a digest.
#[must_use]
pub fn device_lock_path(device: &str) -> PathBuf {
    use std::fmt::Write as _;
    let mut name = String::new();
    for (at, byte) in device.bytes().enumerate() {
        if byte.is_ascii_alphanumeric() || b"-_".contains(&byte) || (byte == b'.' && at > 0) {
            name.push(char::from(byte));
        } else {
            let _ = write!(name, "%{byte:02x}");
        }
    }
    if name.len() > 120 {
        name.truncate(80);
        name.push('-');
        name.push_str(&sha256_hex(device.as_bytes()));
    }
    Path::new(LOCK_FOLDER).join(format!("{name}.lock"))
}

/// Makes the lock's file, and the usual folder if it lies there, for a program that takes the lock itself. Whoever has
/// the lock is not disturbed.
pub fn prepare(path: &Path) -> Result<(), LockError> {
    open(path).map(|_| ())
}

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub struct DeviceLock {
    file: File,
    mode: Mode,
}

impl DeviceLock {
    /// Takes the lock if it is free. `Ok(None)` when somebody else has it.
    pub fn try_acquire(path: &Path, mode: Mode, holder: &Holder) -> Result<Option<Self>, LockError> {
        let file = open(path)?;
        let tried = match mode {
            Mode::Exclusive => fs2::FileExt::try_lock_exclusive(&file),
            Mode::Shared => fs2::FileExt::try_lock_shared(&file),
        };
        match tried {
            Ok(()) => Self { file, mode }.signed(path, holder).map(Some),
            Err(error) if error.raw_os_error() == fs2::lock_contended_error().raw_os_error() => Ok(None),
            Err(source) => Err(io_error(path, source)),
        }
    }

    /// Takes the lock, however long that takes: sleeps in the kernel, so waiting costs the holder nothing.
    pub fn acquire(path: &Path, mode: Mode, holder: &Holder) -> Result<Self, LockError> {
        let file = open(path)?;
        loop {
            let locked = match mode {
                Mode::Exclusive => fs2::FileExt::lock_exclusive(&file),
                Mode::Shared => fs2::FileExt::lock_shared(&file),
            };
            match locked {
                Ok(()) => return Self { file, mode }.signed(path, holder),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(io_error(path, source)),
            }
        }
    }

    /// Whether the file at `path` is still the locked one: it may have been removed while somebody waited for it.
    pub(crate) fn is_of(&self, path: &Path) -> bool {
        let same = |a: &std::fs::Metadata, b: &std::fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
        let own = self.file.metadata();
        let there = std::fs::symlink_metadata(path);
        matches!((own, there), (Ok(own), Ok(there)) if same(&own, &there))
    }

    /// Writes who holds it. While it is held shared nobody holds it exclusively, so text that is found then was left by
    /// a holder that was killed: it is cleared.
    fn signed(self, path: &Path, holder: &Holder) -> Result<Self, LockError> {
        let sign = || -> io::Result<()> {
            self.file.set_len(0)?;
            if self.mode == Mode::Exclusive {
                let mut line = serde_json::to_vec(holder)?;
                line.push(b'\n');
                self.file.write_all_at(&line, 0)?;
            }
            Ok(())
        };
        sign().map_err(|source| io_error(path, source))?;
        Ok(self)
    }
}

impl Drop for DeviceLock {
    fn drop(&mut self) {
        if self.mode == Mode::Exclusive {
            let _ = self.file.set_len(0);
        }
        // Closing alone is not enough: a child between fork and exec still has the descriptor, and with it the lock.
        let _ = fs2::FileExt::unlock(&self.file);
    }
}

/// Who holds the lock at `path`, by what the kernel knows and what the holder wrote (`flock(1)` and shared holders write
/// nothing: then the program's name stands for the cohort). `None` when nobody can be named: the lock is free, or a
/// process of another namespace has it. Takes no lock.
#[must_use]
pub fn holder(path: &Path) -> Option<Holder> {
    let pids = kernel_holders(path);
    let mut text = String::new();
    let file = open_existing(path).ok()?;
    file.take(4096).read_to_string(&mut text).ok()?;
    // Text that was left by a killed holder is not believed.
    if let Ok(written) = serde_json::from_str::<Holder>(text.trim())
        && pids.contains(&written.pid)
    {
        return Some(written);
    }
    pids.into_iter().find_map(|pid| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        Some(Holder {
            pid,
            cohort: name.trim().to_owned(),
            case: String::new(),
            since: None,
        })
    })
}

/// Processes that hold a `flock` on this file by `/proc/locks`: `1: FLOCK  ADVISORY  WRITE 812 fe:00:1234 0 EOF`. Lines
/// of processes that wait have `->` in the second place.
fn kernel_holders(path: &Path) -> Vec<u32> {
    let Ok(meta) = std::fs::metadata(path) else {
        return Vec::new();
    };
    let Ok(locks) = std::fs::read_to_string("/proc/locks") else {
        return Vec::new();
    };
    let inode = format!(":{}", meta.ino());
    let holders = locks.lines().filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        match fields[..] {
            [_, "FLOCK", _, _, pid, file, ..] if file.ends_with(&inode) => pid.parse().ok(),
            _ => None,
        }
    });
    holders.collect()
}

/// Opens the lock file, makes it and the machine-wide folder if they are not there. Every user may lock it.
fn open(path: &Path) -> Result<File, LockError> {
    if let Some(folder) = path.parent().filter(|folder| *folder == Path::new(LOCK_FOLDER)) {
        make_folder(folder)?;
    }
    // Never `O_CREAT` alone: in a sticky folder the kernel refuses that for files of other users.
    for _ in 0..100 {
        let opened = open_existing(path);
        let missing = matches!(&opened, Err(LockError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound);
        if !missing {
            return opened;
        }
        match options().create_new(true).open(path) {
            Ok(file) => {
                // The umask does not apply to this.
                let _ = file.set_permissions(PermissionsExt::from_mode(0o666));
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(io_error(path, source)),
        }
    }
    Err(LockError::NotPlain(path.to_owned()))
}

fn open_existing(path: &Path) -> Result<File, LockError> {
    let file = match options().open(path) {
        Ok(file) => file,
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err(LockError::NotPlain(path.to_owned()));
        }
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
            return Err(LockError::NotPlain(path.to_owned()));
        }
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
            return Err(LockError::NotPlain(path.to_owned()));
        }
        Err(source) => return Err(io_error(path, source)),
    };
    let meta = file.metadata().map_err(|source| io_error(path, source))?;
    if meta.is_file() && meta.nlink() == 1 {
        Ok(file)
    } else {
        Err(LockError::NotPlain(path.to_owned()))
    }
}

fn options() -> std::fs::OpenOptions {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let mut options = std::fs::OpenOptions::new();
    options
        .read(true)
        .write(true)
        .mode(0o666)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or(0));
    options
}

fn make_folder(folder: &Path) -> Result<(), LockError> {
    match fs::create_dir(folder) {
        Ok(()) => {
            fs::set_permissions(folder, PermissionsExt::from_mode(0o1777))
                .map_err(|source| io_error(folder, source))?;
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(source) => return Err(io_error(folder, source)),
    }
    let meta = fs::symlink_metadata(folder).map_err(|source| io_error(folder, source))?;
    if meta.is_dir() {
        Ok(())
    } else {
        Err(LockError::Folder(folder.to_owned()))
    }
}

fn io_error(path: &Path, source: io::Error) -> LockError {
    LockError::Io {
        path: path.to_owned(),
        source,
    }
}
