//! Operands, and the reference result.

use planner::space::SplitMix64;
use planner::{Elementwise, GemmExtents, OperationKind, Workload};

use crate::half;

/// Row-major float16 operands of a chain of products, held as `f32`.
#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    /// Activations, `rows x inner` of the first product.
    pub input: Vec<f32>,
    /// Weights of each product, `inner x columns`.
    pub weights: Vec<Vec<f32>>,
}

/// Numbers from a seed.
struct Random(SplitMix64);

impl Random {
    /// Nearly normal, mean 0, variance 1: twelve uniform numbers added up, in whole numbers until the end.
    fn normal(&mut self) -> f64 {
        let sum: u64 = (0..3)
            .map(|_| {
                let z = self.0.next_u64();
                (z & 0xffff) + (z >> 16 & 0xffff) + (z >> 32 & 0xffff) + (z >> 48)
            })
            .sum();
        (sum as f64 + 6.0) / 65_536.0 - 6.0
    }

    #[expect(clippy::cast_possible_truncation, reason = "float16 is narrower still")]
    fn matrix(&mut self, elements: u64, scale: f64) -> Vec<f32> {
        (0..elements)
            .map(|_| half::round((self.normal() * scale) as f32))
            .collect()
    }
}

fn gemms(workload: &Workload) -> impl Iterator<Item = GemmExtents> {
    workload.gemms().map(|(_, extents)| extents)
}

impl Data {
    /// Operands of a workload from a seed: activations with variance 1, weights with that of `1 / inner`.
    #[must_use]
    pub fn new(workload: &Workload, seed: u64) -> Self {
        let mut random = Random(SplitMix64::new(seed));
        let input = gemms(workload).next().map_or(0, |e| e.rows * e.inner);
        Self {
            input: random.matrix(input, 1.0),
            weights: gemms(workload)
                .map(|e| random.matrix(e.inner * e.columns, 1.0 / (e.inner as f64).sqrt()))
                .collect(),
        }
    }
}

/// The result in float64, row-major.
#[must_use]
pub fn reference(workload: &Workload, data: &Data) -> Vec<f64> {
    let mut value: Vec<f64> = data.input.iter().map(|&x| f64::from(x)).collect();
    let mut weights = data.weights.iter();
    for operation in &workload.operations {
        match operation.kind {
            OperationKind::Gemm(e) => {
                let Some(weights) = weights.next() else { break };
                value = product(&value, weights, e);
            }
            OperationKind::Elementwise {
                function: Elementwise::GeluTanh,
                ..
            } => {
                for x in &mut value {
                    let inner = (2.0 / std::f64::consts::PI).sqrt() * (*x + 0.044_715 * *x * *x * *x);
                    *x *= 0.5 * (1.0 + libm::tanh(inner));
                }
            }
            // No chain of products has one.
            OperationKind::Attention(_) => {}
        }
    }
    value
}

fn product(left: &[f64], right: &[f32], e: GemmExtents) -> Vec<f64> {
    let [inner, columns] = [e.inner, e.columns].map(|extent| usize::try_from(extent).unwrap_or(usize::MAX));
    let right: Vec<f64> = right.iter().map(|&x| f64::from(x)).collect();
    let mut result = Vec::with_capacity(left.len() / inner.max(1) * columns);
    for row in left.chunks_exact(inner) {
        let mut sums = vec![0.0; columns];
        for (x, line) in row.iter().zip(right.chunks_exact(columns)) {
            for (sum, w) in sums.iter_mut().zip(line) {
                *sum += x * w;
            }
        }
        result.extend(sums);
    }
    result
}
