//! Conversions: what they are planned as, and that running them gives what the orders say at the price of the formulas.

use planner::order::ByteOrder;
use proptest::prelude::*;
use target_kohaku::layout::{Layout, Shape, batch_stride};
use target_kohaku::machine::SAFE_WORDS;
use target_kohaku::relayout::{Kind, Relayout, dealt, execute, plan, price};

fn tiles(rows: usize, columns: usize, tile: (usize, usize)) -> Layout {
    let grid = (rows.div_ceil(4 * tile.0), columns.div_ceil(4 * tile.1));
    Layout::Tile { grid, tile }
}

/// Runs a conversion on numbered elements and compares with the orders themselves.
fn converts(plan: &Relayout, from: Layout, to: Layout, shape: Shape, batch: usize) {
    let [source, destination] = [from, to].map(|layout| layout.over(shape).expect("an order"));
    let stride = batch_stride([source.size(), destination.size()]);
    let mut memory = vec![-1.0; stride * batch];
    let mut expected = memory.clone();
    for element in 0..batch {
        let values: Vec<f32> = (0..shape.elements()).map(|i| (i + element) as f32).collect();
        let place = |order: &dyn ByteOrder, memory: &mut [f32]| {
            memory[element * stride..][..order.size()].copy_from_slice(&order.pack(&values, 0.0));
        };
        place(source.as_ref(), &mut memory);
        place(destination.as_ref(), &mut expected);
    }
    let counted = execute(plan, &mut memory, stride);
    assert!(memory == expected, "{from} -> {to} over {shape:?} x {batch}: {plan:?}");
    let price = price(plan);
    assert_eq!((counted.cycles, counted.flits), (price.cycles, price.flits), "{plan:?}");
    assert!(counted.footprint <= SAFE_WORDS, "{} words", counted.footprint);
}

#[test]
fn canonical_widths_are_the_published_ones() {
    let entry = Layout::Entry { groups: 8, blocks: 2 };
    let square = |rows| Shape::matrix(rows, 64);
    for batch in [1, 4] {
        let word = plan(Layout::Flat, entry, square(256), batch).unwrap();
        assert_eq!((word.kind, word.width, word.in_place), (Kind::Word, 256, true));
        let granule = plan(tiles(256, 64, (8, 8)), Layout::Flat, square(256), batch).unwrap();
        assert_eq!(
            (granule.kind, granule.width, granule.in_place),
            (Kind::Granule, 128, true)
        );
    }
    let mlp = Shape::matrix(64, 256);
    let plan = plan(tiles(64, 256, (8, 8)), entry, mlp, 1).unwrap();
    assert_eq!((plan.width, plan.runs(), price(&plan).cycles), (128, 8, 9783));
}

#[test]
fn the_plan_of_many_rows_is_that_of_few_repeated() {
    // Executed over more rows than one period of the permutation, in place and through a copy.
    let shape = Shape::matrix(1024, 64);
    for (gm, gn) in [(8, 8), (4, 4), (16, 16), (1, 1), (12, 4)] {
        let from = tiles(1024, 64, (gm, gn));
        if let Some(plan) = plan(from, Layout::Flat, shape, 2) {
            converts(&plan, from, Layout::Flat, shape, 2);
        }
        let entry = Layout::Entry { groups: gm, blocks: 2 };
        if let Some(plan) = plan(Layout::Flat, entry, shape, 1) {
            converts(&plan, Layout::Flat, entry, shape, 1);
        }
    }
}

#[test]
fn narrow_tiles_of_several_groups_have_no_walk() {
    let shape = Shape::matrix(256, 64);
    for gn in [1, 2, 4, 8, 16] {
        for gm in [1, 2, 4, 8, 16] {
            let planned = plan(tiles(256, 64, (gm, gn)), Layout::Flat, shape, 4).is_some();
            assert_eq!(planned, gn >= 4 || gm == 1, "gm {gm}, gn {gn}");
        }
    }
}

#[test]
fn padding_has_no_plan() {
    let shape = Shape::matrix(65, 64);
    assert_eq!(plan(tiles(65, 64, (8, 8)), Layout::Flat, shape, 1), None);
    assert_eq!(
        plan(Layout::Flat, Layout::Entry { groups: 8, blocks: 2 }, shape, 1),
        None
    );
}

#[test]
fn runs_dealt_over_cores_share_the_work() {
    let plan = plan(tiles(256, 64, (8, 8)), Layout::Flat, Shape::matrix(256, 64), 4).unwrap();
    assert_eq!(dealt(&plan, 1), price(&plan));
    let four = dealt(&plan, 4).cycles;
    assert!(
        4 * four > price(&plan).cycles && 4 * four < price(&plan).cycles + 4 * 300,
        "{four}"
    );
}

proptest! {
    #[test]
    fn executed_conversions_are_the_orders_and_cost_the_formulas(
        (gm, gn) in (0_u32..4, 0_u32..4), rows in 1_usize..5, columns in 1_usize..4, nk in 1_usize..3, batch in 1_usize..3,
        kinds in prop::sample::select(vec![(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)]),
    ) {
        let (gm, gn) = (1 << gm, 1 << gn);
        let (rows, columns) = (rows * 32, columns * 64);
        let shape = Shape::matrix(rows, columns);
        let layouts = [Layout::Flat, Layout::Entry { groups: gm, blocks: nk }, tiles(rows, columns, (gm, gn))];
        let (from, to) = (layouts[kinds.0], layouts[kinds.1]);
        if let Some(plan) = plan(from, to, shape, batch) {
            converts(&plan, from, to, shape, batch);
        }
    }
}
