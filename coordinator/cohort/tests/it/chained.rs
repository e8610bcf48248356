//! Record files whose lines are not what was written.

use std::collections::BTreeMap;

use cohort::{Difference, Frozen, Growth, RecordWriter, Snapshot, WriterName, audit, verify};

use crate::made;

/// A cohort with one record file: its path and its lines.
fn recorded() -> (tempfile::TempDir, Frozen, std::path::PathBuf, Vec<String>) {
    let (folder, frozen) = made::frozen();
    let name = WriterName::new(made::at(0), 1, "h");
    let mut writer = RecordWriter::create(frozen.dir(), &name).unwrap();
    let kinds = [
        made::built(),
        made::began(0),
        made::correct(0),
        made::began(1),
        made::correct(1),
    ];
    for kind in kinds {
        writer.append(made::at(0), "w control", 1, kind).unwrap();
    }
    let path = writer.path().to_owned();
    let text = fs_err::read_to_string(&path).unwrap();
    let lines = text.split_inclusive('\n').map(str::to_owned).collect();
    (folder, frozen, path, lines)
}

/// The differences after `lines` are written, each by its line.
fn found(frozen: &Frozen, path: &std::path::Path, lines: &[String]) -> Vec<(String, Difference)> {
    fs_err::write(path, lines.concat()).unwrap();
    let name = format!("records/{}, line ", path.file_name().unwrap().to_str().unwrap());
    let differences = verify(frozen).unwrap().into_iter();
    differences
        .map(|difference| (difference.name.strip_prefix(&name).unwrap().to_owned(), difference))
        .collect()
}

fn places(found: &[(String, Difference)]) -> Vec<&str> {
    found.iter().map(|(place, _)| place.as_str()).collect()
}

/// The digest that stands in a line.
fn digest(line: &str) -> &str {
    &line[line.len() - 19..line.len() - 3]
}

fn without(line: &str) -> String {
    line.replace(&format!(",\"chain\":\"{}\"", digest(line)), "")
}

/// The lines with the numbers that a reader expects.
fn numbered(lines: &[&String]) -> Vec<String> {
    let number = |line: &str| {
        line.split("\"sequence\":")
            .nth(1)
            .unwrap()
            .split(',')
            .next()
            .unwrap()
            .to_owned()
    };
    let lines = lines.iter().zip(0..);
    lines
        .map(|(line, n)| {
            line.replace(
                &format!("\"sequence\":{},", number(line)),
                &format!("\"sequence\":{n},"),
            )
        })
        .collect()
}

#[test]
fn an_edited_value_is_found_in_its_line() {
    let (_folder, frozen, path, lines) = recorded();
    assert_eq!(found(&frozen, &path, &lines), []);
    for at in 0..lines.len() {
        let mut edited = lines.clone();
        edited[at] = edited[at].replace("\"attempt\":1", "\"attempt\":2");
        assert_ne!(edited[at], lines[at]);
        let found = found(&frozen, &path, &edited);
        assert_eq!(places(&found), [(at + 1).to_string()]);
        let difference = &found[0].1;
        assert_eq!(difference.expected.as_deref(), Some(digest(&lines[at])));
        assert!(
            difference.found.as_ref().is_some_and(|found| found.len() == 16),
            "{difference}"
        );
    }
    // The digest itself, and one that was taken out.
    let mut edited = lines.clone();
    edited[4] = edited[4].replace(digest(&lines[4]), "0123456789abcdef");
    assert_eq!(places(&found(&frozen, &path, &edited)), ["5"]);
    edited = lines.clone();
    edited[1] = without(&edited[1]);
    assert_eq!(
        places(&found(&frozen, &path, &edited)),
        ["3", "2"],
        "what follows is not what followed"
    );
}

#[test]
fn removed_and_moved_lines_are_found_even_if_they_are_numbered_anew() {
    let (_folder, frozen, path, lines) = recorded();
    let removed = numbered(&[&lines[0], &lines[2], &lines[3], &lines[4]]);
    assert_eq!(places(&found(&frozen, &path, &removed)), ["2", "3", "4"]);
    let first = numbered(&[&lines[1], &lines[2], &lines[3], &lines[4]]);
    assert_eq!(places(&found(&frozen, &path, &first)), ["1", "2", "3", "4"]);
    let moved = numbered(&[&lines[0], &lines[3], &lines[2], &lines[1], &lines[4]]);
    assert_eq!(places(&found(&frozen, &path, &moved)), ["2", "3", "4", "5"]);
    fs_err::write(&path, lines.concat()).unwrap();
    assert_eq!(verify(&frozen).unwrap(), []);
}

#[test]
fn a_file_that_was_cut_anywhere_is_as_it_was_written() {
    let (_folder, frozen, path, lines) = recorded();
    let whole = lines.concat();
    let last = whole.len() - lines[4].len();
    for cut in (0..=whole.len()).filter(|cut| cut % 11 == 0 || *cut >= last - 1) {
        fs_err::write(&path, &whole[..cut]).unwrap();
        assert_eq!(verify(&frozen).unwrap(), [], "cut at {cut}");
    }
}

#[test]
fn records_of_earlier_versions_are_counted() {
    let (_folder, frozen, path, lines) = recorded();
    let undigested = || audit(&Snapshot::read(frozen.dir()).unwrap()).unwrap().undigested;
    assert_eq!(undigested(), 0);
    let older: Vec<String> = lines.iter().map(|line| without(line)).collect();
    assert_eq!(found(&frozen, &path, &older), []);
    assert_eq!(undigested(), 5);
    // What goes on with such a cohort writes a file of its own.
    let mut next = RecordWriter::create(frozen.dir(), &WriterName::new(made::at(9), 1, "h")).unwrap();
    next.append(made::at(9), "w control", 2, made::retry()).unwrap();
    assert_eq!((verify(&frozen).unwrap(), undigested()), (Vec::new(), 5));
}

/// The cohort grows, and more is recorded afterwards.
fn grown() -> (tempfile::TempDir, Frozen, std::path::PathBuf, Vec<String>) {
    let (folder, mut frozen, path, _) = recorded();
    let more = Growth::Finalists {
        rounds: BTreeMap::from([("w control".to_owned(), vec![1])]),
    };
    frozen.grow(made::at(5), "more", more).unwrap();
    let seen = &frozen.additions()[0].records;
    assert_eq!(seen.values().map(|head| head.lines).collect::<Vec<_>>(), [5]);
    let mut next = RecordWriter::create(frozen.dir(), &WriterName::new(made::at(6), 1, "h")).unwrap();
    next.append(made::at(6), "w control", 1, made::began(2)).unwrap();
    next.append(made::at(6), "w control", 1, made::correct(2)).unwrap();
    let text = fs_err::read_to_string(&path).unwrap();
    let lines = text.split_inclusive('\n').map(str::to_owned).collect();
    (folder, frozen, path, lines)
}

#[test]
fn what_an_addition_saw_can_not_go_missing() {
    let (_folder, frozen, path, lines) = grown();
    let name = format!("records/{}", path.file_name().unwrap().to_str().unwrap());
    let differs = |expected: &str, found: Option<&str>| {
        let difference = Difference {
            name: name.clone(),
            expected: Some(expected.to_owned()),
            found: found.map(str::to_owned),
        };
        assert_eq!(verify(&frozen).unwrap(), [difference]);
    };
    assert_eq!(verify(&frozen).unwrap(), []);
    // As it is read again, too.
    assert_eq!(verify(&Frozen::open(frozen.dir()).unwrap()).unwrap(), []);
    fs_err::write(&path, lines[..4].concat()).unwrap();
    differs("5 lines", Some("4 lines"));
    fs_err::write(&path, "").unwrap();
    differs("5 lines", Some("0 lines"));
    fs_err::remove_file(&path).unwrap();
    differs("5 lines", None);
    // Another file whose digests fit together, made from what was left out of the first.
    let mut forged = RecordWriter::create(frozen.dir(), &WriterName::new(made::at(0), 1, "h")).unwrap();
    for _ in 0..5 {
        forged.append(made::at(0), "w control", 1, made::retry()).unwrap();
    }
    let found = verify(&frozen).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].name, format!("{name}, line 5"));
    assert_eq!(found[0].expected.as_deref(), Some(digest(&lines[4])));
}

#[test]
fn what_was_written_after_the_last_addition_may_be_cut() {
    let (_folder, frozen, _, _) = grown();
    let later = frozen.dir().record_file(WriterName::new(made::at(6), 1, "h").as_str());
    let text = fs_err::read(&later).unwrap();
    for cut in 0..=text.len() {
        fs_err::write(&later, &text[..cut]).unwrap();
        assert_eq!(verify(&frozen).unwrap(), [], "cut at {cut}");
    }
    fs_err::remove_file(&later).unwrap();
    assert_eq!(verify(&frozen).unwrap(), []);
}
