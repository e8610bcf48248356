//! Kernels with inputs and their float64 results.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each user takes its own part"
)]
#![allow(
    missing_docs,
    clippy::missing_panics_doc,
    reason = "tests stop at the first surprise"
)]

pub mod composed;

use std::collections::BTreeMap;

use target_kohaku::compile::compile;
use target_kohaku::kernels::{self, Flash, Gelu, Norm, Padded, Tiling, ValueOrder, flash};
use target_kohaku::machine::Machine;
use target_kohaku::program::Program;
use target_kohaku::unit::{Grade, Random, grade, run};

/// A program with its inputs and what it should give.
pub struct Case {
    pub program: Program,
    pub inputs: Vec<(String, Vec<f32>)>,
    pub expected: BTreeMap<String, Vec<f64>>,
}

fn tiling() -> Tiling {
    Tiling::default()
}

fn normal(name: &str, count: usize, scale: f64) -> Vec<f32> {
    Random::new(4, name).normal(count, scale)
}

/// `a b^T` of `[m][k]` and `[n][k]`.
fn product(a: &[f32], b: &[f32], [m, k, n]: [usize; 3]) -> Vec<f64> {
    let mut y = vec![0.0; m * n];
    for (row, out) in a.chunks(k).zip(y.chunks_mut(n)) {
        for (column, slot) in b.chunks(k).zip(out) {
            *slot = row.iter().zip(column).map(|(x, w)| f64::from(*x) * f64::from(*w)).sum();
        }
    }
    y
}

fn single(values: Vec<f64>) -> BTreeMap<String, Vec<f64>> {
    BTreeMap::from([("y".to_owned(), values)])
}

fn silu(x: f64) -> f64 {
    x / (1.0 + libm::exp(-x))
}

pub fn gelu(x: f64, form: Gelu) -> f64 {
    match form {
        Gelu::Sigmoid => x / (1.0 + libm::exp(-1.702 * x)),
        Gelu::Tanh => 0.5 * x * (1.0 + libm::tanh((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x))),
        Gelu::Erf => 0.5 * x * (1.0 + libm::erf(x / std::f64::consts::SQRT_2)),
    }
}

fn scale(k: usize) -> f64 {
    1.0 / (k as f64).sqrt()
}

impl Case {
    fn new(program: Program, inputs: Vec<(&str, Vec<f32>)>, expected: BTreeMap<String, Vec<f64>>) -> Self {
        let inputs = inputs
            .into_iter()
            .map(|(name, values)| (name.to_owned(), values))
            .collect();
        Self {
            program,
            inputs,
            expected,
        }
    }

    pub fn views(&self) -> Vec<(&str, &[f32])> {
        self.inputs
            .iter()
            .map(|(name, values)| (name.as_str(), values.as_slice()))
            .collect()
    }

    pub fn run(&self) -> BTreeMap<String, Vec<f32>> {
        let compiled = compile(self.program.clone(), &Machine::default()).unwrap();
        run(&compiled, &self.views()).unwrap().outputs
    }

    pub fn matmul([m, k, n]: [usize; 3]) -> Self {
        let (x, w) = (normal("x", m * k, 1.0), normal("w", n * k, scale(k)));
        let y = product(&x, &w, [m, k, n]);
        Self::new(
            kernels::matmul([m, k, n], tiling()),
            vec![("x", x), ("w", w)],
            single(y),
        )
    }

    pub fn linear([m, k, n]: [usize; 3]) -> Self {
        let (x, w) = (normal("x", m * k, 1.0), normal("w", n * k, scale(k)));
        let y = product(&x, &w, [m, k, n]).into_iter().map(silu).collect();
        Self::new(
            kernels::linear([m, k, n], tiling()),
            vec![("x", x), ("w", w)],
            single(y),
        )
    }

    pub fn residual([m, k, n]: [usize; 3]) -> Self {
        let (x, w, r) = (
            normal("x", m * k, 1.0),
            normal("w", n * k, scale(k)),
            normal("r", m * n, 1.0),
        );
        let y = product(&x, &w, [m, k, n])
            .iter()
            .zip(&r)
            .map(|(y, r)| y + f64::from(*r))
            .collect();
        let inputs = vec![("x", x), ("w", w), ("residual", r)];
        Self::new(kernels::residual([m, k, n], tiling()), inputs, single(y))
    }

    pub fn fused([m, k, n]: [usize; 3]) -> Self {
        let (x, w, bias) = (
            normal("x", m * k, 1.0),
            normal("w", n * k, scale(k)),
            normal("bias", n, 1.0),
        );
        let y = product(&x, &w, [m, k, n]);
        let y = y
            .iter()
            .enumerate()
            .map(|(i, y)| silu(y + f64::from(bias[i % n])))
            .collect();
        let inputs = vec![("x", x), ("w", w), ("bias", bias)];
        Self::new(kernels::fused_linear([m, k, n], tiling(), true), inputs, single(y))
    }

    pub fn per_head([m, k, n]: [usize; 3], heads: usize) -> Self {
        let (x, w) = (normal("x", m * k, 1.0), normal("w", n * k, scale(k)));
        let width = n / heads;
        let y = w
            .chunks(width * k)
            .flat_map(|w| product(&x, w, [m, k, width]))
            .collect();
        let program = kernels::per_head([m, k, n], heads, tiling());
        Self::new(program, vec![("x", x), ("w", w)], single(y))
    }

    pub fn join([m, k, n]: [usize; 3], heads: usize) -> Self {
        let (x, w, r) = (
            normal("x", m * k, 1.0),
            normal("w", n * k, scale(k)),
            normal("r", m * n, 1.0),
        );
        let width = k / heads;
        // Heads lie one behind the other; the weights want them side by side.
        let beside: Vec<f32> = (0..m * k)
            .map(|i| x[(i % k / width * m + i / k) * width + i % width])
            .collect();
        let y = product(&beside, &w, [m, k, n])
            .iter()
            .zip(&r)
            .map(|(y, r)| y + f64::from(*r))
            .collect();
        let inputs = vec![("x", x), ("w", w), ("residual", r)];
        Self::new(kernels::join([m, k, n], heads, tiling(), true), inputs, single(y))
    }

    pub fn mlp(tokens: usize, [features, hidden, outputs]: [usize; 3]) -> Self {
        let x = normal("x", tokens * features, 1.0);
        let (up, down) = (
            normal("up", hidden * features, scale(features)),
            normal("down", outputs * hidden, scale(hidden)),
        );
        let h: Vec<f64> = product(&x, &up, [tokens, features, hidden])
            .into_iter()
            .map(|x| gelu(x, Gelu::Sigmoid))
            .collect();
        let mut y = vec![0.0; tokens * outputs];
        for (row, out) in h.chunks(hidden).zip(y.chunks_mut(outputs)) {
            for (column, slot) in down.chunks(hidden).zip(out) {
                *slot = row.iter().zip(column).map(|(x, w)| x * f64::from(*w)).sum();
            }
        }
        let program = kernels::mlp(tokens, [features, hidden, outputs], Gelu::Sigmoid, [tiling(); 2]);
        Self::new(program, vec![("x", x), ("w-up", up), ("w-down", down)], single(y))
    }

    pub fn geglu([m, k, n]: [usize; 3], form: Gelu, second: bool) -> Self {
        let x = normal("x", m * k, 1.0);
        let halves = ["w0", "w1"].map(|name| normal(name, n * k, scale(k)));
        let [a, b] = [0, 1].map(|half: usize| product(&x, &halves[half], [m, k, n]));
        let (gate, value) = if second { (b, a) } else { (a, b) };
        let y = gate.into_iter().zip(value).map(|(g, v)| gelu(g, form) * v).collect();
        let program = kernels::geglu([m, k, n], form, second, tiling());
        let [w0, w1] = halves;
        Self::new(program, vec![("x", x), ("w0", w0), ("w1", w1)], single(y))
    }

    /// Rows of `columns`, of which the first `real` count, in one stage.
    pub fn softmax(rows: usize, columns: usize, real: usize) -> Self {
        Self::soft(kernels::softmax(rows, columns, real < columns), rows, columns, real)
    }

    /// The same over sub-rows of 128.
    pub fn wide_softmax(rows: usize, columns: usize, real: usize) -> Self {
        let program = kernels::wide_softmax(rows, columns / 128, real < columns);
        Self::soft(program, rows, columns, real)
    }

    fn soft(program: Program, rows: usize, columns: usize, real: usize) -> Self {
        let x = normal("x", rows * columns, 1.0);
        let y = soft(&x, columns, real);
        let mut inputs = vec![("x", x)];
        if real < columns {
            inputs.push((
                "mask",
                (0..rows * columns)
                    .map(|i| if i % columns < real { 1.0 } else { 0.0 })
                    .collect(),
            ));
        }
        Self::new(program, inputs, single(y))
    }

    pub fn norm(n: Norm) -> Self {
        Self::shifted_norm(n, 0.0)
    }

    /// Groups whose mean is so many standard deviations.
    pub fn shifted_norm(n: Norm, mean: f64) -> Self {
        let count = n.rows() * n.width;
        let x: Vec<f32> = normal("x", count, 1.0)
            .into_iter()
            .map(|x| target_kohaku::numerics::half(f64::from(x) + mean))
            .collect();
        let gain: Vec<f32> = normal("gain", count, 0.1)
            .into_iter()
            .map(|g| target_kohaku::numerics::half(1.0 + f64::from(g)))
            .collect();
        let shift = normal("shift", count, 0.1);
        let group = n.sub_rows * n.width;
        let mut y = Vec::with_capacity(count);
        for (at, values) in x.chunks(group).enumerate() {
            let mean = values.iter().copied().map(f64::from).sum::<f64>() / group as f64;
            let variance = values.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / group as f64;
            for (i, x) in values.iter().enumerate() {
                let at = at * group + i;
                let normal = (f64::from(*x) - mean) / (variance + f64::from(n.epsilon)).sqrt();
                let affine = normal * f64::from(gain[at]) + f64::from(shift[at]);
                y.push(if n.silu { silu(affine) } else { affine });
            }
        }
        Self::new(
            kernels::norm(&n),
            vec![("x", x), ("gain", gain), ("shift", shift)],
            single(y),
        )
    }

    pub fn convolution(c: Padded) -> Self {
        let [h, w, channels] = c.plane;
        let x = normal("x", h * w * channels, 1.0);
        let weights = normal("w", c.channels * 9 * channels, scale(9 * channels));
        let at = |oy: usize, ox: usize, out: usize| convolved(&x, &weights, c.plane, [oy * c.step, ox * c.step], out);
        let y = spread(&c, at);
        Self::new(
            kernels::convolution(&c, tiling()),
            vec![("x", x), ("w", weights)],
            single(y),
        )
    }

    /// The upsampled plane is convolved; the program gets the sums of weights that meet the same pixel.
    pub fn upsampled(c: Padded) -> Self {
        let [h, w, channels] = c.plane;
        let x = normal("x", h * w * channels, 1.0);
        let weights = normal("w", c.channels * 9 * channels, scale(9 * channels));
        let large: Vec<f32> = (0..4 * h * w * channels)
            .map(|i| {
                let (y, xx, channel) = (i / (2 * w * channels), i / channels % (2 * w), i % channels);
                x[(y / 2 * w + xx / 2) * channels + channel]
            })
            .collect();
        let mut inputs = vec![("x".to_owned(), x)];
        let mut expected = BTreeMap::new();
        for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let mut own = vec![0.0_f32; c.channels * 4 * channels];
            for (i, weight) in weights.iter().enumerate() {
                let (out, tap, channel) = (i / (9 * channels), i / channels % 9, i % channels);
                // The pixel that a tap meets, counted from the first of the two that a phase sees.
                let meets = |phase: usize, d: usize| {
                    if phase == 0 {
                        usize::from(d > 0)
                    } else {
                        usize::from(d > 1)
                    }
                };
                let near = 2 * meets(a, tap / 3) + meets(b, tap % 3);
                own[(out * 4 + near) * channels + channel] += weight;
            }
            inputs.push((format!("w-{a}{b}"), own));
            let at = |oy: usize, ox: usize, out: usize| {
                convolved(
                    &large,
                    &weights,
                    [2 * h, 2 * w, channels],
                    [2 * oy + a, 2 * ox + b],
                    out,
                )
            };
            expected.insert(format!("y-{a}{b}"), spread(&c, at));
        }
        Self {
            program: kernels::upsampled(&c, tiling()),
            inputs,
            expected,
        }
    }

    pub fn attention(f: Flash) -> Self {
        Self::spread_attention(f, 1.0)
    }

    /// Scores have this standard deviation.
    pub fn spread_attention(f: Flash, scores: f64) -> Self {
        let to_log2 = std::f64::consts::LOG2_E / (f.width as f64).sqrt();
        let q: Vec<f32> = normal("q", f.heads * f.queries * f.width, scores * to_log2);
        let k = normal("k", f.heads * f.padded_keys * f.width, 1.0);
        let v = normal("v", f.heads * f.value_width * f.padded_keys, 1.0);
        let mut o = Vec::new();
        for head in 0..f.heads {
            let slice = |values: &[f32], n: usize| values[head * n..(head + 1) * n].to_vec();
            let (q, k, v) = (
                slice(&q, f.queries * f.width),
                slice(&k, f.padded_keys * f.width),
                slice(&v, f.value_width * f.padded_keys),
            );
            let scores = product(&q, &k, [f.queries, f.width, f.padded_keys]);
            for (row, scores) in scores.chunks(f.padded_keys).enumerate() {
                let seen = if f.causal { row + 1 } else { f.keys };
                let peak = scores[..seen].iter().copied().fold(f64::MIN, f64::max);
                let weights: Vec<f64> = scores[..seen].iter().map(|s| libm::exp2(s - peak)).collect();
                let total: f64 = weights.iter().sum();
                for values in v.chunks(f.padded_keys) {
                    let sum: f64 = weights.iter().zip(values).map(|(w, v)| w * f64::from(*v)).sum();
                    o.push(sum / total);
                }
            }
        }
        let mut inputs = vec![("q", q), ("k", k)];
        let (keys, width) = (f.padded_keys, f.value_width);
        if f.values == ValueOrder::ByKey {
            let by_key = |at: usize| {
                let (head, key, column) = (at / (keys * width), at / width % keys, at % width);
                v[(head * width + column) * keys + key]
            };
            inputs.push(("given-v", (0..v.len()).map(by_key).collect()));
            let unit = |at: usize| if at / width == at % width { 1.0 } else { 0.0 };
            inputs.push(("identity", (0..width * width).map(unit).collect()));
        } else {
            inputs.push((f.values.input(), v));
        }
        inputs.extend(f.mask_table().map(|table| ("mask", table)));
        Self::new(flash(&f).unwrap(), inputs, BTreeMap::from([("o".to_owned(), o)]))
    }
}

fn soft(x: &[f32], columns: usize, real: usize) -> Vec<f64> {
    let mut y = Vec::with_capacity(x.len());
    for row in x.chunks(columns) {
        let peak = row[..real].iter().copied().map(f64::from).fold(f64::MIN, f64::max);
        let powers: Vec<f64> = row[..real].iter().map(|x| libm::exp(f64::from(*x) - peak)).collect();
        let total: f64 = powers.iter().sum();
        y.extend(powers.iter().map(|p| p / total));
        y.extend(std::iter::repeat_n(0.0, columns - real));
    }
    y
}

/// One value of a 3 x 3 convolution with padding 1, centred at `centre`.
fn convolved(x: &[f32], weights: &[f32], [h, w, channels]: [usize; 3], centre: [usize; 2], out: usize) -> f64 {
    let mut sum = 0.0;
    for tap in 0..9 {
        let (y, xx) = (centre[0] + tap / 3, centre[1] + tap % 3);
        if !(1..=h).contains(&y) || !(1..=w).contains(&xx) {
            continue;
        }
        let pixel = ((y - 1) * w + xx - 1) * channels;
        let weight = (out * 9 + tap) * channels;
        for channel in 0..channels {
            sum += f64::from(x[pixel + channel]) * f64::from(weights[weight + channel]);
        }
    }
    sum
}

/// Results where the clusters put them; rows between the lines are not part of the result.
fn spread(c: &Padded, at: impl Fn(usize, usize, usize) -> f64) -> Vec<f64> {
    let mut y = vec![f64::NAN; c.rows() * c.channels];
    let (h, w) = c.result();
    for (oy, ox, out) in (0..h).flat_map(|oy| (0..w).flat_map(move |ox| (0..c.channels).map(move |out| (oy, ox, out))))
    {
        y[(oy * c.row() + ox) * c.channels + out] = at(oy, ox, out);
    }
    y
}

/// The grade over all outputs; what the reference marks as no part of the result is left out.
pub fn graded(case: &Case) -> Grade {
    let outputs = case.run();
    let (mut result, mut reference) = (Vec::new(), Vec::new());
    for (name, expected) in &case.expected {
        for (x, y) in outputs[name].iter().zip(expected).filter(|(_, y)| y.is_finite()) {
            result.push(*x);
            reference.push(*y);
        }
    }
    grade(&result, &reference).expect("finite results")
}
