//! SIGKILL in the middle of a freeze, for real: the test starts itself again and kills what it started.

use std::process::{Command, Stdio};
use std::time::Duration;

use cohort::{CohortDir, Frozen, verify};

use crate::made;

const FOLDER: &str = "COHORT_TEST_KILLED_FOLDER";

fn draft(folder: &std::path::Path) -> cohort::Draft {
    let mut draft = made::draft(folder);
    for number in 0..12 {
        draft.add_unit(made::unit("up", &format!("int k{number};"))).unwrap();
    }
    draft
}

#[test]
fn a_killed_freeze_leaves_no_half_cohort() {
    if let Ok(folder) = std::env::var(FOLDER) {
        let folder = std::path::Path::new(&folder);
        draft(folder)
            .freeze(&CohortDir::new(folder.join("sweep")), std::process::id())
            .unwrap();
        return;
    }
    let (mut half, mut whole) = (0, 0);
    for step in 0..30 {
        let folder = tempfile::tempdir().unwrap();
        let dir = CohortDir::new(folder.path().join("sweep"));
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "killed::a_killed_freeze_leaves_no_half_cohort"])
            .env(FOLDER, folder.path());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Later and later, until it is too late once.
        std::thread::sleep(Duration::from_secs_f64(0.002 * 1.35_f64.powi(step)));
        child.kill().unwrap();
        child.wait().unwrap();
        let left = made::names(folder.path())
            .iter()
            .any(|name| name.starts_with(".sweep.freezing-"));
        half += usize::from(left);
        if dir.path().exists() {
            assert!(!left);
            whole += 1;
        } else {
            draft(folder.path()).freeze(&dir, std::process::id()).unwrap();
        }
        assert_eq!(made::names(folder.path()), ["program", "sweep"]);
        assert_eq!(verify(&Frozen::open(&dir).unwrap()).unwrap(), []);
        if whole == 1 {
            break;
        }
    }
    assert!(
        half > 0 && whole == 1,
        "killed in the middle {half} times, after the end {whole} times"
    );
}
