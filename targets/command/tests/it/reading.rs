//! What output means.

use std::fmt::Write as _;

use target_api::{Captured, RoundCaptured};

use crate::made::{Made, make};

const WHOLE: &str = r#"
target = "command"
[command]
run = ["./run", "{tile}"]
[[command.report]]
name = "barriers"
run = ["profile"]
[command.result]
guess = { regex = 'guess=(\d+)', unit = "cycles", moment = "build" }
cycles = { regex = '\bcycles=(\S+)', unit = "cycles" }
energy = { regex = 'energy=(\S+)', unit = "J" }
clock_mhz = { regex = 'clock=(\S+)', unit = "MHz" }
scheduled = { json = "barriers", pointer = "/*/cycles", reduce = "sum", unit = "cycles" }
spilled = { file = "stats.json", pointer = "/spilled" }
loaded = { regex = 'loaded' }
pass = { regex = 'PASS' }
rejected = { regex = 'refused: (.*)' }
objective = "cycles"
[derived]
placed = "guess - 10 + scheduled"
per_tile = { formula = "cycles / tile", unit = "cycles" }
[parameters]
tile = [8, 16]
"#;

fn without(key: &str) -> Made {
    let lines: Vec<&str> = WHOLE.lines().filter(|line| !line.starts_with(key)).collect();
    make("sweep.toml", &lines.join("\n")).unwrap()
}

#[test]
fn runs_that_did_not_go_well_are_told_apart() {
    let made = make("sweep.toml", WHOLE).unwrap();
    let unloaded = without("loaded");
    let mut shown = String::new();
    for (stdout, exit_code) in [
        ("loaded\ncycles=100\nPASS\n", 0),
        ("loaded\ncycles=nan\nPASS\n", 0),
        ("loaded\ncycles=0\nPASS\n", 0),
        ("loaded\ncycles=-5\nPASS\n", 0),
        ("loaded\nPASS\n", 0),
        ("loaded\ncycles=100\nFAIL\n", 0),
        ("loaded\ncycles=100\n", 1),
        ("cycles=100\nout of memory\n", 1),
        ("refused: too many tiles\n", 1),
        ("", 0),
        ("", 1),
    ] {
        _ = writeln!(shown, "# {stdout:?}, exit code {exit_code}");
        _ = writeln!(
            shown,
            "{}\n{}\n",
            made.read(stdout, exit_code),
            unloaded.read(stdout, exit_code)
        );
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn reports_files_and_derived_numbers_are_kept_with_their_units() {
    let made = make("sweep.toml", WHOLE).unwrap();
    let report = |text: &str, exit_code| Captured {
        stdout: text.to_owned(),
        exit_code: Some(exit_code),
        ..Captured::default()
    };
    let mut captured = RoundCaptured::default();
    captured.run.stdout = "guess=90\nloaded\nguess=1\ncycles=100 energy=1.5\nPASS\n".to_owned();
    captured.run.stderr = "clock=1850\n".to_owned();
    captured.run.exit_code = Some(0);
    captured
        .run
        .files
        .insert("stats.json".to_owned(), "{\"spilled\": 3}".to_owned());
    captured
        .reports
        .insert("barriers".to_owned(), report("[{\"cycles\": 5}, {\"cycles\": 7}]", 0));
    let mut shown = made.outcome(&captured);
    for broken in [report("no json", 0), report("[]", 0), report("no profile", 3)] {
        captured.reports.insert("barriers".to_owned(), broken);
        captured.run.files.clear();
        shown += "\n";
        shown += &made.outcome(&captured);
    }
    insta::assert_snapshot!(shown);
    assert_eq!(made.configured.sample_unit("energy_J").as_deref(), Some("J"));
    assert_eq!(made.configured.sample_unit("clock_mhz").as_deref(), Some("MHz"));
    assert_eq!(made.configured.sample_unit("spilled"), None);
}

#[test]
fn a_guess_that_was_printed_after_loading_is_none() {
    let made = make("sweep.toml", WHOLE).unwrap();
    let shown = made.read("loaded\nguess=90\ncycles=100\nPASS\n", 0);
    assert!(shown.contains("`guess`: nothing matches"), "{shown}");
    assert!(!shown.contains("guess_cycles"), "{shown}");
}

#[test]
fn larger_values_are_compared_by_their_inverse() {
    let higher = WHOLE.replace(
        "objective = \"cycles\"",
        "objective = \"cycles\"\ndirection = \"higher\"",
    );
    let made = make("sweep.toml", &higher).unwrap();
    let objective = made.configured.objective();
    assert_eq!((objective.name, objective.unit), ("inverse cycles", "1/(cycles)"));
    let number = made.configured.inverse_of().unwrap();
    assert_eq!((number.name, number.unit), ("cycles", "cycles"));
    assert_eq!(make("sweep.toml", WHOLE).unwrap().configured.inverse_of(), None);
    let shown = made.read("loaded\ncycles=200\nPASS\n", 0);
    assert!(shown.contains("\"value\":0.005"), "{shown}");
    assert!(shown.contains("\"cycles\":200.0"), "{shown}");
}

#[test]
fn a_check_decides_where_there_is_one() {
    let checked = WHOLE
        .replace(
            "run = [\"./run\", \"{tile}\"]",
            "run = [\"./run\", \"{tile}\"]\ncheck = [\"./check\", \"{run_log}\"]",
        )
        .replace("pass = { regex = 'PASS' }\n", "");
    let made = make("sweep.toml", &checked).unwrap();
    let ended = |exit_code, stderr: &str| Captured {
        exit_code: Some(exit_code),
        stderr: stderr.to_owned(),
        ..Captured::default()
    };
    let mut captured = RoundCaptured::default();
    captured.run.stdout = "cycles=100\n".to_owned();
    captured.run.exit_code = Some(0);
    let verdict = |captured: &RoundCaptured| made.configured.verdict(made.workload(), &made.first(), captured);
    assert_eq!(
        verdict(&captured).unwrap_err().to_string(),
        "the run's output can't be read: the check did not run"
    );
    captured.check = Some(ended(0, ""));
    assert_eq!(verdict(&captured), Ok(target_api::Verdict::Correct));
    captured.check = Some(ended(1, "row 3 differs\n"));
    let reason = "the check says no: exit code 1; last line: row 3 differs".to_owned();
    assert_eq!(verdict(&captured), Ok(target_api::Verdict::Incorrect { reason }));
}
