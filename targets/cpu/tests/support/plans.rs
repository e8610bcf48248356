//! Legal plans that together hold every pair of words.

use std::collections::BTreeSet;

use target_cpu::geometry::{
    Activation, Activations, CpuPlan, Deal, GemmGeometry, Inside, Order, Orientation, Output, Split, Staging, Weights,
};
use target_cpu::isa::Isa;
use target_cpu::problem::Product;
use target_cpu::rules::plan::first_broken;

use super::Numbers;

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
pub(crate) fn covering(products: &[Product], isa: Isa, seed: u64, most: usize) -> Vec<CpuPlan> {
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
