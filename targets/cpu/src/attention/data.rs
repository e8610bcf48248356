//! Inputs of an attention, and its result in float64.

use planner::{Refusal, Workload};
use target_api::{Input, InputSet};

use super::problem::{Extents, attention};
use crate::inputs::{REFERENCE_FILE, float32, gaussian};

/// Files of queries, keys and values, float32 little-endian, `[heads][rows][columns]`.
pub const OPERAND_FILES: [&str; 3] = ["q.f32", "k.f32", "v.f32"];

/// Queries, keys and values as the device gets them, all N(0, 1): scores are then N(0, 1) too, as those of a network whose
/// projections keep the variance.
#[derive(Debug, Clone, PartialEq)]
pub struct Operands {
    /// `[heads][queries][width]`.
    pub queries: Vec<f32>,
    /// `[kv_heads][keys][width]`.
    pub keys: Vec<f32>,
    /// `[kv_heads][keys][value_width]`.
    pub values: Vec<f32>,
}

/// Draws the operands from `seed`; each has a stream of its own.
#[must_use]
pub fn operands(extents: Extents, seed: u64) -> Operands {
    let e = extents;
    let draw = |at: usize, heads: u32, rows: u32, columns: u32| {
        let count = heads as usize * rows as usize * columns as usize;
        gaussian(seed, OPERAND_FILES[at], count, 1.0)
    };
    Operands {
        queries: draw(0, e.heads, e.queries, e.width),
        keys: draw(1, e.kv_heads, e.keys, e.width),
        values: draw(2, e.kv_heads, e.keys, e.value_width),
    }
}

/// `softmax(Q K^T / sqrt(width)) V` of every head in float64, `[heads][queries][value_width]`.
///
/// Query rows are dealt to `threads` threads; each row is computed by one of them in a fixed order, so the result is the
/// same on every machine.
#[must_use]
pub fn reference(extents: Extents, operands: &Operands, threads: usize) -> Vec<f64> {
    let e = extents;
    let [width, value_width, queries] = [e.width, e.value_width, e.queries].map(|n| n as usize);
    let rows = e.heads as usize * queries;
    let mut output = vec![0.0; rows * value_width];
    let share = rows.div_ceil(threads.max(1)).max(1);
    std::thread::scope(|scope| {
        for (part, own) in output.chunks_mut(share * value_width).enumerate() {
            scope.spawn(move || {
                let mut scores = Vec::with_capacity(e.keys as usize);
                for (at, row) in own.chunks_mut(value_width).enumerate() {
                    let at = part * share + at;
                    let query = &operands.queries[at * width..][..width];
                    let shared = at / queries / (e.heads / e.kv_heads) as usize;
                    one_row(e, operands, shared, at % queries, query, &mut scores, row);
                }
            });
        }
    });
    output
}

/// One query's row of the result; `scores` is room.
fn one_row(
    e: Extents,
    operands: &Operands,
    shared: usize,
    place: usize,
    query: &[f32],
    scores: &mut Vec<f64>,
    row: &mut [f64],
) {
    let keys = e.keys as usize;
    let seen = if e.causal { keys.min(place + 1) } else { keys };
    let lines = |data: &'_ [f32], width: u32| -> std::ops::Range<usize> {
        let (first, width) = (shared * keys * width as usize, width as usize);
        debug_assert!(data.len() >= first + seen * width);
        first..first + seen * width
    };
    let own_keys = &operands.keys[lines(&operands.keys, e.width)];
    let own_values = &operands.values[lines(&operands.values, e.value_width)];
    let scale = 1.0 / libm::sqrt(f64::from(e.width));
    scores.clear();
    scores.extend(own_keys.chunks_exact(e.width as usize).map(|key| {
        let products = query.iter().zip(key).map(|(q, k)| f64::from(*q) * f64::from(*k));
        products.sum::<f64>() * scale
    }));
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for (score, value) in scores.iter().zip(own_values.chunks_exact(e.value_width as usize)) {
        let weight = libm::exp(score - largest);
        sum += weight;
        row.iter_mut()
            .zip(value)
            .for_each(|(out, v)| *out += weight * f64::from(*v));
    }
    for out in row.iter_mut() {
        *out /= sum;
    }
}

/// Input files and reference result of the attention `workload`; `threads` decides how fast, never what.
pub fn inputs(workload: &Workload, seed: u64, threads: usize) -> Result<InputSet, Refusal> {
    let extents = attention(workload)?.extents;
    crate::footprint::check(workload)?;
    let operands = operands(extents, seed);
    let result = reference(extents, &operands, threads);
    let own = [&operands.queries, &operands.keys, &operands.values];
    let mut files: Vec<Input> = OPERAND_FILES
        .iter()
        .zip(own)
        .map(|(name, values)| Input {
            name: (*name).to_owned(),
            bytes: float32(values),
        })
        .collect();
    files.push(Input {
        name: REFERENCE_FILE.to_owned(),
        bytes: result.iter().flat_map(|v| v.to_le_bytes()).collect(),
    });
    files.sort_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
    Ok(InputSet { files })
}
