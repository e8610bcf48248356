//! An attention as the harness is told of it.

use std::path::Path;

use super::data::OPERAND_FILES;
use super::problem::{Attention, Extents};
use crate::inputs::REFERENCE_FILE;

/// Arguments that name the attention and its files in the folder `inputs`.
#[must_use]
pub fn arguments(attention: &Attention, inputs: &Path) -> Vec<String> {
    let e = attention.extents;
    let mut arguments = vec![
        format!(
            "attention={}:{}:{}:{}:{}:{}:{}:{}",
            attention.name,
            e.heads,
            e.kv_heads,
            e.queries,
            e.keys,
            e.width,
            e.value_width,
            u8::from(e.causal)
        ),
        format!("reference={}", inputs.join(REFERENCE_FILE).display()),
    ];
    arguments.extend(
        ["q", "k", "v"]
            .iter()
            .zip(OPERAND_FILES)
            .map(|(key, file)| format!("{key}={}", inputs.join(file).display())),
    );
    arguments
}

/// Largest error of one value that passes, relative to the RMS of the reference.
///
/// Both sums of products have rounding errors as in [`crate::configured::tolerance`]. That of a score, about
/// `2^-24 sqrt(width) sigma` in units of its exponent, is a relative error of a weight, and so is that of `2^x`, at most
/// 2.7e-6 (degree 4). A row's RMS is `sqrt(sum w^2)` for values of N(0, 1), so a relative error `r` of its weights that is
/// independent from key to key moves the row by `r` of its RMS, and one that they share by nothing. The factor 4 on `r` is
/// the largest of millions.
#[must_use]
pub fn tolerance(extents: Extents) -> f64 {
    let longest = extents.width.max(extents.keys);
    16.0 * libm::exp2(-24.0) * libm::sqrt(f64::from(longest)) + 4.0 * 2.7e-6
}
