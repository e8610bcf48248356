//! The target as the rest of the program sees it.

use std::collections::BTreeMap;

use planner::{Assignment, Rules, Value, Workload, workloads};
use target_api::{Captured, Configured, Verdict};
use target_kohaku::configured::Configuration;
use target_kohaku::options::KohakuOptions;
use target_kohaku::process;

fn workload(kind: &str, extents: &[(&'static str, i64)]) -> Workload {
    let given: BTreeMap<&str, i64> = extents.iter().copied().collect();
    let kind_of = workloads::kind(kind).expect("a kind");
    Workload {
        name: kind.to_owned(),
        operations: kind_of.operations(&given, None).expect("legal extents"),
    }
}

fn configuration(options: &str) -> Configuration {
    let options = KohakuOptions::parse(&options.parse().expect("a table")).expect("options");
    Configuration::new(options, "layout-sweep")
}

fn with(defaults: &Assignment, changes: &[(&str, i64)]) -> Assignment {
    let mut plan = defaults.clone();
    for (name, n) in changes {
        plan.set(name, Value::Integer(*n));
    }
    plan
}

/// Builds and runs a plan as the coordinator would, without processes.
fn ran(c: &Configuration, workload: &Workload, plan: &Assignment) -> Result<process::RunReport, String> {
    let plan = c.plan(workload, plan);
    let unit = c.build(workload, &plan).expect("a build").remove(0);
    let built = process::build(&unit.sources[0].text)?;
    let files = c.inputs(workload, 3).expect("inputs").files;
    let read = |name: &str| {
        let found = files.iter().find(|file| file.name == name);
        found
            .map(|file| file.bytes.clone())
            .ok_or_else(|| format!("no `{name}`"))
    };
    let output = process::run(&built, &read)?;
    let captured = Captured {
        exit_code: Some(0),
        stdout: output.clone(),
        ..Captured::default()
    };
    let measured = c.parse_run(workload, &captured).expect("a measurement");
    assert_eq!(measured.verdict, Verdict::Correct, "{:?}", measured.error);
    assert!(measured.samples[0].value > 0.0);
    serde_json::from_str(&output).map_err(|error| error.to_string())
}

#[test]
fn simulated_cycles_are_the_estimate_of_their_revision_and_parts_add_up() {
    let small = workload("attention", &[("heads", 2), ("queries", 128), ("width", 64)]);
    for (options, name) in [("", "real-span"), ("prices = \"published\"", "published")] {
        let c = configuration(options);
        let defaults = c.defaults(&small).unwrap();
        let report = ran(&c, &small, &defaults).unwrap();
        let plan = c.plan(&small, &defaults);
        let estimates: BTreeMap<&str, f64> = c
            .estimators()
            .iter()
            .map(|e| (e.name(), e.estimate(&small, &plan).unwrap().value))
            .collect();
        assert!(
            (estimates[name] - report.cycles as f64).abs() < 0.5,
            "{estimates:?} {report:?}"
        );
        assert!(estimates["arithmetic"] < estimates["published"]);
        assert_eq!(
            report.phases.iter().map(|phase| phase.cycles).sum::<usize>(),
            report.cycles
        );
    }
}

#[test]
fn heads_in_groups_padded_keys_products_and_chains_run() {
    let c = configuration("");
    let grouped = workload(
        "attention",
        &[
            ("heads", 4),
            ("kv_heads", 2),
            ("queries", 32),
            ("keys", 77),
            ("width", 64),
        ],
    );
    let defaults = c.defaults(&grouped).unwrap();
    assert_eq!(
        c.derived(&grouped, &defaults).get("attention.padded_keys"),
        Some(&Value::Integer(128))
    );
    ran(&c, &grouped, &defaults).unwrap();
    let causal = workload("causal-attention", &[("heads", 1), ("queries", 128), ("width", 64)]);
    ran(&c, &causal, &c.defaults(&causal).unwrap()).unwrap();
    let product = workload("gemm", &[("rows", 77), ("inner", 96), ("columns", 40)]);
    ran(&c, &product, &c.defaults(&product).unwrap()).unwrap();
    let chain = workload("mlp", &[("tokens", 64), ("features", 128), ("hidden", 256)]);
    let report = ran(&c, &chain, &c.defaults(&chain).unwrap()).unwrap();
    assert!(report.phases.iter().any(|phase| phase.kind == "conversion"));
}

#[test]
fn rules_name_numbers_and_what_would_be_legal() {
    let c = configuration("");
    let cross = workload("attention", &[("heads", 4), ("queries", 256), ("width", 64)]);
    let space = c.space(&cross).unwrap();
    let defaults = c.defaults(&cross).unwrap();
    space.check(&defaults).unwrap();
    for (change, rule) in [
        (("attention.query_block", 96), "domain"),
        (("attention.block", 32), "value-width"),
        (("attention.gm", 6), "row-tiles"),
        (("attention.gn", 3), "column-tiles"),
        (("attention.nk", 4), "chunks"),
        (("attention.gm", 128), "accumulator"),
    ] {
        let refusal = space.judge(&with(&defaults, &[change])).unwrap_err();
        assert_eq!(refusal.rule, rule, "{refusal}");
        assert!(refusal.nearest.is_some(), "{refusal}");
    }
    for (own, word, rule, words) in [
        ("operands", "staging", "staging-address", "no address reaches it"),
        ("values", "transposed-tiles", "value-order", "through the host"),
        ("deal", "round-robin", "dealing", "in contiguous runs"),
    ] {
        let mut changed = defaults.clone();
        changed.set(&format!("attention.{own}"), Value::text(word));
        let refusal = space.check(&changed).unwrap_err();
        assert!(refusal.rule == rule && refusal.message.contains(words), "{refusal}");
        // What compiles a plan says the same; tiers are no affair of the program.
        if own != "operands" {
            assert_eq!(c.legal(&cross, &changed).unwrap_err().rule, rule);
        }
    }
}

#[test]
fn groups_of_heads_and_orders_of_values_are_named_only_where_they_are_not_as_usual() {
    let c = configuration("");
    let four = workload("attention", &[("heads", 4), ("queries", 64), ("width", 64)]);
    let defaults = c.defaults(&four).unwrap();
    let text = |plan: &Assignment| c.text(&four, plan);
    assert_eq!(
        text(&defaults),
        "attention:q64:k64:8x8n2:p8192:accumulate:dram.dram",
        "as plans from before there was a choice"
    );
    let without: Assignment = defaults
        .iter()
        .filter(|(name, _)| {
            !["head_block", "values", "deal", "state"]
                .iter()
                .any(|own| name.ends_with(own))
        })
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    assert_eq!(text(&without), text(&defaults));
    c.legal(&four, &without).unwrap();
    let mut turned = with(&defaults, &[("attention.head_block", 2)]);
    turned.set("attention.values", Value::text("row-major"));
    assert_eq!(
        text(&turned),
        "attention:h2q64:k64:8x8n2:p8192:accumulate:dram.dram:row-major"
    );
    assert_eq!(
        c.derived(&four, &turned).get("attention.head_groups"),
        Some(&Value::Integer(2))
    );
    let report = ran(&c, &four, &turned).unwrap();
    let cycles = |kind: &str, name: &str| {
        let own = report.phases.iter().find(|own| own.kind == kind && own.name == name);
        own.map(|own| own.cycles).unwrap()
    };
    assert!(cycles("compute", "turn") > 0 && cycles("conversion", "v.conversion") > 0);
    assert!(report.cycles > ran(&c, &four, &defaults).unwrap().cycles);
}

#[test]
fn staging_holds_what_is_read_again_and_spares_the_memory() {
    let c = configuration("staging = true");
    let cross = workload(
        "attention",
        &[("heads", 10), ("queries", 4096), ("keys", 77), ("width", 64)],
    );
    let space = c.space(&cross).unwrap();
    let defaults = c.defaults(&cross).unwrap();
    let words = |plan: &Assignment| {
        c.derived(&cross, plan)
            .get("dram_words")
            .and_then(Value::as_integer)
            .unwrap()
    };
    let mut staged = defaults.clone();
    staged.set("attention.operands", Value::text("staging"));
    space.check(&staged).unwrap();
    assert!(words(&staged) < words(&defaults));
    staged.set("attention.temporaries", Value::text("staging"));
    let refusal = space.check(&staged).unwrap_err();
    assert_eq!(refusal.rule, "staging-bytes");
    let each = "k 163840, v 163840, scores 5242880, weights 5242880, part_o 5242880";
    assert!(refusal.message.contains(each), "{refusal}");
    // One head's keys and values, or one head's temporaries, have room where those of all have none.
    let own = workload("attention", &[("heads", 10), ("queries", 4096), ("width", 64)]);
    let space = c.space(&own).unwrap();
    let defaults = c.defaults(&own).unwrap();
    for place in ["attention.operands", "attention.temporaries"] {
        let mut all = defaults.clone();
        all.set(place, Value::text("staging"));
        assert_eq!(space.check(&all).unwrap_err().rule, "staging-bytes");
        let one = with(&all, &[("attention.head_block", 1)]);
        space.check(&one).unwrap();
        let words = |plan: &Assignment| c.derived(&own, plan).get("dram_words").and_then(Value::as_integer);
        let in_memory = with(&defaults, &[("attention.head_block", 1)]);
        assert!(words(&one) < words(&in_memory), "{place}");
    }
}

#[test]
fn every_operand_and_temporary_has_a_tier_of_its_own() {
    let c = configuration("staging = true");
    let one = workload(
        "attention",
        &[("heads", 1), ("queries", 256), ("keys", 77), ("width", 64)],
    );
    let space = c.space(&one).unwrap();
    let defaults = c.defaults(&one).unwrap();
    let words = |plan: &Assignment| {
        let derived = c.derived(&one, plan);
        derived.get("dram_words").and_then(Value::as_integer).unwrap()
    };
    let with = |attribute: &str, word: &str| {
        let mut plan = defaults.clone();
        plan.set(&format!("attention.{attribute}"), Value::text(word));
        space.check(&plan).unwrap();
        c.legal(&one, &plan).unwrap();
        plan
    };
    let spared = |attribute: &str, word: &str| words(&defaults) - words(&with(attribute, word));
    for (attribute, each, all) in [
        ("operands", vec!["q", "k", "v"], "q+k+v"),
        ("temporaries", vec!["scores", "weights", "part_o"], "staging"),
    ] {
        let sum: i64 = each.iter().map(|word| spared(attribute, word)).sum();
        assert_eq!(sum, spared(attribute, all), "{attribute}");
        assert!(each.iter().all(|word| spared(attribute, word) > 0), "{attribute}");
    }
    assert_eq!(
        spared("operands", "staging"),
        spared("operands", "k") + spared("operands", "v")
    );
    assert!(spared("state", "staging") > spared("temporaries", "scores"));
    assert_eq!(
        c.text(&one, &with("temporaries", "scores+part_o")),
        "attention:q256:k64:8x8n2:p8192:accumulate:dram.scores+part_o"
    );
    assert_eq!(
        c.text(&one, &with("state", "staging")),
        "attention:q256:k64:8x8n2:p8192:accumulate:dram.dram:state.staging"
    );
    // Where a buffer lies changes no result, and no cycle: staging is as wide as the memory.
    let (there, here) = (
        ran(&c, &one, &with("operands", "q+k+v")).unwrap(),
        ran(&c, &one, &defaults).unwrap(),
    );
    assert_eq!((there.cycles, there.max_absolute), (here.cycles, here.max_absolute));
    assert!(there.dram_words < here.dram_words);
}

#[test]
fn the_middle_attention_of_the_vae_is_rejected_with_its_rule() {
    let c = configuration("");
    let vae = workload("attention", &[("heads", 1), ("queries", 16_384), ("width", 512)]);
    let defaults = c.defaults(&vae).unwrap();
    c.space(&vae).unwrap().check(&defaults).unwrap();
    assert!(c.inputs(&vae, 1).unwrap().files.is_empty());
    let plan = c.plan(&vae, &defaults);
    let unit = c.build(&vae, &plan).unwrap().remove(0);
    let report = process::build(&unit.sources[0].text).unwrap();
    assert!(report.contains("value-width") && report.contains("512"), "{report}");
}

#[test]
fn narrow_tiles_are_rejected_by_the_compiler() {
    let c = configuration("");
    let plain = workload("attention", &[("heads", 4), ("queries", 256), ("width", 64)]);
    let plan = with(
        &c.defaults(&plain).unwrap(),
        &[("attention.gm", 2), ("attention.gn", 2)],
    );
    c.space(&plain).unwrap().check(&plan).unwrap();
    let unit = c.build(&plain, &c.plan(&plain, &plan)).unwrap().remove(0);
    let report = process::build(&unit.sources[0].text).unwrap();
    assert!(report.contains("host-move"), "{report}");
    // A plan that is refused has no price, least of all a low one.
    let plan = c.plan(&plain, &plan);
    for estimator in c.estimators().iter().filter(|e| e.is_partial()) {
        let none = estimator.estimate(&plain, &plan).unwrap_err();
        assert!(none.message.contains("host-move"), "{none}");
    }
}
