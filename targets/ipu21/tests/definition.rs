//! The shipped definition gives the published sweep.

use planner::Definition;
use planner::select::select;
use target_api::{Configured, Options, Target};
use target_ipu21::{Ipu21, attributes};

mod common;

fn configured(options: &str) -> Box<dyn Configured> {
    let options: Options = options.parse().expect("a table");
    Ipu21
        .configure(&options, &target_api::Machine::default())
        .expect("these options")
}

#[test]
fn the_shipped_definition_gives_the_published_cases() {
    let text = include_str!("../../../cohorts/siglip-mlp-ipu21.toml");
    let definition = Definition::parse("siglip-mlp-ipu21.toml", text).unwrap();
    let target = configured("costs = \"before\"");
    let selection = select(&definition, target.as_ref()).unwrap();
    let chosen = &selection.workloads[0];
    let count = |operation: &str, orientation: &str| chosen.screened[operation][orientation];
    assert_eq!((count("up", "normal"), count("up", "swapped")), (2046, 483));
    assert_eq!((count("down", "normal"), count("down", "swapped")), (1231, 859));
    assert!(selection.refused.is_empty(), "{:?}", selection.refused);
    let made: Vec<String> = chosen
        .cases
        .iter()
        .map(|case| format!("{},{}", case.name, case.text))
        .collect();
    let published: Vec<String> = include_str!("fixtures/cases.csv")
        .lines()
        .skip(1)
        .map(|line| {
            let [name, up, down, _] = line.split(',').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            format!("{name},{up} {down}")
        })
        .collect();
    assert_eq!(made, published);

    // Every case has finite estimates, whatever its rules say when it is built.
    let workload = common::siglip();
    let historical = target.plan(&workload, &chosen.cases[0].assignment);
    let values: Vec<f64> = target
        .estimators()
        .iter()
        .map(|model| model.estimate(&workload, &historical).unwrap().value)
        .collect();
    assert!((values[0] - 271_302.0).abs() < 0.5, "{values:?}");
    let swapped = chosen.cases.iter().find(|case| case.name == "up-17").unwrap();
    let plan = target.plan(&workload, &swapped.assignment);
    for model in target.estimators() {
        let estimate = model.estimate(&workload, &plan).unwrap();
        assert!(estimate.value.is_finite() && estimate.value < 1e7, "{estimate:?}");
        let parts: f64 = estimate.parts.iter().map(|(_, value)| value).sum();
        assert!((parts - estimate.value).abs() < 0.5, "{estimate:?}");
    }
}

#[test]
fn defaults_are_legal_and_texts_tell_plans_apart() {
    let workload = common::siglip();
    let target = configured("");
    let space = target.space(&workload).unwrap();
    let defaults = target.defaults(&workload).unwrap();
    space.check(&space.ordered(&defaults).unwrap()).unwrap();
    let mut other = defaults.clone();
    other.set(attributes::MAPPING, "block:92:2".into());
    assert_ne!(target.text(&workload, &defaults), target.text(&workload, &other));
    assert!(target.text(&workload, &other).ends_with(" mapping=block:92:2"));
}

#[test]
fn the_alternatives_are_the_published_ones() {
    let text = include_str!("../../../cohorts/siglip-mlp-ipu21-alternatives.toml");
    let definition = Definition::parse("siglip-mlp-ipu21-alternatives.toml", text).unwrap();
    let selection = select(&definition, configured("").as_ref()).unwrap();
    assert!(selection.refused.is_empty(), "{:?}", selection.refused);
    let cases = &selection.workloads[0].cases;
    assert_eq!(cases.len(), 25 + 20 + 2);
    assert_eq!(cases.iter().filter(|case| case.repeat_of.is_some()).count(), 4);
    let winner = cases.iter().find(|case| case.name == "winner-repeat-1").unwrap();
    let down = "2:4x24x15:5x3:48:standard:normal:complete:direct";
    assert_eq!(winner.text, format!("{} {down} mapping=block:92:2", common::UP));
}
