//! Networks on the command line: what follows from them, what targets make of them, sweeps made of them.

use serde_json::Value;

use crate::support::Bench;

const OWN: &str = r#"
name = "own"
about = "a block of a user"
parameters = { tokens = 96, width = 64 }

[template.mlp]
parameters = ["rows"]
body = [
  { op = "linear", rows = "rows", inner = "width", columns = "4 * width", bias = false },
  { op = "activation", function = "gelu-tanh", rows = "rows", columns = "4 * width" },
  { op = "linear", rows = "rows", inner = "4 * width", columns = "width", bias = false },
]

[[model]]
name = "tower"
passes = 3
body = [
  { op = "linear", rows = "tokens", inner = "width", columns = "width", bias = false },
  { use = "mlp", repeat = 5, rows = "tokens" },
  { op = "softmax", rows = "tokens", columns = "tokens" },
  { op = "conv", height = 8, inputs = "width", outputs = "width" },
  { op = "conv", kernel = 1, height = 2048, inputs = 256, outputs = 256, bias = false },
  { op = "host", task = "read", bytes = 12 },
  { op = "rearrange", form = "reshape", rows = "tokens", columns = "width" },
  { op = "rearrange", form = "join-heads", rows = 1, columns = "width", parts = 4 },
  { op = "rearrange", form = "split-heads", rows = "tokens", columns = "width", parts = 4 },
]
"#;

fn own() -> Bench {
    let bench = Bench::new();
    fs_err::write(bench.path("own.toml"), OWN).unwrap();
    bench
}

fn rows(value: &Value) -> &Vec<Value> {
    value["against"]["rows"].as_array().unwrap()
}

#[test]
fn a_network_that_ships_says_where_each_figure_comes_from() {
    let bench = Bench::new();
    let (listed, _) = bench.expect(0, &["inventory"]);
    for network in ["sdxl", "siglip-so400m", "llama-8b"] {
        assert!(listed.contains(network), "{listed}");
    }
    let sdxl = bench.json(&["inventory", "sdxl", "--machine", "kohaku-30", "--format", "json"]);
    assert_eq!(sdxl["label"], "derived");
    assert_eq!(sdxl["parameters_all"], 3_434_674_203_u64);
    let unet = &sdxl["models"][0];
    assert_eq!(
        (&unet["name"], &unet["macs"]),
        (&"unet".into(), &3_380_618_199_040_u64.into())
    );
    assert!(sdxl["tree"].as_array().unwrap().len() == 4 && !sdxl["tree"][0]["nodes"].as_array().unwrap().is_empty());
    let figures = sdxl["figures"].as_array().unwrap();
    assert!(
        figures
            .iter()
            .all(|figure| figure["label"] == "derived" && figure["from"].as_str() != Some(""))
    );
    let conv = figures
        .iter()
        .find(|figure| figure["name"] == "UNet: 3x3 and 1x1 convolutions")
        .unwrap();
    assert_eq!(conv["value"], 811_555_880_960_u64);
    assert_eq!(conv["published"]["agreement"], "truncated");
    assert!(
        conv["published"]["at"].as_str().unwrap().contains("section 2.1"),
        "{conv}"
    );
    let bounds = sdxl["bounds"][0]["bounds"].as_array().unwrap();
    assert!(
        bounds
            .iter()
            .any(|b| b["of"] == "sdxl" && (b["seconds"].as_f64().unwrap() - 33.88).abs() < 0.01)
    );

    let (table, _) = bench.expect(0, &["inventory", "sdxl", "--machine", "kohaku-30"]);
    for words in [
        "derived",
        "811,555,880,960",
        "rounded twice",
        "what stays on the host",
        "bounds on kohaku-30",
    ] {
        assert!(table.contains(words), "`{words}` is missing in\n{table}");
    }
    let (csv, _) = bench.expect(0, &["inventory", "sdxl", "--format", "csv"]);
    let shapes = sdxl["shapes"].as_array().unwrap().len();
    assert_eq!(csv.lines().count(), shapes + 1);
    let longer = bench.json(&["inventory", "llama-8b", "--set", "prompt=512", "--format", "json"]);
    assert_eq!(longer["parameters"]["prompt"], 512);
}

#[test]
fn a_users_network_is_read_from_its_file_and_errors_name_the_line() {
    let bench = own();
    let inventory = bench.json(&["inventory", "own.toml", "--format", "json"]);
    assert_eq!(
        inventory["models"][0]["macs"],
        96 * 64 * 64 + 5 * 2 * 96 * 64 * 256 + 64 * 64 * 64 * 9 + (1_u64 << 38)
    );
    let cases = [
        ("4 * width", "4 * wdith", "unknown name `wdith`"),
        ("repeat = 5", "repeats = 5", "no parameter `repeats`"),
        ("name = \"tower\"", "nam = \"tower\"", "unknown field `nam`"),
        (
            "passes = 3",
            "passes = 0",
            "`passes`: expected a whole number of at least 1, found 0",
        ),
    ];
    for (from, to, words) in cases {
        let text = OWN.replacen(from, to, 1);
        let line = text.lines().position(|line| line.contains(to)).unwrap() + 1;
        fs_err::write(bench.path("wrong.toml"), &text).unwrap();
        let (_, stderr) = bench.expect(2, &["inventory", "wrong.toml"]);
        assert!(
            stderr.contains(words) && stderr.contains(&format!("`wrong.toml:{line}:")),
            "{stderr}"
        );
    }
    for (arguments, words) in [
        (vec!["inventory", "sdxll"], "no network is called `sdxll`"),
        (vec!["inventory", "missing.toml"], "the network can't be read"),
        (
            vec!["inventory", "sdxl", "--set", "keyz=3"],
            "no parameter is called `keyz`",
        ),
        (
            vec!["inventory", "sdxl", "--set", "keys"],
            "expected a parameter and a whole number",
        ),
        (vec!["inventory", "sdxl", "--set", "image=1e3"], "found `image=1e3`"),
        (
            vec!["inventory", "sdxl", "--set", "image=99999999999999999999"],
            "expected a parameter and a whole number",
        ),
        (
            vec!["inventory", "sdxl", "--set", "image=512", "--set", "image=1024"],
            "`image` is set twice, to 512 and to 1024",
        ),
        (
            vec!["inventory", "sdxl", "--machine", "abacus"],
            "no machine is called `abacus`",
        ),
        (
            vec!["inventory", "sdxl", "--against", "gpu"],
            "no target is called `gpu`",
        ),
        (
            vec!["inventory", "sdxl", "--against", "command"],
            "says nothing without options",
        ),
    ] {
        let (_, stderr) = bench.expect(2, &arguments);
        assert!(stderr.contains(words), "{stderr}");
    }
}

#[test]
fn parameters_that_a_network_can_not_take_are_refused_with_what_is_expected() {
    let bench = Bench::new();
    for (network, setting, words) in [
        (
            "sdxl",
            "image=1000",
            "`image % 32 == 0` does not hold with image = 1000",
        ),
        (
            "sdxl",
            "image=0",
            "expected a whole number from 1 to 2^40; the file has 1024",
        ),
        (
            "sdxl",
            "image=-64",
            "`image` is set to -64: expected a whole number from 1",
        ),
        ("sdxl", "image=32000000000000", "expected a whole number from 1 to 2^40"),
        // Below that bound, and still more than can be multiplied.
        ("sdxl", "image=1048576", "`image` is set to 1048576 (the file has 1024)"),
        ("sdxl", "latent=100", "set `image`: all sides follow from it"),
        ("sdxl", "head=100", "640 columns do not divide into 6 heads of one size"),
        ("sdxl", "steps=0", "`steps` is set to 0"),
        (
            "llama-8b",
            "key_heads=5",
            "`width % heads == 0 and heads % key_heads == 0`",
        ),
        ("siglip-so400m", "side=-3", "`side` is set to -3"),
        ("siglip-so400m", "heads=7", "`width % heads == 0`"),
    ] {
        let (stdout, stderr) = bench.expect(2, &["inventory", network, "--set", setting]);
        assert!(stdout.is_empty() && stderr.contains(words), "{setting}: {stderr}");
        assert!(
            stderr.contains(&format!("networks/{network}.toml:")),
            "{setting}: {stderr}"
        );
    }
    let wider = bench.json(&["inventory", "sdxl", "--set", "image=1536", "--format", "json"]);
    assert_eq!(
        (&wider["parameters"]["latent"], &wider["parameters"]["quarter"]),
        (&192.into(), &48.into())
    );
}

/// An element-wise layer of `siglip-so400m` has no price by itself on `ipu21`, but counts among the layers.
#[test]
fn sums_of_a_target_say_how_many_layers_they_are_of() {
    let bench = Bench::new();
    let held = bench.json(&["inventory", "siglip-so400m", "--against", "ipu21", "--format", "json"]);
    let own: Vec<&Value> = rows(&held)
        .iter()
        .filter(|row| row["status"] == "partial" && row["chain"] == false)
        .collect();
    let priced = own.iter().filter(|row| row["cost_all"].is_f64()).count();
    assert!(0 < priced && priced < own.len(), "{own:#?}");
    let (shown, _) = bench.expect(0, &["inventory", "siglip-so400m", "--against", "ipu21"]);
    let line = shown
        .lines()
        .find(|line| line.trim_start().starts_with("partial"))
        .unwrap();
    assert!(line.contains(&format!(" ({priced} priced)")), "{line}");
}

#[test]
fn a_target_is_asked_about_every_distinct_layer() {
    let bench = own();
    let held = bench.json(&["inventory", "own.toml", "--against", "ipu21", "--format", "json"]);
    let shapes = held["shapes"].as_array().unwrap().len();
    assert_eq!(rows(&held).len(), shapes + 1, "and about the chain");
    let of = |class: &str| rows(&held).iter().find(|row| row["class"] == class).unwrap();
    assert_eq!(of("linear")["status"], "supported");
    assert!(of("linear")["cost"]["value"].as_f64().unwrap() > 0.0);
    assert_eq!(of("linear")["cost"]["label"], "modelled");
    assert_eq!(of("mlp")["times"], 15);
    assert_eq!(of("mlp")["status"], "supported");
    assert_eq!(of("host: read")["status"], "host");
    // A product that no memory of the array holds is refused by the rule that counts its bytes.
    let large = of("conv1x1");
    assert_eq!(
        (&large["status"], &large["level"]),
        (&"refused".into(), &"hardware".into())
    );
    assert!(large["rule"].as_str().unwrap().ends_with("-bytes"), "{large}");
    let softmax = of("softmax");
    assert_eq!(
        (&softmax["status"], &softmax["level"]),
        (&"refused".into(), &"kernel".into())
    );
    assert!(
        softmax["words"]
            .as_str()
            .unwrap()
            .ends_with("no workload kind of `ipu21` computes softmax: plans are made for `mlp`, `gemm`")
    );
    // Operands come row after row: what is one row, or only gets other extents, stays where it is.
    assert_eq!(
        ["reshape", "join-heads", "split-heads"].map(|class| of(class)["status"].clone()),
        ["free", "free", "refused"]
    );
    // What would unlock most stands first, and is what its products would take.
    let unlocks: Vec<f64> = rows(&held)
        .iter()
        .map(|row| row["unlocks_all"].as_f64().unwrap_or(-1.0))
        .collect();
    assert!(unlocks.is_sorted_by(|a, b| a >= b) && unlocks[0] > 0.0, "{unlocks:?}");
    assert_eq!(rows(&held)[0]["class"], "conv3x3");
    let times = |row: &Value| row["times"].as_f64().unwrap();
    for row in rows(&held) {
        if let Some(all) = row["cost_all"].as_f64() {
            assert!((all - row["cost"]["value"].as_f64().unwrap() * times(row)).abs() < 1e-6 * all);
        }
        assert_ne!(row["words"], "");
    }
    let shares: u64 = held["against"]["macs_by_status"]
        .as_object()
        .unwrap()
        .values()
        .map(|n| n.as_u64().unwrap())
        .sum();
    assert_eq!(Some(shares), held["macs_all"].as_u64(), "chains are not counted twice");
}

#[test]
fn only_kinds_that_a_target_has_plans_for_are_named() {
    let bench = own();
    for (target, kinds) in [
        ("ipu21", "`mlp`, `gemm`"),
        ("cpu", "`mlp`, `gemm`, `attention`, `causal-attention`"),
    ] {
        let held = bench.json(&["inventory", "own.toml", "--against", target, "--format", "json"]);
        let conv = rows(&held).iter().find(|row| row["class"] == "conv3x3").unwrap();
        let words = conv["words"].as_str().unwrap();
        assert!(words.ends_with(&format!("plans are made for {kinds}")), "{words}");
    }
}

#[test]
fn kohaku_says_what_is_free_deleted_and_unreachable() {
    let bench = Bench::new();
    let held = bench.json(&["inventory", "sdxl", "--against", "kohaku", "--format", "json"]);
    let of = |class: &str| -> Vec<&Value> { rows(&held).iter().filter(|row| row["class"] == class).collect() };
    for (class, status) in [
        ("concat", "free"),
        ("slice", "free"),
        ("split-heads", "deleted"),
        ("join-heads", "deleted"),
        ("transpose", "deleted"),
        ("plane-to-tokens", "refused"),
        ("embedding", "host"),
        ("layer-norm", "supported"),
    ] {
        let own = of(class);
        assert!(
            !own.is_empty() && own.iter().all(|row| row["status"] == status),
            "{class}: {own:?}"
        );
    }
    let facilities = held["against"]["facilities"].as_array().unwrap();
    let status = |name: &str| facilities.iter().find(|own| own["name"] == name).unwrap()["status"].clone();
    assert_eq!(status("staging memory of the mesh"), "unreachable");
    assert_eq!(status("staging memory of each unit"), "unreachable");
    let (table, _) = bench.expect(0, &["inventory", "sdxl", "--against", "kohaku"]);
    assert!(
        table.contains("besides operations") && table.contains("`staging-address`"),
        "{table}"
    );
}

#[test]
fn emitted_definitions_are_planned_as_they_stand() {
    let bench = own();
    for target in ["ipu21", "cpu"] {
        let (_, stderr) = bench.expect(0, &["inventory", "own.toml", "--against", target, "--emit", "sweeps"]);
        let path = format!("sweeps/own-{target}.toml");
        assert!(stderr.contains(&path), "{stderr}");
        let text = fs_err::read_to_string(bench.path(&path)).unwrap();
        let definition: toml::Table = text.parse().unwrap();
        let workloads: Vec<(&str, i64)> = definition["workload"]
            .as_array()
            .unwrap()
            .iter()
            .map(|own| (own["name"].as_str().unwrap(), own["weight"].as_integer().unwrap()))
            .collect();
        // The products of the MLPs stand in them alone.
        assert_eq!(workloads.len(), 2, "{text}");
        assert!(workloads.contains(&("mlp-96x64x256x64", 15)) && workloads.contains(&("gemm-96x64x64", 3)));
        let cases = bench.json(&["plan", &path, "--format", "json"]);
        let cases = cases.as_array().unwrap();
        for (name, _) in workloads {
            let own = cases.iter().filter(|case| case["workload"] == name).count();
            assert!(own >= 3, "{own} cases of {name}");
        }
        let (_, stderr) = bench.expect(2, &["inventory", "own.toml", "--against", target, "--emit", "sweeps"]);
        assert!(stderr.contains("is there already"), "{stderr}");
    }
}
