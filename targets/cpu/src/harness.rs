//! The harness: its sources, its command line, and what it prints.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::problem::Product;

/// Version of what objects and harness agree on, and of the harness's output.
pub const ABI: u32 = 1;

/// Sources of the harness, by file name; `harness.c` is the one to compile, `layout_sweep.h` is what objects include.
#[must_use]
pub fn harness_sources() -> [(&'static str, &'static str); 12] {
    [
        ("attention.h", include_str!("c/attention.h")),
        ("clock.h", include_str!("c/clock.h")),
        ("harness.c", include_str!("c/harness.c")),
        ("json.h", include_str!("c/json.h")),
        ("layout_sweep.h", include_str!("c/layout_sweep.h")),
        ("machine.h", include_str!("c/machine.h")),
        ("memory.h", include_str!("c/memory.h")),
        ("peak.h", include_str!("c/peak.h")),
        ("plan.h", include_str!("c/plan.h")),
        ("pool.h", include_str!("c/pool.h")),
        ("run.h", include_str!("c/run.h")),
        ("spans.h", include_str!("c/spans.h")),
    ]
}

/// A plan as the harness loads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanObjects {
    /// Worker threads; the objects were made for as many.
    pub threads: u32,
    /// Whether row blocks are carried through all products.
    pub carry: bool,
    /// One shared object per product, in order.
    pub objects: Vec<PathBuf>,
}

/// One call of the harness in mode `run`.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRequest<'a> {
    /// The products, in order.
    pub products: &'a [Product],
    /// Activations, float32 little-endian, `[tokens][inner]`.
    pub x: PathBuf,
    /// One weights file per product, float32 little-endian, `[inner][features]`.
    pub weights: Vec<PathBuf>,
    /// The expected result, float64 little-endian, `[tokens][features of the last product]`.
    pub reference: PathBuf,
    /// What is called, and how.
    pub calls: Calls,
}

/// What a run calls, and how: the same for chains of products and attentions.
#[derive(Debug, Clone, PartialEq)]
pub struct Calls {
    /// Largest error of one value, relative to the RMS of the reference.
    pub tolerance: f64,
    /// Cores to pin workers to, the first worker first.
    pub cores: Vec<u32>,
    /// Calls of control and case in turn.
    pub pairs: u32,
    /// Whether the case gets a warm-up call too; the control always does.
    pub warm_case: bool,
    /// Whether the case is called first in the first pair; who is first alternates from there, since the first call after
    /// a probe finds other caches than the second.
    pub case_first: bool,
    /// What the case is compared with.
    pub control: PlanObjects,
    /// The case; `None` measures the control alone.
    pub case: Option<PlanObjects>,
    /// Where the timeline of one call goes, if it is wanted: a [`CallProfile`].
    pub profile: Option<PathBuf>,
}

/// Arguments of the harness for one run of a chain of products, without the program's name.
#[must_use]
pub fn run_arguments(request: &RunRequest<'_>) -> Vec<String> {
    let tokens = request.products.first().map_or(0, |product| product.extents.tokens);
    let mut arguments = vec![
        "run".to_owned(),
        format!("x={}", request.x.display()),
        format!("reference={}", request.reference.display()),
        format!("tokens={tokens}"),
    ];
    for (product, weights) in request.products.iter().zip(&request.weights) {
        let activation = product.activation.as_deref().unwrap_or("-");
        let (inner, features) = (product.extents.inner, product.extents.features);
        arguments.push(format!(
            "gemm={}:{inner}:{features}:{activation}:{}",
            product.name,
            weights.display()
        ));
    }
    arguments.extend(request.calls.arguments());
    arguments
}

/// Arguments of the harness for one run of an attention, whose own arguments are given (see [`crate::attention::run`]).
#[must_use]
pub fn attention_arguments(own: Vec<String>, calls: &Calls) -> Vec<String> {
    let mut arguments = vec!["run".to_owned()];
    arguments.extend(own);
    arguments.extend(calls.arguments());
    arguments
}

impl Calls {
    fn arguments(&self) -> Vec<String> {
        let cores: Vec<String> = self.cores.iter().map(ToString::to_string).collect();
        let mut arguments = vec![
            format!("tolerance={:e}", self.tolerance),
            format!("cores={}", cores.join(",")),
            format!("pairs={}", self.pairs),
            format!("warm_case={}", u8::from(self.warm_case)),
            format!("case_first={}", u8::from(self.case_first)),
        ];
        if let Some(path) = &self.profile {
            arguments.push(format!("profile={}", path.display()));
        }
        let plans = [("control", Some(&self.control)), ("case", self.case.as_ref())];
        for (label, plan) in plans.into_iter().filter_map(|(label, plan)| Some((label, plan?))) {
            arguments.push(format!("{label}.threads={}", plan.threads));
            arguments.push(format!("{label}.carry={}", u8::from(plan.carry)));
            arguments.extend(
                plan.objects
                    .iter()
                    .map(|object| format!("{label}.object={}", object.display())),
            );
        }
        arguments
    }
}

/// Arguments of the harness in mode `machine`, measured on one core.
#[must_use]
pub fn machine_arguments(core: u32) -> Vec<String> {
    vec!["machine".to_owned(), core.to_string()]
}

/// Which plan a call belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// What is compared with.
    Control,
    /// What is measured.
    Case,
}

/// Time that the workers spent in one phase, on average; all phases of a call add up to its wall time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseTime {
    /// `up.pack`, `up`, `up.reduce`, `gelu`, `down`, ..., `wait`.
    pub name: String,
    /// `pack`, `gemm`, `reduce`, `activation` or `wait`.
    pub kind: String,
    /// Nanoseconds, mean over workers.
    pub ns: f64,
}

/// The check of one call's whole output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputError {
    /// Largest absolute error among finite values.
    pub max_abs: f64,
    /// Values that are not finite.
    pub non_finite: u64,
    /// Index of the first value beyond the tolerance or not finite.
    pub first_bad: Option<u64>,
}

/// One call of one plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallSample {
    /// Whose call.
    pub plan: Side,
    /// Warm-up calls are checked like all others, and no sample.
    pub warm_up: bool,
    /// Number of the pair; `None` for a warm-up.
    pub pair: Option<u32>,
    /// Monotonic nanoseconds.
    pub wall_ns: f64,
    /// Ticks of the time-stamp counter (not core cycles).
    pub tsc_cycles: f64,
    /// Where the time went.
    pub phases: Vec<PhaseTime>,
    /// Times that a worker was pre-empted.
    pub involuntary_switches: u64,
    /// The check.
    pub error: OutputError,
}

/// A phase as a profile names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseName {
    /// As in [`PhaseTime`].
    pub name: String,
    /// As in [`PhaseTime`].
    pub kind: String,
}

/// One worker of a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerSpans {
    /// The core that it was pinned to.
    pub core: u32,
    /// Spans beyond those that are kept.
    pub dropped: u64,
    /// Place in [`CallProfile::phases`], start and end in nanoseconds since the call began, in order of time.
    pub spans: Vec<(usize, u64, u64)>,
}

/// What the harness writes where a profile is wanted: when each worker was in which phase, in the counted call of the case
/// that is the middle one by time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallProfile {
    /// `profile`.
    pub kind: String,
    /// See [`ABI`].
    pub abi: u32,
    /// Its pair, from 0.
    pub pair: u32,
    /// How many pairs there were.
    pub pairs: u32,
    /// Its wall time.
    pub wall_ns: f64,
    /// Its phases.
    pub phases: Vec<PhaseName>,
    /// Its workers.
    pub workers: Vec<WorkerSpans>,
}

/// What the used cores gave just then, all at once; index: worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoreProbe {
    /// FMA peak of the widest instruction set the harness was compiled for, float32.
    pub fma_gflops: Vec<f64>,
    /// Core clock.
    pub core_hz: Vec<f64>,
}

/// What the harness prints in mode `run`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunReport {
    /// `run`.
    pub kind: String,
    /// See [`ABI`].
    pub abi: u32,
    /// What should not have changed but did: inputs, packed weights, guards behind buffers.
    pub changed: Vec<String>,
    /// Whether `changed` is empty.
    pub inputs_intact: bool,
    /// Every call of the control was right, and nothing changed that should not.
    pub control_correct: bool,
    /// The same for the case; `None` without one.
    pub case_correct: Option<bool>,
    /// As asked for.
    pub tolerance: f64,
    /// RMS of the reference.
    pub reference_rms: f64,
    /// Instruction set of the probes.
    pub probe_isa: String,
    /// Frequency of the time-stamp counter.
    pub tsc_hz: f64,
    /// Bytes that were asked for in huge pages.
    pub mapped_bytes: f64,
    /// Bytes that the system granted in huge pages, if it says.
    pub huge_page_bytes: Option<f64>,
    /// Loading the control: objects, weights into panels, poisoning.
    pub control_load_ns: f64,
    /// Loading the case.
    pub case_load_ns: Option<f64>,
    /// Cores that workers were pinned to.
    pub cores: Vec<u32>,
    /// One probe before each pair, one after the last.
    pub probes: Vec<CoreProbe>,
    /// Every call in order.
    pub calls: Vec<CallSample>,
}

/// Float32 FMA peak of one instruction set on one core.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FmaPeak {
    /// Word of the instruction set.
    pub isa: String,
    /// Floats in a vector.
    pub lanes: u32,
    /// Best of five short probes.
    pub gflops: f64,
}

/// One point of the bandwidth curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BandwidthPoint {
    /// Working set.
    pub bytes: u64,
    /// Read bandwidth.
    pub gb_per_s: f64,
}

/// One point of the latency curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatencyPoint {
    /// Working set.
    pub bytes: u64,
    /// Time of a load that waits for the one before.
    pub ns: f64,
}

/// What the caches really give, from the curves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knees {
    /// Largest set that runs like the first level.
    pub l1_bytes: u64,
    /// Largest set that runs like the second level.
    pub l2_bytes: u64,
    /// Largest set that streams like the third level.
    pub l3_bytes: u64,
    /// The rule by which they were read off.
    pub rule: String,
}

/// The same short probe many times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noise {
    /// Number of probes.
    pub probes: u32,
    /// Median FMA peak.
    pub median_gflops: f64,
    /// Lower decile.
    pub q10_gflops: f64,
    /// Upper decile.
    pub q90_gflops: f64,
    /// Distance of the deciles over the median.
    pub relative_spread: f64,
    /// Times that the probe was pre-empted.
    pub involuntary_switches: u64,
}

/// What the harness prints in mode `machine`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineReport {
    /// `machine`.
    pub kind: String,
    /// See [`ABI`].
    pub abi: u32,
    /// One processor of each distinct physical core that may be used.
    pub physical_cores: Vec<u32>,
    /// For each of them the lowest processor that uses the same largest cache, if the system tells it: cores with the same
    /// one share it. Empty in reports that are older than this.
    #[serde(default)]
    pub largest_cache_lowest: Vec<Option<u32>>,
    /// Where everything was measured.
    pub measured_core: u32,
    /// FMA peak of each instruction set that the harness was compiled for, the widest last.
    pub fma: Vec<FmaPeak>,
    /// Core clock.
    pub core_hz: f64,
    /// Frequency of the time-stamp counter.
    pub tsc_hz: f64,
    /// Bytes that were asked for in huge pages.
    pub mapped_bytes: f64,
    /// Bytes that the system granted in huge pages, if it says.
    pub huge_page_bytes: Option<f64>,
    /// Read bandwidth over working sets.
    pub read_bandwidth: Vec<BandwidthPoint>,
    /// Load latency over working sets.
    pub load_latency: Vec<LatencyPoint>,
    /// Where the levels end.
    pub knees: Knees,
    /// Size of the largest cache of the measured core, if the system tells it.
    pub largest_cache_bytes: Option<f64>,
    /// Read bandwidth of the largest set, in 10^9 bytes per second; none where that set is less than twice the largest
    /// cache, since its lines would come from there.
    pub dram_gb_per_s: Option<f64>,
    /// How even the machine was just then.
    pub noise: Noise,
}
