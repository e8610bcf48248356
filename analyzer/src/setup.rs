//! How a cohort was frozen, on which machine, and by whom it was measured.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use target_api::unit_model::UNIT_MODEL;

use crate::objective::Objective;

/// Somebody's consent to a difference between the machine that measured and the frozen one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Consent {
    /// What differs: `machine.driver`.
    pub what: String,
    /// As it was frozen; `null` when it was not there.
    pub frozen: Option<String>,
    /// As it was when consent was given; `null` when it was gone.
    pub found: Option<String>,
    /// When, RFC 3339.
    pub at: String,
}

/// In what a class of machines differs from the frozen one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiffersIn {
    /// What differs: `machine.cpu_model`.
    pub what: String,
    /// As it was frozen; `null` when it was not there.
    pub frozen: Option<String>,
    /// As these machines have it; `null` where they have none.
    pub found: Option<String>,
}

/// Machines of one class, which measured some of a cohort that machines of several classes worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MachineClass {
    /// 0 for the frozen class, the others from 1.
    pub number: usize,
    /// In what it differs from the frozen one; nothing for that one itself.
    pub differences: Vec<DiffersIn>,
    /// Its machines by name, as far as records tell.
    pub machines: Vec<String>,
    /// Cases that it measured.
    pub cases: usize,
    /// Right rounds of these.
    pub rounds: usize,
    /// The folder of its report, from that of the frozen class.
    pub report: String,
}

/// A program that took part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ToolUsed {
    /// What it is to the target: `compiler`.
    pub name: String,
    /// Its path.
    pub path: String,
    /// First line of its version.
    pub version: String,
    /// SHA-256 of the file.
    pub sha256: String,
}

/// Who measured, where it was not this program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Imported {
    /// The file or folder that the figures were read from.
    pub file: String,
    /// SHA-256 of it.
    pub sha256: String,
    /// Its format.
    pub format: String,
    /// What was measured, in the words of whoever imported it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// Whether values are distances of its numbers from another one, which objective and unit name: derived.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shifted: bool,
}

/// How the cohort was frozen.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Setup {
    /// The target's name.
    pub target: String,
    /// What is minimised.
    pub objective: Objective,
    /// The class of the machines that this report is about: what must be equal for a cohort to go on.
    pub machine: BTreeMap<String, String>,
    /// Its number among [`Setup::classes`]: 0 for the frozen one.
    #[serde(default, skip_serializing_if = "is_frozen")]
    pub class: usize,
    /// All classes of machines that worked on the cohort, where it was more than one. A report is about one of them; nothing
    /// compares what two of them measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<MachineClass>,
    /// This instance of it: recorded, never compared.
    pub instance: BTreeMap<String, String>,
    /// Tools, in the target's order.
    pub tools: Vec<ToolUsed>,
    /// Options of the target as they were in force.
    pub options: BTreeMap<String, String>,
    /// Rounds for every case.
    pub rounds: u32,
    /// Pairs of calls in one round.
    pub pairs: u32,
    /// Further pairs at most for each case that can still win.
    pub finalists: u32,
    /// Cases that differ by no more than this in the objective's unit are tied; `null` when the measured noise says so.
    pub tie: Option<f64>,
    /// Seed of inputs, rounds and resampling.
    pub seed: u64,
    /// The k fastest choices of each operation that are crossed; 0 for none.
    pub cross: u32,
    /// When it was frozen.
    pub frozen_at: String,
    /// Whose measurements these are, if they were imported: then nothing was measured on this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// The definition's path as it was given.
    pub definition_path: String,
    /// Git revision of the definition's folder.
    pub git_revision: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_frozen(class: &usize) -> bool {
    *class == 0
}

impl Setup {
    /// What values of the objective are: `measured` on this machine's class, `simulated` by a unit model, `published` by
    /// somebody else ([`Setup::imported`] says where), or `derived` from what was published ([`Imported::shifted`]).
    #[must_use]
    pub fn origin(&self) -> &'static str {
        if let Some(imported) = &self.imported {
            if imported.shifted { "derived" } else { "published" }
        } else if self.machine.contains_key(UNIT_MODEL) {
            "simulated"
        } else {
            "measured"
        }
    }
}
