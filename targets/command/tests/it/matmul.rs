//! The shipped matrix product, built and run for real.

use std::process::Command;

use target_api::{Captured, CommandSpec, Places, RoundCaptured, SourceFile, Verdict};

use crate::made::{Made, repository};

fn run(command: &CommandSpec, folder: &std::path::Path) -> Captured {
    let output = Command::new(&command.program)
        .args(&command.arguments)
        .envs(&command.environment)
        .current_dir(folder)
        .output()
        .unwrap();
    Captured {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        exit_code: output.status.code(),
        ..Captured::default()
    }
}

#[test]
fn a_case_is_built_measured_and_checked() {
    if Command::new("cc").arg("--version").output().is_err() {
        eprintln!("no C compiler here: the shipped matrix product is not built");
        return;
    }
    let mut made = Made::shipped("matmul-command.toml");
    let text = std::fs::read_to_string(repository("cohorts/kernels/matmul.c")).unwrap();
    made.configured.accept_sources(vec![SourceFile {
        path: "kernels/matmul.c".to_owned(),
        text,
    }]);
    let plan = made.plan("all-00007");
    let [unit] = &made.configured.build(made.workload(), &plan).unwrap()[..] else {
        panic!("one unit")
    };
    let folder = tempfile::tempdir().unwrap();
    for source in &unit.sources {
        let path = folder.path().join(&source.path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, &source.text).unwrap();
    }
    for step in &unit.steps {
        let built = run(step, folder.path());
        assert_eq!(built.exit_code, Some(0), "{}", built.stderr);
    }
    let artifact = folder.path().join(&unit.artifact);
    let log = folder.path().join("run.log");
    let places = Places {
        cohort: folder.path(),
        sources: Some(folder.path()),
        run_log: &log,
        device: "host",
        device_lock: None,
    };
    let round = made.round(&plan, Some(&artifact), folder.path(), &places);
    let captured = RoundCaptured {
        run: run(&round.run, folder.path()),
        ..RoundCaptured::default()
    };
    let measurement = made.configured.parse_round(made.workload(), &plan, &captured).unwrap();
    assert_eq!(measurement.verdict, Verdict::Correct);
    assert!(measurement.samples[0].value > 1000.0);
    assert!(measurement.samples[0].extra["gflops"] > 0.0);
    assert!(measurement.facts.is_empty(), "{:?}", measurement.facts);
}
