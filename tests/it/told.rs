//! What a person who sweeps a program by its command line is told while it runs and afterwards.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command::{runs, scripted};
use crate::said::{PRINT, RUN, edit, tool, with_tool};
use crate::support::text;

#[test]
fn what_was_accepted_is_told_with_its_versions_and_its_cases() {
    let bench = scripted(
        PRINT,
        &format!("{RUN}\nprobe = {{ compiler = [\"its-compiler\", \"--version\"] }}"),
    );
    tool(&bench, "1");
    let lock = bench.path("device.lock").display().to_string();
    let run = |more: &[&str]| {
        let own = ["run", "cohorts/script", "--device-lock", &lock];
        with_tool(&bench, &[&own[..], more].concat())
    };
    assert_eq!(with_tool(&bench, &["freeze", "cohorts/script.toml"]).0, Some(0));
    assert_eq!(run(&["--only", "all-00000"]).0, Some(0));
    tool(&bench, "2");
    let (code, stderr) = run(&[]);
    assert!(code == Some(4) && stderr.contains("--accept tool.compiler"), "{stderr}");
    let (code, stderr) = run(&["--accept", "tool.compiler"]);
    assert_eq!(code, Some(0), "{stderr}");
    let line = stderr
        .lines()
        .find(|line| line.starts_with("accepted: `tool.compiler`"))
        .unwrap();
    for part in [
        "(its-compiler 1)",
        "(its-compiler 2)",
        "5 cases are measured in spite of it: all-00001, ",
    ] {
        assert!(line.contains(part), "{part}: {line}");
    }
    assert!(!line.contains("all-00000"), "{line}");
    // verify says what to do.
    let (code, stderr) = with_tool(&bench, &["verify", "cohorts/script"]);
    assert!(
        code == Some(4)
            && stderr.contains("help: ")
            && stderr.contains("layout-sweep run cohorts/script --accept tool.compiler"),
        "{stderr}"
    );
}

#[test]
fn numbers_that_are_not_found_are_told_once_for_each_case() {
    let bench = scripted(PRINT, &format!("{RUN}\nbuild = [\"cp\", \"run.sh\", \"{{artifact}}\"]"));
    edit(
        &bench,
        "pass = {",
        "energy = { regex = 'energy=([0-9]+)', unit = \"j\" }\nstalls = { file = \"counters.json\", pointer = \"/stalls\" }\n\
         guess = { regex = 'guess=([0-9]+)', unit = \"ns\", moment = \"build\" }\npass = {",
    );
    edit(
        &bench,
        "[parameters]",
        "[derived]\nper = \"energy / time\"\n[parameters]",
    );
    edit(&bench, "1:6:1", "1:3:1");
    let lock = bench.path("device.lock").display().to_string();
    let (_, stderr) = bench.expect(0, &["sweep", "cohorts/script.toml", "--device-lock", &lock]);
    let told: Vec<&str> = stderr.lines().filter(|line| line.starts_with("missing: ")).collect();
    let runs = runs(&bench, "cohorts/script");
    assert!(runs.iter().all(|run| run["outcome"] == "correct"), "{runs:?}");
    assert_eq!(
        (told.len(), runs.len()),
        (3, 6),
        "once for each case, not for each round: {told:?}"
    );
    let expected = [
        "`energy`: nothing matches `energy=([0-9]+)`",
        "`stalls`: `/stalls` of `counters.json`: `counters.json` is not there",
        "`guess`: the build did not print it: nothing matches `guess=([0-9]+)`",
        "`per`: there is no `energy`",
    ];
    for part in expected {
        assert!(told.iter().all(|line| line.contains(part)), "{part}: {told:?}");
        let recorded = |run: &Value| run["measurement"]["facts"]["missing"].as_str().unwrap().contains(part);
        assert!(runs.iter().all(recorded), "{part}: {runs:?}");
    }
}

#[test]
fn a_lost_artifact_is_told_by_run_and_verify_alike() {
    let bench = scripted(
        PRINT,
        "run = [\"{artifact}\", \"{n}\"]\nbuild = [\"./make.sh\", \"{n}\", \"{artifact}\"]",
    );
    fs_err::write(
        bench.path("cohorts/make.sh"),
        "#!/bin/sh\n{ cat run.sh; echo \"# $1\"; } >\"$2\"; chmod +x \"$2\"\n",
    )
    .unwrap();
    edit(&bench, "sources = [\"run.sh\"]", "sources = [\"run.sh\", \"make.sh\"]");
    edit(&bench, "1:6:1", "1:3:1");
    let lock = bench.path("device.lock").display().to_string();
    bench.expect(0, &["sweep", "cohorts/script.toml", "--device-lock", &lock]);
    bench.expect(0, &["verify", "cohorts/script"]);
    let artifacts = bench.path("cohorts/script/artifacts");
    let folders: Vec<_> = std::fs::read_dir(&artifacts)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let of_cases: Vec<_> = folders
        .iter()
        .filter(|folder| folder.join("artifact").exists())
        .collect();
    assert_eq!(of_cases.len(), 3, "{folders:?}");
    fs_err::remove_dir_all(of_cases[0]).unwrap();
    let before = bench.records("cohorts/script").len();
    for command in [
        &["run", "cohorts/script", "--device-lock", &lock][..],
        &["verify", "cohorts/script"],
    ] {
        let (_, stderr) = bench.expect(0, command);
        assert!(
            stderr.contains("gone: `") && stderr.contains("what was measured stands"),
            "{stderr}"
        );
    }
    assert_eq!(
        bench.records("cohorts/script").len(),
        before,
        "nothing is measured again"
    );
    let found = bench.json(&["verify", "cohorts/script", "--format", "json"]);
    assert_eq!(
        (found["gone"].as_array().unwrap().len(), &found["differences"]),
        (1, &serde_json::json!([]))
    );
    // One that was changed is a difference, with the next step.
    let changed = of_cases[1].join("artifact");
    fs_err::write(&changed, "#!/bin/sh\n").unwrap();
    let (stdout, stderr) = bench.expect(4, &["verify", "cohorts/script"]);
    assert!(
        stdout.contains("artifacts/") && stderr.contains("help: "),
        "{stdout}{stderr}"
    );
}

#[test]
fn the_line_that_repeats_a_case_has_all_that_it_needs() {
    let bench = scripted("case $1 in 2) exit 7;; esac; echo \"time=$1 pass\"", RUN);
    edit(&bench, "1:6:1", "1:2:1");
    let lock = bench.path("device.lock").display().to_string();
    let (_, stderr) = bench.expect(3, &["sweep", "cohorts/script.toml", "--device-lock", &lock]);
    let line = stderr
        .lines()
        .find_map(|line| line.trim().strip_prefix("to repeat it: layout-sweep "))
        .unwrap();
    assert!(
        line.contains("--device-lock") && line.ends_with("--retry all-00001"),
        "{line}"
    );
    // A shell takes it as it stands.
    let shell = format!("\"$BINARY\" {line}");
    let output = std::process::Command::new("sh")
        .args(["-c", &shell])
        .current_dir(bench.root())
        .env("BINARY", env!("CARGO_BIN_EXE_layout-sweep"))
        .env("XDG_CACHE_HOME", bench.path("cache"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_eq!(
        runs(&bench, "cohorts/script")
            .iter()
            .filter(|run| run["case"] == "all-00001")
            .count(),
        2
    );

    fs_err::write(bench.path("plan.toml"), "n = 2\n").unwrap();
    let (_, stderr) = bench.expect(
        3,
        &[
            "try",
            "cohorts/script.toml",
            "--plan",
            "plan.toml",
            "--device-lock",
            &lock,
        ],
    );
    let line = stderr
        .lines()
        .find_map(|line| line.trim().strip_prefix("to repeat it: "))
        .unwrap();
    assert!(
        line.starts_with("layout-sweep try cohorts/script.toml --plan plan.toml --device-lock "),
        "{line}"
    );
}

#[test]
fn a_second_coordinator_says_who_works_or_waits_as_long_as_it_is_told() {
    let bench = scripted("sleep 3; echo \"time=$1 pass\"", RUN);
    edit(&bench, "1:6:1", "1:3:1");
    edit(&bench, "rounds = 2", "rounds = 1");
    bench.expect(0, &["freeze", "cohorts/script.toml"]);
    let lock = bench.path("device.lock").display().to_string();
    let run = ["run", "cohorts/script", "--device-lock", &lock];
    let mut first = bench
        .command(&run)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while bench
        .records("cohorts/script")
        .iter()
        .all(|record| record["record"] != "began")
    {
        assert!(Instant::now() < deadline, "the first one never began");
        std::thread::sleep(Duration::from_millis(10));
    }
    for more in [&[][..], &["--lock-timeout", "1s"]] {
        let (_, stderr) = bench.expect(5, &[&run[..], more].concat());
        let named = stderr.contains(&format!("another coordinator works on this cohort: pid {}", first.id()));
        assert!(
            named && stderr.contains("help: `--lock-timeout TIME` waits for it"),
            "{stderr}"
        );
        assert_eq!(
            stderr.contains("waiting for another coordinator"),
            !more.is_empty(),
            "{stderr}"
        );
    }
    let (stdout, _) = bench.expect(0, &[&run[..], &["--lock-timeout", "60s"]].concat());
    assert!(stdout.contains("3 of 3 cases correct"), "{stdout}");
    assert!(first.wait().unwrap().success());
    assert_eq!(runs(&bench, "cohorts/script").len(), 3, "nothing is measured twice");
}

#[test]
fn without_a_control_the_first_case_of_the_cohort_stays_the_reference() {
    // The first case fails, so it can't be what others are compared with.
    let bench = scripted("case $1 in 1) exit 7;; esac; sleep 0.3; echo \"time=$1 pass\"", RUN);
    edit(&bench, "rounds = 2", "rounds = 1");
    let lock = bench.path("device.lock").display().to_string();
    let reference = || {
        let json = fs_err::read_to_string(bench.path("reports/script/statistics.json")).unwrap();
        let json: Value = serde_json::from_str(&json).unwrap();
        json["workloads"][0]["control"].as_str().unwrap().to_owned()
    };
    let sweep = ["sweep", "cohorts/script.toml", "--device-lock", &lock];
    let mut child = bench
        .command(&sweep)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while runs(&bench, "cohorts/script").len() < 2 {
        assert!(Instant::now() < deadline, "it measured nothing");
        std::thread::sleep(Duration::from_millis(10));
    }
    let interrupt = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(interrupt.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let first = runs(&bench, "cohorts/script");
    let cases: Vec<&str> = first.iter().map(|run| run["case"].as_str().unwrap()).collect();
    assert!((2..6).contains(&cases.len()), "cut off: {cases:?}");
    assert_eq!(
        cases[..2],
        ["all-00000", "all-00001"],
        "in the order of the cohort until one is measured"
    );
    let before = reference();
    bench.expect(3, &sweep);
    assert_eq!(runs(&bench, "cohorts/script").len(), 6);
    assert_eq!((before.as_str(), reference().as_str()), ("all-00001", "all-00001"));
    let report = fs_err::read_to_string(bench.path("reports/script/report.md")).unwrap();
    assert!(
        report.contains("the first case (in the order of the cohort) that was measured"),
        "{report}"
    );
}
