//! Every micro-kernel, layout, staging, orientation and remainder against the float64 reference.

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

use support::plans::covering;
use support::{
    Problem, Workshop, compiler, native_isa, neon_workshop, plain_geometry, problem, wide_workshop, workshop,
};
use target_cpu::assembly;
use target_cpu::geometry::{Activation, Activations, CpuPlan, GemmGeometry, Orientation, Staging, Weights};
use target_cpu::isa::Isa;
use target_cpu::rules::plan::first_broken;

/// Plans that are run; more than enough to cover every pair of words that can occur together.
const MOST_PLANS: usize = 80;
fn check_all(shop: &Workshop, problem: &Problem, plans: &[CpuPlan]) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(plan) = plans.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let objects = shop.objects_of(&problem.products, plan);
                    for object in &objects.objects {
                        let assembly = std::fs::read_to_string(object.with_extension("s")).unwrap();
                        assembly::check(&assembly).unwrap_or_else(|spill| panic!("{spill}\n{plan:#?}"));
                    }
                    let report = shop.run(problem, objects, None);
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

#[test]
fn covering_plans_of_an_mlp_with_odd_extents_are_right() {
    let Some(shop) = workshop() else { return };
    let problem = problem(shop.folder.path(), 53, &[(37, 85, true), (85, 43, false)]);
    let plans = covering(&problem.products, shop.isa, 1, MOST_PLANS);
    assert!(plans.len() > 60, "only {} legal plans were found", plans.len());
    check_all(shop, &problem, &plans);
}

#[test]
fn single_products_and_whole_panels_are_right() {
    let Some(shop) = workshop() else { return };
    let odd = problem(shop.folder.path(), 41, &[(51, 67, false)]);
    check_all(shop, &odd, &covering(&odd.products, shop.isa, 2, 12));
    let even = problem(shop.folder.path(), 48, &[(32, 96, true), (96, 48, true)]);
    check_all(shop, &even, &covering(&even.products, shop.isa, 3, 16));
}

#[test]
fn three_products_in_a_row_are_right() {
    let Some(shop) = workshop() else { return };
    let problem = problem(
        shop.folder.path(),
        29,
        &[(19, 33, true), (33, 47, true), (47, 21, false)],
    );
    check_all(shop, &problem, &covering(&problem.products, shop.isa, 4, 12));
}

#[test]
fn plain_kernels_are_right() {
    let Some(cc) = compiler() else { return };
    let shop = Workshop::new(cc, Isa::Plain, &[]);
    let problem = problem(shop.folder.path(), 31, &[(19, 33, true), (33, 21, false)]);
    check_all(&shop, &problem, &covering(&problem.products, shop.isa, 5, 12));
}

/// Where the machine has them: the kernels of 32 registers, those that fill them and those that walk segments among them.
#[test]
fn avx512_kernels_are_right() {
    let Some(shop) = wide_workshop() else { return };
    let problem = problem(shop.folder.path(), 47, &[(37, 85, true), (85, 43, false)]);
    check_all(&shop, &problem, &covering(&problem.products, shop.isa, 8, 12));
    let plans =
        [(14, 2, 8), (8, 3, 4), (6, 4, 1), (1, 2, 8), (2, 1, 16), (5, 5, 2)].map(|(height, vectors, unroll)| {
            let geometry = |activation| GemmGeometry {
                height,
                width: vectors * shop.isa.lanes(),
                unroll,
                ..plain_geometry(shop.isa, activation)
            };
            CpuPlan {
                threads: 1,
                carry: false,
                gemms: vec![
                    (problem.products[0].name.clone(), geometry(Some(Activation::Fused))),
                    (problem.products[1].name.clone(), geometry(None)),
                ],
            }
        });
    check_all(&shop, &problem, &plans);
}

/// Kernels of few accumulators walk long inner axes in segments: addresses and the counter must find registers all the same.
#[test]
fn segments_leave_registers_for_the_counter() {
    for shop in [workshop(), wide_workshop().as_ref()].into_iter().flatten() {
        let problem = problem(shop.folder.path(), 3, &[(613, 70, false)]);
        let shapes = [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1)];
        let plans = shapes.into_iter().flat_map(|(height, vectors)| {
            let isa = shop.isa;
            let name = &problem.products[0].name;
            [(8, false), (16, false), (16, true)].map(move |(unroll, prefetch)| {
                let geometry = GemmGeometry {
                    height,
                    width: vectors * isa.lanes(),
                    unroll,
                    prefetch_b: prefetch,
                    prefetch_c: prefetch,
                    ..plain_geometry(isa, None)
                };
                CpuPlan {
                    threads: 1,
                    carry: false,
                    gemms: vec![(name.clone(), geometry)],
                }
            })
        });
        check_all(shop, &problem, &plans.collect::<Vec<_>>());
    }
}

/// Where a cross compiler and an emulator are installed: the NEON kernels really run.
#[test]
fn neon_kernels_are_right_under_emulation() {
    let Some(shop) = neon_workshop() else { return };
    let problem = problem(shop.folder.path(), 31, &[(19, 33, true), (33, 21, false)]);
    check_all(&shop, &problem, &covering(&problem.products, shop.isa, 6, 12));
}

/// Extents smaller than one panel, one step, one unrolled iteration.
#[test]
fn tiny_extents_are_right() {
    let Some(shop) = workshop() else { return };
    let isa = native_isa();
    for (tokens, inner, features) in [(1, 1, 1), (2, 3, 5), (7, 2, 1), (1, 9, 33)] {
        let problem = problem(shop.folder.path(), tokens, &[(inner, features, false)]);
        let normal = plain_geometry(isa, None);
        let in_place = GemmGeometry {
            weights: Weights::RowMajor,
            activations: Activations::InPlace,
            ..normal.clone()
        };
        let swapped = GemmGeometry {
            orientation: Orientation::Swapped,
            ..normal.clone()
        };
        let plans: Vec<CpuPlan> = [normal, in_place, swapped]
            .map(|geometry| CpuPlan {
                threads: 1,
                carry: false,
                gemms: vec![("up".to_owned(), geometry)],
            })
            .to_vec();
        check_all(shop, &problem, &plans);
    }
}

/// The same sums in the same order: staging must not change one bit of the error.
#[test]
fn staging_does_not_change_the_sum() {
    let Some(shop) = workshop() else { return };
    let problem = problem(shop.folder.path(), 31, &[(40, 35, false)]);
    let stagings = [
        Staging::Streamed,
        Staging::Complete,
        Staging::Batch(2),
        Staging::Batch(3),
    ];
    let errors = stagings.map(|staging| {
        let geometry = GemmGeometry {
            inner: 5,
            staging,
            ..plain_geometry(native_isa(), None)
        };
        let plan = CpuPlan {
            threads: 1,
            carry: false,
            gemms: vec![("up".to_owned(), geometry)],
        };
        let report = shop.run(&problem, shop.objects_of(&problem.products, &plan), None);
        report.calls[0].error.max_abs
    });
    assert!(
        errors.iter().all(|error| error.to_bits() == errors[0].to_bits()),
        "{errors:?}"
    );
}

/// Control and case may be the same objects: two instances that share nothing but the inputs.
#[test]
fn a_plan_can_be_compared_with_itself() {
    let Some(shop) = workshop() else { return };
    let problem = problem(shop.folder.path(), 30, &[(24, 40, true), (40, 20, false)]);
    let plan = CpuPlan {
        threads: 2,
        carry: true,
        gemms: vec![
            (
                "up".to_owned(),
                GemmGeometry {
                    rows: 2,
                    ..plain_geometry(native_isa(), Some(Activation::Fused))
                },
            ),
            (
                "down".to_owned(),
                GemmGeometry {
                    rows: 4,
                    ..plain_geometry(native_isa(), None)
                },
            ),
        ],
    };
    assert_eq!(first_broken(native_isa(), &problem.products, &plan), None);
    let objects = shop.objects_of(&problem.products, &plan);
    let report = shop.run(&problem, objects.clone(), Some(objects));
    assert_eq!((report.control_correct, report.case_correct), (true, Some(true)));
    let order: Vec<(bool, Option<u32>)> = report.calls.iter().map(|call| (call.warm_up, call.pair)).collect();
    assert_eq!(order, [(true, None), (false, Some(0)), (false, Some(0))]);
    assert_eq!(report.probes.len(), 2);
    for call in &report.calls {
        let sum: f64 = call.phases.iter().map(|phase| phase.ns).sum();
        assert!(
            (sum - call.wall_ns).abs() <= 1e-3 * call.wall_ns,
            "phases {sum} of {}",
            call.wall_ns
        );
        let names: Vec<&str> = call.phases.iter().map(|phase| phase.name.as_str()).collect();
        assert_eq!(names, ["up.pack", "up", "down.pack", "down", "wait"]);
    }
}
