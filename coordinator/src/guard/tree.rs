//! Ending a whole tree of processes.
//!
//! The guard is a subreaper: whatever its command starts, however often that forks, leaves its group or its session,
//! comes back to it as a child when the process in between ends. "Nothing is left" is therefore exactly `ECHILD`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, kill_process_group, wait};
use tokio::signal::unix::Signal as SignalStream;

/// How long processes that got a KILL may take to vanish.
const KILL_PATIENCE: Duration = Duration::from_secs(10);

/// What one sweep over ended children found.
#[derive(Debug, Default)]
pub(super) struct Reaped {
    /// Status of the command itself, if it was among them.
    pub(super) command: Option<WaitStatus>,
    /// Whether no child is left at all.
    pub(super) none_left: bool,
}

/// Collects every child that has ended; does not wait.
pub(super) fn reap(command: Pid) -> Reaped {
    let mut reaped = Reaped::default();
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => {
                if pid == command {
                    reaped.command = Some(status);
                }
            }
            Ok(None) => return reaped,
            Err(Errno::INTR) => {}
            Err(_) => {
                reaped.none_left = true;
                return reaped;
            }
        }
    }
}

/// What ending a tree took.
#[derive(Debug, Default)]
pub(super) struct TreeEnd {
    /// Status of the command itself.
    pub(super) command: Option<WaitStatus>,
    /// Processes that were found alive.
    pub(super) found: u32,
    /// Processes that are still there.
    pub(super) left_behind: Vec<i32>,
}

/// TERM to all of the tree, grace, KILL until nothing is left. `status` is the command's own, if it has ended.
pub(super) async fn end_tree(
    command: Pid,
    status: Option<WaitStatus>,
    grace: Duration,
    children: &mut SignalStream,
) -> TreeEnd {
    let first = reap(command);
    let mut end = TreeEnd {
        command: status.or(first.command),
        ..TreeEnd::default()
    };
    if first.none_left {
        return end;
    }
    let alive = descendants();
    end.found = u32::try_from(alive.len()).unwrap_or(u32::MAX);
    signal_tree(command, &end, &alive, Signal::TERM);
    if wait_until_none(command, grace, children, &mut end).await {
        return end;
    }
    let deadline = Instant::now() + KILL_PATIENCE;
    while Instant::now() < deadline {
        // Again and again: a process may fork between the look and the signal.
        signal_tree(command, &end, &descendants(), Signal::KILL);
        if wait_until_none(command, Duration::from_millis(20), children, &mut end).await {
            return end;
        }
    }
    end.left_behind = descendants().iter().map(|pid| pid.as_raw_nonzero().get()).collect();
    end
}

/// Reaps until no child is left (true) or the time is over (false).
async fn wait_until_none(command: Pid, limit: Duration, children: &mut SignalStream, end: &mut TreeEnd) -> bool {
    let deadline = tokio::time::Instant::now() + limit;
    loop {
        let reaped = reap(command);
        end.command = end.command.or(reaped.command);
        if reaped.none_left {
            return true;
        }
        if tokio::time::timeout_at(deadline, children.recv()).await.is_err() {
            return false;
        }
    }
}

fn signal_tree(command: Pid, end: &TreeEnd, pids: &[Pid], signal: Signal) {
    // One call reaches the whole group at once. Only while the command's number can't have been given to another group.
    if end.command.is_none() {
        let _ = kill_process_group(command, signal);
    }
    for pid in pids {
        let _ = kill_process(*pid, signal);
        if signal == Signal::TERM {
            // A stopped process does not see the TERM before it goes on.
            let _ = kill_process(*pid, Signal::CONT);
        }
    }
}

/// All living descendants of this process.
fn descendants() -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for (pid, parent) in parents() {
        children.entry(parent).or_default().push(pid);
    }
    let mut found = Vec::new();
    let mut next = vec![i32::try_from(std::process::id()).unwrap_or(0)];
    while let Some(parent) = next.pop() {
        for &child in children.get(&parent).into_iter().flatten() {
            next.push(child);
            found.extend(Pid::from_raw(child));
        }
    }
    found
}

/// `(process, parent)` of every process that is not a zombie, from `/proc/*/stat`. (`/proc/*/task/*/children` would be
/// shorter, but many kernels are built without it.)
fn parents() -> Vec<(i32, i32)> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            // The command's name is in parentheses and may contain anything, so look behind the last one.
            let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
            let state = fields.next()?;
            let parent = fields.next()?.parse().ok()?;
            (state != "Z").then_some((pid, parent))
        })
        .collect()
}
