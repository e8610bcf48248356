//! The unit model as a process: what goes in and what comes out, as text. Whoever starts it does the reading and
//! writing.

use planner::{Refusal, Workload};
use serde::{Deserialize, Serialize};

use crate::costs::{CostTable, Unpriced};
use crate::device::PANEL;
use crate::exchange::Policy;
use crate::program::Program;
use crate::unit::{self, Compiled, Data, Timing};
use crate::{estimate, half, mapping, profile, text};

/// File of the activations.
pub const INPUT_FILE: &str = "input.f16";
/// File of the profile that a run writes into its case's folder.
pub const PROFILE_FILE: &str = "profile.json";
/// File of the reference result.
pub const REFERENCE_FILE: &str = "reference.f64";

/// File of one product's weights.
#[must_use]
pub fn weights_file(product: &str) -> String {
    format!("weights-{product}.f16")
}

/// What is built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The workload.
    pub workload: Workload,
    /// A constraint text for each product, in order.
    pub constraints: Vec<String>,
    /// Name of the mapping.
    pub mapping: String,
    /// Prices.
    pub costs: CostTable,
}

/// What a build gives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum BuildReport {
    /// It can run.
    Built {
        /// What was built.
        request: Box<Request>,
        /// Scheduled cycles of each phase.
        horizons: Vec<usize>,
        /// The placed estimate in cycles.
        placed: usize,
    },
    /// A rule says no.
    Refused {
        /// Which, and why.
        refusal: Refusal,
    },
}

/// One phase, or the work after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseReport {
    /// `up.weights`, `down.gather`, `up.reduction-0`, `up.gemm`.
    pub name: String,
    /// `exchange` or `compute`.
    pub kind: String,
    /// Its cycles.
    pub cycles: usize,
    /// Scheduled cycles of an exchange phase; 0 for work.
    pub scheduled: usize,
    /// Cycles between the first and the last arrival.
    pub arrival_spread: usize,
}

/// What a run gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    /// Simulated cycles.
    pub cycles: usize,
    /// Full counter of the tile that ends last.
    pub maximum_tile_cycles: usize,
    /// Full counter of the tile that ends first.
    pub minimum_tile_cycles: usize,
    /// Phases and work; their cycles add up to `cycles`.
    pub phases: Vec<PhaseReport>,
    /// Largest absolute error; none when something is not finite.
    pub max_absolute: Option<f64>,
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
    fn program(&self) -> Result<Program, Refusal> {
        let geometries: Result<Vec<_>, _> = self
            .constraints
            .iter()
            .map(|c| text::parse(c).map(|(_, g)| g))
            .collect();
        let geometries = geometries.map_err(|error| Refusal::new("constraint", error.to_string()))?;
        let mapping = mapping::parse(&self.mapping).map_err(|message| Refusal::new("tile-mapping", message))?;
        Program::new(&self.workload, &geometries, mapping)
    }

    /// Canonical text of the plan.
    fn text(&self) -> String {
        let mut words = self.constraints.clone();
        if self.mapping != "identity" {
            words.push(format!("mapping={}", self.mapping));
        }
        words.join(" ")
    }

    /// The placed estimate, in cycles.
    fn placed(&self, compiled: &Compiled, horizons: &[usize]) -> Result<usize, Unpriced> {
        let expanded = estimate::expanded(&compiled.phases, &compiled.segments, &self.costs, false)?;
        // What the unit model will count with needs its prices, too: without one the build is refused, not the run.
        unit::time(&compiled.phases, &compiled.segments, horizons, &self.costs)?;
        Ok(expanded.placed(horizons))
    }

    /// Compiles the request.
    pub fn compile(&self) -> Result<Compiled, Refusal> {
        unit::compile(self.program()?, Policy::default())
    }
}

/// Builds a request (JSON); gives a [`BuildReport`] (JSON). A refusal is a result, not an error.
pub fn build(request: &str) -> Result<String, String> {
    let request: Request = serde_json::from_str(request).map_err(unreadable)?;
    let report = match request.compile().and_then(|compiled| {
        let horizons = compiled.horizons();
        Ok((request.placed(&compiled, &horizons)?, horizons))
    }) {
        Ok((placed, horizons)) => BuildReport::Built {
            placed,
            request: Box::new(request),
            horizons,
        },
        Err(refusal) => BuildReport::Refused { refusal },
    };
    serde_json::to_string(&report).map_err(|error| error.to_string())
}

/// What a run gives, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// A [`RunReport`] (JSON).
    pub report: String,
    /// A [`Profile`](crate::profile::Profile) (JSON).
    pub profile: String,
}

/// Runs what [`build`] gave on input files that `read` returns by name.
pub fn run(built: &str, read: &dyn Fn(&str) -> Result<Vec<u8>, String>) -> Result<Ran, String> {
    let request = match serde_json::from_str(built).map_err(unreadable)? {
        BuildReport::Built { request, .. } => request,
        BuildReport::Refused { refusal } => return Err(refusal.to_string()),
    };
    let compiled = request.compile().map_err(|refusal| refusal.to_string())?;
    let weights = request
        .workload
        .gemms()
        .map(|(name, _)| read(&weights_file(name)).map(|bytes| f16(&bytes)));
    let data = Data {
        input: f16(&read(INPUT_FILE)?),
        weights: weights.collect::<Result<_, _>>()?,
    };
    let bytes = read(REFERENCE_FILE)?;
    let (eights, _) = bytes.as_chunks::<8>();
    let reference: Vec<f64> = eights.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
    check_sizes(&request.workload, &data, &reference)?;
    let result = unit::run(&compiled, &data);
    let unpriced = |unpriced: Unpriced| unpriced.to_string();
    let report = report(&request, &compiled, &result, &reference).map_err(unpriced)?;
    let profile = profile::profile(&compiled, &request.costs, &request.text()).map_err(unpriced)?;
    let json = |error: serde_json::Error| error.to_string();
    Ok(Ran {
        report: serde_json::to_string(&report).map_err(json)?,
        profile: serde_json::to_string(&profile).map_err(json)?,
    })
}

fn f16(bytes: &[u8]) -> Vec<f32> {
    let (pairs, _) = bytes.as_chunks::<2>();
    pairs
        .iter()
        .map(|bytes| half::from_bits(u16::from_le_bytes(*bytes)))
        .collect()
}

fn check_sizes(workload: &Workload, data: &Data, reference: &[f64]) -> Result<(), String> {
    let check = |name: &str, found: usize, expected: u64| {
        if found as u64 == expected {
            Ok(())
        } else {
            Err(format!("`{name}` has {found} values, expected {expected}"))
        }
    };
    for ((name, e), weights) in workload.gemms().zip(&data.weights) {
        check(&weights_file(name), weights.len(), e.inner * e.columns)?;
    }
    if let (Some((_, first)), Some((_, last))) = (workload.gemms().next(), workload.gemms().last()) {
        check(INPUT_FILE, data.input.len(), first.rows * first.inner)?;
        check(REFERENCE_FILE, reference.len(), last.rows * last.columns)?;
    }
    Ok(())
}

/// Largest error of one value that passes, relative to the RMS of the reference.
///
/// A sum is rounded to float16 after each panel: `n / 16` roundings with errors of about `2^-12` of the sum's size,
/// which grow with the square root of their number. The factor 8 leaves room for the largest of a million values and for
/// two products in a chain.
fn tolerance(workload: &Workload) -> f64 {
    let longest = workload.gemms().map(|(_, e)| e.inner).max().unwrap_or(1);
    8.0 * (longest as f64 / PANEL as f64).max(1.0).sqrt() / 4096.0
}

fn report(request: &Request, compiled: &Compiled, result: &[f32], reference: &[f64]) -> Result<RunReport, Unpriced> {
    let rms = (reference.iter().map(|y| y * y).sum::<f64>() / reference.len().max(1) as f64).sqrt();
    let errors: Vec<f64> = result
        .iter()
        .zip(reference)
        .map(|(x, y)| (f64::from(*x) - y).abs())
        .collect();
    let finite = errors.iter().all(|error| error.is_finite());
    let timing = unit::timing(compiled, &request.costs)?;
    Ok(RunReport {
        cycles: timing.cycles(),
        maximum_tile_cycles: timing.counters.most,
        minimum_tile_cycles: timing.counters.least,
        phases: phases(compiled, &timing),
        max_absolute: finite.then(|| errors.iter().copied().fold(0.0, f64::max)),
        reference_rms: rms,
        tolerance: tolerance(&request.workload) * rms,
        elements: reference.len() as u64,
    })
}

fn phases(compiled: &Compiled, timing: &Timing) -> Vec<PhaseReport> {
    let mut reports = Vec::new();
    for timing in &timing.phases {
        let product = compiled
            .program
            .products
            .get(timing.product)
            .map_or("", |product| product.name.as_str());
        let (exchange, work) = profile::names(timing.kind);
        reports.push(PhaseReport {
            name: format!("{product}.{exchange}"),
            kind: "exchange".to_owned(),
            cycles: timing.after_arrival,
            scheduled: timing.scheduled,
            arrival_spread: timing.arrival_spread,
        });
        reports.push(PhaseReport {
            name: format!("{product}.{work}"),
            kind: "compute".to_owned(),
            cycles: timing.work,
            scheduled: 0,
            arrival_spread: 0,
        });
    }
    reports
}
