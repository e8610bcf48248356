//! The unit model as a process: what goes in and what comes out, as text. Whoever starts it does the reading and
//! writing.

use planner::{Attributes, Refusal, Workload};
use serde::{Deserialize, Serialize};

use crate::compile::{Compiled, compile};
use crate::configured::typed;
use crate::data::{Values, inputs, prepared};
use crate::machine::Prices;
use crate::options::KohakuOptions;
use crate::plan::OperationPlan;
use crate::timing::{Timing, Unit, timing};
use crate::traffic::dram_words;
use crate::unit::{self, Grade, grade};
use crate::work::{call, program};

/// File of the reference result.
pub const REFERENCE_FILE: &str = "reference.f64";

/// File of one input.
#[must_use]
pub fn input_file(name: &str) -> String {
    format!("{name}.f16")
}

/// What is built.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The workload.
    pub workload: Workload,
    /// The plan.
    pub plan: Attributes,
    /// The machine and its prices.
    pub options: KohakuOptions,
}

/// What a build gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum BuildReport {
    /// It can run.
    Built {
        /// What was built.
        request: Box<Request>,
        /// Dispatches.
        stages: usize,
        /// Conversions that are listed, and those that run.
        conversions: (usize, usize),
    },
    /// A rule says no.
    Refused {
        /// Which, and why.
        refusal: Refusal,
    },
}

/// A group of stages, or the conversions of one buffer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseReport {
    /// `scores`, `scores.conversion`.
    pub name: String,
    /// `compute` on clusters, `elementwise` on cores, `conversion`.
    pub kind: String,
    /// Cycles of all of them.
    pub cycles: usize,
}

/// What a run gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// Simulated cycles in the price revision of the options; those of conversions are counted while they run.
    pub cycles: usize,
    /// In the published revision.
    pub published_cycles: usize,
    /// At the elements that every pass covers.
    pub real_span_cycles: usize,
    /// Their parts.
    pub phases: Vec<PhaseReport>,
    /// Words to and from the memory of the mesh.
    pub dram_words: usize,
    /// Flits to clusters.
    pub cluster_flits: usize,
    /// Largest absolute error; none when something is not finite.
    pub max_absolute: Option<f64>,
    /// Errors relative to the largest magnitude of the reference.
    pub grade: Option<Grade>,
    /// Root mean square of the reference.
    pub reference_rms: f64,
    /// Largest absolute error that passes.
    pub tolerance: f64,
    /// Values that were compared.
    pub elements: u64,
}

fn unreadable(error: impl std::fmt::Display) -> String {
    format!("the request can't be read: {error}")
}

impl Request {
    /// The typed plans and the compiled program.
    pub fn compile(&self) -> Result<(Vec<OperationPlan>, Compiled), Refusal> {
        let plans = typed(&self.workload, &self.plan)?;
        let compiled = compile(program(&self.workload, &plans)?, &self.options.machine)?;
        Ok((plans, compiled))
    }
}

/// Builds a request (JSON); gives a [`BuildReport`] (JSON). A refusal is a result, not an error.
pub fn build(request: &str) -> Result<String, String> {
    let request: Request = serde_json::from_str(request).map_err(unreadable)?;
    let report = match request.compile() {
        Ok((_, compiled)) => BuildReport::Built {
            stages: compiled.program.stages.len(),
            conversions: (compiled.conversions.len(), compiled.run().count()),
            request: Box::new(request),
        },
        Err(refusal) => BuildReport::Refused { refusal },
    };
    serde_json::to_string(&report).map_err(|error| error.to_string())
}

/// Runs what [`build`] gave on input files that `read` returns by name; gives a [`RunReport`] (JSON).
pub fn run(built: &str, read: &dyn Fn(&str) -> Result<Vec<u8>, String>) -> Result<String, String> {
    let request = match serde_json::from_str(built).map_err(unreadable)? {
        BuildReport::Built { request, .. } => request,
        BuildReport::Refused { refusal } => return Err(refusal.to_string()),
    };
    let words = |refusal: Refusal| refusal.to_string();
    let (plans, compiled) = request.compile().map_err(words)?;
    let values = given(&request.workload, read)?;
    let values = match (request.workload.attentions().next(), plans.first()) {
        (Some((_, e)), Some(OperationPlan::Attention(plan))) => prepared(&call(&e, plan), &values),
        _ => values,
    };
    let views: Vec<(&str, &[f32])> = values
        .iter()
        .map(|(name, values)| (name.as_str(), values.as_slice()))
        .collect();
    let ran = unit::run(&compiled, &views).map_err(words)?;
    let bytes = read(REFERENCE_FILE)?;
    let (eights, _) = bytes.as_chunks::<8>();
    let reference: Vec<f64> = eights.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    let result = ran.outputs.values().next().map_or(&[][..], Vec::as_slice);
    if result.len() != reference.len() {
        return Err(format!(
            "`{REFERENCE_FILE}` has {} values, expected {}",
            reference.len(),
            result.len()
        ));
    }
    let counted: usize = ran.conversions.iter().map(|(_, _, counted)| counted.cycles).sum();
    let report = report(&request, &plans, &compiled, counted, (result, &reference));
    serde_json::to_string(&report).map_err(|error| error.to_string())
}

/// The caller's values, with the lengths that the workload's own have.
fn given(workload: &Workload, read: &dyn Fn(&str) -> Result<Vec<u8>, String>) -> Result<Values, String> {
    let mut values = Vec::new();
    for (name, own) in inputs_lengths(workload) {
        let file = input_file(&name);
        let bytes = read(&file)?;
        let (pairs, _) = bytes.as_chunks::<2>();
        if pairs.len() != own {
            return Err(format!("`{file}` has {} values, expected {own}", pairs.len()));
        }
        let decoded = pairs
            .iter()
            .map(|bytes| from_bits(u16::from_le_bytes(*bytes)))
            .collect();
        values.push((name, decoded));
    }
    Ok(values)
}

/// Names and lengths of the inputs.
fn inputs_lengths(workload: &Workload) -> Vec<(String, usize)> {
    inputs(workload, 0)
        .into_iter()
        .map(|(name, values)| (name, values.len()))
        .collect()
}

/// The bits of a float16 value.
#[must_use]
pub fn to_bits(x: f32) -> u16 {
    let bits = x.to_bits();
    let sign = u16::try_from(bits >> 31).unwrap_or(0) << 15;
    let magnitude = x.abs();
    if magnitude >= 65_520.0 || x.is_nan() {
        return sign | if x.is_nan() { 0x7e00 } else { 0x7c00 };
    }
    if magnitude < 1.0 / 16_384.0 {
        // A whole number of steps of 2^-24.
        let steps = (magnitude * 16_777_216.0).to_bits();
        let exponent = (steps >> 23) & 0xff;
        if exponent < 127 {
            return sign;
        }
        let steps = ((steps & 0x7f_ffff) | 0x80_0000) >> (150 - exponent);
        return sign | u16::try_from(steps).unwrap_or(0);
    }
    let half = ((bits >> 13) & 0x3_ffff) - ((127 - 15) << 10);
    sign | u16::try_from(half).unwrap_or(0)
}

/// The value of float16 bits.
#[must_use]
pub fn from_bits(bits: u16) -> f32 {
    let fraction = f32::from(bits & 0x3ff);
    let magnitude = match (bits >> 10) & 0x1f {
        0 => fraction / 16_777_216.0,
        0x1f if fraction > 0.0 => f32::NAN,
        0x1f => f32::INFINITY,
        exponent => (1024.0 + fraction) * f32::from_bits((u32::from(exponent) + 127 - 25) << 23),
    };
    if bits & 0x8000 == 0 { magnitude } else { -magnitude }
}

/// Share of the largest magnitude that an element may be wrong by, for one product; it grows with the square root of the
/// products in a row.
///
/// A block of 32 normal numbers has steps of about a thirtieth of their deviation, so that a product of two blocks is off
/// by about 1.5 % of its own deviation whatever its length; five deviations of that are the largest of a million
/// elements, which is 2 % of a peak that is itself four deviations. 5 % leaves room for small results with low peaks.
const TOLERANCE: f64 = 0.05;

fn report(
    request: &Request,
    plans: &[OperationPlan],
    compiled: &Compiled,
    counted: usize,
    (result, reference): (&[f32], &[f64]),
) -> RunReport {
    let priced = |prices| {
        let t = timing(compiled, prices);
        (t.matrix() + t.vector() + counted, t)
    };
    let ((published, _), (real, _)) = (priced(Prices::Published), priced(Prices::RealSpan));
    let (cycles, t) = priced(request.options.prices);
    let attention = plans.iter().find_map(|plan| match plan {
        OperationPlan::Attention(plan) => Some(plan),
        OperationPlan::Gemm(_) => None,
    });
    let products = if attention.is_some() { 2 } else { plans.len() };
    let peak = reference.iter().fold(0.0_f64, |peak, y| peak.max(y.abs()));
    let errors = result.iter().zip(reference).map(|(x, y)| (f64::from(*x) - y).abs());
    // A difference that is not a number must not be lost in a maximum.
    let largest = errors.fold(
        0.0,
        |largest: f64, e| if e.is_nan() { f64::INFINITY } else { largest.max(e) },
    );
    RunReport {
        cycles,
        published_cycles: published,
        real_span_cycles: real,
        phases: phases(compiled, &t),
        dram_words: dram_words(compiled, attention),
        cluster_flits: t.flits(),
        max_absolute: largest.is_finite().then_some(largest),
        grade: grade(result, reference),
        reference_rms: (reference.iter().map(|y| y * y).sum::<f64>() / reference.len().max(1) as f64).sqrt(),
        tolerance: TOLERANCE * (products.max(1) as f64).sqrt() * peak,
        elements: reference.len() as u64,
    }
}

/// Stages of one name together, and the conversions of each buffer; in the order of their first appearance.
fn phases(compiled: &Compiled, t: &Timing) -> Vec<PhaseReport> {
    let mut phases: Vec<PhaseReport> = Vec::new();
    let mut add = |name: String, kind: &str, cycles: usize| match phases.iter_mut().find(|phase| phase.name == name) {
        Some(phase) => phase.cycles += cycles,
        None => phases.push(PhaseReport {
            name,
            kind: kind.to_owned(),
            cycles,
        }),
    };
    for (stage, time) in compiled.program.stages.iter().zip(&t.stages) {
        let kind = match time.unit {
            Unit::Cluster => "compute",
            Unit::Core => "elementwise",
        };
        // `divide-3` is the fourth of its kind.
        let name = stage.name.split('-').next().unwrap_or_default();
        add(name.to_owned(), kind, time.cycles);
    }
    for priced in &t.conversions {
        let name = format!("{}.conversion", compiled.program.of(priced.buffer).name);
        add(name, "conversion", priced.price.cycles);
    }
    phases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_float16() {
        for bits in 0..=u16::MAX {
            let x = from_bits(bits);
            if !x.is_nan() {
                assert_eq!(to_bits(x), bits, "{x}");
            }
        }
        assert!((from_bits(0x3c00) - 1.0).abs() <= 0.0 && (from_bits(0x7bff) - 65_504.0).abs() <= 0.0);
        assert!((from_bits(1) - 2_f32.powi(-24)).abs() <= 0.0);
    }
}
