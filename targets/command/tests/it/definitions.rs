//! Definitions become cases.

use std::path::Path;

use target_api::{Captured, Exclusive, LockHolder, Pairing, Places, RoundCaptured};

use crate::made::{Made, make, repository};

const SMALL: &str = r#"
target = "command"
[command]
run = ["./run.sh", "{tile}", "{mode}", ["--fast", "{extra}"]]
[command.result]
time = { regex = 'ns=(\d+)', unit = "ns" }
pass = { regex = 'ok' }
objective = "time"
[parameters]
tile = [8, 16, 32]
mode = ["a", "b c"]
extra = ["", "x"]
constraints = ["tile > 8 or mode == 'a'"]
"#;

#[test]
fn without_explore_every_legal_plan_is_a_case() {
    let made = make("small.toml", SMALL).unwrap();
    let selection = made.select();
    let workload = &selection.workloads[0];
    assert_eq!((workload.name.as_str(), workload.total), ("command", 10));
    assert_eq!(workload.control, None);
    let texts: Vec<&str> = workload.cases.iter().map(|case| case.text.as_str()).collect();
    assert_eq!(texts.len(), 10);
    assert_eq!(texts[0], "tile=8 mode=a extra=\"\"");
    assert_eq!(texts[1], "tile=8 mode=a extra=x");
    assert_eq!(texts[9], "tile=32 mode=\"b c\" extra=x");
    assert_eq!(made.configured.pairing(), Pairing::None);
    assert_eq!(made.configured.exclusive(), Exclusive::Host);
}

#[test]
fn groups_are_left_out_where_they_say_nothing() {
    let made = make("small.toml", SMALL).unwrap();
    let places = Places {
        cohort: Path::new("/c"),
        sources: None,
        run_log: Path::new("/c/x/run.log"),
        device: "host",
        device_lock: None,
    };
    let of = |index: usize| {
        let case = made.select().workloads[0].cases[index].clone();
        let plan = made.configured.plan(made.workload(), &case.assignment);
        let run = made.round(&plan, None, Path::new("/c/x"), &places).run;
        (run.program, run.arguments)
    };
    assert_eq!(of(8), ("./run.sh".into(), vec!["32".into(), "b c".into()]));
    let arguments: Vec<String> = ["32", "b c", "--fast", "x"].map(str::to_owned).into();
    assert_eq!(of(9), ("./run.sh".into(), arguments));
}

#[test]
fn random_and_screened_exploration_use_the_planner() {
    let random = format!("{SMALL}[explore]\nrandom = {{ count = 4, seed = 3 }}\n");
    let some = make("small.toml", &random).unwrap().select();
    assert_eq!(some.workloads[0].cases.len(), 4);
    assert_eq!(some.workloads[0].cases[0].family, "random");
    let screened = format!("{SMALL}[explore]\nscreen = {{ tile = [16, 32] }}\nexhaustive = true\n");
    let two = make("small.toml", &screened).unwrap().select();
    let texts: Vec<&str> = two.workloads[0].cases.iter().map(|case| case.text.as_str()).collect();
    assert_eq!(texts, ["tile=16 mode=a extra=\"\"", "tile=32 mode=a extra=\"\""]);
}

#[test]
fn strata_take_the_first_of_equals() {
    let text = SMALL
        .replace(
            "tile = [8, 16, 32]",
            "\"a.tile\" = [8, 16]\n\"a.unroll\" = [1, 2]\n\"b.tile\" = [4, 8]",
        )
        .replace("{tile}", "{a.tile}/{a.unroll}/{b.tile}")
        .replace("tile > 8 or mode == 'a'", "a.tile % a.unroll == 0");
    let text = format!("{text}[explore]\nstrata = [{{ attribute = \"*.tile\", values = [8, 16] }}]\n");
    let selection = make("small.toml", &text).unwrap().select();
    let cases: Vec<String> = selection.workloads[0]
        .cases
        .iter()
        .map(|case| format!("{} {}", case.name, case.text))
        .collect();
    assert_eq!(
        cases,
        [
            "a-00 a.tile=8 a.unroll=1 b.tile=4 mode=a extra=\"\"",
            "a-01 a.tile=16 a.unroll=1 b.tile=4 mode=a extra=\"\"",
            "b-00 a.tile=8 a.unroll=1 b.tile=8 mode=a extra=\"\"",
        ]
    );
    // What nobody chose is told.
    let notes = &selection.workloads[0].notes;
    let first = "explored cases start from the first legal plan, a.tile=8 a.unroll=1 b.tile=4 mode=a extra=\"\";";
    assert!(notes.iter().any(|note| note.starts_with(first)), "{notes:?}");
}

#[test]
fn the_matrix_product_plans_its_seventeen_cases() {
    let made = Made::shipped("matmul-command.toml");
    let selection = made.select();
    let workload = &selection.workloads[0];
    assert_eq!(workload.total, 17);
    assert_eq!(workload.cases.len(), 17);
    assert_eq!(workload.control.as_deref(), Some("plain"));
    assert_eq!(made.configured.pairing(), Pairing::AlternatingCommands);
    let plan = made.plan("plain");
    let estimate = made.configured.estimators()[0]
        .estimate(made.workload(), &plan)
        .unwrap();
    assert!((estimate.value - (32.0 * 32.0 * 1000.0 + 256.0 * 256.0 * 256.0)).abs() < 1e-6);
    assert_eq!((estimate.name.as_str(), estimate.unit.as_str()), ("model", "ns"));
    assert_eq!(estimate.parts[0], ("blocks".to_owned(), 1_024_000.0));
}

#[test]
fn the_published_driver_gets_its_55_cases_and_their_texts() {
    let made = Made::shipped("siglip-mlp-ipu21-driver.toml");
    let selection = made.select();
    assert!(selection.refused.is_empty());
    let published = std::fs::read_to_string(repository("planner/tests/data/siglip-mlp-ipu21.txt")).unwrap();
    let published: Vec<&str> = published.lines().collect();
    assert_eq!(published.len(), 55);
    let lock = Path::new("/locks/ipu21.lock");
    let places = Places {
        cohort: Path::new("/c"),
        sources: None,
        run_log: Path::new("/c/cases/x/run.log"),
        device: "ipu21",
        device_lock: Some(lock),
    };
    let mut found = Vec::new();
    for case in &selection.workloads[0].cases {
        let plan = made.configured.plan(made.workload(), &case.assignment);
        assert!(made.configured.build(made.workload(), &plan).unwrap().is_empty());
        let round = made.round(&plan, None, Path::new("/c/cases/x"), &places);
        let run = &round.run.arguments;
        assert_eq!(
            run[..7],
            [
                "ipu21.json",
                "/opt/ipu-sdk",
                "/locks/ipu21.lock",
                "siglip MLP benchmark",
                "1",
                "/c/cases/x/package",
                "/c/cases/x/execution.profile"
            ]
        );
        assert_eq!(run.len(), 9, "no mapping file for the identity");
        found.push(format!("{} {} {}", case.name, run[7], run[8]));
    }
    assert_eq!(found, published);
    assert_eq!(made.definition.explore.adaptive.unwrap().cross, 3);
    assert_eq!(made.configured.lock(), LockHolder::Child);
    assert_eq!(
        made.configured.exclusive(),
        Exclusive::Devices(vec!["ipu21".to_owned()])
    );
}

#[test]
fn a_mapping_is_written_where_it_is_named() {
    let made = Made::shipped("siglip-mlp-ipu21-driver.toml");
    let mut assignment = made.configured.defaults(made.workload()).unwrap();
    assignment.set("mapping", "transpose-4".into());
    let plan = made.configured.plan(made.workload(), &assignment);
    let places = Places {
        cohort: Path::new("/c"),
        sources: None,
        run_log: Path::new("/c/x/run.log"),
        device: "ipu21",
        device_lock: Some(Path::new("/l")),
    };
    let round = made.round(&plan, None, Path::new("/c/x"), &places);
    assert_eq!(round.run.arguments[7], "/c/x/tile-mapping.json");
    let [file] = &round.files[..] else { panic!("one file") };
    assert_eq!(file.path, "tile-mapping.json");
    let map: Vec<u32> = serde_json::from_str(&file.text).unwrap();
    assert_eq!((map.len(), map[1], map[4]), (1472, 368, 1));
}

#[test]
fn an_operation_that_the_workload_lacks_is_refused() {
    let made = Made::shipped("siglip-mlp-ipu21-driver.toml");
    let gemm = planner::Workload {
        name: "other".to_owned(),
        operations: Vec::new(),
    };
    let refusal = made.configured.space(&gemm).unwrap_err().to_string();
    assert!(
        refusal.contains("`{constraint:up}` names an operation that workload `other` does not have"),
        "{refusal}"
    );
}

/// The example that people are shown, whole.
const EXAMPLE: &str = r#"
target = "command"
[command]
sources = ["kernels/**/*.c", "build.sh"]
env = { OMP_NUM_THREADS = "1" }
pass_env = ["LD_LIBRARY_PATH"]
probe = { compiler = ["gcc", "--version"] }
build = ["gcc", "-O3", "-DTILE={tile}", "-DUNROLL={unroll}", "-o", "{artifact}", "kernels/matmul.c"]
run = ["{artifact}", "--size", "1024", "--device", "{device}"]
check = ["./check.py", "{run_log}"]
devices = ["gpu0", "gpu1"]
timeout = { build = "10m", run = "60s", check = "10s" }
setup = ["module load gcc/13"]
launcher = ["apptainer", "exec", "image.sif"]
[[command.report]]
name = "barriers"
run = ["profile-cli", "barriers", "{case_dir}/execution.profile", "--json"]
[command.result]
cycles = { regex = '\bcycles=(\d+)', unit = "cycles" }
scheduled = { json = "barriers", pointer = "/*/scheduledEventCycles", reduce = "sum" }
expanded = { regex = 'expanded_cycles=(\d+)', moment = "build" }
expanded_exchange = { regex = 'exchange_cycles=(\d+)', moment = "build" }
pass = { regex = 'hardwareTest=PASS' }
loaded = { regex = 'application loaded' }
objective = "cycles"
[derived]
placed = "expanded - expanded_exchange + scheduled"
[parameters]
tile = [8, 16, 32, 64]
unroll = "1:8:1"
constraints = ["tile % unroll == 0", "tile * unroll <= 256"]
[estimates.model]
terms = { tile = "tile", inverse = "1 / unroll" }
coefficients = { tile = 2.0, inverse = 100.0 }
"#;

#[test]
fn the_example_plans_and_joins_what_build_run_and_report_printed() {
    let made = make("example.toml", EXAMPLE).unwrap();
    assert_eq!(made.select().workloads[0].cases.len(), 15);
    let ended = |stdout: &str| Captured {
        stdout: stdout.to_owned(),
        exit_code: Some(0),
        ..Captured::default()
    };
    let plan = made.first();
    let unit = &made.configured.build(made.workload(), &plan).unwrap()[0];
    let printed = ended("expanded_cycles=100 exchange_cycles=30\n");
    let facts = made.configured.parse_build(unit, &printed).unwrap().facts;
    let captured = RoundCaptured {
        run: ended("application loaded\ncycles=120\nhardwareTest=PASS\n"),
        check: Some(ended("")),
        reports: [("barriers".to_owned(), ended("[{\"scheduledEventCycles\": 41}]"))].into(),
        build: [("program".to_owned(), facts)].into(),
    };
    let measurement = made.configured.parse_round(made.workload(), &plan, &captured).unwrap();
    assert!(measurement.facts.is_empty(), "{:?}", measurement.facts);
    let sample = &measurement.samples[0];
    assert!((sample.value - 120.0).abs() < 1e-12);
    assert!((sample.extra["placed"] - 111.0).abs() < 1e-12);
}

#[test]
fn a_space_that_is_too_large_for_all_says_so() {
    let large = SMALL.replace("tile = [8, 16, 32]", "tile = \"1:40000:1\"");
    let made = make("small.toml", &large).unwrap();
    let error = planner::select::select(&made.definition, &*made.configured).unwrap_err();
    insta::assert_snapshot!(error.to_string(), @r"
    `small.toml:9:2`: the screened space of workload `command` holds 159,984 plans, more than the limit of 100,000
      |
    9 | [parameters]
      |  ^^^^^^^^^^
    ");
}
