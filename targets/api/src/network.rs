//! What a target makes of the operations of a network.
//!
//! [`crate::Configured::express`] is asked for every distinct layer. Its default builds the workload that is this layer
//! (kinds `gemm` and `mlp`), and asks the target's own space, default plan, constraints, sources and estimates; a target
//! that can say more overrides it.

use planner::{Assignment, Workload};
use serde::Serialize;

/// What becomes of an operation on a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It can't be run; the words say why.
    Refused,
    /// A part of it is left over, or some shapes are refused.
    Partial,
    /// It is built in hardware, and no program can address it.
    Unreachable,
    /// It runs.
    Supported,
    /// It takes nothing: a matter of addresses.
    Free,
    /// It is not needed: folded into something else.
    Deleted,
    /// It stays on the host.
    Host,
}

/// What would have to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// What plans, or the target's own compiler, can say.
    Compiler,
    /// There is no kernel that computes it.
    Kernel,
    /// The driver.
    Driver,
    /// The machine itself.
    Hardware,
}

/// What something takes, as a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Price {
    /// Of one call.
    pub value: f64,
    /// `ns`, `cycles`.
    pub unit: String,
    /// The estimate's name.
    pub estimate: String,
    /// What was priced: the plan, and what it stands for.
    pub of: String,
    /// `modelled`.
    pub label: &'static str,
}

/// A byte order that a target wants one operand in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OperandOrder {
    /// `weights`, `activations`, `result`.
    pub operand: String,
    /// The target's name of the order.
    pub order: String,
}

/// A target's answer for one operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Support {
    /// What becomes of it.
    pub status: Status,
    /// What would have to change, where something is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// The rule that refuses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// In the target's words.
    pub words: String,
    /// What one call takes by the default plan, where it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Price>,
    /// What of one call the target could take over (or would save) if the missing part were there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unlocks: Option<Price>,
    /// Byte orders, where the target has several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<OperandOrder>,
    /// The workload that computes it.
    #[serde(skip)]
    pub runs: Option<Runs>,
}

/// What a machine has besides operations, or lacks, and what a network could do with it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Facility {
    /// `staging memory of the mesh`.
    pub name: String,
    /// What becomes of it; prices are of all layers that were asked about, as often as they occur.
    #[serde(flatten)]
    pub support: Support,
}

/// A workload that computes an operation, for sweeps.
#[derive(Debug, Clone, PartialEq)]
pub struct Runs {
    /// The kind in definitions.
    pub kind: &'static str,
    /// Its extents in definitions.
    pub extents: Vec<(&'static str, u64)>,
    /// The workload.
    pub workload: Workload,
    /// The target's default plan.
    pub plan: Assignment,
}

impl Support {
    /// An answer without price or rule.
    #[must_use]
    pub fn new(status: Status, level: Option<Level>, words: impl Into<String>) -> Self {
        Self {
            status,
            level,
            rule: None,
            words: words.into(),
            cost: None,
            unlocks: None,
            orders: Vec::new(),
            runs: None,
        }
    }
}
