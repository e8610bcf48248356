//! Temporary folders that do not outlive a killed program for long: the next one removes what it left.

use std::io;
use std::path::Path;

use fs_err as fs;
use tempfile::TempDir;

const PREFIX: &str = "layout-sweep-";

/// Makes a folder beside other temporary files that goes when it is dropped. Before, folders of this user are removed
/// whose process was killed before it could do that.
pub fn scratch(what: &str) -> io::Result<TempDir> {
    let all = std::env::temp_dir();
    sweep_out(&all, what);
    tempfile::Builder::new()
        .prefix(&format!("{PREFIX}{what}-{}-", std::process::id()))
        .tempdir_in(all)
}

/// What can't be read or removed is somebody else's, or the next one's work.
fn sweep_out(all: &Path, what: &str) {
    let Ok(entries) = fs::read_dir(all) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let rest = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.strip_prefix(what)?.strip_prefix('-'));
        let pid = rest.and_then(|rest| rest.split_once('-')?.0.parse::<u32>().ok());
        if let Some(pid) = pid
            && !Path::new("/proc").join(pid.to_string()).exists()
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_dead_processes_go_and_others_stay() {
        let all = tempfile::tempdir().unwrap();
        let mut dead = std::process::Command::new("true").spawn().unwrap();
        dead.wait().unwrap();
        let stays = [
            format!("layout-sweep-try-{}-a", std::process::id()),
            format!("layout-sweep-probe-{}-a", dead.id()),
            "layout-sweep-try-x-a".to_owned(),
            "other".to_owned(),
        ];
        let goes = format!("layout-sweep-try-{}-a", dead.id());
        for name in stays.iter().chain([&goes]) {
            fs::create_dir_all(all.path().join(name).join("inner")).unwrap();
        }
        sweep_out(all.path(), "try");
        assert!(!all.path().join(goes).exists());
        assert!(stays.iter().all(|name| all.path().join(name).exists()));
    }
}
