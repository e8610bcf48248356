//! Constraints as they are written in the wild: `tests/fixtures/spaces` holds published search spaces.

#![allow(
    clippy::disallowed_methods,
    reason = "a test may read files, clocks and run programs"
)]

use std::path::{Path, PathBuf};

use planner::expression::{Expression, Kind};
use planner::parameters::{Choices, ParameterTable, Parameters};
use planner::{Domain, Space, Value};
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

/// Lists that the files compute, as they are written here.
const COMPUTED: [(&str, &str); 7] = [
    ("[2**i for i in range(0, 6)]", "[1, 2, 4, 8, 16, 32]"),
    ("[2**i for i in range(6)]", "[1, 2, 4, 8, 16, 32]"),
    ("[i for i in range(1, 11)]", "\"1:10\""),
    ("[i for i in range(1, 10+1)]", "\"1:10\""),
    ("[i for i in range(3,35,2)]", "\"3:33:2\""),
    ("[16*i for i in range(1,9)]", "\"16:128:16\""),
    ("[i for i in range(1,9)]", "\"1:8\""),
];

/// `[1, 2, 4, 8, 16]` and then multiples of 32: a list that no range says.
const BLOCK_SIZES: &str = "[1, 2, 4, 8, 16] + list(range(32, 1024+1, 32))";

#[test]
fn the_spaces_hold_as_many_plans_as_trying_all_finds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/spaces");
    for row in include_str!("fixtures/spaces/counts.tsv").lines() {
        let (file, expected) = row.split_once('\t').unwrap();
        let json: Json = serde_json::from_slice(&std::fs::read(root.join(file)).unwrap()).unwrap();
        let mut table = ParameterTable::default();
        for parameter in json["ConfigurationSpace"]["TuningParameters"].as_array().unwrap() {
            let written = parameter["Values"].as_str().unwrap();
            let choices = if written == BLOCK_SIZES {
                let sizes = [1, 2, 4, 8, 16].into_iter().chain((32..=1024).step_by(32));
                Choices::List(sizes.map(Value::Integer).collect())
            } else {
                let known = COMPUTED.iter().find(|(python, _)| *python == written);
                serde_json::from_str(known.map_or(written, |(_, here)| here)).unwrap()
            };
            table
                .parameters
                .push((parameter["Name"].as_str().unwrap().to_owned(), choices));
        }
        let conditions = json["ConfigurationSpace"]["Conditions"].as_array().unwrap();
        table.constraints = conditions
            .iter()
            .map(|c| c["Expression"].as_str().unwrap().to_owned())
            .collect();
        let (space, faults) = Parameters::new(&table)
            .unwrap_or_else(|error| panic!("{file}: {error}"))
            .space();
        assert_eq!(space.count().unwrap().to_string(), expected, "{file}");
        assert_eq!(faults.first(), None, "{file}");
        if file == "bat/hotspot-CAFF.json" {
            let same: ParameterTable = toml::from_str(include_str!("fixtures/spaces/hotspot.toml")).unwrap();
            let (same, _) = Parameters::new(&same).unwrap().space();
            let domains = |space: &Space| -> Vec<Vec<Option<Value>>> {
                let values = |domain: &Domain| (0..domain.size()).map(|at| domain.at(at)).collect();
                space
                    .parameters
                    .iter()
                    .map(|parameter| values(&parameter.domain))
                    .collect()
            };
            assert_eq!(domains(&same), domains(&space));
            assert_eq!(same.constraints.len(), space.constraints.len());
        }
    }
}

/// Configurations of p00 to p07, of p08 to p12 with p17 to p19, and of p13 to p16.
const GROUPS: [u128; 3] = [33_208, 1_644_594, 616];

#[test]
fn more_than_can_be_tried_is_counted_and_drawn_from() {
    let table: ParameterTable = toml::from_str(include_str!("fixtures/spaces/twenty.toml")).unwrap();
    let (space, faults) = Parameters::new(&table).unwrap().space();
    // Each group was counted by trying all of its combinations with Python.
    assert_eq!(space.count().unwrap(), GROUPS.iter().product());
    let sample = space.sample(7, 1_000).unwrap();
    assert_eq!(sample.assignments.len(), 1_000);
    assert!(
        sample
            .assignments
            .iter()
            .all(|assignment| space.check(assignment).is_ok())
    );
    let middle = space.nth(GROUPS.iter().product::<u128>() / 2).unwrap().unwrap();
    space.check(&middle).unwrap();
    assert_eq!(faults.first(), None);
}
