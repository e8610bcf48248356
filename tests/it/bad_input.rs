//! Bad input gets one clear message, its own exit code, and leaves nothing behind.

use crate::support::{Bench, QUICK, tree};

/// Sweeps `text` and expects exit code 2 and all of `wanted` on stderr, and that nothing was written.
#[track_caller]
fn refused(text: &str, wanted: &[&str]) {
    let bench = Bench::new();
    bench.define("bad", text);
    let before = tree(bench.root());
    let (stdout, stderr) = bench.expect(2, &["sweep", "cohorts/bad.toml"]);
    assert_eq!(stdout, "");
    for word in wanted {
        assert!(stderr.contains(word), "`{word}` is not in\n{stderr}");
    }
    assert!(tree(bench.root()) == before, "something was written");
}

fn with(old: &str, new: &str) -> String {
    assert!(QUICK.contains(old), "{old}");
    QUICK.replacen(old, new, 1)
}

#[test]
fn unknown_words() {
    refused(
        &with("rounds = 2", "roundz = 2"),
        &["cohorts/bad.toml", "roundz", "rounds"],
    );
    refused(
        &with("target = \"cpu\"", "target = \"gpu\""),
        &["bad.toml:2", "`gpu`", "`cpu`"],
    );
    refused(
        &with("kind = \"gemm\"", "kind = \"gem\""),
        &["`gem`", "`gemm`", "siglip-mlp"],
    );
    refused(
        &with("\"gemm.unroll\" = 4", "\"gemm.unrol\" = 4"),
        &["gemm.unrol", "gemm.unroll"],
    );
    refused(&with("threads = 1", "treads = 1"), &["treads", "threads"]);
}

#[test]
fn extents_that_mean_nothing() {
    refused(&with("rows = 145", "rows = 0"), &["rows", "0"]);
    refused(&with("inner = 192", "inner = -1"), &["inner", "-1"]);
}

#[test]
fn machines_that_differ_in_nothing_known() {
    let quick = with("adaptive = { cross = 2 }", "").replace("finalists = 4", "finalists = 0");
    for name in ["machine.cpu_modle", "machine.gpu*", "tool.nvcc.output"] {
        refused(
            &format!("{quick}\n[executor]\nunlike = [\"machine.cpu_*\", \"{name}\"]\n"),
            &["cohorts/bad.toml:", name, "machine.cpu_model", "tool.compiler.output"],
        );
    }
}

#[test]
fn a_control_that_is_not_there() {
    refused(&with("control = \"plain\"", "control = \"plane\""), &["plane", "plain"]);
}

#[test]
fn a_control_that_the_target_refuses() {
    // 14 sums, 2 held vectors and one more are 17 registers of AVX2, which has 16; AVX-512 has 32.
    let shape = with("\"gemm.unroll\" = 4", "\"gemm.height\" = 7, \"gemm.width\" = 16");
    let pinned = shape.replacen("threads = 1", "threads = 1\nisa = \"avx2\"", 1);
    assert_ne!(pinned, shape);
    refused(&pinned, &["registers", "nearest legal"]);
}

#[test]
fn the_same_plan_twice() {
    let twice = with("[explore]", "[[case]]\nname = \"again\"\nlike = \"plain\"\n\n[explore]");
    refused(&twice, &["again", "plain", "repeat_of"]);
}

#[test]
fn no_compiler_and_a_compiler_that_fails() {
    let bench = Bench::quick();
    let output = bench
        .command(&["sweep", "cohorts/quick.toml"])
        .env("CC", "no-such-compiler")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("no-such-compiler") && stderr.contains("CC"), "{stderr}");
    assert!(!bench.path("cohorts/quick").exists());

    let script = bench.path("broken-cc");
    fs_err::write(
        &script,
        "#!/bin/sh\n[ \"$1\" = --version ] && echo broken 1.0 && exit 0\necho 'x.c:1: error: no' >&2\nexit 1\n",
    )
    .unwrap();
    fs_err::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let output = bench
        .command(&["sweep", "cohorts/quick.toml"])
        .env("CC", &script)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_ne!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("error: no") && stderr.contains("log"), "{stderr}");
    assert!(!bench.path("cohorts/quick").exists());
}

#[test]
fn a_folder_that_holds_something_else() {
    let bench = Bench::quick();
    fs_err::create_dir(bench.path("cohorts/quick")).unwrap();
    fs_err::write(bench.path("cohorts/quick/thesis.txt"), "dear").unwrap();
    let before = tree(bench.root());
    let output = bench.run(&["sweep", "cohorts/quick.toml"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("cohorts/quick") && stderr.contains("manifest.json"),
        "{stderr}"
    );
    assert!(tree(bench.root()) == before);
}

#[test]
fn a_folder_that_can_not_be_written() {
    let bench = Bench::quick();
    fs_err::write(bench.path("file"), "not a folder").unwrap();
    let (_, stderr) = bench.expect(2, &["freeze", "cohorts/quick.toml", "--cohort", "file/cohort"]);
    assert!(stderr.contains("file/cohort"), "{stderr}");
}

#[test]
fn an_edited_definition_names_the_line() {
    let bench = Bench::quick();
    bench.expect(0, &["freeze", "cohorts/quick.toml"]);
    bench.define("quick", &with("rounds = 2", "rounds = 3"));
    let (_, stderr) = bench.expect(4, &["sweep", "cohorts/quick.toml"]);
    assert!(
        stderr.contains("rounds = 2") && stderr.contains("rounds = 3") && stderr.contains("--new"),
        "{stderr}"
    );
    bench.expect(0, &["freeze", "cohorts/quick.toml", "--new"]);
    assert!(bench.path("cohorts/quick/manifest.json").is_file());
    assert!(bench.path("cohorts/quick-2/manifest.json").is_file());
    let (stdout, _) = bench.expect(0, &["freeze", "cohorts/quick.toml"]);
    assert!(stdout.contains("quick-2"), "{stdout}");
}

#[test]
fn commands_without_their_words() {
    let bench = Bench::quick();
    bench.expect(2, &["sweep"]);
    bench.expect(2, &["try", "cohorts/quick.toml"]);
    bench.expect(2, &["sweep", "cohorts/missing.toml"]);
    let (_, stderr) = bench.expect(2, &["try", "cohorts/quick.toml", "--case", "nobody"]);
    assert!(stderr.contains("nobody") && stderr.contains("plain"), "{stderr}");
    let output = bench.run(&["status", "cohorts"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_case_that_is_not_there_leaves_nothing_behind() {
    let bench = Bench::quick();
    let before = tree(bench.root());
    let (_, stderr) = bench.expect(2, &["sweep", "cohorts/quick.toml", "--only", "nope*"]);
    assert!(stderr.contains("nope*"), "{stderr}");
    assert!(tree(bench.root()) == before, "something was written");
}

#[test]
fn one_bad_definition_does_not_stop_the_others() {
    let bench = Bench::quick();
    bench.define("bad", &with("rows = 145", "rows = 0"));
    let (stdout, stderr) = bench.expect(2, &["sweep", "--dry-run", "cohorts/bad.toml", "cohorts/quick.toml"]);
    assert!(
        stdout.contains("modelled") && stderr.contains("bad.toml"),
        "{stdout}{stderr}"
    );
}

#[test]
fn a_cohort_belongs_to_its_own_definition() {
    let bench = Bench::quick();
    bench.expect(0, &["freeze", "cohorts/quick.toml"]);
    bench.expect(0, &["freeze", "cohorts/quick.toml", "--new"]);
    assert!(
        bench.path("cohorts/quick-2/manifest.json").is_file(),
        "a fresh sibling of an unchanged definition"
    );
    bench.define("quick-2", QUICK);
    let (_, stderr) = bench.expect(2, &["freeze", "cohorts/quick-2.toml"]);
    assert!(
        stderr.contains("another definition") && stderr.contains("--cohort"),
        "{stderr}"
    );
    let (_, stderr) = bench.expect(2, &["analyze", "cohorts/quick", "--report", "cohorts/quick-2"]);
    assert!(stderr.contains("holds a cohort"), "{stderr}");
}

#[test]
fn options_that_mean_nothing() {
    let bench = Bench::quick();
    let before = tree(bench.root());
    let both = ["sweep", "cohorts/quick.toml", "--only", "plain", "--exclude", "plain"];
    let (_, stderr) = bench.expect(2, &both);
    assert!(stderr.contains("leave no case"), "{stderr}");
    let nowhere = ["try", "cohorts/quick.toml", "--case", "plain", "--workload", "nowhere"];
    let (_, stderr) = bench.expect(2, &nowhere);
    assert!(stderr.contains("--workload"), "{stderr}");
    assert!(tree(bench.root()) == before, "something was written");

    let frozen = bench.json(&["freeze", "cohorts/quick.toml", "--format", "json"]);
    assert!(
        frozen["new"] == true && frozen["cases"].as_u64().unwrap() > 1,
        "{frozen}"
    );
    for (options, says) in [
        (&["--only", "plain", "--exclude", "pl*"][..], "leave no case"),
        (&["--accept", "foo"][..], "machine.NAME"),
        (&["--only", "nobody"][..], "no such case"),
    ] {
        let (_, stderr) = bench.expect(2, &[&["run", "cohorts/quick"], options].concat());
        assert!(stderr.contains(says), "{stderr}");
    }
    assert!(bench.records("cohorts/quick").is_empty());
    let (_, stderr) = bench.expect(
        2,
        &["try", "cohorts/quick.toml", "--case", "plain", "--mapping", "identity"],
    );
    assert!(stderr.contains("--mapping"), "{stderr}");
}

#[test]
fn times_and_numbers_that_are_none() {
    let bench = Bench::new();
    let whole = "expected a time in whole ms, s, m or h, such as \"500ms\" or \"10m\"";
    let said = |arguments: &[&str], option: &str, value: &str| {
        let (stdout, stderr) = bench.expect(2, &[arguments, &[option, value]].concat());
        let what = format!("error: invalid value '{value}' for '{option} <");
        assert!(stdout.is_empty() && stderr.starts_with(&what), "{stderr}");
        assert_eq!(stderr.matches("error:").count(), 1, "{stderr}");
        stderr
    };
    let run = ["run", "cohort"];
    for (arguments, option) in [
        (&run[..], "--time-limit"),
        (&run[..], "--lock-timeout"),
        (&["sweep", "a.toml"][..], "--time-limit"),
        (&["shards", "cohort", "--hand-out"][..], "--lock-timeout"),
        (&["cache", "--prune"][..], "--older-than"),
    ] {
        for value in ["-1s", "-1", "0.5s", "5", "", "1 s", "1d2h", "--jobs"] {
            let stderr = said(arguments, option, value);
            assert!(stderr.contains(&format!("{whole}, found \"{value}\"")), "{stderr}");
        }
        assert!(said(arguments, option, "0s").contains("expected a time above zero"));
        let ages = "99999999999999999999h";
        assert!(said(arguments, option, ages).contains("is too long"));
    }
    let (jobs, pairs) = ("of at least 1", "from 1 to 10000");
    for (arguments, option, words) in [
        (&run[..], "--jobs", jobs),
        (&["status", "cohort"][..], "--every", jobs),
        (&["try", "a.toml"][..], "--pairs", pairs),
    ] {
        for value in ["-1", "0", "0.5", "two", ""] {
            let stderr = said(arguments, option, value);
            assert!(
                stderr.contains(&format!("expected a whole number {words}, found")),
                "{stderr}"
            );
        }
        assert!(!said(arguments, option, "99999999999999999999").contains("invalid digit"));
    }
}

#[test]
fn damaged_records_end_every_command_alike() {
    let bench = Bench::quick();
    let lock = bench.path("device.lock").display().to_string();
    bench.expect(0, &["freeze", "cohorts/quick.toml"]);
    let run = [
        "run",
        "cohorts/quick",
        "--only",
        "plain",
        "--device-lock",
        &lock,
        "--format",
        "json",
    ];
    let ran = bench.json(&run);
    assert!(ran["rounds_done"].as_u64().unwrap() > 0, "{ran}");
    let records = bench.path("cohorts/quick/records");
    let file = std::fs::read_dir(records).unwrap().next().unwrap().unwrap().path();
    let text = fs_err::read_to_string(&file).unwrap();
    fs_err::write(&file, text.replacen('{', "}", 1)).unwrap();
    for command in [
        &["run", "cohorts/quick"][..],
        &["sweep", "cohorts/quick.toml"],
        &["analyze", "cohorts/quick"],
        &["status", "cohorts/quick"],
    ] {
        let (_, stderr) = bench.expect(4, command);
        assert!(
            stderr.contains(".jsonl") && stderr.contains("line 1"),
            "{command:?}: {stderr}"
        );
    }
    let (_, stderr) = bench.expect(4, &["run", "cohorts/quick"]);
    assert!(
        stderr.contains("help: ") && stderr.contains("restore the file from a copy"),
        "{stderr}"
    );
    assert!(!bench.path("reports/quick").exists());
}

#[test]
fn a_full_disk_while_a_cohort_is_frozen() {
    let bench = Bench::quick();
    let before = tree(bench.root());
    // A disk of its own where this may be mounted; else a limit on the size of files.
    let binary = env!("CARGO_BIN_EXE_layout-sweep");
    let run = |script: &str| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script, binary]).current_dir(bench.root());
        command.output().unwrap()
    };
    let frozen = |output: &std::process::Output, words: &[&str]| {
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        for word in words {
            assert!(stderr.contains(word), "`{word}` is missing: {stderr}");
        }
        assert!(!stderr.contains(".freezing"), "{stderr}");
    };
    let limited = run("trap '' XFSZ; ulimit -f 64; exec \"$0\" freeze cohorts/quick.toml");
    let help = "nothing of the cohort was left behind";
    frozen(
        &limited,
        &["`cohorts/quick` can't be frozen", "File too large", "ulimit -f", help],
    );
    assert_eq!(tree(bench.root()), before);

    let mount = "mkdir small && mount -t tmpfs -o size=256k none small || exit 77; \"$0\" freeze cohorts/quick.toml --cohort \
                 small/c; code=$?; ls -A small >&2; exit $code";
    let own_mounts = std::process::Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", mount, binary])
        .current_dir(bench.root())
        .output();
    match own_mounts {
        Ok(output) if ![Some(77), None].contains(&output.status.code()) && output.status.code() != Some(0) => {
            frozen(
                &output,
                &[
                    "`small/c` can't be frozen",
                    "No space left on device",
                    "make room",
                    help,
                ],
            );
            assert_eq!(
                String::from_utf8_lossy(&output.stderr).lines().last(),
                Some(&*format!(
                    "help: make room on that disk, or freeze on another one with `--cohort DIR`; {help}"
                ))
            );
        }
        other => eprintln!("no small disk can be mounted here, so only the limit on files was tried: {other:?}"),
    }
}

#[test]
fn a_full_disk_while_the_report_is_written() {
    let bench = Bench::quick();
    let lock = bench.path("device.lock").display().to_string();
    bench.expect(0, &["sweep", "cohorts/quick.toml", "--device-lock", &lock]);
    let files = tree(&bench.path("reports/quick"));
    let binary = env!("CARGO_BIN_EXE_layout-sweep");
    // Files may not grow beyond some KiB; without the trap the limit's signal would end the process first.
    let limited = |report: &str| {
        let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" analyze cohorts/quick --report \"$1\"";
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script, binary, report]).current_dir(bench.root());
        command.output().unwrap()
    };
    for report in ["reports/quick", "reports/fresh"] {
        let output = limited(report);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(
            stderr.contains("File too large") && stderr.contains("report"),
            "{stderr}"
        );
    }
    let now = tree(&bench.path("reports/quick"));
    let changed = now.iter().filter(|file| !files.contains(file)).map(|(path, _)| path);
    let changed: Vec<_> = changed.collect();
    assert!(
        now.len() == files.len() && changed.is_empty(),
        "the earlier report stays whole: {changed:?}"
    );
    let left = tree(&bench.path("reports/fresh"));
    let names: Vec<_> = left.iter().map(|(path, _)| path).collect();
    assert!(names.is_empty(), "half a report: {names:?}");
    bench.expect(0, &["analyze", "cohorts/quick", "--report", "reports/fresh"]);
}
