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

/// Why a model predicts nothing for a plan. The plan is a case all the same, without this estimate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NoEstimate {
    /// The option that says how to predict, where there is one: `estimates.model.terms.tile`.
    pub key: Option<String>,
    /// What there is instead of a value: `division by zero in ...`.
    pub message: String,
}

impl From<planner::Refusal> for NoEstimate {
    /// A plan that the model can't read is none that it predicts.
    fn from(refusal: planner::Refusal) -> Self {
        Self {
            key: None,
            message: refusal.to_string(),
        }
    }
}

/// A model that predicts from the plan.
pub trait Estimator: Send + Sync {
    /// Its name, unique in its target.
    fn name(&self) -> &'static str;

    /// What it looks at, in one sentence.
    fn about(&self) -> &'static str;

    /// Whether it may predict nothing for some legal plan.
    fn is_partial(&self) -> bool {
        false
    }

    /// Its prediction for `plan`, which is legal for `workload`.
    ///
    /// # Errors
    /// Where it has no value. A number that stands for "none" would be ranked like any other, so there is no such number.
    fn estimate(&self, workload: &Workload, plan: &Plan) -> Result<Estimate, NoEstimate>;
}
