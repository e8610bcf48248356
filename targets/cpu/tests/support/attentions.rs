//! Attention plans that together hold every pair of words, and attentions with their inputs on disk.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use planner::{AttentionExtents, Operation, OperationKind, Workload};
use target_cpu::attention::attributes::values;
use target_cpu::attention::codegen::attention_source;
use target_cpu::attention::data::inputs;
use target_cpu::attention::facts::Context;
use target_cpu::attention::geometry::{
    AttentionGeometry, AttentionPlan, Exponential, Inside, Layout, Maximum, Merge, Packing, Scores, Split,
};
use target_cpu::attention::problem::{Attention, Extents, attention};
use target_cpu::attention::rules::first_broken;
use target_cpu::attention::run::{arguments, tolerance};
use target_cpu::attention::space::default_plan;
use target_cpu::geometry::Deal;
use target_cpu::harness::{PlanObjects, RunReport, attention_arguments};
use target_cpu::isa::Isa;
use target_cpu::options::Settings;

use super::{Numbers, Workshop, calls};

/// Candidates among which the covering plans are picked.
const CANDIDATES: usize = 4000;

/// The workload of one attention: heads, heads of keys and values, queries, keys, width, value width.
pub(crate) fn workload([heads, kv_heads, queries, keys, width, value_width]: [u64; 6], causal: bool) -> Workload {
    let kind = OperationKind::Attention(AttentionExtents {
        heads,
        kv_heads,
        queries,
        keys,
        width,
        value_width,
        causal,
    });
    Workload {
        name: "attention".to_owned(),
        operations: vec![Operation {
            name: "attention".to_owned(),
            kind,
        }],
    }
}

/// An attention with its inputs and its reference in a folder.
pub(crate) struct Problem {
    pub(crate) attention: Attention,
    pub(crate) folder: PathBuf,
}

pub(crate) fn problem(folder: &Path, workload: &Workload) -> Problem {
    let folder = tempfile::Builder::new()
        .prefix("inputs-")
        .tempdir_in(folder)
        .unwrap()
        .keep();
    for file in inputs(workload, 7, 2).unwrap().files {
        std::fs::write(folder.join(file.name), file.bytes).unwrap();
    }
    Problem {
        attention: attention(workload).unwrap(),
        folder,
    }
}

pub(crate) fn objects(shop: &Workshop, extents: Extents, plan: &AttentionPlan) -> PlanObjects {
    let context = Context {
        isa: shop.isa,
        threads: plan.threads,
        extents,
        geometry: &plan.geometry,
    };
    PlanObjects {
        threads: plan.threads,
        carry: false,
        objects: vec![shop.object(&attention_source(context))],
    }
}

pub(crate) fn run(shop: &Workshop, problem: &Problem, control: PlanObjects, case: Option<PlanObjects>) -> RunReport {
    let own = arguments(&problem.attention, &problem.folder);
    let calls = calls(tolerance(problem.attention.extents), control, case);
    let text = shop.harness(&attention_arguments(own, &calls)).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

/// The default geometry in one block of queries, with kernels that fit every instruction set.
pub(crate) fn plain(isa: Isa) -> AttentionGeometry {
    let settings = Settings {
        threads: 1,
        isa,
        cores: vec![0],
    };
    let small = attention(&workload([1, 1, 8, 8, 8, 8], false)).unwrap();
    AttentionGeometry {
        query_blocks: 1,
        key_height: 6,
        value_height: 6,
        ..default_plan(small.extents, &settings).geometry
    }
}

fn candidate(numbers: &mut Numbers, isa: Isa) -> AttentionPlan {
    let layouts = [Layout::RowMajor, Layout::Panels, Layout::Transposed];
    let shapes = [
        (2, 6, 6),
        (2, 5, 4),
        (3, 4, 4),
        (1, 8, 12),
        (1, 1, 3),
        (2, 3, 6),
        (3, 3, 4),
    ];
    let (vectors, key_height, value_height) = numbers.pick(&shapes);
    AttentionPlan {
        threads: numbers.pick(&[1, 2, 3]),
        geometry: AttentionGeometry {
            query_blocks: numbers.pick(&[1, 2, 3]),
            key_splits: numbers.pick(&[1, 2, 3]),
            key_blocks: numbers.pick(&[1, 2, 3]),
            query_panel: vectors * isa.lanes(),
            key_height,
            value_height,
            unroll: numbers.pick(&[1, 2, 4, 8]),
            inside: numbers.pick(&[Inside::Qk, Inside::Kq]),
            keys: numbers.pick(&layouts),
            values: numbers.pick(&layouts),
            packing: numbers.pick(&[Packing::Ahead, Packing::Own]),
            scores: numbers.pick(&[Scores::Whole, Scores::Online]),
            maximum: numbers.pick(&[Maximum::Tile, Maximum::Pass]),
            exponential: numbers.pick(&[Exponential::Degree4, Exponential::Degree5, Exponential::Degree6]),
            merge: numbers.pick(&[Merge::Streamed, Merge::Complete]),
            split: numbers.pick(&[Split::Heads, Split::Queries]),
            deal: numbers.pick(&[Deal::Contiguous, Deal::RoundRobin]),
        },
    }
}

/// Every pair of two attributes' values in a plan.
fn pairs(plan: &AttentionPlan) -> BTreeSet<String> {
    let mut words: Vec<String> = values(&plan.geometry)
        .map(|(name, value)| format!("{name} {value}"))
        .to_vec();
    words.push(format!("threads {}", plan.threads));
    let with = |(at, first): (usize, &String)| -> Vec<String> {
        words[at + 1..]
            .iter()
            .map(|second| format!("{first}, {second}"))
            .collect()
    };
    words.iter().enumerate().flat_map(with).collect()
}

/// At most `most` legal plans, each of which adds as many new pairs of words as a candidate can.
pub(crate) fn covering(extents: Extents, isa: Isa, seed: u64, most: usize) -> Vec<AttentionPlan> {
    let mut numbers = Numbers::new(seed);
    let legal = |plan: &AttentionPlan| first_broken(isa, plan.threads, extents, &plan.geometry).is_none();
    let candidates: Vec<(AttentionPlan, BTreeSet<String>)> = std::iter::repeat_with(|| candidate(&mut numbers, isa))
        .take(CANDIDATES)
        .filter(legal)
        .map(|plan| (plan.clone(), pairs(&plan)))
        .collect();
    let mut seen = BTreeSet::new();
    let mut plans = Vec::new();
    while plans.len() < most {
        let new = |own: &BTreeSet<String>| own.difference(&seen).count();
        let Some((plan, own)) = candidates
            .iter()
            .max_by_key(|(_, own)| new(own))
            .filter(|(_, own)| new(own) > 0)
        else {
            break;
        };
        plans.push(plan.clone());
        seen.extend(own.iter().cloned());
    }
    plans
}
