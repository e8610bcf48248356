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

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use support::{Numbers, Problem, Workshop, compiler, execute, native_isa, plain_geometry, problem, workshop};
use target_cpu::assembly;
use target_cpu::geometry::{
    Activation, Activations, CpuPlan, Deal, GemmGeometry, Inside, Order, Orientation, Output, Split, Staging, Weights,
};
use target_cpu::isa::Isa;
use target_cpu::problem::Product;
use target_cpu::rules::plan::first_broken;

/// Plans that are run; more than enough to cover every pair of words that can occur together.
const MOST_PLANS: usize = 80;
/// Candidates among which the covering plans are picked.
const CANDIDATES: usize = 3000;

fn geometry(numbers: &mut Numbers, isa: Isa, activated: bool) -> GemmGeometry {
    let lanes = isa.lanes();
    let shapes = [(6, 2), (5, 2), (4, 3), (3, 4), (2, 6), (1, 1), (12, 1), (3, 2), (2, 3)];
    let (height, vectors) = numbers.pick(&shapes);
    let staging = numbers.pick(&[
        Staging::Streamed,
        Staging::Streamed,
        Staging::Complete,
        Staging::Batch(2),
    ]);
    let streamed = staging == Staging::Streamed;
    GemmGeometry {
        orientation: numbers.pick(&[Orientation::Normal, Orientation::Swapped]),
        rows: numbers.pick(&[1, 2, 3, 4]),
        columns: numbers.pick(&[1, 2, 3]),
        inner: numbers.pick(&[1, 2, 3, 5]),
        height,
        width: vectors * lanes,
        unroll: numbers.pick(&[1, 2, 3, 4, 8]),
        order: numbers.pick(&[Order::Rkc, Order::Rck, Order::Krc, Order::Kcr, Order::Crk, Order::Ckr]),
        inside: numbers.pick(&[Inside::Cr, Inside::Rc]),
        weights: numbers.pick(&[Weights::RowMajor, Weights::Panels]),
        activations: numbers.pick(&[Activations::InPlace, Activations::Packed]),
        output: numbers.pick(&[Output::RowMajor, Output::Panels, Output::Tiles]),
        staging,
        result_rows: if streamed { 1 } else { numbers.pick(&[1, 2, 3]) },
        result_columns: if streamed { 1 } else { numbers.pick(&[1, 2]) },
        split: numbers.pick(&[Split::Rows, Split::Columns]),
        deal: numbers.pick(&[Deal::Contiguous, Deal::RoundRobin]),
        transpose: numbers.pick(&[1, 2, 3]),
        prefetch_c: numbers.pick(&[false, true]),
        prefetch_b: numbers.pick(&[false, true]),
        activation: activated.then(|| numbers.pick(&[Activation::Fused, Activation::Pass])),
    }
}

fn candidate(numbers: &mut Numbers, isa: Isa, products: &[Product]) -> CpuPlan {
    let mut gemms: Vec<(String, GemmGeometry)> = products
        .iter()
        .map(|product| {
            (
                product.name.clone(),
                geometry(numbers, isa, product.activation.is_some()),
            )
        })
        .collect();
    let carry = numbers.below(3) == 0;
    if let Some((_, last)) = gemms.last_mut() {
        last.output = Output::RowMajor;
    }
    for n in 1..gemms.len() {
        let (before, after) = gemms.split_at_mut(n);
        let (first, next) = (&before[n - 1].1, &mut after[0].1);
        if first.output != Output::RowMajor {
            next.activations = Activations::InPlace;
            if first.orientation == next.orientation {
                (next.height, next.width) = (first.height, first.width);
            }
        }
    }
    if carry {
        for (_, geometry) in &mut gemms {
            geometry.orientation = Orientation::Normal;
            geometry.staging = Staging::Streamed;
            (geometry.result_rows, geometry.result_columns, geometry.transpose) = (1, 1, 1);
            (geometry.split, geometry.deal) = (Split::Rows, Deal::Contiguous);
        }
    }
    CpuPlan {
        threads: numbers.pick(&[1, 2, 3]),
        carry,
        gemms,
    }
}

/// The words of a plan: `(attribute, value)` of each product, the plan's own, and what meets between two products.
fn words(plan: &CpuPlan) -> Vec<String> {
    let mut list = Vec::new();
    for (n, (_, g)) in plan.gemms.iter().enumerate() {
        let place = if n + 1 == plan.gemms.len() { "last" } else { "inner" };
        list.extend([
            format!("{place} {}", g.orientation),
            format!("{place} kernel {}x{}", g.height, g.width),
            format!("{place} unroll {}", g.unroll),
            format!("{place} order {}", g.order),
            format!("{place} inside {}", g.inside),
            format!("{place} weights {}", g.weights),
            format!("{place} activations {}", g.activations),
            format!("{place} output {}", g.output),
            format!("{place} staging {}", g.staging),
            format!("{place} inner {}", g.inner),
            format!("{place} result {}x{}", g.result_rows, g.result_columns),
            format!("{place} split {} {}", g.split, g.deal),
            format!("{place} prefetch {} {}", g.prefetch_c, g.prefetch_b),
            format!("{place} activation {}", g.activation.map_or("none", Activation::word)),
        ]);
    }
    list.push(format!("carry {} threads {}", plan.carry, plan.threads));
    list
}

fn pairs(plan: &CpuPlan) -> BTreeSet<(String, String)> {
    let list = words(plan);
    let mut set = BTreeSet::new();
    for (n, a) in list.iter().enumerate() {
        for b in &list[n + 1..] {
            // Words of different products meet only in layouts and orientation.
            let (one, other) = (a.split(' ').next(), b.split(' ').next());
            let meets = |w: &str| {
                w.contains("output") || w.contains("activations") || w.ends_with("normal") || w.ends_with("swapped")
            };
            if one == other || a.starts_with("carry") || b.starts_with("carry") || (meets(a) && meets(b)) {
                set.insert((a.clone(), b.clone()));
            }
        }
    }
    set
}

/// Legal plans that together hold every pair of words found among all candidates, or as many as the limit allows.
fn covering(products: &[Product], isa: Isa, seed: u64, most: usize) -> Vec<CpuPlan> {
    let mut numbers = Numbers::new(seed);
    let mut legal: Vec<(CpuPlan, BTreeSet<(String, String)>)> = (0..CANDIDATES)
        .map(|_| candidate(&mut numbers, isa, products))
        .filter(|plan| first_broken(isa, products, plan).is_none())
        .map(|plan| {
            let set = pairs(&plan);
            (plan, set)
        })
        .collect();
    let mut chosen = Vec::new();
    while chosen.len() < most {
        let Some((best, _)) = legal
            .iter()
            .enumerate()
            .map(|(n, (_, left))| (n, left.len()))
            .max_by_key(|(n, left)| (*left, usize::MAX - n))
        else {
            break;
        };
        let (plan, new) = legal.swap_remove(best);
        if new.is_empty() {
            break;
        }
        for (_, left) in &mut legal {
            left.retain(|pair| !new.contains(pair));
        }
        chosen.push(plan);
    }
    chosen
}

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

/// Where a cross compiler and an emulator are installed: the NEON kernels really run.
#[test]
fn neon_kernels_are_right_under_emulation() {
    let (cc, emulator) = (
        "aarch64-linux-gnu-gcc",
        ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
    );
    let there = |program: &str| execute(&[program.to_owned(), "--version".to_owned()], Path::new("/")).is_ok();
    if !there(cc) || !there(emulator[0]) {
        println!("SKIPPED: no `{cc}` or no `{}`", emulator[0]);
        return;
    }
    let shop = Workshop::new(cc.to_owned(), Isa::Neon, &emulator);
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
