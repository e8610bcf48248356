//! Record files: torn tails, bad lines, writers.

use cohort::{CohortDir, CohortError, RecordKind, RecordWriter, WriterName, read_records};

use crate::made;

pub(crate) fn folder() -> (tempfile::TempDir, CohortDir) {
    let folder = tempfile::tempdir().unwrap();
    let dir = CohortDir::new(folder.path());
    fs_err::create_dir(dir.records()).unwrap();
    (folder, dir)
}

pub(crate) fn writer(dir: &CohortDir, second: i64) -> RecordWriter {
    RecordWriter::create(dir, &WriterName::new(made::at(second), 42, "host.example")).unwrap()
}

fn write(writer: &mut RecordWriter, kinds: Vec<RecordKind>) {
    for kind in kinds {
        writer.append(made::at(0), "größe \"1\"", 1, kind).unwrap();
    }
}

fn bad(dir: &CohortDir) -> (String, u64) {
    let error = read_records(dir).unwrap_err();
    let text = error.to_string();
    match error {
        CohortError::BadLine { path, line, .. } => {
            assert!(text.contains(path.to_str().unwrap()), "{text}");
            (text, line)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn names_of_writers() {
    let name = WriterName::new(made::at(1), 7, "ho/st.ä ../x_1-2");
    assert_eq!(name.as_str(), "2023-11-14T221321Z-7-hostx_1-2");
    let fraction = made::at(1) + jiff::SignedDuration::from_micros(5);
    assert_eq!(
        WriterName::new(fraction, 7, "h").as_str(),
        "2023-11-14T221321-000005Z-7-h"
    );
}

#[test]
fn what_was_written_is_read() {
    let (_folder, dir) = folder();
    let mut one = writer(&dir, 1);
    let mut written = Vec::new();
    for kind in [made::built(), made::began(0), made::correct(0)] {
        written.push(one.append(made::at(5), "c", 1, kind).unwrap());
    }
    written.push(writer(&dir, 2).append(made::at(0), "c", 2, made::retry()).unwrap());
    let read = read_records(&dir).unwrap();
    assert_eq!(read.records, written);
    assert!(read.dropped.is_empty());
    assert_eq!([0, 1, 2, 0], *written.iter().map(|r| r.sequence).collect::<Vec<_>>());
}

#[test]
fn one_file_for_each_writer() {
    let (_folder, dir) = folder();
    write(&mut writer(&dir, 1), vec![made::built()]);
    assert!(RecordWriter::create(&dir, &WriterName::new(made::at(1), 42, "host.example")).is_err());
    assert_eq!(read_records(&dir).unwrap().records.len(), 1);
}

#[test]
fn cut_at_every_byte() {
    let (_folder, dir) = folder();
    let mut first = writer(&dir, 1);
    write(&mut first, vec![made::built(), made::began(0)]);
    let mut second = writer(&dir, 2);
    write(&mut second, vec![made::began(0), made::correct(0), made::incorrect(1)]);
    let whole = fs_err::read(second.path()).unwrap();
    let ends: Vec<usize> = (1..=whole.len()).filter(|&end| whole[end - 1] == b'\n').collect();
    let all = read_records(&dir).unwrap().records;
    for cut in 0..=whole.len() {
        fs_err::write(second.path(), &whole[..cut]).unwrap();
        let read = read_records(&dir).unwrap();
        let lines = ends.iter().filter(|&&end| end <= cut).count();
        assert_eq!(read.records, all[..2 + lines], "cut at {cut}");
        let torn = cut - ends.iter().copied().filter(|&end| end <= cut).max().unwrap_or(0);
        let dropped: Vec<_> = read.dropped.iter().map(|d| (d.file.as_path(), d.bytes)).collect();
        let expected = if torn > 0 {
            vec![(second.path(), torn as u64)]
        } else {
            Vec::new()
        };
        assert_eq!(dropped, expected, "cut at {cut}");
        if cut % 8 != 0 {
            continue;
        }
        // What comes afterwards goes to another file, and the torn one stays as it is.
        let mut third = writer(&dir, 3);
        write(&mut third, vec![made::retry()]);
        assert_eq!(read_records(&dir).unwrap().records.len(), 3 + lines);
        assert_eq!(fs_err::read(second.path()).unwrap(), whole[..cut]);
        fs_err::remove_file(third.path()).unwrap();
    }
}

#[test]
fn bad_lines_are_named() {
    let (_folder, dir) = folder();
    let mut one = writer(&dir, 1);
    write(&mut one, vec![made::built(), made::began(0), made::correct(0)]);
    let whole = fs_err::read_to_string(one.path()).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let changed: [(Vec<&str>, u64, &str); 8] = [
        (vec![lines[0], "{\"wri", lines[2]], 2, "EOF"),
        (vec![lines[0], "", lines[2]], 2, "EOF"),
        (vec![lines[0], lines[0]], 2, "expected sequence number 1, found 0"),
        (vec![lines[0], lines[2]], 2, "expected sequence number 1, found 2"),
        (vec![lines[1]], 1, "expected sequence number 0, found 1"),
        (vec![lines[0], lines[1], "{}"], 3, "missing field"),
        (vec![lines[0], "[1]"], 2, "invalid"),
        (vec![lines[0], "\0\0\0"], 2, "expected value"),
    ];
    for (lines, line, words) in changed {
        fs_err::write(one.path(), format!("{}\n", lines.join("\n"))).unwrap();
        let (text, found) = bad(&dir);
        assert_eq!(found, line, "{text}");
        assert!(text.contains(words), "{text}");
    }
    let unknown = whole.replace("\"began\"", "\"begun\"");
    fs_err::write(one.path(), unknown).unwrap();
    assert!(bad(&dir).0.contains("begun"));
    fs_err::write(one.path(), [&b"{\"writer\":\"\xff\"}\n"[..]].concat()).unwrap();
    assert_eq!(bad(&dir).1, 1);
}

#[test]
fn a_copied_file_is_noticed() {
    let (_folder, dir) = folder();
    let mut one = writer(&dir, 1);
    write(&mut one, vec![made::built()]);
    fs_err::copy(one.path(), dir.record_file("copy")).unwrap();
    assert!(bad(&dir).0.contains("its writer is"));
}

#[test]
fn strangers_among_the_records() {
    let (_folder, dir) = folder();
    fs_err::write(dir.records().join(".hidden"), "x").unwrap();
    assert!(read_records(&dir).unwrap().records.is_empty());
    fs_err::write(dir.records().join("notes.txt"), "x").unwrap();
    let text = read_records(&dir).unwrap_err().to_string();
    assert!(text.contains("notes.txt`: not a record file"), "{text}");
}

#[test]
fn what_could_not_be_read_is_not_written() {
    let (_folder, dir) = folder();
    let mut one = writer(&dir, 1);
    for value in [f64::NAN, f64::INFINITY] {
        let mut measurement = made::measurement();
        measurement.samples[0].value = value;
        let kind = made::run(0, cohort::RunOutcome::Correct { measurement });
        let error = one.append(made::at(0), "c", 1, kind).unwrap_err();
        assert!(matches!(error, CohortError::Unwritable { .. }), "{error}");
    }
    write(&mut one, vec![made::built()]);
    assert_eq!(read_records(&dir).unwrap().records.len(), 1);
}
