//! What the files and tables of a typical sweep say, whole.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use analyzer::report::{markdown, schema, summary};
use analyzer::tables;
use serde_json::Value;

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

/// What a schema says of a value, with references followed; `None` where it says nothing of it.
fn resolved<'s>(schema: &'s Value, root: &'s Value) -> Vec<&'s Value> {
    let mut found = vec![schema];
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
        found.extend(resolved(&root["$defs"][name], root));
    }
    for several in ["anyOf", "oneOf", "allOf"] {
        for one in schema[several].as_array().into_iter().flatten() {
            found.extend(resolved(one, root));
        }
    }
    found
}

/// Every field of `value` stands in the schema, and every field there is described.
fn check(value: &Value, schema: &Value, root: &Value, path: &str) {
    let schemas = resolved(schema, root);
    if let Some(fields) = value.as_object() {
        for (name, inner) in fields {
            let path = format!("{path}.{name}");
            let of_field = schemas.iter().find_map(|schema| schema["properties"].get(name));
            let of_any = || schemas.iter().find_map(|schema| schema.get("additionalProperties"));
            let is_described = of_field.is_none_or(|field| field["description"].is_string());
            assert!(is_described, "{path} has no description");
            let next = of_field
                .or_else(of_any)
                .unwrap_or_else(|| panic!("{path} is not in the schema"));
            check(inner, next, root, &path);
        }
    }
    for inner in value.as_array().into_iter().flatten() {
        let next = schemas.iter().find_map(|schema| schema.get("items"));
        check(
            inner,
            next.unwrap_or_else(|| panic!("{path} is no list in the schema")),
            root,
            &format!("{path}[]"),
        );
    }
}

#[test]
fn the_schema_describes_every_field() {
    let schema = serde_json::to_value(schema()).unwrap();
    let analysis = serde_json::to_value(common::typical().analysis()).unwrap();
    assert!(analysis["workloads"][0]["estimates"][0]["phases"][0]["spearman_interval"].is_object());
    check(&analysis, &schema, &schema, "");
}
