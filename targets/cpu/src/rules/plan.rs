//! Rules of a whole plan.

use crate::blocks::{boundaries, panels};
use crate::geometry::{CpuPlan, Deal, GemmGeometry, Orientation, Split, Staging};
use crate::isa::Isa;
use crate::problem::{Extents, InputLayout, Product};
use crate::rules::{Refused, Verdict, gemm, refuse_if};
use crate::schedule::row_owner;

/// `threads`: there is at least one worker.
#[must_use]
pub fn threads(threads: u32) -> Verdict {
    refuse_if(threads == 0, "threads", || {
        "a plan needs at least one worker".to_owned()
    })
}

/// `products`: the plan has one geometry for each product, under its name and in its order.
#[must_use]
pub fn products(plan: &CpuPlan, products: &[Product]) -> Verdict {
    let planned: Vec<&str> = plan.gemms.iter().map(|(name, _)| name.as_str()).collect();
    let wanted: Vec<&str> = products.iter().map(|product| product.name.as_str()).collect();
    refuse_if(planned != wanted, "products", || {
        format!(
            "the plan has geometries for [{}], the workload has [{}]",
            planned.join(", "),
            wanted.join(", ")
        )
    })
}

/// `carry-streamed`, `carry-normal`, `carry-split`: what each product must be to be carried along.
#[must_use]
pub fn carry_words(name: &str, geometry: &GemmGeometry) -> Verdict {
    refuse_if(geometry.orientation != Orientation::Normal, "carry-normal", || {
        format!("carry takes row blocks of tokens through all products: `{name}` must be normal, not swapped")
    })
    .or_else(|| {
        refuse_if(geometry.staging != Staging::Streamed, "carry-streamed", || {
            format!("carry has no barrier before a reduction: `{name}` must be streamed, not {}", geometry.staging)
        })
    })
    .or_else(|| {
        refuse_if(geometry.split != Split::Rows || geometry.deal != Deal::Contiguous, "carry-split", || {
            format!(
                "carry gives whole row blocks to one worker: `{name}` must be split by rows and dealt in contiguous runs, \
                 not by {} and {}",
                geometry.split, geometry.deal
            )
        })
    })
}

/// Boundaries of the row blocks of a normal product, in tokens.
fn token_boundaries(geometry: &GemmGeometry, tokens: u32) -> Vec<u32> {
    boundaries(panels(tokens, geometry.height), geometry.rows)
        .into_iter()
        .map(|panel| (panel * geometry.height).min(tokens))
        .collect()
}

/// `carry-nested`: every row boundary of the first product is one of `geometry`'s.
#[must_use]
pub fn carry_nested(name: &str, first: &GemmGeometry, geometry: &GemmGeometry, tokens: u32) -> Verdict {
    let own = token_boundaries(geometry, tokens);
    let missing = token_boundaries(first, tokens).into_iter().find(|at| !own.contains(at));
    missing.map(|at| Refused {
        rule: "carry-nested",
        message: format!("a row block of the first product begins at token {at}, no row block of `{name}` does"),
    })
}

/// `carry-owner`: one worker owns all tiles of a row block of the first product, and of every row block inside it.
#[must_use]
pub fn carry_owner(name: &str, first: &GemmGeometry, geometry: &GemmGeometry, tokens: u32, threads: u32) -> Verdict {
    let outer = token_boundaries(first, tokens);
    let own = token_boundaries(geometry, tokens);
    for (block, at) in (0..geometry.rows).zip(&own) {
        let Some(chunk) = outer.windows(2).position(|w| (w[0]..w[1]).contains(at)) else {
            continue;
        };
        let chunk_owner = u32::try_from(chunk)
            .ok()
            .and_then(|chunk| row_owner(first, threads, chunk));
        let owner = row_owner(geometry, threads, block);
        if owner.is_none() || owner != chunk_owner {
            return Some(Refused {
                rule: "carry-owner",
                message: format!(
                    "row block {block} of `{name}` is not wholly owned by the one worker that owns row block {chunk} of \
                     the first product ({threads} threads)"
                ),
            });
        }
    }
    None
}

/// Every rule of a plan, in a fixed order; the first that is broken, with the name of the product where it is one's own.
#[must_use]
pub fn first_broken(isa: Isa, workload: &[Product], plan: &CpuPlan) -> Verdict {
    if let Some(refused) = threads(plan.threads).or_else(|| products(plan, workload)) {
        return Some(refused);
    }
    let mut previous: Option<&GemmGeometry> = None;
    for (n, (product, (name, geometry))) in workload.iter().zip(&plan.gemms).enumerate() {
        let input = InputLayout::after(previous);
        let last = n + 1 == workload.len();
        let activated = product.activation.is_some();
        if let Some(refused) = gemm::first_broken(isa, product.extents, geometry, input, last, activated) {
            return Some(Refused {
                rule: refused.rule,
                message: format!("`{name}`: {}", refused.message),
            });
        }
        previous = Some(geometry);
    }
    if plan.carry { carry(workload, plan) } else { None }
}

fn carry(workload: &[Product], plan: &CpuPlan) -> Verdict {
    let (_, first) = plan.gemms.first()?;
    if let Some(refused) = plan
        .gemms
        .iter()
        .find_map(|(name, geometry)| carry_words(name, geometry))
    {
        return Some(refused);
    }
    let pairs = workload.iter().zip(&plan.gemms);
    pairs.into_iter().find_map(
        |(
            Product {
                extents: Extents { tokens, .. },
                ..
            },
            (name, geometry),
        )| {
            carry_nested(name, first, geometry, *tokens)
                .or_else(|| carry_owner(name, first, geometry, *tokens, plan.threads))
        },
    )
}
