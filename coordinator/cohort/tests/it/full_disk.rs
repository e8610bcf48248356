//! A disk that takes no more, for real: the test starts itself again in a process whose files may not grow beyond a
//! limit, so that a write is cut short and the next one refused.

use std::process::Command;

use cohort::{CohortDir, RecordWriter, WriterName, read_records, write_atomic};

use crate::made;

const FOLDER: &str = "COHORT_TEST_FULL_DISK_FOLDER";
/// `ulimit -f` counts 512 bytes in some shells and 1,024 in others.
const BLOCKS: &str = "3";

#[test]
fn nothing_half_is_left_when_the_disk_is_full() {
    if let Ok(folder) = std::env::var(FOLDER) {
        return inside(&CohortDir::new(folder));
    }
    let (_folder, dir) = crate::recording::folder();
    // Without the trap the signal of the limit would end the process before the write can fail.
    let script = format!("trap '' XFSZ; ulimit -f {BLOCKS}; exec \"$0\" --exact \"$1\" --nocapture");
    let name = "full_disk::nothing_half_is_left_when_the_disk_is_full";
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new("sh");
    // Its output must not be a file with the same limit.
    command
        .arg("-c")
        .arg(script)
        .arg(program)
        .arg(name)
        .env(FOLDER, dir.path());
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && printed.contains("1 passed"),
        "{printed}{output:?}"
    );
    assert!(dir.path().join("inside was here").exists());
}

fn inside(dir: &CohortDir) {
    let mut writer = RecordWriter::create(dir, &WriterName::new(made::at(0), 1, "h")).unwrap();
    let mut written = 0;
    let error = loop {
        match writer.append(made::at(0), "c", 1, made::correct(0)) {
            Ok(_) => written += 1,
            Err(error) => break error,
        }
        assert!(written < 100, "the limit is not in force");
    };
    assert!(error.to_string().contains("bytes were written"), "{error}");
    let whole = fs_err::read(writer.path()).unwrap();
    assert_eq!(whole.last(), Some(&b'\n'), "the torn line was taken back");
    // A shorter one may still fit; whatever is refused leaves whole lines only, and numbers go on without a gap.
    for _ in 0..100 {
        written += usize::from(writer.append(made::at(0), "c", 1, made::began(0)).is_ok());
    }
    let read = read_records(dir).unwrap();
    assert_eq!((read.records.len(), read.dropped.len()), (written, 0));

    let file = dir.path().join("manifest.json");
    write_atomic(&file, b"old").unwrap();
    assert!(write_atomic(&file, &[b'x'; 10_000]).is_err());
    assert_eq!(fs_err::read(&file).unwrap(), b"old");
    assert_eq!(made::names(dir.path()), ["manifest.json", "records"]);

    // A whole freeze fails on its largest file and leaves nothing.
    let program = tempfile::tempdir().unwrap();
    let mut draft = made::draft(program.path());
    draft.add_unit(made::unit("large", &"x".repeat(10_000))).unwrap();
    assert!(draft.freeze(&CohortDir::new(dir.path().join("sweep")), 1).is_err());
    assert_eq!(made::names(dir.path()), ["manifest.json", "records"]);
    fs_err::write(dir.path().join("inside was here"), "").unwrap();
}
