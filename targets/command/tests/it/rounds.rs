//! Commands of a round and of a build.

use std::path::Path;

use target_api::{Places, SourceFile, Target};

use crate::made::make;

const WHOLE: &str = r#"
target = "command"
[command]
sources = ["*.c"]
env = { THREADS = "{threads}", MODE = "a b" }
pass_env = ["LD_LIBRARY_PATH"]
build = ["gcc", "-DN={threads}", "-o", "{artifact}", "a.c", "{plan}"]
run = ["{artifact}", "{device}", "{device_lock}", "{cohort}", "{case_dir}", "{run_log}", "{plan}", "{{x}}"]
check = ["tools/check.py", "{run_log}"]
before_run = ["clocks", "lock", "{device}"]
after_run = ["clocks", "reset", "{device}"]
timeout = { check = "3s" }
setup = ["module load gcc/13"]
launcher = ["apptainer", "exec", "image.sif"]
devices = ["gpu0"]
[command.result]
time = { file = "out.json", pointer = "/ns", unit = "ns" }
pass = { regex = 'ok' }
objective = "time"
[parameters]
threads = [1, 2]
"#;

#[test]
fn every_command_is_filled_in() {
    let mut made = make("sweep.toml", WHOLE).unwrap();
    let file = |path: &str| SourceFile {
        path: path.to_owned(),
        text: "x".to_owned(),
    };
    made.configured.accept_sources(vec![file("b.c"), file("a.c")]);
    let plan = made.first();
    let places = Places {
        cohort: Path::new("/co hort"),
        sources: Some(Path::new("/co hort/sources/abc")),
        run_log: Path::new("/co hort/cases/x/run.log"),
        device: "gpu0",
        device_lock: Some(Path::new("/locks/gpu0")),
    };
    let round = made.round(
        &plan,
        Some(Path::new("/a/artifact")),
        Path::new("/co hort/cases/x"),
        &places,
    );
    insta::assert_debug_snapshot!("round", round);
    let units = made.configured.build(made.workload(), &plan).unwrap();
    insta::assert_debug_snapshot!("build", units);
    let harness = made.configured.harness().unwrap();
    assert_eq!(
        (harness.artifact.as_str(), harness.sources.len(), harness.steps.len()),
        ("a.c", 2, 0)
    );
    assert_eq!(
        target_command::Command.environment(&made.definition.options).unwrap(),
        ["LD_LIBRARY_PATH"]
    );
    let patterns = target_command::Command.sources(&made.definition.options).unwrap();
    assert!(patterns[0].matches("a.c") && !patterns[0].matches("x/a.c"));
}

#[test]
fn a_source_must_not_be_what_the_build_makes() {
    let mut made = make("sweep.toml", WHOLE).unwrap();
    for path in ["artifact", "plan.json"] {
        made.configured.accept_sources(vec![SourceFile {
            path: path.to_owned(),
            text: String::new(),
        }]);
        let refusal = made.configured.build(made.workload(), &made.first()).unwrap_err();
        assert!(refusal.to_string().contains(path), "{refusal}");
    }
}

#[test]
fn the_build_prints_estimates() {
    let text = WHOLE.replace(
        "time = {",
        "expanded = { regex = 'expanded=(\\d+)', unit = \"ns\", moment = \"build\" }\ntime = {",
    );
    let made = make("sweep.toml", &text).unwrap();
    let plan = made.first();
    let unit = &made.configured.build(made.workload(), &plan).unwrap()[0];
    let captured = target_api::Captured {
        stderr: "expanded=1234\n".to_owned(),
        ..Default::default()
    };
    let info = made.configured.parse_build(unit, &captured).unwrap();
    let facts = [("program".to_owned(), info.facts)].into_iter().collect();
    let estimates = made.configured.build_estimates(&plan, &facts);
    assert_eq!(estimates.len(), 1);
    assert_eq!(
        (estimates[0].name.as_str(), estimates[0].unit.as_str()),
        ("expanded", "ns")
    );
    assert!((estimates[0].value - 1234.0).abs() < 1e-12);
}

#[test]
fn a_plan_without_an_estimate_is_a_plan_all_the_same() {
    let text =
        format!("{WHOLE}[estimates.model]\nterms = {{ t = \"1 / (threads - 1)\" }}\ncoefficients = {{ t = 1 }}\n");
    let made = make("sweep.toml", &text).unwrap();
    let selection = made.select();
    let model = made.configured.estimators()[0];
    assert!(model.is_partial());
    let seen: Vec<(&str, Option<f64>)> = selection.workloads[0]
        .cases
        .iter()
        .map(|case| {
            let plan = made.configured.plan(made.workload(), &case.assignment);
            let estimate = model.estimate(made.workload(), &plan);
            if let Err(none) = &estimate {
                assert_eq!(none.key.as_deref(), Some("estimates.model.terms.t"));
                assert_eq!(none.message, "division by zero in `1 / (threads - 1)` with threads = 1");
            }
            (case.text.as_str(), estimate.ok().map(|estimate| estimate.value))
        })
        .collect();
    assert_eq!(seen, [("threads=1", None), ("threads=2", Some(1.0))]);
    // What always has a value is not asked for every plan.
    let total = text.replace("1 / (threads - 1)", "1 + threads");
    assert!(!make("sweep.toml", &total).unwrap().configured.estimators()[0].is_partial());
}
