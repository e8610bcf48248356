//! What the files and tables of a typical sweep say, whole.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use analyzer::report::{markdown, schema, summary};
use analyzer::tables;

#[test]
fn report() {
    let mut analysis = common::typical().analysis();
    let folder = tempfile::tempdir().unwrap();
    analyzer::report::write(&mut analysis, folder.path()).unwrap();
    insta::assert_snapshot!(markdown(&analysis));
}

#[test]
fn summary_csv() {
    insta::assert_snapshot!(String::from_utf8(summary(&common::typical().analysis()).unwrap()).unwrap());
}

#[test]
fn statistics_json() {
    insta::assert_json_snapshot!(common::typical().analysis());
}

#[test]
fn terminal() {
    let shown = tables::render(&common::typical().analysis());
    assert!(
        shown
            .lines()
            .all(|line| line.chars().count() <= usize::from(tables::WIDTH))
    );
    insta::assert_snapshot!(shown);
}

#[test]
fn the_schema_names_every_field() {
    let schema = serde_json::to_value(schema()).unwrap();
    let analysis = serde_json::to_value(common::typical().analysis()).unwrap();
    let row = &analysis["workloads"][0]["cases"][0];
    for name in row.as_object().unwrap().keys() {
        assert!(schema["$defs"]["CaseRow"]["properties"].get(name).is_some(), "{name}");
    }
}
