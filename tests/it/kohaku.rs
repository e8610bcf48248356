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
"#;

#[test]
fn a_sweep_has_cycles_rejections_and_refusals() {
    let bench = Bench::new();
    bench.define("small", SMALL);
    let (stdout, stderr) = bench.expect(0, &["sweep", "cohorts/small.toml"]);
    let all = format!("{stdout}{stderr}");
    for word in ["in-band", "rejected", "staging-address", "real-span", "published"] {
        assert!(all.contains(word), "`{word}` is not in\n{all}");
    }
    let report = fs_err::read_to_string(bench.path("reports/small/report.md")).unwrap();
    for word in [
        "value-width",
        "host-move",
        "conversions (derived)",
        "6144 FLOP/cycle (published: 6 clusters, each 1024 FLOP in a cycle)",
        "nothing is known of bytes that every plan must move",
    ] {
        assert!(report.contains(word), "`{word}` is not in\n{report}");
    }
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
