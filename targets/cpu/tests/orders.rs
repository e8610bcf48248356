//! Results lie in orders that the planner can say: the addresses of the generated code are those of its index maps.

mod common;

use planner::order::{ByteOrder, Digits};
use proptest::prelude::*;
use target_cpu::facts::{Facts, GemmContext};
use target_cpu::geometry::{Orientation, Output};
use target_cpu::isa::Isa;
use target_cpu::problem::{Extents, InputLayout};

proptest! {
    #[test]
    fn stores_go_where_the_order_says(
        mut geometry in common::geometry(9), tokens in 1_u32..40, features in 1_u32..40, kind in 0_usize..3,
    ) {
        let (h, w) = (geometry.height as usize, geometry.width as usize);
        geometry.output = [Output::RowMajor, Output::Panels, Output::Tiles][kind];
        if geometry.output == Output::Tiles {
            // Tiles of a transposed product are refused.
            geometry.orientation = Orientation::Normal;
        }
        let swapped = geometry.orientation == Orientation::Swapped;
        let (m, n) = (tokens as usize, features as usize);
        let order = match geometry.output {
            Output::RowMajor => Digits::flat(m, n),
            Output::Panels => Digits::row_panels(if swapped { w } else { h }, m, n),
            Output::Tiles => Digits::block_major((h, w), m, n),
        };
        let facts = Facts::new(GemmContext {
            isa: Isa::Avx2,
            threads: 1,
            extents: Extents { tokens, inner: 8, features },
            geometry: &geometry,
            input: InputLayout::RowMajor,
        });
        prop_assert_eq!(usize::try_from(facts.store.floats).unwrap(), order.size());
        let size = |n: u64| usize::try_from(n).unwrap();
        for (token, feature) in (0..m).flat_map(|t| (0..n).map(move |f| (t, f))) {
            let (row, column) = if swapped { (feature, token) } else { (token, feature) };
            let (i, j) = (row % h, column % w);
            let (long, short) = if facts.store.transposed { (j, i) } else { (i, j) };
            let panels = row / h * size(facts.store.row_panel) + column / w * size(facts.store.column_panel);
            let address = panels + long * size(facts.store.stride) + short;
            prop_assert_eq!(address, order.offset(&[token, feature]), "{} {}", token, feature);
        }
    }
}
