//! Choosing without running: what a search keeps, and that it is the same every time.

use planner::Assignment;
use target_api::{SearchReport, SearchWidth};
use target_ipu21::exchange::Policy;
use target_ipu21::{attributes, costs, mapping, program, search, text, unit};

mod common;
use common::{DOWN, UP, mapped, siglip};

fn historical() -> Assignment {
    let mut plan = Assignment::new();
    for (operation, constraint) in [("up", UP), ("down", DOWN)] {
        let (_, geometry) = text::parse(constraint).expect("a constraint text");
        for (name, value) in attributes::of_geometry(operation, &geometry) {
            plan.set(&name, value);
        }
    }
    plan
}

fn searched(width: SearchWidth) -> SearchReport {
    let table = costs::builtin("after").expect("a built-in table");
    search::search(&siglip(), &table, width, &[("historical".to_owned(), historical())]).expect("a search")
}

#[test]
fn the_historical_plan_survives_shortlists_and_beam() {
    let report = searched(SearchWidth {
        shortlist: 400,
        beam: 65_536,
        expanded: 16,
        finalists: 1,
    });
    let survives = |name: &str| {
        let step = report.steps.iter().find(|step| step.name == name).expect("a step");
        step.watched["historical"].survived
    };
    assert!(survives("shortlist of up") && survives("shortlist of down") && survives("beam"));
    // Every step says where what it looked at went.
    for step in &report.steps {
        let dropped: usize = step
            .dropped
            .iter()
            .filter(|(rule, _)| !rule.contains('-'))
            .map(|(_, n)| n)
            .sum();
        assert!(step.kept + dropped <= step.looked_at, "{}", step.name);
        assert!(step.kept > 0, "{}", step.name);
    }
    let down = &report.steps[1];
    assert!(down.looked_at > 400_000 && down.dropped["empty-inner"] > 0 && down.dropped["sram-bound"] > 0);

    // What it chooses beats the historical plan in the unit model by more than the model's largest error.
    let table = costs::builtin("after").unwrap();
    let winner = &report.finalists[0];
    let typed = attributes::plan(&siglip(), &winner.assignment).unwrap();
    let tiles = mapping::parse(&typed.mapping).unwrap();
    let chosen = program::Program::new(&siglip(), &typed.geometries, tiles).unwrap();
    let cycles = |program| {
        unit::timing(&unit::compile(program, Policy::default()).unwrap(), &table)
            .unwrap()
            .cycles()
    };
    let (ours, theirs) = (cycles(chosen), cycles(mapped(UP, DOWN, program::identity())));
    assert!(
        (ours as f64) < 0.975 * theirs as f64,
        "{}: {ours} against {theirs}",
        winner.text
    );
}

#[test]
fn a_search_finds_the_same_every_time() {
    let kind = planner::workloads::kind("mlp").expect("a kind of workload");
    let given = std::collections::BTreeMap::from([("tokens", 61), ("features", 96), ("hidden", 200)]);
    let small = planner::Workload {
        name: "mlp".to_owned(),
        operations: kind.operations(&given, None).unwrap(),
    };
    let width = SearchWidth {
        shortlist: 40,
        beam: 100,
        expanded: 30,
        finalists: 4,
    };
    let table = costs::builtin("after").unwrap();
    let find = || search::search(&small, &table, width, &[]).unwrap();
    let report = find();
    assert_eq!(report, find());
    let placed: Vec<f64> = report
        .finalists
        .iter()
        .map(|finalist| finalist.estimates[2].value)
        .collect();
    assert!(placed.len() == 4 && placed.is_sorted(), "{placed:?}");
}
