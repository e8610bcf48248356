//! The unit model as the coordinator uses it: described, built and run as a process, read back.

use std::collections::BTreeMap;

use planner::{Assignment, Workload};
use target_api::{BuildFailure, BuildInfo, Captured, Configured, Machine, Target, Verdict};
use target_ipu21::profile::{self, Profile};
use target_ipu21::{Ipu21, attributes, process, text};

fn mlp() -> Workload {
    let kind = planner::workloads::kind("mlp").expect("a kind of workload");
    let given = BTreeMap::from([("tokens", 61), ("features", 96), ("hidden", 200)]);
    Workload {
        name: "mlp".to_owned(),
        operations: kind.operations(&given, None).expect("extents"),
    }
}

fn target() -> Box<dyn Configured> {
    Ipu21
        .configure(&target_api::Options::new(), &Machine::default())
        .expect("default options")
}

/// The target under a built-in table.
fn configured(costs: &str) -> Box<dyn Configured> {
    let options = format!("costs = \"{costs}\"").parse().expect("options");
    Ipu21
        .configure(&options, &Machine::default())
        .expect("a built-in table")
}

fn assignment(up: &str, down: &str) -> Assignment {
    let mut plan = Assignment::new();
    for (operation, constraint) in [("up", up), ("down", down)] {
        let (_, geometry) = text::parse(constraint).expect("a constraint text");
        for (name, value) in attributes::of_geometry(operation, &geometry) {
            plan.set(&name, value);
        }
    }
    plan
}

fn build(
    target: &dyn Configured,
    workload: &Workload,
    up: &str,
    down: &str,
) -> (String, Result<BuildInfo, BuildFailure>) {
    let plan = target.plan(workload, &assignment(up, down));
    assert_eq!(plan.text, format!("{up} {down}"));
    let units = target.build(workload, &plan).expect("a description");
    let [unit] = &units[..] else { panic!("one unit") };
    assert_eq!(
        unit.steps[0].arguments,
        ["unit-model", "ipu21", "build", "request.json", "program.json"]
    );
    let built = process::build(&unit.sources[0].text).expect("a report");
    let files = BTreeMap::from([("program.json".to_owned(), built.clone())]);
    let captured = Captured {
        exit_code: Some(0),
        files,
        ..Captured::default()
    };
    (built, target.parse_build(unit, &captured))
}

const UP: &str = "0:4x5x3:3x1:48:interleaved:normal:complete:direct";
const DOWN: &str = "2:3x3x4:4x1:32:interleaved:normal:complete:direct";

#[test]
fn a_plan_is_built_run_and_measured() {
    let (workload, target) = (mlp(), target());
    let (built, info) = build(target.as_ref(), &workload, UP, DOWN);
    let facts = info.unwrap().facts;
    assert_eq!(facts["horizons_cycles"].split(", ").count(), 4);
    let plan = target.plan(&workload, &assignment(UP, DOWN));
    let placed = target.build_estimates(&plan, &BTreeMap::from([("program".to_owned(), facts.clone())]));
    assert_eq!(placed.len(), 1);
    assert_eq!(placed[0].value.to_string(), facts["placed_cycles"]);
    // Under other prices it is what a build under those tells, without one.
    let others = configured("before");
    let (_, info) = build(others.as_ref(), &workload, UP, DOWN);
    let expected = info.unwrap().facts["placed_cycles"].clone();
    assert_ne!(expected, facts["placed_cycles"]);
    let facts = BTreeMap::from([("program".to_owned(), facts)]);
    for (target, cycles) in [(&others, expected), (&target, placed[0].value.to_string())] {
        let again = target.rebuilt_estimates(&workload, &plan, &facts).unwrap().unwrap();
        assert_eq!(again[0].value.to_string(), cycles);
    }
    assert!(target.rebuilt_estimates(&workload, &plan, &BTreeMap::new()).is_none());

    let inputs = target.inputs(&workload, 1).unwrap();
    let names: Vec<&str> = inputs.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(
        names,
        ["input.f16", "reference.f64", "weights-down.f16", "weights-up.f16"]
    );
    let read = |name: &str| {
        let file = inputs.files.iter().find(|file| file.name == name);
        file.map(|file| file.bytes.clone())
            .ok_or_else(|| format!("no `{name}`"))
    };
    let ran = process::run(&built, &read).unwrap();
    assert_eq!(process::run(&built, &read).unwrap(), ran);
    check_profile(&ran);
    let captured = Captured {
        exit_code: Some(0),
        stdout: ran.report,
        ..Captured::default()
    };
    let measurement = target.parse_run(&workload, &captured).unwrap();
    assert_eq!(measurement.verdict, Verdict::Correct);
    let sample = &measurement.samples[0];
    let parts: f64 = sample.phases.iter().map(|phase| phase.value).sum();
    assert!((parts - sample.value).abs() < 0.5);

    // Another operand than the reference was made for is a wrong answer.
    let spoiled = |name: &str| {
        read(if name == "weights-down.f16" {
            "weights-up.f16"
        } else {
            name
        })
    };
    let captured = Captured {
        exit_code: Some(0),
        stdout: process::run(&built, &spoiled).unwrap().report,
        ..Captured::default()
    };
    assert!(matches!(
        target.parse_run(&workload, &captured).unwrap().verdict,
        Verdict::Incorrect { .. }
    ));

    let short = |name: &str| read(name).map(|bytes| bytes[2..].to_vec());
    let message = process::run(&built, &short).unwrap_err();
    assert!(message.contains("weights-up.f16"), "{message}");
}

/// The profile tells the same time as the report, in all its sums.
fn check_profile(ran: &process::Ran) {
    let report: process::RunReport = serde_json::from_str(&ran.report).expect("a report");
    let profile: Profile = serde_json::from_str(&ran.profile).expect("a profile");
    assert_eq!(profile.cycles, report.cycles);
    assert_eq!(profile.plan, format!("{UP} {DOWN}"));
    let names: Vec<&str> = profile.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(
        names,
        ["up.weights", "up.reduction-0", "down.gather", "down.reduction-0"]
    );
    for step in &profile.steps {
        assert_eq!(step.segment.cycles.len(), 1472);
        for (cycles, calls) in step.segment.cycles.iter().zip(&step.segment.calls) {
            assert_eq!(
                calls.iter().map(|&call| profile.calls[call].cycles).sum::<usize>(),
                *cycles
            );
        }
        let busy = step
            .lanes
            .send
            .iter()
            .chain(&step.lanes.receive)
            .copied()
            .max()
            .expect("tiles");
        assert!(
            busy <= step.scheduled,
            "{}: {busy} cycles of {}",
            step.name,
            step.scheduled
        );
        assert!(
            busy >= step.endpoint_bounds[0].min(step.endpoint_bounds[1]),
            "{}",
            step.name
        );
    }
    let last = profile.steps.last().expect("tiles");
    let work = last.segment.cycles.iter().copied().max().expect("tiles");
    assert_eq!(last.start + last.after_arrival + work, profile.cycles);
    let summary = profile::summary(&profile);
    let operations: usize = summary.operations.iter().map(|o| o.exchange + o.compute).sum();
    assert_eq!(operations, profile.cycles);
    let barriers: usize = summary.barriers.iter().map(|barrier| barrier.scheduled).sum();
    assert_eq!(barriers, profile.steps.iter().map(|step| step.scheduled).sum::<usize>());
    let all: usize = profile.steps.iter().flat_map(|step| &step.segment.cycles).sum();
    assert_eq!(
        summary.kernels.iter().map(|kernel| kernel.tile_cycles).sum::<usize>(),
        all
    );
    assert_eq!(summary.kernels[0].kernel, "gemm");
}

#[test]
fn a_refusal_is_a_result() {
    let (workload, target) = (mlp(), target());
    let swapped = "0:4x1x3:3x1:64:interleaved:swapped:complete:direct";
    let (built, info) = build(target.as_ref(), &workload, swapped, DOWN);
    let Err(BuildFailure::Rejected { reason }) = info else {
        panic!("{info:?}")
    };
    assert!(
        reason.contains("payload") && reason.contains("13 = 26 bytes"),
        "{reason}"
    );
    assert!(
        process::run(&built, &|_| Err("nothing is read".to_owned()))
            .unwrap_err()
            .contains("payload")
    );
}

#[test]
fn a_run_that_failed_is_no_number() {
    let (workload, target) = (mlp(), target());
    for (exit_code, stdout) in [(Some(1), "{}"), (None, "{}"), (Some(0), "cycles")] {
        let captured = Captured {
            exit_code,
            stdout: stdout.to_owned(),
            ..Captured::default()
        };
        assert!(target.parse_run(&workload, &captured).is_err(), "{captured:?}");
    }
}
