//! What a killed guard left behind.
//!
//! Its command dies with it (parent-death signal), but what the command had started does not. All of it inherited an
//! environment variable with a value that no other guard has.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::guard::MARK;

/// How long processes that got a KILL may take to vanish.
const PATIENCE: Duration = Duration::from_secs(10);

/// Ends every process that carries the mark `token`.
pub(crate) async fn end(token: &str) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let found = marked(token);
        if found.is_empty() || Instant::now() > deadline {
            return;
        }
        for pid in found {
            let _ = kill_process(pid, Signal::KILL);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Processes of this user that carry the mark. (A zombie's environment is empty, so none is among them.)
fn marked(token: &str) -> Vec<Pid> {
    let wanted = format!("{MARK}={token}");
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            let environment = std::fs::read(entry.path().join("environ")).ok()?;
            let found = environment.split(|byte| *byte == 0).any(|one| one == wanted.as_bytes());
            found.then(|| Pid::from_raw(pid)).flatten()
        })
        .collect()
}
