//! `tests/FAULTS.md` names tests that exist.

use std::path::Path;

#[test]
fn every_fault_has_a_test_that_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = fs_err::read_to_string(root.join("tests/FAULTS.md")).unwrap();
    let mut rows = 0;
    for row in table
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| fault "))
    {
        let named: Vec<(&str, &str)> = row.split('`').filter_map(|word| word.split_once(".rs::")).collect();
        assert!(!named.is_empty(), "no test in `{row}`");
        for (file, name) in named {
            let text = fs_err::read_to_string(root.join(format!("{file}.rs"))).unwrap();
            let before = text.find(&format!("fn {name}(")).map(|at| &text[..at]);
            // Its attributes may stand between.
            let is_test = before.is_some_and(|text| text.lines().rev().take(5).any(|line| line.trim() == "#[test]"));
            assert!(is_test, "{file}.rs has no test `{name}`");
        }
        rows += 1;
    }
    assert!(rows > 50, "{rows}");
}
