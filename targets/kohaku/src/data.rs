//! Inputs of workloads, and their float64 results.

use planner::{AttentionExtents, OperationKind, Workload};

use crate::kernels::{Flash, ValueOrder};
use crate::unit::Random;
use crate::work::{extent, stacked, weights};

/// Values by name, as the caller has them: queries, keys `[keys][width]` and values `[keys][value width]` of an
/// attention, or the input and the weights `[columns][inner]` of a chain. All are float16.
pub type Values = Vec<(String, Vec<f32>)>;

/// The inputs of a workload, from a seed.
#[must_use]
pub fn inputs(workload: &Workload, seed: u64) -> Values {
    let normal = |name: &str, count: usize, scale: f64| (name.to_owned(), Random::new(seed, name).normal(count, scale));
    if let Some((_, e)) = workload.attentions().next() {
        let kv = extent(e.kv_heads);
        return vec![
            normal("q", kv * stacked(&e) * extent(e.width), 1.0),
            normal("k", kv * extent(e.keys) * extent(e.width), 1.0),
            normal("v", kv * extent(e.keys) * extent(e.value_width), 1.0),
        ];
    }
    let mut values = Vec::new();
    for (name, e) in workload.gemms() {
        let [m, k, n] = [e.rows, e.inner, e.columns].map(extent);
        if values.is_empty() {
            values.push(normal(crate::work::INPUT, m * k, 1.0));
        }
        values.push(normal(&weights(name), n * k, 1.0 / (k as f64).sqrt()));
    }
    values
}

fn named<'a>(values: &'a Values, name: &str) -> &'a [f32] {
    values
        .iter()
        .find(|(known, _)| known == name)
        .map_or(&[], |(_, values)| values)
}

/// The result of a workload in float64, row-major.
#[must_use]
pub fn reference(workload: &Workload, values: &Values) -> Vec<f64> {
    if let Some((_, e)) = workload.attentions().next() {
        return attention(&e, values);
    }
    let mut x: Vec<f64> = named(values, crate::work::INPUT)
        .iter()
        .map(|x| f64::from(*x))
        .collect();
    for operation in &workload.operations {
        match operation.kind {
            OperationKind::Gemm(e) => {
                let (k, n) = (extent(e.inner), extent(e.columns));
                let w = named(values, &weights(&operation.name));
                let row = |x: &[f64]| -> Vec<f64> { w.chunks(k).map(|w| dot(x, w)).collect() };
                let y: Vec<f64> = x.chunks(k).flat_map(row).collect();
                debug_assert_eq!(y.len() % n.max(1), 0);
                x = y;
            }
            OperationKind::Elementwise { .. } => {
                let scale = (2.0 / std::f64::consts::PI).sqrt();
                for x in &mut x {
                    *x *= 0.5 * (1.0 + libm::tanh(scale * (*x + 0.044_715 * *x * *x * *x)));
                }
            }
            OperationKind::Attention(_) => {}
        }
    }
    x
}

/// Eight sums side by side, so that the loop becomes vector instructions.
fn dot(x: &[f64], w: &[f32]) -> f64 {
    let mut sums = [0.0; 8];
    let (xs, ws) = (x.chunks_exact(8), w.chunks_exact(8));
    let rest: f64 = xs
        .remainder()
        .iter()
        .zip(ws.remainder())
        .map(|(x, w)| x * f64::from(*w))
        .sum();
    for (x, w) in xs.zip(ws) {
        for ((sum, x), w) in sums.iter_mut().zip(x).zip(w) {
            *sum += x * f64::from(*w);
        }
    }
    sums.iter().sum::<f64>() + rest
}

fn attention(e: &AttentionExtents, values: &Values) -> Vec<f64> {
    let (rows, keys, width, value_width) = (stacked(e), extent(e.keys), extent(e.width), extent(e.value_width));
    let scale = 1.0 / (width as f64).sqrt();
    let (q, k, v) = (named(values, "q"), named(values, "k"), named(values, "v"));
    let mut o = Vec::with_capacity(extent(e.kv_heads) * rows * value_width);
    let mut weighted = vec![0.0; keys];
    for head in 0..extent(e.kv_heads) {
        let k = &k[head * keys * width..(head + 1) * keys * width];
        let v = &v[head * keys * value_width..(head + 1) * keys * value_width];
        for row in 0..rows {
            let at = (head * rows + row) * width;
            let query: Vec<f64> = q[at..at + width].iter().map(|x| f64::from(*x) * scale).collect();
            let seen = if e.causal { (row + 1).min(keys) } else { keys };
            for (slot, key) in weighted.iter_mut().zip(k.chunks(width)).take(seen) {
                *slot = dot(&query, key);
            }
            let peak = weighted[..seen].iter().copied().fold(f64::MIN, f64::max);
            let mut total = 0.0;
            for weight in &mut weighted[..seen] {
                *weight = crate::numerics::exp2((*weight - peak) * std::f64::consts::LOG2_E);
                total += *weight;
            }
            let first = o.len();
            o.resize(first + value_width, 0.0);
            for (weight, value) in weighted[..seen].iter().zip(v.chunks(value_width)) {
                for (slot, value) in o[first..].iter_mut().zip(value) {
                    *slot += weight * f64::from(*value);
                }
            }
            for slot in &mut o[first..] {
                *slot /= total;
            }
        }
    }
    o
}

/// What the program of an attention wants: queries scaled by `log2(e) / sqrt(width)`, keys and values padded to whole
/// key blocks, values transposed unless the program turns them, a mask and an identity where they are needed.
#[must_use]
pub fn prepared(f: &Flash, values: &Values) -> Values {
    let (keys, padded) = (f.keys, f.padded_keys);
    let turns = f.values == ValueOrder::ByKey;
    let scale = std::f64::consts::LOG2_E / (f.width as f64).sqrt();
    let q = named(values, "q")
        .iter()
        .map(|x| crate::numerics::half(f64::from(*x) * scale))
        .collect();
    let mut k = vec![0.0; f.heads * padded * f.width];
    let mut v = vec![0.0; f.heads * padded * f.value_width];
    for head in 0..f.heads {
        let (from, to) = (head * keys * f.width, head * padded * f.width);
        k[to..to + keys * f.width].copy_from_slice(&named(values, "k")[from..from + keys * f.width]);
        let rows = named(values, "v")[head * keys * f.value_width..]
            .chunks(f.value_width)
            .take(keys);
        for (key, row) in rows.enumerate() {
            for (column, value) in row.iter().enumerate() {
                let at = if turns {
                    (head * padded + key) * f.value_width + column
                } else {
                    (head * f.value_width + column) * padded + key
                };
                v[at] = *value;
            }
        }
    }
    let mut all = vec![
        ("q".to_owned(), q),
        ("k".to_owned(), k),
        (f.values.input().to_owned(), v),
    ];
    if turns {
        let width = f.value_width;
        let identity = (0..width * width).map(|at| if at / width == at % width { 1.0 } else { 0.0 });
        all.push(("identity".to_owned(), identity.collect()));
    }
    all.extend(f.mask_table().map(|table| ("mask".to_owned(), table)));
    all
}
