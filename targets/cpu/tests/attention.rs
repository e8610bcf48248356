//! Attention: every word of a plan, every mask and tail against the float64 reference; what is refused, and why.

#![allow(
    clippy::disallowed_methods,
    reason = "a test may read files, clocks and run programs"
)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "these are tests, outside a test function"
)]

mod support;

use std::sync::atomic::{AtomicUsize, Ordering};

use planner::{Attributes, Value};
use support::attentions::{Problem, covering, objects, plain, problem, run, workload};
use support::{Workshop, compiler, execute, native_isa, neon_workshop, wide_workshop, workshop};
use target_cpu::assembly;
use target_cpu::attention::attributes::geometry_from;
use target_cpu::attention::codegen::{attention_source, exponential_source};
use target_cpu::attention::estimate::{model, roofline};
use target_cpu::attention::facts::Context;
use target_cpu::attention::geometry::{AttentionGeometry, AttentionPlan, Exponential, Layout, Maximum, Merge, Scores};
use target_cpu::attention::problem::{Extents, attention};
use target_cpu::attention::rules::first_broken;
use target_cpu::attention::space::{default_plan, space};
use target_cpu::compile::FLAGS;
use target_cpu::estimate::{Constants, Hardware};
use target_cpu::harness::{PlanObjects, Side};
use target_cpu::isa::Isa;
use target_cpu::options::Settings;

fn check_all(shop: &Workshop, problem: &Problem, plans: &[AttentionPlan]) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(plan) = plans.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let objects = objects(shop, problem.attention.extents, plan);
                    let assembly = std::fs::read_to_string(objects.objects[0].with_extension("s")).unwrap();
                    assembly::check(&assembly).unwrap_or_else(|spill| panic!("{spill}\n{plan:#?}"));
                    let report = run(shop, problem, objects, None);
                    assert!(
                        report.control_correct,
                        "{:?} {:?}\n{plan:#?}",
                        report.changed, report.calls
                    );
                }
            });
        }
    });
}

fn covered(extents: [u64; 6], causal: bool, seed: u64, most: usize) {
    let Some(shop) = workshop() else { return };
    let problem = problem(shop.folder.path(), &workload(extents, causal));
    let plans = covering(problem.attention.extents, shop.isa, seed, most);
    assert!(
        plans.len() >= most.min(5),
        "only {} legal plans were found",
        plans.len()
    );
    check_all(shop, &problem, &plans);
}

#[test]
fn covering_plans_with_odd_extents_are_right() {
    covered([3, 3, 53, 61, 19, 21], false, 1, 16);
}

#[test]
fn grouped_heads_and_whole_tiles_are_right() {
    covered([4, 2, 48, 96, 24, 24], false, 2, 8);
}

#[test]
fn causal_plans_are_right() {
    covered([2, 1, 67, 67, 16, 20], true, 3, 14);
}

#[test]
fn causal_plans_with_more_queries_or_more_keys_are_right() {
    covered([2, 2, 70, 31, 9, 8], true, 4, 5);
    covered([2, 2, 31, 70, 9, 8], true, 5, 5);
}

#[test]
fn a_few_keys_are_right() {
    covered([2, 2, 50, 7, 8, 8], false, 6, 5);
}

/// What this machine may not have, in every instruction set that can be compiled for here.
#[test]
fn plain_kernels_are_right() {
    let Some(cc) = compiler() else { return };
    let shop = Workshop::new(cc, Isa::Plain, &[]);
    let problem = problem(shop.folder.path(), &workload([2, 1, 37, 41, 11, 13], true));
    check_all(&shop, &problem, &covering(problem.attention.extents, shop.isa, 7, 6));
}

/// Where the machine has them: the kernels of 32 registers.
#[test]
fn avx512_attention_is_right() {
    let Some(shop) = wide_workshop() else { return };
    let problem = problem(shop.folder.path(), &workload([2, 1, 53, 61, 19, 29], false));
    let extents = problem.attention.extents;
    let mut plans = covering(extents, shop.isa, 9, 6);
    let shapes = [(2, 14, 13), (3, 8, 9), (4, 6, 5)];
    plans.extend(shapes.map(|(vectors, key_height, value_height)| AttentionPlan {
        threads: 1,
        geometry: AttentionGeometry {
            query_panel: vectors * shop.isa.lanes(),
            key_height,
            value_height,
            ..plain(shop.isa)
        },
    }));
    check_all(&shop, &problem, &plans);
}

/// Where a cross compiler and an emulator are installed: the NEON kernels really run.
#[test]
fn neon_attention_is_right_under_emulation() {
    let Some(shop) = neon_workshop() else { return };
    let problem = problem(shop.folder.path(), &workload([2, 1, 37, 41, 11, 13], true));
    check_all(&shop, &problem, &covering(problem.attention.extents, shop.isa, 10, 6));
}

/// The harness compares two plans of one attention, call by call, and names the phases of both.
#[test]
fn control_and_case_are_called_in_turn() {
    let Some(shop) = workshop() else { return };
    let problem = problem(shop.folder.path(), &workload([2, 2, 40, 50, 16, 16], false));
    let extents = problem.attention.extents;
    let plan = |geometry| AttentionPlan { threads: 2, geometry };
    let split = AttentionGeometry {
        key_splits: 2,
        merge: Merge::Complete,
        ..plain(shop.isa)
    };
    let (control, case) = (plan(plain(shop.isa)), plan(split));
    let report = run(
        shop,
        &problem,
        objects(shop, extents, &control),
        Some(objects(shop, extents, &case)),
    );
    assert_eq!(
        (report.control_correct, report.case_correct),
        (true, Some(true)),
        "{:?}",
        report.calls
    );
    let phases = |side: Side| -> Vec<String> {
        let call = report.calls.iter().find(|call| call.plan == side).unwrap();
        call.phases.iter().map(|phase| phase.name.clone()).collect()
    };
    let common = [
        "attention.pack",
        "attention.scores",
        "attention.softmax",
        "attention.values",
        "attention.finish",
    ];
    assert_eq!(phases(Side::Control), [&common[..], &["wait"]].concat());
    assert_eq!(phases(Side::Case), [&common[..], &["attention.merge", "wait"]].concat());
    for call in &report.calls {
        let sum: f64 = call.phases.iter().map(|phase| phase.ns).sum();
        assert!((sum - call.wall_ns).abs() < 1.0, "{call:?}");
    }
}

/// A causal plan where there is no mask, and a result that is off in its last query: neither passes.
#[test]
fn wrong_results_are_found() {
    let Some(shop) = workshop() else { return };
    let problem = problem(shop.folder.path(), &workload([1, 1, 20, 20, 8, 8], false));
    let plan = AttentionPlan {
        threads: 1,
        geometry: plain(shop.isa),
    };
    let context = Context {
        isa: shop.isa,
        threads: 1,
        extents: problem.attention.extents,
        geometry: &plan.geometry,
    };
    let source = attention_source(context);
    let causal = attention_source(Context {
        extents: Extents {
            causal: true,
            ..context.extents
        },
        ..context
    });
    let relabelled = causal.replace(".causal = 1", ".causal = 0");
    let untouched = source.replace("count, output, VALUE_WIDTH);", "count - 1, output, VALUE_WIDTH);");
    for (what, wrong) in [("masked", relabelled), ("unwritten", untouched)] {
        assert_ne!(wrong, source, "{what}");
        let object = PlanObjects {
            threads: 1,
            carry: false,
            objects: vec![shop.object(&wrong)],
        };
        let report = run(shop, &problem, object, None);
        assert!(!report.control_correct, "{what}: {:?}", report.calls);
    }
}

/// One thing that is wrong.
type Change = dyn Fn(&mut AttentionGeometry);

#[test]
fn what_is_wrong_is_refused_in_words() {
    let extents = attention(&workload([4, 2, 50, 40, 16, 16], false)).unwrap().extents;
    let refused = |change: &Change| {
        let mut geometry = plain(Isa::Avx2);
        change(&mut geometry);
        first_broken(Isa::Avx2, 1, extents, &geometry)
            .map_or_else(|| "legal".to_owned(), |r| format!("{}: {}", r.rule, r.message))
    };
    let cases: [(&Change, &str); 9] = [
        (&|g| g.unroll = 0, "positive: `unroll` is 0"),
        (
            &|g| g.query_panel = 12,
            "query-panel: a panel of 12 queries is no multiple of the 8 floats",
        ),
        (
            &|g| g.key_height = 7,
            "registers: a 7 x 16 kernel needs 17 vector registers, avx2 has 16",
        ),
        (&|g| g.value_height = 1, "kernel-rows: a kernel of 1 rows and 2 vectors"),
        (
            &|g| g.query_blocks = 5,
            "query-blocks: 5 blocks of 50 queries: only 4 panels of 16",
        ),
        (
            &|g| (g.key_splits, g.key_blocks) = (2, 4),
            "key-blocks: 2 splits of 4 blocks over 40 keys: only 7 tiles of 6",
        ),
        (
            &|g| g.merge = Merge::Complete,
            "merge-complete: keys that are not split",
        ),
        (
            &|g| g.values = Layout::RowMajor,
            "packing-own: keys and values are both read as given",
        ),
        (&|g| g.scores = Scores::Online, "online-blocks: a single block of keys"),
    ];
    for (change, words) in cases {
        let said = refused(change);
        assert!(said.starts_with(words), "expected `{words}`, got `{said}`");
    }
    assert_eq!(refused(&|g| g.unroll = 16), "legal");
    let huge = Extents {
        queries: 1 << 20,
        keys: 1 << 20,
        ..extents
    };
    let plain = plain(Isa::Avx2);
    let said = first_broken(Isa::Avx2, 1, huge, &plain).unwrap();
    assert_eq!(said.rule, "scores-size");
}

/// Every plan of the space keeps the rules, and the plan that is taken where nothing is said is one of it.
#[test]
fn space_and_rules_agree() {
    for (extents, causal) in [
        ([4, 2, 50, 40, 16, 16], true),
        ([1, 1, 1, 1, 1, 1], false),
        ([2, 2, 3000, 77, 64, 64], false),
    ] {
        let workload = workload(extents, causal);
        let settings = settings();
        let own = attention(&workload).unwrap();
        let space = space(&workload, &settings).unwrap();
        let plan = default_plan(own.extents, &settings);
        assert_eq!(
            first_broken(settings.isa, plan.threads, own.extents, &plan.geometry),
            None
        );
        let mut legal = 0;
        let mut numbers = support::Numbers::new(extents[2]);
        for _ in 0..4000 {
            let assignment: Attributes = (space.parameters.iter())
                .map(|p| (p.name.clone(), p.domain.at(numbers.below(p.domain.size())).unwrap()))
                .collect();
            let geometry = geometry_from("attention", &assignment).unwrap();
            let broken = first_broken(settings.isa, 2, own.extents, &geometry);
            let checked = space.constraints.iter().find_map(|constraint| {
                let values: Vec<Value> = (constraint.scope.iter())
                    .map(|at| assignment.get(&space.parameters[*at].name).unwrap().clone())
                    .collect();
                let values: Vec<&Value> = values.iter().collect();
                (constraint.check)(&values).err()
            });
            assert_eq!(
                broken.is_none(),
                checked.is_none(),
                "{broken:?} {checked:?} {assignment:?}"
            );
            legal += u32::from(broken.is_none());
        }
        assert!(legal > 0 || extents[2] == 1, "no legal plan among 4000 of {extents:?}");
    }
}

fn settings() -> Settings {
    Settings {
        threads: 2,
        isa: Isa::Avx2,
        cores: vec![0, 1],
    }
}

const MAIN: &str = r#"
#include <math.h>
#include <stdio.h>
int main(void)
{
    double worst = 0;
    for (int i = 0; i <= 1260000; i++) {
        const float t = -(float)i * 1e-4f;
        float lanes[LANES];
        store(lanes, power(splat(t)));
        const double off = fabs(lanes[LANES - 1] / exp2(t) - 1);
        if (!(off <= worst)) worst = off;
    }
    float far[LANES];
    store(far, power(splat(-1e30f)));
    printf("%.9g %d\n", worst, far[0] >= 0 && far[0] < 2e-38f);
    return 0;
}
"#;

/// `2^t` over all that a softmax asks for, against float64: each degree is as exact as its words say, and no better than
/// float32 can be.
#[test]
fn exponentials_are_as_exact_as_they_say() {
    let Some(cc) = compiler() else { return };
    for isa in [native_isa(), Isa::Plain] {
        for (exponential, stated) in [
            (Exponential::Degree4, 2.7e-6),
            (Exponential::Degree5, 2.4e-7),
            (Exponential::Degree6, 2.2e-7),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let source = format!(
                "#include \"layout_sweep.h\"\n{}{MAIN}",
                exponential_source(isa, exponential)
            );
            std::fs::write(folder.path().join("power.c"), source).unwrap();
            let header = include_str!("../src/c/layout_sweep.h");
            std::fs::write(folder.path().join("layout_sweep.h"), header).unwrap();
            let mut argv = vec![cc.clone()];
            argv.extend(FLAGS.iter().chain(isa.flags()).map(|flag| (*flag).to_owned()));
            argv.extend(["-Wall", "-Wextra", "-Werror", "-o", "power", "power.c", "-lm"].map(str::to_owned));
            execute(&argv, folder.path()).unwrap();
            let text = execute(&[folder.path().join("power").display().to_string()], folder.path()).unwrap();
            let (worst, far) = text.trim().split_once(' ').unwrap();
            let worst: f64 = worst.parse().unwrap();
            println!("{isa} {exponential}: largest relative error {worst:e}");
            assert!(worst < stated && worst > stated / 3.0, "{isa} {exponential}: {worst:e}");
            assert_eq!(far, "1", "{isa} {exponential}");
        }
    }
}

/// More padding, more passes and less sharing never look cheaper to the models.
#[test]
fn estimates_see_what_a_plan_wastes() {
    let report = serde_json::from_str(include_str!("data/zen3-guest.json")).unwrap();
    let hardware = Hardware::new(&report, Isa::Avx2).unwrap();
    let costs = target_cpu::costs::shipped(Isa::Avx2).unwrap();
    let constants = Constants::of(&costs).unwrap();
    let extents = attention(&workload([16, 16, 729, 729, 72, 72], false)).unwrap().extents;
    let both = |threads: u32, geometry: &AttentionGeometry| {
        assert_eq!(first_broken(Isa::Avx2, threads, extents, geometry), None);
        let sum = |parts: Vec<(&str, f64)>| parts.iter().map(|(_, cycles)| cycles).sum::<f64>();
        let context = Context {
            isa: Isa::Avx2,
            threads,
            extents,
            geometry,
        };
        (
            sum(model(context, &hardware, &constants, &costs).unwrap()),
            sum(roofline(extents, geometry, threads, &hardware, &constants)),
        )
    };
    let good = AttentionGeometry {
        query_blocks: 12,
        ..plain(Isa::Avx2)
    };
    let (model, roof) = both(1, &good);
    // 2.45 GFLOP at 94 GFLOP/s and 2.95 GHz are 77 million cycles.
    assert!((7.7e7..1.3e8).contains(&model), "{model:e}");
    assert!(roof > 7.7e7 && roof < model, "{roof:e} {model:e}");
    let worse: [(&str, AttentionGeometry); 4] = [
        (
            "a kernel with too few sums",
            AttentionGeometry {
                key_height: 2,
                ..good.clone()
            },
        ),
        (
            "scores beyond L2",
            AttentionGeometry {
                query_blocks: 1,
                ..good.clone()
            },
        ),
        (
            "a pass for the maximum",
            AttentionGeometry {
                maximum: Maximum::Pass,
                ..good.clone()
            },
        ),
        (
            "a longer polynomial",
            AttentionGeometry {
                exponential: Exponential::Degree6,
                ..good.clone()
            },
        ),
    ];
    for (what, geometry) in worse {
        assert!(both(1, &geometry).0 > model, "{what}");
    }
    let two = both(2, &good);
    assert!(two.0 < 0.52 * model && two.0 > 0.49 * model, "two workers: {two:?}");
    // 16 heads of one block each over three workers: the busiest has 6.
    let uneven = both(
        3,
        &AttentionGeometry {
            query_blocks: 1,
            ..good.clone()
        },
    )
    .0;
    assert!(
        uneven
            > both(
                1,
                &AttentionGeometry {
                    query_blocks: 1,
                    ..good
                }
            )
            .0 * 5.5
                / 16.0
    );
}
