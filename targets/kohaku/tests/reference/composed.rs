//! Whole blocks as calls, with inputs and float64 references.

use std::collections::BTreeMap;

use target_kohaku::composed::Call;
use target_kohaku::composed::blocks::{self, GROUPS, Transformer};
use target_kohaku::kernels::{Gelu, Padded};
use target_kohaku::unit::{Grade, Random, grade};

use super::{gelu, silu};

/// A block, what it should give, and how its result stands.
pub struct Block {
    /// Its calls.
    pub calls: Vec<Call>,
    reference: Vec<f64>,
    /// The convolution that comes last, whose rows hold more than pixels.
    last: Option<Padded>,
}

/// Side of the planes.
const SIDE: usize = 8;

/// Norms do not see how large their input is, but a skip as large as the rest raises the peak that errors are relative to,
/// without an error of its own: inputs are a tenth of the rest (a root of this many terms).
const SMALL: usize = 100;

impl Block {
    /// A residual block on 8 x 8 pixels.
    pub fn resnet([from, to]: [usize; 2]) -> Self {
        let fans = BTreeMap::from([("x", SMALL), ("skip", SMALL), ("w1", 9 * from), ("w2", 9 * to)]);
        let give = |name: &str, count: usize| give(name, count, &fans);
        Self {
            calls: blocks::resnet(SIDE, [from, to], &give),
            reference: resnet(SIDE, [from, to], &give),
            last: None,
        }
    }

    /// Two residual blocks of so many channels on 8 x 8 pixels, and a convolution with step 2.
    pub fn down(channels: usize) -> Self {
        let weights = ["first-w1", "first-w2", "second-w1", "second-w2", "w-down"];
        let mut fans: BTreeMap<&str, usize> = weights.into_iter().map(|name| (name, 9 * channels)).collect();
        fans.insert("first-x", SMALL);
        let give = |name: &str, count: usize| give(name, count, &fans);
        Self {
            calls: blocks::down(SIDE, channels, &give),
            reference: down(SIDE, channels, &give),
            last: Some(Padded {
                plane: [SIDE, SIDE, channels],
                channels,
                step: 2,
            }),
        }
    }

    /// A transformer block.
    pub fn transformer(t: &Transformer) -> Self {
        let names = [
            "self-w-k",
            "self-w-v",
            "self-w-o",
            "cross-w-k",
            "cross-w-v",
            "cross-w-o",
            "w0",
            "w1",
        ];
        let mut fans: BTreeMap<&str, usize> = names.into_iter().map(|name| (name, t.width)).collect();
        // Queries come scaled by log2(e) / 8, whose square is one over 30.7.
        let queries = t.width * 31;
        fans.extend([("self-w-q", queries), ("cross-w-q", queries), ("w-down", t.hidden)]);
        let give = |name: &str, count: usize| give(name, count, &fans);
        Self {
            calls: blocks::transformer(t, &give).unwrap(),
            reference: transformer(t, &give),
            last: None,
        }
    }

    /// Grades what the calls gave.
    pub fn grade(&self, result: &[f32]) -> Grade {
        let Some(c) = self.last else {
            return grade(result, &self.reference).unwrap();
        };
        let (h, w) = c.result();
        let pixel = |y: usize, x: usize| &result[(y * c.row() + x) * c.channels..][..c.channels];
        let pixels: Vec<f32> = (0..h)
            .flat_map(|y| (0..w).flat_map(move |x| pixel(y, x).to_vec()))
            .collect();
        grade(&pixels, &self.reference).unwrap()
    }
}

/// The transformer block of the report: 128 tokens, 4 heads, a context of 77.
pub const SMALL_TRANSFORMER: Transformer = Transformer {
    tokens: 128,
    width: 256,
    heads: 4,
    context: 77,
    context_width: 256,
    hidden: 1024,
};

/// Values by name: activations are normal, weights of a sum of `k` are scaled by its root.
fn give(name: &str, count: usize, fan: &BTreeMap<&str, usize>) -> Vec<f32> {
    let own = name.rsplit('-').next().unwrap_or(name);
    let scale = fan.get(name).map_or(1.0, |k| 1.0 / (*k as f64).sqrt());
    let mut values = Random::new(4, name).normal(count, scale * if own.starts_with("shift") { 0.1 } else { 1.0 });
    if own.starts_with("gain") {
        for gain in &mut values {
            *gain = 1.0 + 0.1 * *gain;
        }
    }
    values
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().copied().map(f64::from).collect()
}

/// `x w^T` of `[m][k]` and `[n][k]`.
fn product(x: &[f64], w: &[f64], k: usize) -> Vec<f64> {
    let rows = x.chunks(k);
    let each = rows.flat_map(|row| {
        w.chunks(k)
            .map(move |column| row.iter().zip(column).map(|(a, b)| a * b).sum())
    });
    each.collect()
}

fn sum(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// Rows of `width`, each over its own mean and variance.
fn normal(rows: &[f64], width: usize) -> Vec<f64> {
    let each = rows.chunks(width).flat_map(|row| {
        let mean = row.iter().sum::<f64>() / width as f64;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / width as f64;
        row.iter().map(move |x| (x - mean) / (variance + 1e-5).sqrt())
    });
    each.collect()
}

type Values<'a> = &'a dyn Fn(&str, usize) -> Vec<f32>;

/// Group norm and `SiLU` of pixels with all channels.
fn group_norm(x: &[f64], channels: usize, gain: &[f64], shift: &[f64]) -> Vec<f64> {
    let pixels = x.len() / channels;
    let planes: Vec<f64> = (0..channels)
        .flat_map(|channel| (0..pixels).map(move |pixel| x[pixel * channels + channel]))
        .collect();
    let planes = normal(&planes, channels / GROUPS * pixels);
    let each = (0..pixels).flat_map(|pixel| (0..channels).map(move |channel| (pixel, channel)));
    each.map(|(pixel, channel)| silu(planes[channel * pixels + pixel] * gain[channel] + shift[channel]))
        .collect()
}

fn convolution(x: &[f64], side: usize, from: usize, weights: &[f64], step: usize) -> Vec<f64> {
    let out = weights.len() / (9 * from);
    let length = side.div_ceil(step);
    let mut y = Vec::with_capacity(length * length * out);
    for (oy, ox) in (0..length).flat_map(|oy| (0..length).map(move |ox| (oy * step, ox * step))) {
        for own in weights.chunks(9 * from) {
            let mut value = 0.0;
            for (tap, weights) in own.chunks(from).enumerate() {
                let (py, px) = (oy + tap / 3, ox + tap % 3);
                if (1..=side).contains(&py) && (1..=side).contains(&px) {
                    let at = ((py - 1) * side + px - 1) * from;
                    value += x[at..at + from].iter().zip(weights).map(|(a, b)| a * b).sum::<f64>();
                }
            }
            y.push(value);
        }
    }
    y
}

fn residual(prefix: &str, x: &[f64], side: usize, [from, to]: [usize; 2], give: Values) -> Vec<f64> {
    let get = |name: &str, count: usize| wide(&give(&format!("{prefix}{name}"), count));
    let h = group_norm(x, from, &get("gain1", from), &get("shift1", from));
    let h = convolution(&h, side, from, &get("w1", to * 9 * from), 1);
    let embedding = get("embedding", to);
    let h: Vec<f64> = h.iter().enumerate().map(|(at, h)| h + embedding[at % to]).collect();
    let h = group_norm(&h, to, &get("gain2", to), &get("shift2", to));
    let h = convolution(&h, side, to, &get("w2", to * 9 * to), 1);
    if from == to {
        sum(&h, x)
    } else {
        sum(&h, &get("skip", side * side * to))
    }
}

/// A residual block, pixels one behind the other.
fn resnet(side: usize, channels: [usize; 2], give: Values) -> Vec<f64> {
    let x = wide(&give("x", side * side * channels[0]));
    residual("", &x, side, channels, give)
}

/// Two of them and a convolution with step 2.
fn down(side: usize, channels: usize, give: Values) -> Vec<f64> {
    let x = wide(&give("first-x", side * side * channels));
    let first = residual("first-", &x, side, [channels; 2], give);
    let second = residual("second-", &first, side, [channels; 2], give);
    convolution(
        &second,
        side,
        channels,
        &wide(&give("w-down", channels * 9 * channels)),
        2,
    )
}

/// A transformer block.
fn transformer(t: &Transformer, give: Values) -> Vec<f64> {
    let (m, d) = (t.tokens, t.width);
    let get = |name: &str, count: usize| wide(&give(name, count));
    let affine = |name: &str, x: &[f64]| -> Vec<f64> {
        let (gain, shift) = (get(&format!("{name}-gain"), d), get(&format!("{name}-shift"), d));
        let rows = normal(x, d);
        rows.iter()
            .enumerate()
            .map(|(at, x)| x * gain[at % d] + shift[at % d])
            .collect()
    };
    let mut x = get("x", m * d);
    for (part, keys, padded, width) in [
        ("self", m, m, d),
        ("cross", t.context, t.padded_context(), t.context_width),
    ] {
        let own = |name: &str| format!("{part}-{name}");
        let h = affine(&own("norm"), &x);
        let memory = if part == "self" {
            h.clone()
        } else {
            get("context", padded * width)
        };
        let q = product(&h, &get(&own("w-q"), d * d), d);
        let k = product(&memory, &get(&own("w-k"), d * width), width);
        let v = product(&memory, &get(&own("w-v"), d * width), width);
        let mut o = vec![0.0; m * d];
        for (head, row) in (0..t.heads).flat_map(|head| (0..m).map(move |row| (head, row))) {
            let of = |values: &[f64], row: usize| values[row * d + head * 64..row * d + (head + 1) * 64].to_vec();
            let own = of(&q, row);
            let scores: Vec<f64> = (0..keys)
                .map(|key| own.iter().zip(of(&k, key)).map(|(a, b)| a * b).sum())
                .collect();
            let peak = scores.iter().copied().fold(f64::MIN, f64::max);
            let weights: Vec<f64> = scores.iter().map(|s| libm::exp2(s - peak)).collect();
            let total: f64 = weights.iter().sum();
            for (key, weight) in weights.iter().enumerate() {
                for (at, value) in of(&v, key).into_iter().enumerate() {
                    o[row * d + head * 64 + at] += weight / total * value;
                }
            }
        }
        x = sum(&product(&o, &get(&own("w-o"), d * d), d), &x);
    }
    let h = affine("norm", &x);
    let [value, gate] = ["w0", "w1"].map(|name| product(&h, &get(name, t.hidden * d), d));
    let gated: Vec<f64> = gate
        .into_iter()
        .zip(value)
        .map(|(g, v)| gelu(g, Gelu::Erf) * v)
        .collect();
    sum(&product(&gated, &get("w-down", d * t.hidden), t.hidden), &x)
}
