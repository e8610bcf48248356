//! The unit model computes what it should, and only because its schedule is right.

use planner::{Elementwise, GemmExtents, Operation, OperationKind, Workload};
use target_ipu21::exchange::Policy;
use target_ipu21::program::{self, Program};
use target_ipu21::text;
use target_ipu21::unit::{self, Compiled, Data};

fn mlp(tokens: u64, features: u64, hidden: u64, outputs: u64) -> Workload {
    let gemm = |name: &str, rows, inner, columns| Operation {
        name: name.to_owned(),
        kind: OperationKind::Gemm(GemmExtents { rows, inner, columns }),
    };
    Workload {
        name: "mlp".to_owned(),
        operations: vec![
            gemm("up", tokens, features, hidden),
            Operation {
                name: "gelu".to_owned(),
                kind: OperationKind::Elementwise {
                    function: Elementwise::GeluTanh,
                    rows: tokens,
                    columns: hidden,
                },
            },
            gemm("down", tokens, hidden, outputs),
        ],
    }
}

fn compile(workload: &Workload, up: &str, down: &str, mapping: Vec<usize>) -> Compiled {
    let geometries = [up, down].map(|constraint| text::parse(constraint).expect("a constraint text").1);
    let program = Program::new(workload, &geometries, mapping).expect("a legal plan");
    unit::compile(program, Policy::default()).expect("a plan that fits")
}

/// Largest absolute difference to the float64 reference; not a number when something is missing.
fn error(workload: &Workload, compiled: &Compiled) -> f64 {
    let data = Data::new(workload, 7);
    let expected = unit::reference(workload, &data);
    let result = unit::run(compiled, &data);
    assert_eq!(result.len(), expected.len());
    let differences: Vec<f64> = result
        .iter()
        .zip(&expected)
        .map(|(x, y)| (f64::from(*x) - y).abs())
        .collect();
    // A sum is not a number when any of its terms is none.
    let missing = 0.0 * differences.iter().sum::<f64>();
    differences.into_iter().fold(0.0, f64::max) + missing
}

const CASES: &[(&str, &str)] = &[
    (
        "0:4x5x3:3x1:48:interleaved:normal:complete:direct",
        "2:3x3x4:4x1:32:interleaved:normal:complete:direct",
    ),
    (
        "0:4x4x3:1x3:64:standard:normal:streamed:direct",
        "2:2x6x5:2x1:16:standard:normal:batch-3:direct",
    ),
    (
        "0:1x13x6:2x1:16:standard:normal:complete:direct",
        "2:7x1x4:1x4:96:interleaved:normal:complete:direct",
    ),
    (
        "0:3x7x2:1x1:32:interleaved:normal:complete:direct",
        "2:5x3x5:2x2:32:standard:normal:streamed:direct",
    ),
];

#[test]
fn plans_compute_the_product() {
    let workload = mlp(61, 96, 200, 90);
    let reverse: Vec<usize> = (0..1472).rev().collect();
    for (up, down) in CASES {
        for mapping in [program::identity(), reverse.clone()] {
            let compiled = compile(&workload, up, down, mapping);
            let worst = error(&workload, &compiled);
            assert!(worst < 0.01, "{up} {down}: {worst}");
        }
    }
}

/// Forms that the published planner does not have: uneven local K, other grid orders, a tree of additions.
const BEYOND: &[(&str, &str)] = &[
    (
        "0:4x5x4:3x1:48:interleaved:normal:complete:direct:k-grain-16",
        "2:3x3x4:4x1:32:standard:normal:batch-2:direct:k-grain-16:order-rows-inner-columns",
    ),
    (
        "0:4x4x3:1x3:64:standard:normal:complete:direct:order-inner-rows-columns:sum-tree",
        "2:2x3x5:2x2:32:interleaved:normal:complete:direct:order-columns-rows-inner:sum-tree",
    ),
];

#[test]
fn forms_beyond_the_published_planner_compute_the_product() {
    let workload = mlp(61, 96, 200, 90);
    for (up, down) in BEYOND {
        let compiled = compile(&workload, up, down, program::identity());
        let worst = error(&workload, &compiled);
        assert!(worst < 0.01, "{up} {down}: {worst}");
    }
}

#[test]
fn panels_of_k_may_be_dealt_out_where_whole_blocks_leave_one_empty() {
    let workload = mlp(61, 96, 208, 90);
    // 13 panels over 5 partitions: whole blocks of 3 leave the last one 1; over 6 the last block would be empty.
    let down = "2:3x3x6:6x1:32:interleaved:normal:complete:direct";
    let geometries = [CASES[0].0, down].map(|constraint| text::parse(constraint).unwrap().1);
    let refusal = Program::new(&workload, &geometries, program::identity()).unwrap_err();
    assert_eq!(refusal.rule, "empty-inner");
    let compiled = compile(
        &workload,
        CASES[0].0,
        &format!("{down}:k-grain-16"),
        program::identity(),
    );
    let inner = compiled.program.products[1].shards.inner;
    let lengths: Vec<usize> = (0..6).map(|part| inner.range(part).len()).collect();
    assert_eq!(lengths, [48, 32, 32, 32, 32, 32]);
    assert!(error(&workload, &compiled) < 0.01);
}

#[test]
fn a_tree_rounds_otherwise_than_a_chain() {
    let workload = mlp(61, 96, 200, 90);
    let data = Data::new(&workload, 7);
    let run = |down: &str| unit::run(&compile(&workload, CASES[0].0, down, program::identity()), &data);
    let down = "2:2x3x5:2x2:32:interleaved:normal:complete:direct";
    assert_ne!(run(down), run(&format!("{down}:sum-tree")));
}

#[test]
fn a_wrong_schedule_gives_a_wrong_answer() {
    let workload = mlp(61, 96, 200, 90);
    let (up, down) = CASES[0];
    let good = compile(&workload, up, down, program::identity());
    for phase in 0..good.schedules.len() {
        let mut bad = good.clone();
        // One tile selects its source one cycle late.
        bad.schedules[phase].timings[0].arrivals[0].listen += 1;
        assert!(error(&workload, &bad).is_nan(), "phase {phase}");
    }
}

#[test]
fn the_run_is_the_same_every_time() {
    let workload = mlp(61, 96, 200, 90);
    let data = Data::new(&workload, 7);
    let (up, down) = CASES[3];
    let run = || {
        let compiled = compile(&workload, up, down, program::identity());
        let bits: Vec<u32> = unit::run(&compiled, &data).iter().map(|x| x.to_bits()).collect();
        (compiled.horizons(), bits)
    };
    assert_eq!(run(), run());
}
