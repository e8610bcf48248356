//! What several tests need.
#![allow(dead_code, reason = "every test file uses a part")]

use planner::Workload;
use target_ipu21::program::{self, Program};
use target_ipu21::text;

/// Up geometry of the published historical plan.
pub(crate) const UP: &str = "0:4x92x4:4x1:48:interleaved:normal:complete:direct";
/// Down geometry of the published historical plan.
pub(crate) const DOWN: &str = "2:4x24x15:15x1:48:interleaved:normal:complete:direct";

/// The published workload.
pub(crate) fn siglip() -> Workload {
    let kind = planner::workloads::kind("siglip-mlp").expect("a kind of workload");
    let operations = kind
        .operations(&std::collections::BTreeMap::new(), None)
        .expect("default extents");
    Workload {
        name: "siglip-mlp".to_owned(),
        operations,
    }
}

/// The program of two constraint texts under the identity mapping.
pub(crate) fn program(up: &str, down: &str) -> Program {
    mapped(up, down, program::identity())
}

/// The program of two constraint texts.
pub(crate) fn mapped(up: &str, down: &str, mapping: Vec<usize>) -> Program {
    let geometries = [up, down].map(|constraint| text::parse(constraint).expect("a constraint text").1);
    Program::new(&siglip(), &geometries, mapping).expect("a legal plan")
}

/// The mapping that turns groups of `width` planned tiles around.
pub(crate) fn transpose(width: usize) -> Vec<usize> {
    (0..1472).map(|t| t % width * (1472 / width) + t / width).collect()
}
