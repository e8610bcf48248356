//! Clusters and vector cores from the command line: swept, refused, rejected.

use crate::support::Bench;

/// Attentions that the unit model runs in a moment, and one that no plan suits.
const SMALL: &str = r#"
target = "kohaku"
control = "default"

[measure]
rounds = 1
finalists = 0

[[workload]]
name = "small"
kind = "attention"
heads = 2
queries = 64
keys = 77
width = 64

[[workload]]
name = "vae"
kind = "attention"
heads = 1
queries = 16384
width = 512

[[case]]
name = "default"

[[case]]
name = "narrow"
workload = "small"
plan = { "attention.gm" = 2, "attention.gn" = 2 }

[[case]]
name = "in-band"
workload = "small"
plan = { "attention.rescale" = "in-band" }

[[case]]
name = "staged"
workload = "small"
plan = { "attention.operands" = "staging" }

[[case]]
name = "turned"
workload = "small"
plan = { "attention.values" = "row-major", "attention.head_block" = 1 }

[[case]]
name = "tiled"
workload = "small"
plan = { "attention.values" = "transposed-tiles" }

[[case]]
name = "in-turn"
workload = "small"
plan = { "attention.deal" = "round-robin" }
"#;

#[test]
fn a_sweep_has_cycles_rejections_and_refusals() {
    let bench = Bench::new();
    bench.define("small", SMALL);
    let (stdout, stderr) = bench.expect(0, &["sweep", "cohorts/small.toml"]);
    let all = format!("{stdout}{stderr}");
    for word in [
        "in-band",
        "rejected",
        "staging-address",
        "real-span",
        "published",
        "/tiled`: refused by rule `value-order`: `attention`: values in tiles, as a projection drains them",
        "/in-turn`: refused by rule `dealing`: `attention`: the machine's model deals the instances of a stage",
    ] {
        assert!(all.contains(word), "`{word}` is not in\n{all}");
    }
    let report = fs_err::read_to_string(bench.path("reports/small/report.md")).unwrap();
    for word in [
        "value-width",
        "host-move",
        "conversions (derived)",
        "turned",
        "6,144 FLOP/cycle (published: 6 clusters, each 1024 FLOP in a cycle)",
        "nothing is known of bytes that every plan must move",
    ] {
        assert!(report.contains(word), "`{word}` is not in\n{report}");
    }
}

/// The shipped sweeps, with cases between whose stages the host would have to lay a tensor anew.
#[test]
fn sweeps_of_attention_and_of_products_refuse_what_would_go_through_the_host() {
    let bench = Bench::new();
    let attention = include_str!("../../cohorts/sdxl-attention-kohaku.toml");
    let linear = include_str!("../../cohorts/sdxl-linear-kohaku.toml");
    let narrow = |own: &str, workload: &str, gm: &str, gn: &str| {
        format!(
            "{own}\n[[case]]\nname = \"narrow\"\nworkload = \"{workload}\"\nplan = {{ \"{gm}\" = 2, \"{gn}\" = 2 }}\n"
        )
    };
    bench.define(
        "attention",
        &narrow(attention, "level-2-cross", "attention.gm", "attention.gn"),
    );
    let chain = |name: &str, tokens: usize| {
        format!("\n[[workload]]\nname = \"{name}\"\nkind = \"mlp\"\ntokens = {tokens}\nfeatures = 640\nhidden = 2560\n")
    };
    let chains = format!("{linear}{}{}", chain("whole", 128), chain("padded", 77));
    bench.define("linear", &narrow(&chains, "whole", "up.gm", "up.gn"));
    let tried = |stem: &str, case: &str| {
        let definition = format!("cohorts/{stem}.toml");
        bench.json(&["try", &definition, "--case", case, "--format", "json"])
    };
    for (stem, case, words) in [
        (
            "attention",
            "level-2-cross/narrow",
            "scores before softmax: tile:128x8:2x2 -> flat",
        ),
        (
            "linear",
            "whole/narrow",
            "up-gelu before down: tile:16x320:2x2 -> entry:8x2",
        ),
        (
            "linear",
            "padded/default",
            "up-gelu before down: tile:3x80:8x8 -> entry:8x2",
        ),
    ] {
        let rejected = tried(stem, case);
        let reason = rejected["reason"].as_str().unwrap_or_default();
        assert!(
            rejected["outcome"] == "rejected" && reason.contains("`host-move`") && reason.contains(words),
            "{rejected}"
        );
    }
    // A product by itself has one stage: nothing lies between two.
    let product = tried("linear", "level-1-context/default");
    assert_eq!(product["outcome"], "correct");
    let phases: Vec<&str> = product["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|own| own["kind"].as_str().unwrap())
        .collect();
    assert_eq!(phases, ["compute"], "{product}");
}

#[test]
fn a_tried_plan_says_its_cycles_and_options_that_do_not_exist_are_named() {
    let bench = Bench::new();
    bench.define("small", SMALL);
    let tried = |name: &str| bench.json(&["try", "cohorts/small.toml", "--case", name, "--format", "json"]);
    let default = tried("small/default");
    assert_eq!(default["outcome"], "correct");
    assert_eq!(default["origin"], "simulated");
    assert!(default["value"].as_f64() > Some(10_000.0), "{default}");
    let rejected = tried("vae/default");
    assert_eq!(rejected["outcome"], "rejected");
    assert!(
        rejected["reason"].as_str().unwrap().contains("value-width"),
        "{rejected}"
    );
    bench.define(
        "wrong",
        &SMALL.replace("[measure]", "[kohaku]\nmeshes = 2\n\n[measure]"),
    );
    let (_, stderr) = bench.expect(2, &["plan", "cohorts/wrong.toml"]);
    assert!(
        stderr.contains("kohaku.meshes") && stderr.contains("`prices`"),
        "{stderr}"
    );
}
