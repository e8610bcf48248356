//! Definitions of `target = "command"`: what they mean, and every slip with its place.

use std::fmt::Write as _;

use planner::Definition;
use planner::definition::command::{Argument, CommandTables, LockBy, When};
use planner::definition::{COMMAND_WORKLOAD, TimeLimit};

const WHOLE: &str = r#"
target = "command"

[command]
sources = ["kernels/**/*.c"]
env = { OMP_NUM_THREADS = "1" }
probe = { compiler = ["gcc", "--version"] }
build = ["gcc", "-DTILE={tile}", "-o", "{artifact}", "kernels/matmul.c"]
run = ["{artifact}", ["--lock", "{device_lock}"]]
devices = ["gpu0", "gpu1"]
timeout = { build = "10m", run = "30s" }
[[command.report]]
name = "barriers"
run = ["profile-cli"]
[command.result]
zz_last_name_first = { regex = 'cycles=(\d+)', unit = "cycles", moment = "build" }
cycles = { regex = 'cycles=(\d+)', unit = "cycles" }
pass = { regex = 'PASS' }
objective = "cycles"

[derived]
placed = "cycles + 1"
rate = { formula = "1 / cycles", unit = "1/cycle" }

[parameters]
unroll = "1:8:1"
tile = [8, 16]
constraints = ["tile % unroll == 0"]

[estimates.model]
terms = { tile = "tile" }
coefficients = { tile = 2 }
"#;

#[test]
fn the_tables_reach_the_target_as_options() {
    let definition = Definition::parse("sweep.toml", WHOLE).unwrap();
    let tables = CommandTables::of(&definition.options).unwrap();
    let command = &tables.command;
    assert_eq!(
        command.run[1],
        Argument::Group(vec!["--lock".into(), "{device_lock}".into()])
    );
    assert_eq!(command.lock, LockBy::Guard);
    let numbers: Vec<&str> = command.result.numbers.iter().map(|(name, _)| name).collect();
    assert_eq!(numbers, ["zz_last_name_first", "cycles"], "the order of the file");
    assert_eq!(command.result.numbers.0[0].1.moment, When::Build);
    let parameters: Vec<&str> = tables
        .parameters
        .parameters
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(parameters, ["unroll", "tile"]);
    assert_eq!(tables.derived.get("rate").unwrap().unit.as_deref(), Some("1/cycle"));
    let coefficient = tables.estimates.get("model").unwrap().coefficients.get("tile");
    assert!(coefficient.is_some_and(|c| c.total_cmp(&2.0).is_eq()));
    assert!(!tables.control);
}

#[test]
fn what_is_not_said_has_a_meaning() {
    let definition = Definition::parse("sweep.toml", WHOLE).unwrap();
    assert_eq!(definition.workloads[0].workload.name, COMMAND_WORKLOAD);
    assert!(definition.workloads[0].workload.operations.is_empty());
    assert_eq!((definition.measure.rounds, definition.measure.finalists), (1, 0));
    assert_eq!(definition.measure.build_timeout, TimeLimit { milliseconds: 600_000 });
    assert_eq!(definition.measure.run_timeout, TimeLimit { milliseconds: 30_000 });
    assert!(definition.explore.exhaustive.as_ref().is_some_and(|whole| whole.wanted));
    let screened: Vec<(&str, usize)> = definition
        .explore
        .screen
        .iter()
        .map(|(name, values)| (name.as_str(), values.values().len()))
        .collect();
    assert_eq!(screened, [("unroll", 8), ("tile", 2)]);

    // Cases alone are all that is wanted; a control makes pairs, and rounds make finalists worth while.
    let case = "[[case]]\nname = \"mine\"\n";
    let rounds = "[measure]\nrounds = 3\n";
    let controlled = format!("control = \"mine\"\n{WHOLE}{case}{rounds}");
    let definition = Definition::parse("sweep.toml", &controlled).unwrap();
    assert!(definition.explore.screen.is_empty());
    assert_eq!((definition.measure.rounds, definition.measure.finalists), (3, 24));
    assert!(CommandTables::of(&definition.options).unwrap().control);
}

#[test]
fn every_slip_is_named() {
    let with = |from: &str, to: &str| {
        assert!(WHOLE.contains(from), "{from}");
        WHOLE.replace(from, to)
    };
    let cases = [
        ("no command", "target = \"command\"\n[parameters]\na = [1]\n".to_owned()),
        ("no parameters", WHOLE[..WHOLE.find("[parameters]").unwrap()].to_owned()),
        (
            "no run",
            with("run = [\"{artifact}\", [\"--lock\", \"{device_lock}\"]]\n", ""),
        ),
        ("no result", WHOLE[..WHOLE.find("[command.result]").unwrap()].to_owned()),
        ("unknown key", with("devices =", "device =")),
        ("an argument that is a number", with("\"-o\"", "3")),
        (
            "a group in a group",
            with("[\"--lock\", \"{device_lock}\"]", "[[\"--lock\"]]"),
        ),
        (
            "an unknown key of a number",
            with("unit = \"cycles\" }\npass", "units = \"cycles\" }\npass"),
        ),
        (
            "a number that is a text",
            with("{ regex = 'cycles=(\\d+)', unit = \"cycles\" }", "'cycles'"),
        ),
        ("an unknown moment", with("moment = \"build\"", "moment = \"later\"")),
        ("an unknown reduction", with("moment = \"build\"", "reduce = \"mean\"")),
        (
            "an unknown direction",
            with("objective = \"cycles\"", "direction = \"up\""),
        ),
        ("a time limit", with("\"10m\"", "\"10 minutes\"")),
        ("a limit twice", format!("{WHOLE}[measure]\nrun_timeout = \"1s\"\n")),
        ("an unknown lock", with("devices =", "lock = \"nobody\"\ndevices =")),
        ("a derived number", with("\"cycles + 1\"", "3")),
        ("a derived table", with("unit = \"1/cycle\"", "units = \"1/cycle\"")),
        ("a coefficient", with("tile = 2 }", "tile = \"two\" }")),
        (
            "a constraint that can't be read",
            with("tile % unroll == 0", "tile % unrol == 0"),
        ),
        (
            "a constraint of the wrong type",
            with("tile % unroll == 0", "tile % unroll"),
        ),
        (
            "a constraint that decides nothing",
            with("tile % unroll == 0", "1 == 1"),
        ),
        ("a range", with("1:8:1", "8:1:1")),
        ("a single value", with("[8, 16]", "8")),
        ("a value twice", with("[8, 16]", "[8, 8]")),
        ("mixed kinds", with("[8, 16]", "[8, 1.5]")),
        (
            "nothing varies",
            with(
                "unroll = \"1:8:1\"\ntile = [8, 16]\nconstraints = [\"tile % unroll == 0\"]",
                "",
            ),
        ),
        ("options of another target", format!("{WHOLE}[cpu]\nthreads = 2\n")),
        (
            "commands elsewhere",
            "target = \"cpu\"\n[[workload]]\nname = \"siglip-mlp\"\n[command]\n".to_owned(),
        ),
        (
            "parameters elsewhere",
            "target = \"cpu\"\n[[workload]]\nname = \"siglip-mlp\"\n[parameters]\na = [1]\n".to_owned(),
        ),
    ];
    let mut shown = String::new();
    for (slip, text) in cases {
        match Definition::parse("sweep.toml", &text) {
            Ok(_) => panic!("{slip}: accepted"),
            Err(error) => _ = write!(shown, "# {slip}\n{error}\n\n"),
        }
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn a_target_points_at_what_it_does_not_like() {
    let definition = Definition::parse("sweep.toml", WHOLE).unwrap();
    let mut shown = String::new();
    for key in [
        "command.build[1]:8..14",
        "command.run[1][1]",
        "command.result.cycles.unit",
        "command.report[0].name",
        "command.result.cycles.pointer",
        "estimates.model.terms.tile",
        "parameters.constraints[0]:7..13",
        "derived.rate.formula:4..10",
        "no.such.path",
    ] {
        let error = definition.option_error(key, format!("about {key}\nhelp: change it"));
        _ = writeln!(shown, "{error}\n");
    }
    insta::assert_snapshot!(shown);
}
