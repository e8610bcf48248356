//! Constraints as they are written in the wild: `tests/fixtures/spaces` holds published search spaces.

use std::path::{Path, PathBuf};

use planner::expression::{Expression, Kind};
use serde_json::Value as Json;

#[test]
fn every_condition_parses_and_checks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/spaces");
    let mut files: Vec<PathBuf> = ["bat", "benchmark_hub", "kernel_tuner"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut conditions = 0;
    for file in files {
        let json: Json = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let space = &json["ConfigurationSpace"];
        let parameters = space["TuningParameters"].as_array().unwrap();
        let declared: Vec<(&str, Kind)> = parameters
            .iter()
            .map(|parameter| match parameter["Type"].as_str().unwrap() {
                "int" | "uint" => (parameter["Name"].as_str().unwrap(), Kind::Integer),
                other => panic!("{}: type {other}", file.display()),
            })
            .collect();
        for condition in space["Conditions"].as_array().unwrap() {
            let text = condition["Expression"].as_str().unwrap();
            let expression = Expression::parse(text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            let names = expression.names();
            expression
                .condition(&declared, &names)
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            // The files list the names of each condition, some too many (`block_size_y`) and some too few (constants).
            let listed: Vec<&str> = condition["Parameters"]
                .as_array()
                .unwrap()
                .iter()
                .map(|name| name.as_str().unwrap())
                .collect();
            let constant = |name: &&&str| !name.starts_with("filter_");
            assert!(
                names.iter().filter(constant).all(|name| listed.contains(name)),
                "{}: {text}",
                file.display()
            );
            conditions += 1;
        }
    }
    assert_eq!(conditions, 35);
}
