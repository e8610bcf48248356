//! Input data: Gaussian, from a seed, the same bytes on every machine.
//!
//! The generator is `SplitMix64` and the elementary functions are `libm`'s, both in pure Rust, so nothing depends on the
//! C library or the instruction set. Each file has a stream of its own: adding an operation changes no other file.

use planner::space::SplitMix64;
use planner::{GemmExtents, OperationKind, Refusal, Workload};
use target_api::{Input, InputSet};

use crate::attention::data as attention;
use crate::attention::problem::attends;
use crate::reference::reference;

/// File of the workload's input, float32 little-endian, `[rows][inner]` of the first product.
pub const INPUT_FILE: &str = "x.f32";
/// File of the float64 reference result, little-endian, `[rows][columns]` of the last operation.
pub const REFERENCE_FILE: &str = "reference.f64";

/// File of the weights of the product `operation`: float32 little-endian, `[inner][columns]`.
#[must_use]
pub fn weights_file(operation: &str) -> String {
    format!("{operation}.weights.f32")
}

/// The stream `name` of a seed: the seed's first draw is mixed with FNV-1a of the name.
fn stream(seed: u64, name: &str) -> SplitMix64 {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    SplitMix64::new(SplitMix64::new(seed).next_u64() ^ hash)
}

/// Uniform in `(0, 1]`, 53 bits: never zero, so that its logarithm is finite.
fn unit(generator: &mut SplitMix64) -> f64 {
    ((generator.next_u64() >> 11) + 1) as f64 / 9_007_199_254_740_992.0
}

/// Two independent N(0, 1) by Box and Muller (1958): `sqrt(-2 ln u) (cos 2 pi v, sin 2 pi v)`.
fn gaussians(generator: &mut SplitMix64) -> (f64, f64) {
    let radius = libm::sqrt(-2.0 * libm::log(unit(generator)));
    let (sine, cosine) = libm::sincos(std::f64::consts::TAU * unit(generator));
    (radius * cosine, radius * sine)
}

/// `count` values of N(0, deviation^2) from the stream `name` of `seed`.
#[must_use]
pub fn gaussian(seed: u64, name: &str, count: usize, deviation: f64) -> Vec<f32> {
    let mut generator = stream(seed, name);
    let mut values = Vec::with_capacity(count + 1);
    while values.len() < count {
        let (first, second) = gaussians(&mut generator);
        values.push(single(first * deviation));
        values.push(single(second * deviation));
    }
    values.truncate(count);
    values
}

#[expect(clippy::cast_possible_truncation, reason = "rounding to float32 is what is wanted")]
fn single(value: f64) -> f32 {
    value as f32
}

/// The arrays of a workload, in float32 as the device gets them.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrays {
    /// Input of the first operation, row-major; N(0, 1).
    pub x: Vec<f32>,
    /// Weights of each product in the workload's order, `[inner][columns]`; N(0, 1 / inner), as a network's that keeps
    /// the variance of its activations.
    pub weights: Vec<Vec<f32>>,
}

/// Rows and columns of the input of the workload's first operation.
fn input_extents(workload: &Workload) -> Result<(u64, u64), Refusal> {
    match workload.operations.first().map(|operation| operation.kind) {
        Some(OperationKind::Gemm(extents)) => Ok((extents.rows, extents.inner)),
        Some(OperationKind::Elementwise { rows, columns, .. }) => Ok((rows, columns)),
        Some(OperationKind::Attention(_)) => Err(Refusal::new(
            "attention",
            format!(
                "workload `{}` begins with an attention: there are no inputs for one here",
                workload.name
            ),
        )),
        None => Err(Refusal::new(
            "empty-workload",
            format!("workload `{}` has no operations", workload.name),
        )),
    }
}

fn elements(a: u64, b: u64) -> Result<usize, Refusal> {
    a.checked_mul(b)
        .and_then(|count| usize::try_from(count).ok())
        .filter(|count| *count <= isize::MAX as usize / 8)
        .ok_or_else(|| {
            Refusal::new(
                "array-too-large",
                format!("an array of {a} x {b} elements can't be held"),
            )
        })
}

/// Draws the arrays of `workload` from `seed`.
pub fn arrays(workload: &Workload, seed: u64) -> Result<Arrays, Refusal> {
    let (rows, columns) = input_extents(workload)?;
    let x = gaussian(seed, INPUT_FILE, elements(rows, columns)?, 1.0);
    let weights = workload
        .gemms()
        .map(|(name, GemmExtents { inner, columns, .. })| {
            let deviation = 1.0 / libm::sqrt(inner as f64);
            Ok(gaussian(
                seed,
                &weights_file(name),
                elements(inner, columns)?,
                deviation,
            ))
        })
        .collect::<Result<_, Refusal>>()?;
    Ok(Arrays { x, weights })
}

/// Input files and reference result of `workload`; `threads` decides how fast, never what. Refused: an empty workload,
/// and one whose memory passes [`crate::footprint::MOST_BYTES`].
pub fn inputs(workload: &Workload, seed: u64, threads: usize) -> Result<InputSet, Refusal> {
    if attends(workload) {
        return attention::inputs(workload, seed, threads);
    }
    crate::footprint::check(workload)?;
    let arrays = arrays(workload, seed)?;
    let result = reference(workload, &arrays, threads)?;
    let names = workload.gemms().map(|(name, _)| weights_file(name));
    let mut files: Vec<Input> = names
        .zip(&arrays.weights)
        .map(|(name, values)| Input {
            name,
            bytes: float32(values),
        })
        .collect();
    files.push(Input {
        name: INPUT_FILE.to_owned(),
        bytes: float32(&arrays.x),
    });
    files.push(Input {
        name: REFERENCE_FILE.to_owned(),
        bytes: result.iter().flat_map(|v| v.to_le_bytes()).collect(),
    });
    files.sort_by(|a, b| a.name.as_bytes().cmp(b.name.as_bytes()));
    Ok(InputSet { files })
}

pub(crate) fn float32(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_a_gaussian() {
        let values = gaussian(7, "moments", 200_000, 2.0);
        let n = values.len() as f64;
        let mean = values.iter().map(|v| f64::from(*v)).sum::<f64>() / n;
        let central = |power: i32| values.iter().map(|v| (f64::from(*v) - mean).powi(power)).sum::<f64>() / n;
        assert!(mean.abs() < 0.02, "{mean}");
        assert!((central(2) - 4.0).abs() < 0.06, "{}", central(2));
        assert!(
            (central(4) / central(2).powi(2) - 3.0).abs() < 0.06,
            "kurtosis {}",
            central(4) / central(2).powi(2)
        );
    }

    #[test]
    fn streams_are_independent_and_seeds_matter() {
        let of = |seed, name: &str| gaussian(seed, name, 9, 1.0);
        assert_eq!(of(1, "a"), of(1, "a"));
        assert_ne!(of(1, "a"), of(1, "b"));
        assert_ne!(of(1, "a"), of(2, "a"));
        assert_eq!(of(1, "a")[..4], gaussian(1, "a", 4, 1.0));
    }
}
