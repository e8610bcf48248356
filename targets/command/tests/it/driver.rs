//! The published driver's definition against a program that behaves like the real one, and badly on demand.

use std::path::Path;
use std::process::Command;

use target_api::{Captured, CommandSpec, Places, RoundCaptured, Verdict};

use crate::made::{Made, repository};

/// Runs a command with the stand-ins in the place of the real programs.
fn run(command: &CommandSpec, folder: &Path, behaviour: &str) -> Captured {
    let programs = repository("tests/stand-in");
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let output = Command::new("/usr/bin/env")
        .arg(format!("PATH={path}"))
        .arg(&command.program)
        .args(&command.arguments)
        .envs(&command.environment)
        .env("STAND_IN", format!("*={behaviour}"))
        .current_dir(folder)
        .output()
        .unwrap();
    Captured {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        exit_code: output.status.code(),
        signal: std::os::unix::process::ExitStatusExt::signal(&output.status),
        ..Captured::default()
    }
}

/// One round as a coordinator does it.
fn round(made: &Made, behaviour: &str, mapping: &str) -> (RoundCaptured, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut assignment = made.configured.defaults(made.workload()).unwrap();
    assignment.set("mapping", mapping.into());
    let plan = made.configured.plan(made.workload(), &assignment);
    let lock = folder.path().join("ipu21.lock");
    let log = folder.path().join("run.log");
    let places = Places {
        cohort: folder.path(),
        sources: None,
        run_log: &log,
        device: "ipu21",
        device_lock: Some(&lock),
    };
    let round = made.round(&plan, None, folder.path(), &places);
    for file in &round.files {
        std::fs::write(folder.path().join(&file.path), &file.text).unwrap();
    }
    let mut captured = RoundCaptured {
        run: run(&round.run, folder.path(), behaviour),
        ..RoundCaptured::default()
    };
    let verdict = made.configured.verdict(made.workload(), &plan, &captured);
    if verdict == Ok(Verdict::Correct) {
        for report in &round.reports {
            let made = run(&report.command.command, folder.path(), "ok");
            captured.reports.insert(report.name.clone(), made);
        }
    }
    let outcome = match made.configured.parse_round(made.workload(), &plan, &captured) {
        Ok(measurement) => match measurement.verdict {
            Verdict::Correct => "correct".to_owned(),
            Verdict::Incorrect { reason } => format!("incorrect: {reason}"),
        },
        Err(error) => match made.configured.refusal(&captured.run) {
            Some(words) => format!("rejected: {words}"),
            None => error.to_string(),
        },
    };
    (captured, outcome)
}

#[test]
fn a_good_run_gives_everything_that_the_driver_kept() {
    let made = Made::shipped("siglip-mlp-ipu21-driver.toml");
    let (captured, outcome) = round(&made, "ok", "identity");
    assert_eq!(outcome, "correct", "{captured:?}");
    let plan = made.first();
    let measurement = made.configured.parse_round(made.workload(), &plan, &captured).unwrap();
    let sample = &measurement.samples[0];
    let of = |name: &str| sample.extra[name];
    assert!((of("minimum_tile_cycles") - (sample.value - 700.0)).abs() < 1e-9);
    assert!((of("maximum_absolute_error") - 0.007_812_5).abs() < 1e-15);
    let refined = of("expanded_cycles") - of("expanded_exchange_cycles") + of("scheduled_exchange_cycles");
    assert!((of("refined_cycles") - refined).abs() < 1e-9);
    assert!(
        of("compact_cycles") < of("expanded_cycles"),
        "the first finalist counts"
    );
    assert_eq!(
        measurement.facts["estimates"],
        "compact_cycles, compact_exchange_cycles, expanded_cycles, expanded_exchange_cycles"
    );
    assert!(!measurement.facts.contains_key("missing"), "{:?}", measurement.facts);
    assert_eq!(captured.reports.len(), 3);
}

#[test]
fn a_mapping_changes_what_runs() {
    let made = Made::shipped("siglip-mlp-ipu21-driver.toml");
    let (one, _) = round(&made, "ok", "identity");
    let (other, outcome) = round(&made, "ok", "transpose-4");
    assert_eq!(outcome, "correct");
    assert_ne!(one.run.stdout, other.run.stdout);
}

#[test]
fn bad_behaviour_is_told_apart() {
    let made = Made::shipped("siglip-mlp-ipu21-driver.toml");
    for (behaviour, expected) in [
        ("reject", "rejected: the constraints leave no legal plan"),
        (
            "crash",
            "the run's output can't be read: it ended before it was loaded: signal 11, nothing printed",
        ),
        (
            "wrong",
            "incorrect: it was loaded and did not pass: exit code 0; last line: hardwareTest=FAIL maximumAbsoluteError=7",
        ),
        (
            "crash-loaded",
            "incorrect: it was loaded and did not pass: signal 11; last line: application loaded",
        ),
        (
            "partial",
            "incorrect: it was loaded and did not pass: exit code 1; last line: GEMM effectiveGemmTflops=11.5 cyc",
        ),
        (
            "nan",
            "the run's output can't be read: `cycles` can't be read: nothing matches `\\bcycles=(\\d+)`",
        ),
        (
            "no-cycles",
            "the run's output can't be read: `cycles` can't be read: no line contains `effectiveGemmTflops=`, in \
             which `\\bcycles=(\\d+)` is looked for",
        ),
        ("no-profile", "correct"),
    ] {
        let (_, outcome) = round(&made, behaviour, "identity");
        assert_eq!(outcome, expected, "{behaviour}");
    }
}
