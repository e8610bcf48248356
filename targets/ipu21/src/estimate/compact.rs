//! The compact estimate: one step after another, each with the largest local shape.

use crate::beyond::Sum;
use crate::costs::{CostTable, Cycles, Unpriced};
use crate::device::ELEMENT_BYTES;
use crate::geometry::Orientation;
use crate::program::Product;

/// The compact estimate in cycles, by part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Compact {
    /// Exchange phases.
    pub exchange: usize,
    /// Local copies of what was exchanged.
    pub copies: usize,
    /// Products.
    pub gemm: usize,
    /// Sums of partials.
    pub reduction: usize,
    /// Element-wise steps.
    pub elementwise: usize,
}

impl Compact {
    /// The whole estimate.
    #[must_use]
    pub fn total(&self) -> usize {
        self.exchange + self.copies + self.gemm + self.reduction + self.elementwise
    }
}

/// The compact estimate of a chain of products.
///
/// # Errors
/// Where the table has no price for one of its steps.
pub fn compact(products: &[Product], costs: &CostTable) -> Result<Compact, Unpriced> {
    let mut sum = Compact::default();
    let mut source: Option<Held> = None;
    for product in products {
        source = Some(add(&mut sum, product, source, costs)?);
    }
    Ok(sum)
}

/// What one product adds by itself, in cycles, when its activations (unless it is the first) come from as many tiles
/// as it computes on.
///
/// # Errors
/// Where the table has no price for one of its steps.
pub fn compact_alone(product: &Product, first: bool, costs: &CostTable) -> Cycles {
    let mut sum = Compact::default();
    let s = &product.shards;
    let bytes = ELEMENT_BYTES
        * match product.geometry.orientation {
            Orientation::Normal => s.left_elements(),
            Orientation::Swapped => s.right_elements(),
        };
    let tiles = product.geometry.tiles();
    add(&mut sum, product, (!first).then_some(Held { bytes, tiles }), costs)?;
    Ok(sum.total())
}

/// Adds one product; `source` is the result of the one before it. Gives this one's.
fn add(sum: &mut Compact, product: &Product, source: Option<Held>, costs: &CostTable) -> Result<Held, Unpriced> {
    let s = &product.shards;
    let left = ELEMENT_BYTES * s.left_elements();
    let right = ELEMENT_BYTES * s.right_elements();
    let (weights, activations) = match product.geometry.orientation {
        Orientation::Normal => (right, left),
        Orientation::Swapped => (left, right),
    };
    let mut copy = |held: Held, bytes: usize| -> Result<(), Unpriced> {
        let spread = bytes * product.geometry.tiles() / held.tiles;
        sum.exchange += costs.unplaced_exchange(bytes.max(spread.min(held.bytes)), 1)?;
        sum.copies += costs.copy(bytes)?;
        Ok(())
    };
    // Each weight shard has one owner, so owner and receiver hold the same bytes.
    copy(
        Held {
            bytes: weights,
            tiles: product.geometry.tiles(),
        },
        weights,
    )?;
    if let Some(held) = source {
        copy(held, activations)?;
    }
    sum.gemm += costs.gemm(s.rows.widest(), s.local_inner(), s.columns.widest())?;

    let owned = s.owned_elements();
    let remote = s.inner.parts() - 1;
    let stages = product.geometry.staging.stages(remote);
    sum.exchange += costs.unplaced_exchange(ELEMENT_BYTES * owned * remote, stages.len())?;
    sum.reduction += stages
        .iter()
        .map(|partials| match product.geometry.beyond.sum {
            Sum::Chain => costs.reduction(owned, partials + 1),
            Sum::Tree => costs.reduction(owned, 2).map(|one| partials * one),
        })
        .sum::<Cycles>()?;
    if product.gelu {
        sum.elementwise += costs.gelu(owned)?;
    }
    Ok(Held {
        bytes: ELEMENT_BYTES * owned,
        tiles: s.result_rows.parts() * s.result_columns.parts(),
    })
}

/// What the tiles that hold a value hold of it.
#[derive(Clone, Copy)]
struct Held {
    bytes: usize,
    tiles: usize,
}
