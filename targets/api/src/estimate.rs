//! Predictions.

use planner::{Plan, Workload};
use serde::{Deserialize, Serialize};

/// When an estimate can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moment {
    /// From the plan alone: stands in the manifest.
    Plan,
    /// From the compiled, placed program: stands in the build record.
    Build,
}

/// One model's prediction for one plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The model's name.
    pub name: String,
    /// Predicted value of the objective, or of the model's own scale; finite.
    pub value: f64,
    /// Unit of `value`: `ns`, `cycles`. `score` when only its order means anything.
    pub unit: String,
    /// When it was made.
    pub moment: Moment,
    /// What it is made of, in the same unit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<(String, f64)>,
}

/// A model that predicts from the plan.
pub trait Estimator: Send + Sync {
    /// Its name, unique in its target.
    fn name(&self) -> &'static str;

    /// What it looks at, in one sentence.
    fn about(&self) -> &'static str;

    /// Its prediction for `plan`, which is legal for `workload`.
    fn estimate(&self, workload: &Workload, plan: &Plan) -> Estimate;
}
