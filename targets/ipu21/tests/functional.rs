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
