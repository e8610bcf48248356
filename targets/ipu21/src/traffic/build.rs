//! All phases of a program.

use super::transfer::Transfer;
use super::{gather, reduction, weights};
use crate::program::Program;

/// What a phase is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PhaseKind {
    /// The weights of the first product.
    Weights,
    /// The results of the product before this one, and the weights of this one.
    Gather,
    /// Partials of this product; the stage counts from 0.
    Reduction(usize),
}

/// One exchange phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// Place of its product in the chain.
    pub product: usize,
    /// What it is for.
    pub kind: PhaseKind,
    /// Its transfers.
    pub transfers: Vec<Transfer>,
}

/// All phases, in order of execution.
#[must_use]
pub fn phases(program: &Program) -> Vec<Phase> {
    let mut phases = Vec::new();
    for at in 0..program.products.len() {
        let mut transfers = Vec::new();
        if at > 0 {
            transfers = gather::transfers(&gather::pieces(program, at - 1));
        }
        transfers.extend(weights::transfers(program, at));
        let kind = if at == 0 { PhaseKind::Weights } else { PhaseKind::Gather };
        phases.push(Phase {
            product: at,
            kind,
            transfers,
        });
        let all = reduction::intersections(program, at);
        let product = &program.products[at];
        let stages = product.geometry.staging.stages(product.geometry.inner - 1).len();
        for stage in 0..stages {
            phases.push(Phase {
                product: at,
                kind: PhaseKind::Reduction(stage),
                transfers: reduction::transfers(program, at, &all, stage),
            });
        }
    }
    phases
}
