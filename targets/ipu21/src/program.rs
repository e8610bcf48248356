//! A plan as a chain of products that the unit model can expand.

use planner::{GemmExtents, OperationKind, Refusal, Workload};

use crate::device::TILES;
use crate::geometry::{Geometry, Orientation};
use crate::legal;
use crate::parameters;
use crate::shards::Shards;

/// One product of the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// Its name in the workload.
    pub name: String,
    /// Its extents.
    pub extents: GemmExtents,
    /// Its geometry.
    pub geometry: Geometry,
    /// Its axes, dealt out.
    pub shards: Shards,
    /// Planned tile of its first weight shard.
    pub weight_offset: usize,
    /// Whether GELU follows.
    pub gelu: bool,
}

/// A chain of products, each of which takes the result of the one before it, and where planned tiles lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The products, in order.
    pub products: Vec<Product>,
    /// Planned tile -> execution tile.
    pub mapping: Vec<usize>,
}

impl Program {
    /// The program of a workload. `geometries` hold one geometry for each product, `mapping` the execution tile of each
    /// planned tile. Fails with the first rule that says no.
    pub fn new(workload: &Workload, geometries: &[Geometry], mapping: Vec<usize>) -> Result<Self, Refusal> {
        check_mapping(&mapping)?;
        let products = products(workload, geometries)?;
        for p in &products {
            legal::gemm(&p.name, p.extents, &p.geometry)?;
        }
        if let Some((_, followed)) = products.split_last() {
            for p in followed {
                legal::payload(&p.name, p.extents, &p.geometry)?;
            }
        }
        if let Some(p) = products.iter().find(|p| p.geometry.orientation == Orientation::Swapped) {
            return Err(Refusal::new(
                "transposed-exchange",
                format!(
                    "`{}` is swapped: exchanges that transpose blocks are not modelled",
                    p.name
                ),
            ));
        }
        Ok(Self { products, mapping })
    }

    /// Execution tile of the weight shard `(inner, column)` of a product.
    #[must_use]
    pub fn weight_owner(&self, product: &Product, inner: usize, column: usize) -> usize {
        self.mapping[(product.weight_offset + column + product.shards.columns.parts() * inner) % TILES]
    }
}

/// The products of a workload under these geometries, legal or not; fails where the workload is no chain of as many.
pub fn products(workload: &Workload, geometries: &[Geometry]) -> Result<Vec<Product>, Refusal> {
    let mut products = unplaced(workload, geometries)?;
    let shards: Vec<Shards> = products.iter().map(|product| product.shards).collect();
    for (product, offset) in products.iter_mut().zip(parameters::offsets(&shards)) {
        product.weight_offset = offset;
    }
    Ok(products)
}

/// Like [`products`], but no weights have a place: all offsets are 0.
pub fn unplaced(workload: &Workload, geometries: &[Geometry]) -> Result<Vec<Product>, Refusal> {
    let chain = chain(workload)?;
    if chain.len() != geometries.len() {
        return Err(Refusal::new(
            "products",
            format!(
                "`{}` has {} products, {} geometries are given",
                workload.name,
                chain.len(),
                geometries.len()
            ),
        ));
    }
    let products = chain.into_iter().zip(geometries);
    Ok(products
        .map(|((name, extents, gelu), geometry)| Product {
            name: name.to_owned(),
            extents,
            geometry: *geometry,
            shards: Shards::new(extents, geometry),
            weight_offset: 0,
            gelu,
        })
        .collect())
}

/// The identity mapping.
#[must_use]
pub fn identity() -> Vec<usize> {
    (0..TILES).collect()
}

fn check_mapping(mapping: &[usize]) -> Result<(), Refusal> {
    let mut sorted = mapping.to_vec();
    sorted.sort_unstable();
    if sorted == identity() {
        return Ok(());
    }
    Err(Refusal::new(
        "tile-mapping",
        format!(
            "the mapping of {} tiles is no bijection of {TILES} tiles",
            mapping.len()
        ),
    ))
}

/// The products with their extents and whether GELU follows.
pub fn chain(workload: &Workload) -> Result<Vec<(&str, GemmExtents, bool)>, Refusal> {
    let mut chain: Vec<(&str, GemmExtents, bool)> = Vec::new();
    for operation in &workload.operations {
        match (&operation.kind, chain.last_mut()) {
            (OperationKind::Gemm(extents), previous) => {
                let given = previous.map(|(_, e, _)| (e.rows, e.columns));
                if given.is_some_and(|given| given != (extents.rows, extents.inner)) {
                    return Err(Refusal::new(
                        "chain",
                        format!("`{}` does not take the result of the product before it", operation.name),
                    ));
                }
                chain.push((&operation.name, *extents, false));
            }
            (OperationKind::Elementwise { .. }, Some((_, _, gelu @ false))) => *gelu = true,
            (OperationKind::Elementwise { .. }, _) => {
                return Err(Refusal::new(
                    "chain",
                    format!("`{}` does not directly follow a product", operation.name),
                ));
            }
            (OperationKind::Attention(_), _) => {
                return Err(Refusal::new(
                    "attention",
                    format!(
                        "`{}` is an attention: only chains of products are modelled",
                        operation.name
                    ),
                ));
            }
        }
    }
    if chain.is_empty() {
        return Err(Refusal::new("chain", format!("`{}` has no product", workload.name)));
    }
    Ok(chain)
}
