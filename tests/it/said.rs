//! What a person who sweeps a program by its command line is told before it runs.

use std::os::unix::fs::PermissionsExt;

use crate::command::{runs, scripted};
use crate::support::{Bench, text};

pub(crate) const PRINT: &str = "echo \"time=$1 pass\"";
pub(crate) const RUN: &str = "run = [\"./run.sh\", \"{n}\"]";

/// Replaces a part of the definition `script` that must be there.
pub(crate) fn edit(bench: &Bench, from: &str, to: &str) {
    let path = bench.path("cohorts/script.toml");
    let text = fs_err::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    fs_err::write(path, text.replacen(from, to, 1)).unwrap();
}

/// A program in `bin/` that prints its version.
pub(crate) fn tool(bench: &Bench, version: &str) {
    let folder = bench.path("bin");
    fs_err::create_dir_all(&folder).unwrap();
    let path = folder.join("its-compiler");
    fs_err::write(&path, format!("#!/bin/sh\necho its-compiler {version}\n")).unwrap();
    fs_err::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// Runs with `bin/` on the search path; exit code and standard error.
pub(crate) fn with_tool(bench: &Bench, arguments: &[&str]) -> (Option<i32>, String) {
    let path = format!("{}:{}", bench.path("bin").display(), std::env::var("PATH").unwrap());
    let output = bench.command(arguments).env("PATH", path).output().unwrap();
    (output.status.code(), text(&output.stderr))
}

#[test]
fn a_plan_says_all_of_its_parameters() {
    let bench = scripted(PRINT, "run = [\"./run.sh\", \"{n}\", \"{mode}\", \"{m}\"]");
    edit(
        &bench,
        "n = \"1:6:1\"\n",
        "n = \"1:6:1\"\nmode = [\"fast\", \"exact\"]\nm = [8, 16]\nalone = [1]\n",
    );
    edit(&bench, "\"{m}\"]", "\"{m}\", \"{alone}\"]");
    edit(
        &bench,
        "[parameters]",
        "[[case]]\nname = \"mine\"\nplan = { n = 3 }\n[parameters]",
    );
    let (_, stderr) = bench.expect(2, &["plan", "cohorts/script.toml"]);
    assert!(
        stderr.contains("`cohorts/script.toml:10:8`: the plan of case `mine` leaves out `mode` (expected one of 'fast', 'exact') and `m` (expected one of 8, 16)")
            && stderr.contains("help: "),
        "{stderr}"
    );
    edit(&bench, "plan = { n = 3 }", "plan = { n = 3, mode = \"exact\", m = 16 }");
    // What another case says is said.
    edit(
        &bench,
        "[parameters]",
        "[[case]]\nname = \"other\"\nlike = \"mine\"\nplan = { n = 4 }\n[parameters]",
    );
    let cases = bench.json(&["plan", "cohorts/script.toml", "--format", "json"]);
    let texts: Vec<&str> = cases
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["plan"]["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["n=3 mode=exact m=16 alone=1", "n=4 mode=exact m=16 alone=1"]);

    fs_err::write(bench.path("plan.toml"), "n = 2\nm = 8\n").unwrap();
    let try_it = ["try", "cohorts/script.toml", "--plan", "plan.toml"];
    let (_, stderr) = bench.expect(2, &try_it);
    assert!(
        stderr.contains("`plan.toml:1:1`: the plan leaves out `mode`"),
        "{stderr}"
    );
}

#[test]
fn programs_that_are_missing_are_named_before_anything_is_frozen() {
    let bench = scripted(
        PRINT,
        "run = [\"./run.sh\", \"{n}\"]\nprobe = { compiler = [\"no-such-compiler\", \"--version\"] }\n\
         build = [\"./build.sh\", \"{artifact}\"]\ncheck = [\"/no/such/check\", \"{run_log}\"]\nafter_run = [\"./run.txt\"]",
    );
    fs_err::write(bench.path("cohorts/build.sh"), "#!/bin/sh\n").unwrap();
    fs_err::write(bench.path("cohorts/run.txt"), "no script\n").unwrap();
    edit(&bench, "sources = [\"run.sh\"]", "sources = [\"run.sh\", \"run.txt\"]");
    for command in [
        &["freeze", "cohorts/script.toml"][..],
        &["sweep", "cohorts/script.toml"],
        &["sweep", "--dry-run", "cohorts/script.toml"],
    ] {
        let (_, stderr) = bench.expect(2, command);
        for part in [
            "`cohorts/script.toml:5:23`: `command.probe.compiler[0]`: `no-such-compiler` is not on `PATH`",
            "`cohorts/script.toml:6:10`: `command.build[0]`: `./build.sh` is not among the frozen sources",
            "`cohorts/script.toml:7:10`: `command.check[0]`: `/no/such/check` is no program that is there",
            "`cohorts/script.toml:8:14`: `command.after_run[0]`: `./run.txt` is frozen as a text that does not begin with `#!`",
            "help: ",
        ] {
            assert!(stderr.contains(part), "{part}\n{stderr}");
        }
    }
    assert!(!bench.path("cohorts/script").exists());
    // Behind a launcher nobody can look.
    let bench = scripted(
        PRINT,
        "run = [\"only-in-the-container\", \"{n}\"]\nlauncher = [\"env\"]",
    );
    bench.expect(0, &["freeze", "cohorts/script.toml"]);
}

#[test]
fn a_program_that_vanished_after_the_freeze_is_a_difference() {
    let bench = scripted(
        PRINT,
        &format!("{RUN}\nprobe = {{ compiler = [\"its-compiler\", \"--version\"] }}"),
    );
    tool(&bench, "1");
    let (code, stderr) = with_tool(&bench, &["freeze", "cohorts/script.toml"]);
    assert_eq!(code, Some(0), "{stderr}");
    fs_err::remove_file(bench.path("bin/its-compiler")).unwrap();
    for command in [["run", "cohorts/script"], ["verify", "cohorts/script"]] {
        let (code, stderr) = with_tool(&bench, &command);
        assert_eq!(code, Some(4), "{stderr}");
        assert!(
            stderr.contains("`its-compiler` is not on `PATH`")
                && stderr.contains("help: it was `")
                && stderr.contains("(its-compiler 1) when the cohort was frozen"),
            "{stderr}"
        );
    }
}

#[test]
fn one_of_something_is_one() {
    let bench = scripted(PRINT, RUN);
    edit(&bench, "n = \"1:6:1\"", "n = [4]");
    edit(&bench, "rounds = 2", "rounds = 1");
    let (stdout, _) = bench.expect(0, &["freeze", "cohorts/script.toml"]);
    assert!(stdout.ends_with("is frozen: 1 case\n"), "{stdout}");
    let (stdout, _) = bench.expect(0, &["status", "cohorts/script"]);
    assert!(
        stdout.contains("left: 1 build, 1 round") || stdout.contains("left: 0 builds, 1 round"),
        "{stdout}"
    );
    let lock = bench.path("device.lock").display().to_string();
    let (stdout, _) = bench.expect(0, &["run", "cohorts/script", "--device-lock", &lock]);
    assert!(
        stdout.contains("1 of 1 case correct") && stdout.contains("1 round measured now"),
        "{stdout}"
    );
}

#[test]
fn every_word_of_a_definition_is_listed() {
    let bench = Bench::new();
    let (stdout, _) = bench.expect(0, &["targets", "command"]);
    for word in [
        "command.setup",
        "command.launcher",
        "command.pass_env",
        "command.result.loaded",
        "command.result.direction",
        "command.report[].name",
        "{device_lock}",
        "{constraint:OPERATION}",
        "ceil_div(a, b)",
        "a ** b",
    ] {
        assert!(stdout.contains(word), "{word}\n{stdout}");
    }
    let listed = bench.json(&["targets", "command", "--format", "json"]);
    let words: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["word"].as_str().unwrap())
        .collect();
    assert!(
        listed
            .as_array()
            .unwrap()
            .iter()
            .all(|entry| entry["about"].as_str().unwrap().len() > 10)
    );
    // What the reader of definitions says that it expects is among them.
    let broken = scripted(PRINT, &format!("{RUN}\nno_such_key = 1"));
    let (_, stderr) = broken.expect(2, &["plan", "cohorts/script.toml"]);
    let expected = stderr.split_once("expected one of ").unwrap().1;
    let keys = expected
        .lines()
        .next()
        .unwrap()
        .split(", ")
        .map(|key| key.trim_matches('`'));
    for key in keys {
        assert!(words.contains(&format!("command.{key}").as_str()), "{key}: {words:?}");
    }
}

/// A wrapper stays the same file when the compiler behind it changes.
#[test]
fn a_probe_that_says_something_else_is_a_difference() {
    let bench = scripted(PRINT, &format!("{RUN}\nprobe = {{ compiler = [\"cat\", \"{{0}}\"] }}"));
    let said = bench.path("version");
    let definition = bench.path("cohorts/script.toml");
    let text = fs_err::read_to_string(&definition).unwrap();
    fs_err::write(&definition, text.replace("{0}", &said.display().to_string())).unwrap();
    fs_err::write(&said, "nvcc\nrelease 12.1\n").unwrap();
    bench.expect(0, &["freeze", "cohorts/script.toml"]);
    bench.expect(0, &["verify", "cohorts/script"]);
    fs_err::write(&said, "nvcc\nrelease 12.9\n").unwrap();
    let (stdout, stderr) = bench.expect(4, &["verify", "cohorts/script"]);
    let said = format!("{stdout}{stderr}");
    assert!(
        said.contains("tool.compiler.output") && said.contains("release 12.1") && said.contains("release 12.9"),
        "{said}"
    );
    let (_, stderr) = bench.expect(4, &["run", "cohorts/script"]);
    assert!(stderr.contains("tool.compiler.output"), "{stderr}");
}

/// One line is all that a tool says: what it says more later is something else.
#[test]
fn a_probe_that_says_more_is_a_difference() {
    let bench = scripted(PRINT, &format!("{RUN}\nprobe = {{ compiler = [\"cat\", \"{{0}}\"] }}"));
    let said = bench.path("version");
    edit(&bench, "{0}", &said.display().to_string());
    fs_err::write(&said, "nvcc\n").unwrap();
    bench.expect(0, &["freeze", "cohorts/script.toml"]);
    bench.expect(0, &["verify", "cohorts/script"]);
    fs_err::write(&said, "nvcc\nrelease 12.9\n").unwrap();
    let (stdout, stderr) = bench.expect(4, &["verify", "cohorts/script"]);
    let said = format!("{stdout}{stderr}");
    assert!(
        said.contains("tool.compiler.output") && said.contains("release 12.9"),
        "{said}"
    );
}

#[test]
fn values_of_another_kind_and_plans_without_a_verdict_are_told() {
    let bench = scripted(PRINT, RUN);
    edit(
        &bench,
        "[parameters]",
        "[[case]]\nname = \"mine\"\nplan = { n = \"1\" }\n[parameters]",
    );
    let (_, stderr) = bench.expect(2, &["plan", "cohorts/script.toml"]);
    let wanted = "has no case: all 1 are refused, the first, `mine`: refused by rule `domain`: `n` is the text `1`, expected an \
                  integer: whole numbers from 1 to 6";
    assert!(stderr.contains(wanted), "{stderr}");
    edit(&bench, "n = \"1:6:1\"", "n = \"1\"");
    let (_, stderr) = bench.expect(2, &["plan", "cohorts/script.toml"]);
    assert!(
        stderr.contains(
            "parameter `n`: range `1` is a text of another form, expected integers or floats as `start:stop`"
        ),
        "{stderr}"
    );
    edit(
        &bench,
        "n = \"1\"\n",
        "n = \"1:6:1\"\nconstraints = [\"6 / (n - 1) > 0\"]\n",
    );
    edit(&bench, "{ n = \"1\" }", "{ n = 2 }");
    for format in ["table", "json"] {
        let (stdout, _) = bench.expect(0, &["plan", "cohorts/script.toml", "--count", "--format", format]);
        assert!(
            stdout.contains("plans for which a constraint has no value are left out"),
            "{stdout}"
        );
    }
}

#[test]
fn comments_and_spaces_of_a_definition_may_change_after_a_freeze() {
    let bench = scripted(PRINT, RUN);
    bench.expect(0, &["freeze", "cohorts/script.toml"]);
    edit(&bench, "rounds = 2", "# enough\nrounds  =  2 # of them");
    let (stdout, stderr) = bench.expect(0, &["freeze", "cohorts/script.toml"]);
    let note =
        "note: comments or spacing of `cohorts/script.toml` were edited after `cohorts/script` was frozen from it";
    assert!(
        stderr.contains(note) && stdout.contains("was frozen before"),
        "{stdout}{stderr}"
    );
    let lock = bench.path("device.lock").display().to_string();
    let (_, stderr) = bench.expect(0, &["sweep", "cohorts/script.toml", "--device-lock", &lock]);
    assert_eq!(stderr.matches("note: comments or spacing").count(), 1, "{stderr}");
    edit(&bench, "# enough\nrounds  =  2", "# more\n# than enough\nrounds  =  3");
    let (_, stderr) = bench.expect(4, &["sweep", "cohorts/script.toml"]);
    assert!(
        stderr.contains("--new") && stderr.contains("was `rounds = 2` and is `rounds  =  3 # of them`"),
        "{stderr}"
    );
}

#[test]
fn sources_that_changed_after_a_freeze_are_told_and_the_frozen_ones_run() {
    let bench = scripted(PRINT, RUN);
    edit(&bench, "sources = [\"run.sh\"]", "sources = [\"run.sh\", \"*.txt\"]");
    fs_err::write(bench.path("cohorts/a.txt"), "a\n").unwrap();
    let lock = bench.path("device.lock").display().to_string();
    let sweep = ["sweep", "cohorts/script.toml", "--device-lock", &lock];
    let (_, stderr) = bench.expect(0, &[&sweep[..], &["--only", "all-00000"]].concat());
    assert!(!stderr.contains("note: "), "{stderr}");
    let note = |arguments: &[&str]| {
        let (_, stderr) = bench.expect(0, arguments);
        let notes: Vec<&str> = stderr.lines().filter(|line| line.starts_with("note: ")).collect();
        assert_eq!(notes.len(), 1, "{stderr}");
        notes[0].to_owned()
    };
    // A program that would fail: the frozen copy runs.
    fs_err::write(bench.path("cohorts/run.sh"), "#!/bin/sh\nexit 7\n").unwrap();
    assert_eq!(
        note(&sweep),
        "note: beside the definition `run.sh` is not as it was frozen: `cohorts/script` goes on with the frozen copies; \
         `--new` freezes a sibling from what is there now"
    );
    let runs = runs(&bench, "cohorts/script");
    assert!(runs.iter().all(|run| run["outcome"] == "correct"), "{runs:?}");
    fs_err::remove_file(bench.path("cohorts/a.txt")).unwrap();
    fs_err::write(bench.path("cohorts/b.txt"), "b\n").unwrap();
    let said = note(&["freeze", "cohorts/script.toml"]);
    assert!(said.contains("`a.txt` is gone (and 2 more)"), "{said}");
    fs_err::remove_file(bench.path("cohorts/b.txt")).unwrap();
    let said = note(&["freeze", "cohorts/script.toml"]);
    assert!(said.contains("`*.txt` matches no file"), "{said}");
}

/// What `verify` says of a cohort that it can't open, or whose digest is gone, helps: it does not name itself.
#[test]
fn verify_says_what_to_do_about_what_was_frozen() {
    let bench = scripted(PRINT, RUN);
    let lock = bench.path("device.lock").display().to_string();
    bench.expect(0, &["sweep", "cohorts/script.toml", "--device-lock", &lock]);
    let verify = ["verify", "cohorts/script"];
    for (name, from, to) in [
        ("manifest.json", "\"format\":1", "\"format\":9"),
        ("cases.jsonl", "\"name\":\"", "\"name\":\"x"),
    ] {
        let path = bench.path("cohorts/script").join(name);
        let before = fs_err::read_to_string(&path).unwrap();
        let edited = before.replacen(from, to, 1);
        assert_ne!(edited, before, "{name}");
        fs_err::write(&path, edited).unwrap();
        let (_, stderr) = bench.expect(4, &verify);
        assert!(
            stderr.contains(name)
                && stderr.contains("restore the file from a copy, or begin a new cohort with `layout-sweep sweep")
                && !stderr.contains("layout-sweep verify"),
            "{stderr}"
        );
        fs_err::write(&path, before).unwrap();
    }
    let digest = bench.path("cohorts/script/manifest.sha256");
    let before = fs_err::read(&digest).unwrap();
    fs_err::remove_file(&digest).unwrap();
    let (stdout, stderr) = bench.expect(4, &verify);
    assert!(stdout.contains("manifest.sha256"), "{stdout}");
    assert!(
        stderr.contains("help: ") && stderr.contains("sha256sum manifest.json > manifest.sha256"),
        "{stderr}"
    );
    bench.expect(4, &["run", "cohorts/script", "--device-lock", &lock]);
    fs_err::write(&digest, before).unwrap();
    bench.expect(0, &verify);
}

#[test]
fn a_record_that_was_edited_is_found_with_its_line() {
    let bench = scripted(PRINT, RUN);
    let lock = bench.path("device.lock").display().to_string();
    bench.expect(0, &["sweep", "cohorts/script.toml", "--device-lock", &lock]);
    bench.expect(0, &["verify", "cohorts/script"]);
    let folder = bench.path("cohorts/script/records");
    let file = fs_err::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let text = fs_err::read_to_string(&file).unwrap();
    let number = 1 + text.lines().position(|line| line.contains("\"value\":3.0")).unwrap();
    fs_err::write(&file, text.replacen("\"value\":3.0", "\"value\":0.5", 1)).unwrap();
    let name = format!("records/{}, line {number}", file.file_name().unwrap().to_str().unwrap());
    let (_, stderr) = bench.expect(4, &["run", "cohorts/script", "--device-lock", &lock]);
    assert!(
        stderr.contains(&name) && stderr.contains("help: what was measured was edited"),
        "{stderr}"
    );
    let (stdout, stderr) = bench.expect(4, &["verify", "cohorts/script", "--format", "json"]);
    let found: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(found["differences"][0]["name"], name.as_str(), "{stdout}");
    assert_eq!(found["differences"].as_array().unwrap().len(), 1, "{stdout}");
    assert!(stderr.contains("restore the file from a copy"), "{stderr}");
    // Whoever makes figures of it is told, and nobody else is.
    let compare = ["compare", "cohorts/script", "cohorts/script"];
    let gate = [&compare[..], &["--max-regression", "1.03"]].concat();
    let check = ["check", "cohorts/script", "--max-regret", "1.05"];
    for (code, arguments) in [
        (0, &["analyze", "cohorts/script"][..]),
        (0, &["export", "cohorts/script", "--format", "csv"]),
        (0, &compare),
        // A gate judges nothing that was edited.
        (4, &gate),
        (4, &check),
    ] {
        let (_, stderr) = bench.expect(code, arguments);
        assert!(
            stderr.contains(&format!("{name}` is not as it was written (1 difference)")),
            "{arguments:?}: {stderr}"
        );
        let says = if code == 0 {
            "warning: "
        } else {
            "error: no gate is judged: "
        };
        assert!(stderr.contains(says), "{arguments:?}: {stderr}");
    }
    fs_err::write(&file, text).unwrap();
    bench.expect(0, &gate);
    let (_, stderr) = bench.expect(0, &["analyze", "cohorts/script"]);
    assert!(!stderr.contains("warning"), "{stderr}");
}

#[test]
fn an_example_is_written_once_and_can_be_planned() {
    let bench = Bench::new();
    let (listed, _) = bench.expect(0, &["init"]);
    assert!(
        listed.contains("matmul-command") && listed.contains("quick-gemm-cpu"),
        "{listed}"
    );
    let (stdout, _) = bench.expect(0, &["init", "matmul-command", "--to", "here"]);
    assert!(
        stdout.contains("layout-sweep sweep here/matmul-command.toml"),
        "{stdout}"
    );
    bench.expect(0, &["plan", "here/matmul-command.toml"]);
    let (_, stderr) = bench.expect(2, &["init", "matmul-command", "--to", "here"]);
    assert!(stderr.contains("not overwritten"), "{stderr}");
    let (_, stderr) = bench.expect(2, &["init", "nothing"]);
    assert!(stderr.contains("quick-gemm-cpu"), "{stderr}");
}
