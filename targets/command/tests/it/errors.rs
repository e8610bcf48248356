//! Every slip that the target finds, as a person sees it.

use std::fmt::Write as _;

use crate::made::make;

const WHOLE: &str = r#"
target = "command"
[command]
sources = ["kernels/*.c"]
env = { THREADS = "{tile}" }
probe = { compiler = ["gcc", "--version"] }
build = ["gcc", "-DTILE={tile}", "-o", "{artifact}"]
run = ["{artifact}", "{unroll}", ["--lock", "{device_lock}"]]
devices = ["gpu0", "gpu1"]
[[command.report]]
name = "barriers"
run = ["profile", "{case_dir}"]
[command.result]
time = { regex = 'ns=(\d+)', unit = "ns" }
scheduled = { json = "barriers", pointer = "/*/cycles", reduce = "sum" }
pass = { regex = 'ok' }
objective = "time"
[derived]
rate = { formula = "1 / time", unit = "1/ns" }
[parameters]
tile = [8, 16]
unroll = [1, 2]
constraints = ["tile > unroll"]
[estimates.model]
terms = { tile = "tile" }
coefficients = { tile = 2.0 }
"#;

/// What is wrong, what stands there, and what stands there instead.
const SLIPS: &[(&str, &str, &str)] = &[
    ("an unknown placeholder", "-DTILE={tile}", "-DTILE={tiel}"),
    ("an unknown placeholder in a run", "\"{unroll}\"", "\"{unrol}\""),
    ("an unknown placeholder in a group", "{device_lock}", "{lock}"),
    ("an unknown placeholder of a report", "{case_dir}", "{casedir}"),
    ("a place that a build must not know", "-DTILE={tile}", "{device}"),
    (
        "a place in a variable",
        "THREADS = \"{tile}\"",
        "THREADS = \"{case_dir}\"",
    ),
    ("an open brace", "-DTILE={tile}", "-DTILE={tile"),
    ("a closing brace", "-DTILE={tile}", "-DTILE=tile}"),
    ("a build without a result", ", \"-o\", \"{artifact}\"]", "]"),
    (
        "an empty command",
        "build = [\"gcc\", \"-DTILE={tile}\", \"-o\", \"{artifact}\"]",
        "build = []",
    ),
    ("a program in a group", "[\"gcc\", \"-D", "[[\"gcc\"], \"-D"),
    (
        "an artifact that nobody makes",
        "build = [\"gcc\", \"-DTILE={tile}\", \"-o\", \"{artifact}\"]\n",
        "",
    ),
    ("a pattern that is none", "'ns=(\\d+)'", "'ns=(\\d+'"),
    ("a pattern without a group", "'ns=(\\d+)'", "'ns=\\d+'"),
    ("a pattern with two groups", "'ns=(\\d+)'", "'(ns)=(\\d+)'"),
    ("a pass that is none", "'ok'", "'*ok'"),
    (
        "a number from nowhere",
        "{ regex = 'ns=(\\d+)', unit = \"ns\" }",
        "{ unit = \"ns\" }",
    ),
    (
        "a number from two places",
        "{ regex = 'ns=(\\d+)'",
        "{ json = \"barriers\", regex = 'ns=(\\d+)'",
    ),
    (
        "a pointer with a regex",
        "regex = 'ns=(\\d+)',",
        "regex = 'ns=(\\d+)', pointer = \"/a\",",
    ),
    (
        "a line with a pointer",
        "reduce = \"sum\" }",
        "reduce = \"sum\", line = \"x\" }",
    ),
    ("no pointer", "pointer = \"/*/cycles\", ", ""),
    ("a pointer that is none", "\"/*/cycles\"", "\"cycles\""),
    ("a pointer without reduction", ", reduce = \"sum\" }", " }"),
    ("a reduction of one", "\"/*/cycles\"", "\"/cycles\""),
    ("an unknown report", "json = \"barriers\"", "json = \"barrier\""),
    ("a file elsewhere", "json = \"barriers\"", "file = \"../x.json\""),
    (
        "an estimate from a report",
        "reduce = \"sum\" }",
        "reduce = \"sum\", moment = \"build\" }",
    ),
    ("a number that can't be named", "scheduled =", "scheduled-cycles ="),
    ("a number named like a parameter", "scheduled =", "tile ="),
    ("nothing tells what is right", "pass = { regex = 'ok' }\n", ""),
    ("no objective", "objective = \"time\"\n", ""),
    (
        "nothing is measured",
        "time = { regex = 'ns=(\\d+)', unit = \"ns\" }\nscheduled = { json = \"barriers\", pointer = \"/*/cycles\", reduce = \"sum\" }\npass = { regex = 'ok' }\nobjective = \"time\"\n[derived]\nrate = { formula = \"1 / time\", unit = \"1/ns\" }",
        "pass = { regex = 'ok' }",
    ),
    ("an unknown objective", "objective = \"time\"", "objective = \"tmie\""),
    (
        "an objective without a unit",
        "objective = \"time\"",
        "objective = \"scheduled\"",
    ),
    (
        "an estimate as objective",
        "unit = \"ns\" }\nscheduled",
        "unit = \"ns\", moment = \"build\" }\nscheduled",
    ),
    ("a formula that can't be read", "\"1 / time\"", "\"1 / / time\""),
    ("a formula of the wrong type", "\"1 / time\"", "\"time > 1\""),
    ("an unknown name in a formula", "\"1 / time\"", "\"1 / tiem\""),
    ("a derived number named like another", "rate =", "time ="),
    (
        "an unknown name in a term",
        "terms = { tile = \"tile\" }",
        "terms = { tile = \"tilee\" }",
    ),
    (
        "a number in a term",
        "terms = { tile = \"tile\" }",
        "terms = { tile = \"time\" }",
    ),
    (
        "a term without a coefficient",
        "coefficients = { tile = 2.0 }",
        "coefficients = {}",
    ),
    (
        "a coefficient without a term",
        "coefficients = { tile = 2.0 }",
        "coefficients = { tile = 2.0, other = 1.0 }",
    ),
    ("a coefficient that is not finite", "{ tile = 2.0 }", "{ tile = inf }"),
    (
        "no terms",
        "terms = { tile = \"tile\" }\ncoefficients = { tile = 2.0 }",
        "terms = {}\ncoefficients = {}",
    ),
    (
        "an empty space",
        "constraints = [\"tile > unroll\"]",
        "constraints = [\"tile > unroll\", \"tile < 8\"]",
    ),
    (
        "a constraint that fails",
        "constraints = [\"tile > unroll\"]",
        "constraints = [\"tile % (unroll - unroll) == 0\"]",
    ),
    (
        "a parameter with the name of a place",
        "unroll = [1, 2]\n",
        "unroll = [1, 2]\ndevice = [1, 2]\n",
    ),
    ("a parameter that reaches nothing", "\"{unroll}\", ", ""),
    ("no device has this name", "\"gpu1\"", "\"gpu/1\""),
    ("the same device twice", "\"gpu1\"", "\"gpu0\""),
    ("a device called host", "\"gpu1\"", "\"host\""),
    (
        "a lock that nobody takes",
        "run = [\"{artifact}\", \"{unroll}\", [\"--lock\", \"{device_lock}\"]]",
        "lock = \"child\"\nrun = [\"{artifact}\", \"{unroll}\"]",
    ),
    (
        "a lock where there is no device",
        "devices = [\"gpu0\", \"gpu1\"]",
        "devices = []\nlock = \"child\"",
    ),
    (
        "a lock outside a group",
        "[\"--lock\", \"{device_lock}\"]]\ndevices = [\"gpu0\", \"gpu1\"]",
        "\"{device_lock}\"]\ndevices = []",
    ),
    (
        "a hook that is not undone",
        "devices =",
        "before_run = [\"lock-clocks\"]\ndevices =",
    ),
    ("sources elsewhere", "\"kernels/*.c\"", "\"../kernels/*.c\""),
    ("a probe without a program", "[\"gcc\", \"--version\"]", "[]"),
    (
        "a report with a name that is no file's",
        "name = \"barriers\"",
        "name = \"a/b\"",
    ),
    (
        "a report named like a file of the case",
        "name = \"barriers\"",
        "name = \"command\"",
    ),
    ("a mapping without tiles", "\"{unroll}\"", "\"{mapping}\""),
    (
        "a mapping without a parameter",
        "\"{unroll}\", [\"--lock\", \"{device_lock}\"]]",
        "\"{mapping}\"]\ntiles = 4",
    ),
    (
        "a mapping that is none",
        "\"{unroll}\", [\"--lock\", \"{device_lock}\"]]\ndevices = [\"gpu0\", \"gpu1\"]\n",
        "\"{mapping}\"]\ntiles = 4\n",
    ),
    (
        "a constraint text without parameters",
        "\"{unroll}\"",
        "\"{constraint:up}\"",
    ),
    ("a variable without a name", "{ THREADS =", "{ \"A=B\" ="),
];

#[test]
fn every_slip_is_named_with_its_place() {
    assert!(make("sweep.toml", WHOLE).is_ok());
    let mut shown = String::new();
    for &(slip, from, to) in SLIPS {
        assert!(WHOLE.contains(from), "{slip}: {from}");
        let mut text = WHOLE.replacen(from, to, 1);
        if slip == "a mapping that is none" {
            text = text.replace(
                "unroll = [1, 2]",
                "unroll = [1, 2]\nmapping = [\"identity\", \"transpose-3\"]",
            );
        }
        match make("sweep.toml", &text) {
            Ok(_) => panic!("{slip}: accepted"),
            Err(error) => _ = write!(shown, "# {slip}\n{error}\n\n"),
        }
    }
    insta::assert_snapshot!(shown);
}
