//! The space of plans against the rules of code generation, and against brute force.

#![allow(
    clippy::disallowed_methods,
    reason = "a test may read files, clocks and run programs"
)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests stop at the first surprise"
)]

mod common;

use std::collections::BTreeSet;

use common::{gemm, mlp};
use planner::{Assignment, Plan, Rules, Space, Value, Workload};
use proptest::prelude::*;
use target_api::Configured;
use target_cpu::attributes::plan_from;
use target_cpu::chain::products;
use target_cpu::configured::Configuration;
use target_cpu::footprint::{Footprint, MOST_BYTES, check};
use target_cpu::inputs::inputs;
use target_cpu::isa::Isa;
use target_cpu::options::Settings;
use target_cpu::rules::plan::first_broken;
use target_cpu::text::{parse_plan, plan_text};

fn configuration(threads: u32) -> Configuration {
    let report = serde_json::from_str(include_str!("data/zen3-guest.json")).unwrap();
    let settings = Settings {
        threads,
        isa: Isa::Avx2,
        cores: (0..threads).collect(),
    };
    Configuration::new(settings, &report, "/usr/bin/cc").unwrap()
}

fn single(rows: u64, inner: u64, columns: u64) -> Workload {
    Workload {
        name: "gemm".to_owned(),
        operations: vec![gemm("only", rows, inner, columns)],
    }
}

fn three() -> Workload {
    let operations = vec![gemm("a", 40, 30, 50), gemm("b", 40, 50, 20), gemm("c", 40, 20, 70)];
    Workload {
        name: "three".to_owned(),
        operations,
    }
}

/// The rule of code generation that an assignment breaks.
fn broken(threads: u32, workload: &Workload, assignment: &Assignment) -> Option<String> {
    let plan = plan_from(workload, assignment, threads).unwrap();
    first_broken(Isa::Avx2, &products(workload).unwrap(), &plan)
        .map(|refused| format!("{}: {}", refused.rule, refused.message))
}

#[test]
fn defaults_are_legal_everywhere() {
    for workload in [
        mlp(729, 1152, 4304),
        mlp(1, 1, 1),
        mlp(2, 3, 9),
        single(1, 1, 1),
        single(5, 100, 33),
        three(),
    ] {
        for threads in [1, 2, 3, 64] {
            let cpu = configuration(threads);
            let defaults = cpu.defaults(&workload).unwrap();
            cpu.space(&workload).unwrap().check(&defaults).unwrap();
            assert_eq!(broken(threads, &workload, &defaults), None);
            assert_eq!(
                cpu.build(&workload, &cpu.plan(&workload, &defaults)).unwrap().len(),
                workload.gemms().count()
            );
        }
    }
}

#[test]
fn the_space_of_the_siglip_mlp_is_counted_not_listed() {
    let cpu = configuration(2);
    let space = cpu.space(&mlp(729, 1152, 4304)).unwrap();
    let start = std::time::Instant::now();
    let count = space.count().unwrap();
    println!("{count} plans, counted in {:?}", start.elapsed());
    assert!(count > 1_000_000_000_000, "{count}");
    // A lone product has neither neighbours nor anything to carry.
    assert!(cpu.space(&single(729, 1152, 4304)).unwrap().count().unwrap() < count);
}

#[test]
fn random_plans_are_accepted_by_code_generation() {
    for (threads, workload) in [
        (1, mlp(40, 50, 90)),
        (2, mlp(729, 1152, 4304)),
        (3, three()),
        (2, single(17, 5, 23)),
    ] {
        let cpu = configuration(threads);
        let sample = cpu.space(&workload).unwrap().sample(7, 60).unwrap();
        assert_eq!(sample.assignments.len(), 60);
        let mut texts = BTreeSet::new();
        for assignment in &sample.assignments {
            assert_eq!(
                broken(threads, &workload, assignment),
                None,
                "{}",
                cpu.text(&workload, assignment)
            );
            let plan = cpu.plan(&workload, assignment);
            let units = cpu.build(&workload, &plan).unwrap();
            assert!(units.iter().all(|unit| {
                unit.sources
                    .iter()
                    .any(|source| source.text.contains("layout_sweep_gemm"))
            }));
            // Attributes, typed plan and text are the same plan.
            let typed = plan_from(&workload, &plan.attributes, 99).unwrap();
            assert_eq!(typed.threads, threads);
            assert_eq!(plan_text(&typed), plan.text);
            assert_eq!(parse_plan(&plan.text).unwrap(), typed);
            texts.insert(plan.text);
        }
        assert_eq!(texts.len(), 60);
    }
}

/// Rules that the space states more narrowly than code generation, so that it can be counted.
const NARROWER: [&str; 4] = ["transpose", "carry-transpose", "carry-owner", "carry-nested"];

/// Walks all combinations of some parameters, the others at the default, and compares the space with the rules of code
/// generation and with its own count. Returns how many are legal.
fn compare(threads: u32, workload: &Workload, vary: &[(&str, &[Value])]) -> usize {
    let cpu = configuration(threads);
    let space = cpu.space(workload).unwrap();
    let mut combinations = vec![cpu.defaults(workload).unwrap()];
    for (name, values) in vary {
        let set = |base: &Assignment, value: &Value| {
            let mut changed = base.clone();
            changed.set(name, value.clone());
            changed
        };
        combinations = combinations
            .iter()
            .flat_map(|base| values.iter().map(|value| set(base, value)))
            .collect();
    }
    let mut legal = Vec::new();
    for assignment in &combinations {
        let text = cpu.text(workload, assignment);
        let rules = broken(threads, workload, assignment);
        match space.check(assignment) {
            Ok(()) => {
                assert_eq!(rules, None, "{text}");
                legal.push(text);
            }
            Err(refusal) if rules.is_none() => {
                assert!(
                    NARROWER.contains(&refusal.rule.as_str()),
                    "{text}: only the space says: {refusal}"
                );
            }
            Err(_) => {}
        }
    }
    let restricted = restrict(&space, &combinations[0], vary);
    assert_eq!(restricted.count().unwrap(), legal.len() as u128);
    let walked: Vec<String> = restricted
        .walk()
        .unwrap()
        .map(|plan| cpu.text(workload, &plan))
        .collect();
    let different: BTreeSet<&String> = walked.iter().collect();
    assert_eq!(different.len(), walked.len(), "a plan twice");
    assert_eq!(different, legal.iter().collect());
    legal.len()
}

/// The space with every parameter held but those that vary.
fn restrict(space: &Space, held: &Assignment, vary: &[(&str, &[Value])]) -> Space {
    let mut to: Vec<(&str, Vec<Value>)> = held.iter().map(|(name, value)| (name, vec![value.clone()])).collect();
    for (name, values) in &mut to {
        if let Some((_, listed)) = vary.iter().find(|(varied, _)| varied == name) {
            *values = listed.to_vec();
        }
    }
    let to: Vec<(&str, &[Value])> = to.iter().map(|(name, values)| (*name, values.as_slice())).collect();
    space.restrict(&to).unwrap()
}

fn numbers(values: impl IntoIterator<Item = i64>) -> Vec<Value> {
    values.into_iter().map(Value::Integer).collect()
}

fn words(values: &[&str]) -> Vec<Value> {
    values.iter().map(|word| Value::text(word)).collect()
}

#[test]
fn blocks_are_legal_exactly_where_none_is_empty() {
    // 13 x 9 x 21 on AVX2: at most 13 or 21 row panels, 2 or 3 column panels.
    let legal = compare(
        1,
        &single(13, 9, 21),
        &[
            ("only.orientation", &words(&["normal", "swapped"])),
            ("only.rows", &numbers(1..=21)),
            ("only.columns", &numbers(1..=3)),
            ("only.inner", &numbers([1, 2, 3, 9])),
            ("only.height", &numbers([1, 3, 6, 7, 13])),
            ("only.width", &numbers([8, 16, 24])),
            ("only.unroll", &numbers([1, 4, 8])),
        ],
    );
    assert!(legal > 500, "{legal}");
}

#[test]
fn reductions_are_legal_exactly_where_their_shards_have_owners() {
    let legal = compare(
        2,
        &single(13, 40, 21),
        &[
            ("only.orientation", &words(&["normal", "swapped"])),
            ("only.rows", &numbers([1, 2, 3])),
            ("only.columns", &numbers([1, 2])),
            ("only.inner", &numbers(1..=5)),
            (
                "only.staging",
                &words(&["streamed", "complete", "batch-1", "batch-2", "batch-4"]),
            ),
            ("only.result_rows", &numbers([1, 2, 4])),
            ("only.result_columns", &numbers([1, 2])),
        ],
    );
    assert!(legal > 100, "{legal}");
}

#[test]
fn neighbours_agree_on_the_layout_between_them() {
    let legal = compare(
        1,
        &mlp(30, 24, 36),
        &[
            ("up.output", &words(&["row-major", "panels", "tiles"])),
            ("up.orientation", &words(&["normal", "swapped"])),
            ("up.height", &numbers([2, 8])),
            ("up.width", &numbers([8, 16])),
            ("down.orientation", &words(&["normal", "swapped"])),
            ("down.height", &numbers([2, 8])),
            ("down.width", &numbers([8, 16])),
            ("down.activations", &words(&["in-place", "packed"])),
            ("down.inner", &numbers([1, 3, 5, 9])),
            ("down.unroll", &numbers([4, 16])),
        ],
    );
    assert!(legal > 200, "{legal}");
}

#[test]
fn carried_plans_are_those_that_need_no_barrier() {
    for threads in [1, 2, 3] {
        let legal = compare(
            threads,
            &mlp(40, 24, 36),
            &[
                ("up.rows", &numbers([1, 2, 6])),
                ("down.rows", &numbers([1, 2, 3, 6])),
                ("up.height", &numbers([4, 6])),
                ("down.height", &numbers([4, 6])),
                ("up.columns", &numbers([1, 2])),
                ("down.split", &words(&["rows", "columns"])),
                ("down.deal", &words(&["contiguous", "round-robin"])),
                ("up.transpose", &numbers([1, 2])),
                ("down.staging", &words(&["streamed", "complete"])),
                ("up.orientation", &words(&["normal", "swapped"])),
                ("carry", &[false.into(), true.into()]),
            ],
        );
        assert!(legal > 500, "{legal}");
    }
    // A lone product has nothing to carry.
    assert!(
        configuration(1)
            .space(&single(9, 9, 9))
            .unwrap()
            .parameter("carry")
            .unwrap()
            .domain
            .size()
            == 1
    );
}

#[test]
fn the_best_plan_known_is_in_the_space_and_7x16_is_not() {
    let cpu = configuration(2);
    let workload = mlp(729, 1152, 4304);
    let space = cpu.space(&workload).unwrap();
    let judge = |text: &str| {
        let attributes = target_cpu::attributes::plan_attributes(&parse_plan(text).unwrap());
        let own = attributes.iter().filter(|(name, _)| *name != "threads");
        space.check(&own.map(|(name, value)| (name.to_owned(), value.clone())).collect())
    };
    let best = "up:2x1x1:1x1:6x16u8:rkc.cr:panels:packed:tiles:streamed:rows.contiguous.t1:cb:fused | \
                down:4x1x4:1x1:6x16u8:rkc.cr:panels:in-place:row-major:streamed:rows.contiguous.t1:cb | \
                carry threads=2";
    judge(best).unwrap();
    assert_eq!(judge(&best.replace("6x16", "7x16")).unwrap_err().rule, "registers");
    assert_eq!(
        judge(&best.replacen("6x16", "5x16", 1)).unwrap_err().rule,
        "tiles-input"
    );
    assert_eq!(
        judge(&best.replace("in-place", "packed")).unwrap_err().rule,
        "input-packed"
    );
}

#[test]
fn derived_attributes_are_those_of_the_largest_block() {
    let cpu = configuration(2);
    let workload = mlp(729, 1152, 4304);
    let mut assignment = cpu.defaults(&workload).unwrap();
    assignment.set("down.inner", Value::Integer(4));
    let plan = cpu.plan(&workload, &assignment);
    let of = |name: &str| plan.attributes.get(name).and_then(Value::as_integer).unwrap();
    assert_eq!(
        (of("up.block_rows"), of("up.block_columns"), of("up.depth")),
        (366, 4304, 1152)
    );
    assert_eq!((of("down.depth"), of("down.vector_panel_bytes")), (1076, 1076 * 16 * 4));
    assert_eq!(
        (of("up.registers"), of("up.broadcast_block_bytes"), of("threads")),
        (15, 366 * 1152 * 4, 2)
    );
}

#[test]
fn no_kernel_of_the_space_unrolls_too_far() {
    for isa in Isa::ALL {
        let registers = u64::from(isa.registers());
        // Accumulators by the longest grain: 16 steps, or the widest producer's tile of six vectors.
        let longest = u64::from(6 * isa.lanes()).max(16);
        assert!(registers * longest <= target_cpu::rules::gemm::MOST_UNROLLED, "{isa}");
    }
}

#[test]
fn people_see_attributes_in_the_order_of_the_geometry() {
    let cpu = configuration(2);
    let workload = mlp(40, 50, 90);
    let assignment = cpu
        .space(&workload)
        .unwrap()
        .sample(1, 1)
        .unwrap()
        .assignments
        .remove(0);
    let plan = cpu.plan(&workload, &assignment);
    let names: Vec<&str> = plan.attributes.iter().map(|(name, _)| name).collect();
    assert_eq!(
        names[..5],
        ["up.orientation", "up.rows", "up.columns", "up.inner", "up.height"]
    );
    assert!(
        assignment
            .iter()
            .all(|(name, value)| plan.attributes.get(name) == Some(value))
    );
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
}

#[test]
fn a_workload_that_no_memory_holds_has_no_space() {
    let huge = single(70_000, 70_000, 70_000);
    let refused = configuration(1).space(&huge).unwrap_err();
    assert_eq!(refused.rule, "memory");
    // 4.9e9 elements in each of three arrays: 2 arrays x 8 bytes, 3 x 8, 3 x 8.
    assert_eq!(
        refused.message,
        "workload `gemm` needs 313600000000 bytes: 78400000000 for its inputs, 117600000000 for the float64 reference, \
         117600000000 for packed copies; at most 8589934592 (8 GiB) are allowed"
    );
    // The same answer where arrays would be drawn, before any is; counts that pass 64 bits do not wrap.
    assert_eq!(inputs(&huge, 1, 1).unwrap_err(), refused);
    assert_eq!(inputs(&single(u64::MAX, u64::MAX, 2), 1, 1).unwrap_err().rule, "memory");
    let at = |inner: u64| Footprint::of(&single(1, inner, 1)).total();
    // Input and weights twice, input in float64, both packed twice; one result: 16 + 8 bytes.
    assert_eq!(at(1_000), 8 * 2_000 + 8 * 1_000 + 8 * 2_000 + 24);
    let most = u64::try_from((MOST_BYTES - 24) / 40).unwrap();
    assert!(check(&single(1, most, 1)).is_ok() && check(&single(1, most + 1, 1)).is_err());
}

#[test]
fn a_workload_that_is_no_chain_has_no_space() {
    let empty = Workload {
        name: "empty".to_owned(),
        operations: vec![],
    };
    assert_eq!(configuration(1).space(&empty).unwrap_err().rule, "products");
    assert_eq!(configuration(1).defaults(&empty).unwrap_err().rule, "products");
    let unreadable = Plan {
        target: "cpu".to_owned(),
        text: String::new(),
        attributes: Assignment::new(),
    };
    assert_eq!(
        configuration(1).build(&mlp(2, 2, 2), &unreadable).unwrap_err().rule,
        "missing-attribute"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn plans_of_any_workload_and_number_of_workers_keep_the_rules(
        rows in 1_u64..60, inner in 1_u64..80, hidden in 1_u64..80, threads in 1_u32..5, seed: u64,
    ) {
        let (cpu, workload) = (configuration(threads), mlp(rows, inner, hidden));
        for assignment in cpu.space(&workload).unwrap().sample(seed, 40).unwrap().assignments {
            prop_assert_eq!(broken(threads, &workload, &assignment), None);
            let proxy = cpu.proxy(&workload, "up", &assignment).unwrap();
            prop_assert!(proxy.is_finite() && proxy > 0.0 && proxy < 1e300);
        }
    }
}
