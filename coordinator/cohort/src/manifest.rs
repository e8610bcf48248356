//! Everything that decided a cohort's cases, written once.

use std::collections::BTreeMap;

use planner::{Refusal, Workload};
use serde::{Deserialize, Serialize};
use target_api::{CommandSpec, Machine};

/// A file and its digest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileDigest {
    /// Path relative to the folder it belongs to, with `/`.
    pub path: String,
    /// SHA-256 of its content, 64 lower-case hex digits.
    pub sha256: String,
    /// Its length.
    pub bytes: u64,
}

/// A workload of the cohort and the case that its others are compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkloadEntry {
    /// The workload with its extents.
    pub workload: Workload,
    /// Name of its control; `None` (absent in the file) where cases are compared by their own values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
}

/// A plan that a person asked for and the target refuses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedCase {
    /// The name that the case would have.
    pub name: String,
    /// The workload's name.
    pub workload: String,
    /// The rule, its numbers, and the nearest legal plan.
    pub refusal: Refusal,
}

/// What cases were chosen from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenFrom {
    /// Workload -> legal plans of its whole space, in decimal (a count may pass 64 bits).
    #[serde(default)]
    pub legal_plans: BTreeMap<String, String>,
    /// What was asked for and is refused, in the definition's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<RefusedCase>,
}

/// How much is measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measure {
    /// Rounds for every case.
    pub rounds: u32,
    /// Pairs of calls in one round.
    pub pairs: u32,
    /// Further pairs at most for each case whose interval still reaches the best.
    pub finalists: u32,
    /// Fresh builds of winner and control, measured again; 0 for none.
    #[serde(default)]
    pub confirm: u32,
    /// Seed of inputs, of the order of rounds, and of resampling.
    pub seed: u64,
    /// Limit of one build step.
    pub build_timeout_ms: u64,
    /// Limit of one round, without waiting for the device.
    pub run_timeout_ms: u64,
    /// The k fastest choices of each operation that are crossed once all initial cases are terminal; 0 for none.
    pub cross: u32,
}

/// Something that is built: its sources lie in `sources/<digest>/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitRef {
    /// SHA-256 over sources, steps and tools.
    pub digest: String,
    /// The files of `sources/<digest>/`.
    pub files: Vec<FileDigest>,
    /// Commands that make the artifact, one after another.
    pub steps: Vec<CommandSpec>,
    /// Name of the artifact that the last step leaves.
    pub artifact: String,
    /// Text files that the target reads after the build.
    pub inspect: Vec<String>,
}

/// Where the cohort came from; informational, never compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The definition's path as it was given.
    pub definition_path: String,
    /// Time of the freeze, RFC 3339.
    pub frozen_at: jiff::Timestamp,
    /// Git revision of the folder that holds the definition, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_revision: Option<String>,
}

/// What somebody else measured: where it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// Name of the file or folder, as it was given.
    pub file: String,
    /// SHA-256 of the file as it lay there, or over path, length and content of a folder's files.
    pub sha256: String,
    /// Its format: `kernel-tuner`, `t4`, `csv`, `published`.
    pub format: String,
    /// What was measured, in the words of whoever imported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// Whether values are distances of the source's numbers from another one, which objective and unit name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shifted: bool,
}

/// The cost table that estimates were made with, where it was not the definition's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrozenCosts {
    /// The file's path as it was given.
    pub file: String,
    /// SHA-256 of `table`.
    pub sha256: String,
    /// The table's canonical text (TOML).
    pub table: String,
}

/// `manifest.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the format: [`Manifest::FORMAT`].
    pub format: u32,
    /// The target's name.
    pub target: String,
    /// What is minimised: name and unit.
    pub objective: (String, String),
    /// Name and unit of the number that people know, where larger values of it are better: the objective, in which every
    /// sample and every estimate of the whole stands, is one over it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inverse_of: Option<(String, String)>,
    /// The definition's text, whole.
    pub definition: String,
    /// Options of the target as they are in force.
    pub options: BTreeMap<String, String>,
    /// The cost table that was given beside the definition; `None` (absent in the file) where none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<FrozenCosts>,
    /// Workloads with their controls, in the definition's order.
    pub workloads: Vec<WorkloadEntry>,
    /// How much is measured.
    pub measure: Measure,
    /// Screened geometries: `workload/operation/orientation` -> how many, in decimal (a count may pass 64 bits).
    pub screened: BTreeMap<String, String>,
    /// What cases were chosen from.
    #[serde(default)]
    pub chosen_from: ChosenFrom,
    /// Number of cases in `cases.jsonl`.
    pub cases: u64,
    /// Digest of `cases.jsonl`.
    pub cases_sha256: String,
    /// Everything that is built for these cases, sorted by digest.
    pub units: Vec<UnitRef>,
    /// Digest of the unit that is built once for all cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harness: Option<String>,
    /// Files of `inputs/`.
    pub inputs: Vec<FileDigest>,
    /// The binary in `toolchain/`; `None` (absent in the file) where nothing can be run, as in what was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary: Option<FileDigest>,
    /// Where it was imported from: it can be analysed, never continued. `None` for what was frozen here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// The machine: class must match, instance is recorded.
    pub machine: Machine,
    /// Where it came from.
    pub origin: Origin,
}

impl Manifest {
    /// The format that this version writes, and the only one it reads.
    pub const FORMAT: u32 = 1;
}
