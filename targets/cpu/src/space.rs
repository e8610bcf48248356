//! All plans of a workload: parameters with domains, and the rules between them.

pub(crate) mod build;
mod constraints;
pub(crate) mod domains;

use planner::{Refusal, Space, Workload};

use crate::attention::problem::attends;
use crate::attention::space as attention;
use crate::chain::products;
use crate::options::Settings;
use build::Builder;

pub use domains::{MOST_COLUMN_BLOCKS, MOST_INNER_BLOCKS, MOST_ROW_BLOCKS, default_plan};

/// All plans of `workload` with these settings.
///
/// Every plan of the space keeps the rules of [`crate::rules`]. The space is a little smaller than these, where a rule
/// that looks at many choices at once could not be counted: an axis has at most 32, 32 and 64 blocks of rows, columns and
/// inner steps; the tile mapping transposes groups that divide the column blocks; carried products have one kernel
/// height, a multiple of the row blocks of the one before, and a whole number of the first one's for each worker.
pub fn space(workload: &Workload, settings: &Settings) -> Result<Space, Refusal> {
    if attends(workload) {
        return attention::space(workload, settings);
    }
    let products = products(workload)?;
    crate::footprint::check(workload)?;
    let mut builder = Builder::default();
    builder.parameter(None, crate::attributes::CARRY, domains::carry(products.len()));
    for (at, product) in products.iter().enumerate() {
        let is_last = at + 1 == products.len();
        for (name, domain) in domains::gemm(product, at == 0, is_last, settings.isa) {
            builder.parameter(Some(&product.name), name, domain);
        }
    }
    for (at, product) in products.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| products[before].name.as_str());
        constraints::gemm(&mut builder, product, before, settings.isa);
        constraints::carry(&mut builder, before, &product.name, settings.threads);
    }
    Ok(builder.finish())
}
