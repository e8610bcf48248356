//! A named plan in a cohort.

use planner::Plan;
use serde::{Deserialize, Serialize};
use target_api::Estimate;

/// A named plan, with its workload, its family and the reason it was chosen. One line of `cases.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Unique in the cohort.
    pub name: String,
    /// The workload it belongs to.
    pub workload: String,
    /// Group in plots and tables: `control`, `up`, `down`, `joint`, `cross`.
    pub family: String,
    /// Why it was chosen.
    pub reason: String,
    /// What is run.
    pub plan: Plan,
    /// Predictions of moment `plan`.
    pub estimates: Vec<Estimate>,
    /// Models that predict nothing for it -> why.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub unestimated: std::collections::BTreeMap<String, String>,
    /// Labels of what it is built from -> digest of the unit.
    pub units: std::collections::BTreeMap<String, String>,
    /// The case whose plan it repeats on purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat_of: Option<String>,
}
