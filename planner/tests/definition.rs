//! Definitions: the whole shape is read, and every slip is named with file and line.

use std::fmt::Write as _;

use planner::Definition;
use planner::definition::{Choices, TimeLimit, Vary, changed_line, schema};

const WHOLE: &str = r#"
target = "cpu"
control = "goto"

[cpu]
threads = 2

[[workload]]
name = "siglip-mlp"
[[workload]]
name = "small"
kind = "mlp"
tokens = 65
features = 96
hidden = 200
control = "joint-a"

[[case]]
name = "goto"
family = "control"
reason = "what an engineer writes first"
plan = { "up.width" = 16, "up.height" = 6 }
[[case]]
name = "joint-a"
like = "goto"
plan = { "down.rows" = 4 }

[explore]
base = "goto"
screen = { "*.inner" = [1, 2, 3], "*.columns" = "1:12:2", "*.rows" = "derived" }
strata = [
  { attribute = "up.inner", values = [1, 2] },
  { attribute = "*.rows", values = "1:3", where = { orientation = "swapped" }, count = 2 },
]
vary = [
  "goto",
  { from = "goto", attribute = "*.unroll", values = [2, 4] },
  { from = "goto", set = { "up.weights" = "row-major", "down.weights" = "row-major" }, name = "row-major" },
]
joint = [ { attribute = "*.rows", values = [3, 6, 8] } ]
exhaustive = { limit = 50 }
random = { count = 20, seed = 7 }
adaptive = { cross = 3 }

[measure]
rounds = 3
run_timeout = "10m"
"#;

#[test]
fn the_whole_shape_is_read() {
    let definition = Definition::parse("whole.toml", WHOLE).unwrap();
    assert_eq!(*definition.target, "cpu");
    assert_eq!(definition.options["threads"].as_integer(), Some(2));
    assert_eq!(definition.workloads.len(), 2);
    assert_eq!(
        definition.workloads[0].control.as_deref().map(String::as_str),
        Some("goto")
    );
    assert_eq!(
        definition.workloads[1].control.as_deref().map(String::as_str),
        Some("joint-a")
    );
    let plan: Vec<&str> = definition.cases[0].plan.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(plan, ["up.width", "up.height"], "the order of the file");
    let explore = &definition.explore;
    let screen: Vec<(&str, usize)> = explore
        .screen
        .iter()
        .map(|(name, values)| (name.as_str(), values.values().len()))
        .collect();
    assert_eq!(screen, [("*.inner", 3), ("*.columns", 6), ("*.rows", 0)]);
    assert_eq!(explore.screen.0[2].1.value, Choices::Derived);
    assert_eq!((explore.strata[0].count, explore.strata[1].count), (1, 2));
    assert_eq!(explore.vary[0].value, Vary::Everything("goto".to_owned()));
    assert!(matches!(&explore.vary[2].value, Vary::Set { name: Some(name), .. } if **name == "row-major"));
    assert_eq!(explore.exhaustive.as_ref().map(|e| e.limit), Some(50));
    assert_eq!(
        (
            definition.measure.rounds,
            definition.measure.pairs,
            definition.measure.finalists
        ),
        (3, 1, 24)
    );
    assert_eq!(definition.measure.run_timeout, TimeLimit { milliseconds: 600_000 });
    assert_eq!(definition.measure.build_timeout.to_string(), "2m");
}

#[test]
fn options_of_the_target_have_a_place() {
    let definition = Definition::parse("whole.toml", WHOLE).unwrap();
    let error = definition.option_error("threads", "expected at most 1").to_string();
    assert!(error.starts_with("`whole.toml:6:1`: expected at most 1\n"), "{error}");
}

#[test]
fn every_slip_is_named() {
    let gemm = "target = \"cpu\"\n[[workload]]\nname = \"gemm\"\nrows = 2\ninner = 2\ncolumns = 2\n";
    let bad: &[(&str, String)] = &[
        ("not toml", "target = \n".to_owned()),
        ("no target", "[[workload]]\nname = \"siglip-mlp\"\n".to_owned()),
        ("unknown key", "target = \"cpu\"\nworkers = 2\n".to_owned()),
        ("options of another target", format!("{gemm}[gpu]\nthreads = 2\n")),
        ("options that are no table", "target = \"cpu\"\ncpu = 2\n".to_owned()),
        ("unknown key in a table", format!("{gemm}[measure]\nround = 2\n")),
        ("no workload", "target = \"cpu\"\n".to_owned()),
        ("unknown workload", "target = \"cpu\"\n[[workload]]\nname = \"siglip\"\n".to_owned()),
        ("unknown kind", "target = \"cpu\"\n[[workload]]\nname = \"a\"\nkind = \"conv\"\n".to_owned()),
        ("zero extent", gemm.replace("inner = 2", "inner = 0")),
        ("negative extent", gemm.replace("inner = 2", "inner = -3")),
        ("absurd extent", gemm.replace("inner = 2", "inner = 9007199254740993")),
        ("missing extent", gemm.replace("inner = 2\n", "")),
        ("extent of another kind", gemm.replace("inner = 2", "inner = 2\ntokens = 2")),
        ("extent that is a word", gemm.replace("inner = 2", "inner = \"two\"")),
        (
            "unknown activation",
            "target = \"cpu\"\n[[workload]]\nname = \"mlp\"\ntokens = 1\nfeatures = 1\nhidden = 1\nactivation = \"relu\"\n"
                .to_owned(),
        ),
        ("same workload twice", format!("{gemm}[[workload]]\nname = \"gemm\"\nrows = 1\ninner = 1\ncolumns = 1\n")),
        ("case without a name", format!("{gemm}[[case]]\nfamily = \"control\"\n")),
        ("same name twice", format!("{gemm}[[case]]\nname = \"a\"\n[[case]]\nname = \"a\"\n")),
        ("name with a slash", format!("{gemm}[[case]]\nname = \"a/b\"\n")),
        ("case of an unknown workload", format!("{gemm}[[case]]\nname = \"a\"\nworkload = \"up\"\n")),
        ("attribute without quotes", format!("{gemm}[[case]]\nname = \"a\"\nplan = {{ up.height = 6 }}\n")),
        ("value that is a list", format!("{gemm}[[case]]\nname = \"a\"\nplan = {{ \"up.height\" = [6] }}\n")),
        ("empty list", format!("{gemm}[explore]\nstrata = [\n  {{ attribute = \"up.inner\", values = [] }},\n]\n")),
        ("value twice", format!("{gemm}[explore]\njoint = [{{ attribute = \"up.inner\", values = [1, 2, 1] }}]\n")),
        ("bad range", format!("{gemm}[explore]\nscreen = {{ \"up.inner\" = \"1:x\" }}\n")),
        ("empty range", format!("{gemm}[explore]\nscreen = {{ \"up.inner\" = \"5:1:1\" }}\n")),
        ("step of zero", format!("{gemm}[explore]\nscreen = {{ \"up.inner\" = \"1:5:0\" }}\n")),
        ("huge range", format!("{gemm}[explore]\nscreen = {{ \"up.inner\" = \"1:9000000000\" }}\n")),
        ("vary with too little", format!("{gemm}[explore]\nvary = [{{ attribute = \"up.inner\" }}]\n")),
        ("vary with an unknown key", format!("{gemm}[explore]\nvary = [{{ attr = \"up.inner\" }}]\n")),
        ("limit 0", format!("{gemm}[explore]\nexhaustive = {{ limit = 0 }}\n")),
        ("negative limit", format!("{gemm}[explore]\nexhaustive = {{ limit = -1 }}\n")),
        ("no random plans", format!("{gemm}[explore]\nrandom = {{ count = 0 }}\n")),
        ("no crosses", format!("{gemm}[explore]\nadaptive = {{ cross = 0 }}\n")),
        ("no rounds", format!("{gemm}[measure]\nrounds = 0\n")),
        ("rounds beyond 32 bits", format!("{gemm}[measure]\nrounds = 5000000000\n")),
        ("negative seed", format!("{gemm}[measure]\nseed = -1\n")),
        ("time without unit", format!("{gemm}[measure]\nrun_timeout = \"60\"\n")),
        ("no time", format!("{gemm}[measure]\nrun_timeout = \"0s\"\n")),
        (
            "machines told apart by a program",
            format!("{gemm}[measure]\nfinalists = 0\n[executor]\nunlike = [\"machine.cpu_model\", \"tool.compiler\"]\n"),
        ),
        ("machines that are unlike in nothing", format!("{gemm}[executor]\nunlike = []\n")),
        (
            "unlike in the same twice",
            format!(
                "control = \"a\"\n{gemm}[measure]\nfinalists = 0\n\
                 [executor]\nunlike = [\"machine.cpu_model\", \"machine.governor\", \"machine.cpu_model\"]\n"
            ),
        ),
        (
            "unlike machines without a control",
            format!("{gemm}[executor]\nunlike = [\"machine.cpu_model\"]\n"),
        ),
        (
            "finalists of unlike machines",
            format!("control = \"a\"\n{gemm}[executor]\nunlike = [\"machine.cpu_model\"]\n"),
        ),
        (
            "crosses of unlike machines",
            format!(
                "control = \"a\"\n{gemm}[explore]\nadaptive = {{ cross = 2 }}\n[measure]\nfinalists = 0\n\
                 [executor]\nunlike = [\"machine.cpu_model\"]\n"
            ),
        ),
    ];
    let mut all = String::new();
    for (what, text) in bad {
        let error = Definition::parse("bad.toml", text).expect_err(what);
        writeln!(all, "## {what}\n{error}\n").unwrap();
    }
    insta::assert_snapshot!(all);
}

#[test]
fn the_schema_describes_every_key() {
    let schema = serde_json::to_value(schema()).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&schema).unwrap());
}

#[test]
fn the_first_changed_line_is_found() {
    assert_eq!(changed_line("a\nb\n", "a\nb\n"), None);
    assert_eq!(
        changed_line("a\nb\n", "a\nc\n"),
        Some((2, "b".to_owned(), "c".to_owned()))
    );
    assert_eq!(changed_line("a\n", "a\nc\n"), Some((2, String::new(), "c".to_owned())));
    assert_eq!(changed_line("a\nb", ""), Some((1, "a".to_owned(), String::new())));
}
